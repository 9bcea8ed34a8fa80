// What all kernels share: complex numbers, phases in turns (1 = 2 pi, so that one rounding brings any sum back to half a
// turn) and the mixer on a hypercube of amplitudes in registers. THREADS of a block are compiled in.

#ifndef WARP
#define WARP 32
#endif

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

template <int P> __device__ __forceinline__ float power(float c) {
    float found = 1.f;
#pragma unroll
    for (int e = 0; e < P; e++) found *= c;
    return found;
}

// exp(-i beta (XX+YY)/2) / cos beta on each of the P edges of a hypercube in registers; t = tan beta.
template <int P> __device__ __forceinline__ void rotate_unscaled(c64* x, float t) {
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

template <int P> __device__ __forceinline__ void rotate(c64* x, float c, float t) {
    const float scale = power<P>(c);
#pragma unroll
    for (int v = 0; v < (1 << P); v++) x[v] = {scale * x[v].x, scale * x[v].y};
    rotate_unscaled<P>(x, t);
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

// The hypercubes of a register's mixer: for each stage and P = 1..4 where they begin and end, each part aligned.
struct Tables {
    const unsigned short* cubes;
    const int2* spans;  // (stages, 4)
    int stages;
};

// The 2^P members of a hypercube, read as whole words.
template <int P> __device__ __forceinline__ void members(const unsigned short* cube, int* member) {
    unsigned int words[P > 1 ? (1 << P) / 2 : 1];
    if constexpr (P == 0) words[0] = __ldg(cube);
    if constexpr (P == 1) words[0] = __ldg((const unsigned int*)cube);
    if constexpr (P == 2) {
        const uint2 two = __ldg((const uint2*)cube);
        words[0] = two.x, words[1] = two.y;
    }
    if constexpr (P >= 3) {
#pragma unroll
        for (int q = 0; q < (1 << P) / 8; q++) {
            const uint4 four = __ldg((const uint4*)cube + q);
            words[4 * q] = four.x, words[4 * q + 1] = four.y, words[4 * q + 2] = four.z, words[4 * q + 3] = four.w;
        }
    }
#pragma unroll
    for (int v = 0; v < (1 << P); v++) member[v] = v & 1 ? words[v / 2] >> 16 : words[v / 2] & 0xffff;
}

// Work that comes in several lots goes round the block's warps: a lot begins where the one before it ended, so that none
// of the threads waits while others do the first part of every lot.
struct Lots {
    int begin;  // the thread that a lot's first item goes to
    __device__ __forceinline__ Lots() : begin(0) {}
    __device__ __forceinline__ int first(int work) {
        const int own = (int)threadIdx.x >= begin ? threadIdx.x - begin : threadIdx.x - begin + THREADS;
        begin = (begin + (work + WARP - 1) / WARP * WARP) % THREADS;
        return own;
    }
};

// Hypercubes run along one direction of a matrix (distance STEP between neighbours), lanes along the other (distance SIDE).
template <int P, int LANES, int STEP, int SIDE>
__device__ __forceinline__ void mix_some(c64* x, const unsigned short* cubes, int2 span, float c, float t, Lots& lots) {
    const int work = ((span.y - span.x) >> P) * LANES;
    for (int u = lots.first(work); u < work; u += THREADS) {
        int at[1 << P];
        members<P>(cubes + span.x + ((u / LANES) << P), at);
        c64* own = x + u % LANES * SIDE;
        c64 z[1 << P];
#pragma unroll
        for (int v = 0; v < (1 << P); v++) z[v] = own[at[v] * STEP];
        rotate<P>(z, c, t);
#pragma unroll
        for (int v = 0; v < (1 << P); v++) own[at[v] * STEP] = z[v];
    }
}

// MOST limits P for registers' sake.
template <int MOST, int LANES, int STEP, int SIDE> __device__ __forceinline__ void mix(c64* x, Tables tables, float c, float t) {
    for (int stage = 0; stage < tables.stages; stage++) {
        const int2* span = tables.spans + 4 * stage;
        Lots lots;
        if constexpr (MOST >= 4) mix_some<4, LANES, STEP, SIDE>(x, tables.cubes, span[3], c, t, lots);
        mix_some<3, LANES, STEP, SIDE>(x, tables.cubes, span[2], c, t, lots);
        mix_some<2, LANES, STEP, SIDE>(x, tables.cubes, span[1], c, t, lots);
        mix_some<1, LANES, STEP, SIDE>(x, tables.cubes, span[0], c, t, lots);
        __syncthreads();
    }
}

template <int P, int LANES, int STEP, int SIDE>
__device__ __forceinline__ float unmix_some(c64* x, c64* y, const unsigned short* cubes, int2 span, float c, float t, Lots& lots) {
    const int work = ((span.y - span.x) >> P) * LANES;
    float total = 0.f;
    for (int u = lots.first(work); u < work; u += THREADS) {
        int at[1 << P];
        members<P>(cubes + span.x + ((u / LANES) << P), at);
        const int lane = u % LANES * SIDE;
        c64 *own = x + lane, *other = y + lane;
        c64 z[1 << P], w[1 << P];
#pragma unroll
        for (int v = 0; v < (1 << P); v++) z[v] = own[at[v] * STEP], w[v] = other[at[v] * STEP];
        total += current<P>(w, z);
        rotate<P>(z, c, -t);
        rotate<P>(w, c, -t);
#pragma unroll
        for (int v = 0; v < (1 << P); v++) own[at[v] * STEP] = z[v], other[at[v] * STEP] = w[v];
    }
    return total;
}

// Undoes the mixing of both; gives this thread's part of half the derivative by beta.
template <int MOST, int LANES, int STEP, int SIDE>
__device__ __forceinline__ float unmix(c64* x, c64* y, Tables tables, float c, float t) {
    float total = 0.f;
    for (int stage = tables.stages - 1; stage >= 0; stage--) {
        const int2* span = tables.spans + 4 * stage;
        Lots lots;
        if constexpr (MOST >= 4) total += unmix_some<4, LANES, STEP, SIDE>(x, y, tables.cubes, span[3], c, t, lots);
        total += unmix_some<3, LANES, STEP, SIDE>(x, y, tables.cubes, span[2], c, t, lots);
        total += unmix_some<2, LANES, STEP, SIDE>(x, y, tables.cubes, span[1], c, t, lots);
        total += unmix_some<1, LANES, STEP, SIDE>(x, y, tables.cubes, span[0], c, t, lots);
        __syncthreads();
    }
    return total;
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
    for (int step = WARP / 2; step; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}
