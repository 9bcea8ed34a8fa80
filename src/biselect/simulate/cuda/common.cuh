// What all kernels share: complex numbers, phases in turns (1 = 2 pi, so that one rounding brings any sum back to half a
// turn) and the mixer on a hypercube of amplitudes in registers.

struct c64 {
    float x, y;
};

__device__ __forceinline__ c64 times(c64 a, c64 b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

__device__ __forceinline__ c64 phase_of(float turns) {
    c64 z;
    __sincosf((turns - rintf(turns)) * 6.283185307179586f, &z.y, &z.x);
    return z;
}

// exp(-i beta (XX+YY)/2) on each of the P edges of a hypercube in registers; t = tan beta.
template <int P> __device__ __forceinline__ void rotate(c64* x, float c, float t) {
    float scale = 1.f;
#pragma unroll
    for (int e = 0; e < P; e++) scale *= c;
#pragma unroll
    for (int v = 0; v < (1 << P); v++) x[v] = {scale * x[v].x, scale * x[v].y};
#pragma unroll
    for (int e = 0; e < P; e++)
#pragma unroll
        for (int v = 0; v < (1 << P); v++)
            if (!(v >> e & 1)) {
                const int w = v | (1 << e);
                const c64 a = x[v], b = x[w];
                x[v] = {a.x + t * b.y, a.y - t * b.x};
                x[w] = {b.x + t * a.y, b.y - t * a.x};
            }
}

// Sum over edges of Re<y|-i hop|x>: half the derivative by beta.
template <int P> __device__ __forceinline__ float current(const c64* y, const c64* x) {
    float total = 0.f;
#pragma unroll
    for (int e = 0; e < P; e++)
#pragma unroll
        for (int v = 0; v < (1 << P); v++) {
            const c64 a = y[v], b = x[v ^ (1 << e)];
            total += a.x * b.y - a.y * b.x;
        }
    return total;
}
