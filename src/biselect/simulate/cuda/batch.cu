// Many angle vectors at once: one block runs a whole circuit, its state in shared memory (or, if that is too small, in a
// slot of device memory that stays in cache). ROWS, COLUMNS and STRIDE are compiled in; STRIDE is odd, so that walking
// down a column meets every bank.

struct Tables {
    const unsigned short* cubes;  // numbers of all hypercubes of a register
    const int* spans;             // (stages, 5): where P = 1..4 begin, and the end
    int stages;
};

// SAMPLES: hypercubes are rows and lanes are columns; otherwise the other way round.
template <bool SAMPLES> __device__ __forceinline__ int place(int member, int lane) {
    return SAMPLES ? member * STRIDE + lane : lane * STRIDE + member;
}

template <int P, bool SAMPLES>
__device__ __forceinline__ void mix_some(c64* state, const unsigned short* cubes, int begin, int end, float c, float t) {
    constexpr int LANES = SAMPLES ? COLUMNS : ROWS;
    const int work = ((end - begin) >> P) * LANES;
    for (int u = threadIdx.x; u < work; u += blockDim.x) {
        const unsigned short* cube = cubes + begin + ((u / LANES) << P);
        const int lane = u % LANES;
        c64 x[1 << P];
#pragma unroll
        for (int v = 0; v < (1 << P); v++) x[v] = state[place<SAMPLES>(__ldg(cube + v), lane)];
        rotate<P>(x, c, t);
#pragma unroll
        for (int v = 0; v < (1 << P); v++) state[place<SAMPLES>(__ldg(cube + v), lane)] = x[v];
    }
}

template <bool SAMPLES> __device__ __forceinline__ void mix(c64* state, Tables tables, float c, float t) {
    for (int stage = 0; stage < tables.stages; stage++) {
        const int* span = tables.spans + 5 * stage;
        mix_some<4, SAMPLES>(state, tables.cubes, span[3], span[4], c, t);
        mix_some<3, SAMPLES>(state, tables.cubes, span[2], span[3], c, t);
        mix_some<2, SAMPLES>(state, tables.cubes, span[1], span[2], c, t);
        mix_some<1, SAMPLES>(state, tables.cubes, span[0], span[1], c, t);
        __syncthreads();
    }
}

template <int P, bool SAMPLES>
__device__ __forceinline__ float unmix_some(
    c64* state, c64* adjoint, const unsigned short* cubes, int begin, int end, float c, float t) {
    constexpr int LANES = SAMPLES ? COLUMNS : ROWS;
    const int work = ((end - begin) >> P) * LANES;
    float total = 0.f;
    for (int u = threadIdx.x; u < work; u += blockDim.x) {
        const unsigned short* cube = cubes + begin + ((u / LANES) << P);
        const int lane = u % LANES;
        c64 x[1 << P], y[1 << P];
#pragma unroll
        for (int v = 0; v < (1 << P); v++) {
            const int at = place<SAMPLES>(__ldg(cube + v), lane);
            x[v] = state[at];
            y[v] = adjoint[at];
        }
        total += current<P>(y, x);
        rotate<P>(x, c, -t);
        rotate<P>(y, c, -t);
#pragma unroll
        for (int v = 0; v < (1 << P); v++) {
            const int at = place<SAMPLES>(__ldg(cube + v), lane);
            state[at] = x[v];
            adjoint[at] = y[v];
        }
    }
    return total;
}

template <bool SAMPLES> __device__ __forceinline__ float unmix(c64* state, c64* adjoint, Tables tables, float c, float t) {
    float total = 0.f;
    for (int stage = tables.stages - 1; stage >= 0; stage--) {
        const int* span = tables.spans + 5 * stage;
        total += unmix_some<3, SAMPLES>(state, adjoint, tables.cubes, span[2], span[3], c, t);
        total += unmix_some<2, SAMPLES>(state, adjoint, tables.cubes, span[1], span[2], c, t);
        total += unmix_some<1, SAMPLES>(state, adjoint, tables.cubes, span[0], span[1], c, t);
        __syncthreads();
    }
    return total;
}

__device__ __forceinline__ void warp_add(float value, double* target) {
    double sum = value;
#pragma unroll
    for (int step = 16; step; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(target, sum);
}

// angles: (batch, depth, 4): gamma_S, gamma_F, gamma_SF (in turns) and beta. out: (batch, 1 + 4 depth): value, derivatives.
template <bool GRADIENT>
__global__ void __launch_bounds__(512, GRADIENT ? 1 : 2) run_batch(
    c64* __restrict__ slots, int in_shared, Tables samples, Tables features, const float* __restrict__ pair,
    const float* __restrict__ by_row, const float* __restrict__ by_column, const float* __restrict__ angles, int depth, int batch,
    float uniform, double* __restrict__ out) {
    extern __shared__ double shared[];
    constexpr int SIZE = ROWS * STRIDE;
    double* found = shared;
    c64* state = in_shared ? (c64*)(shared + 1 + 4 * depth) : slots + (long long)blockIdx.x * (GRADIENT ? 2 : 1) * SIZE;
    c64* adjoint = state + SIZE;
    for (int b = blockIdx.x; b < batch; b += gridDim.x) {
        const float* mine = angles + (long long)b * depth * 4;
        for (int i = threadIdx.x; i < 1 + 4 * depth; i += blockDim.x) found[i] = 0.0;
        for (int layer = 0; layer < depth; layer++) {
            const float4 angle = *(const float4*)(mine + 4 * layer);
            float s, c;
            sincosf(angle.w, &s, &c);
            if (fabsf(c) < 1e-6f) c = copysignf(1e-6f, c);
            for (int u = threadIdx.x; u < ROWS * COLUMNS; u += blockDim.x) {
                const int row = u / COLUMNS, column = u % COLUMNS, at = row * STRIDE + column;
                const c64 x = layer ? state[at] : c64{uniform, 0.f};
                const float turns = angle.x * __ldg(by_row + row) + angle.y * __ldg(by_column + column) + angle.z * __ldg(pair + u);
                state[at] = times(x, phase_of(turns));
            }
            __syncthreads();
            mix<true>(state, samples, c, s / c);
            mix<false>(state, features, c, s / c);
        }
        float value = 0.f;
        for (int u = threadIdx.x; u < ROWS * COLUMNS; u += blockDim.x) {
            const int row = u / COLUMNS, column = u % COLUMNS, at = row * STRIDE + column;
            const float energy = -(__ldg(by_row + row) + __ldg(by_column + column) + __ldg(pair + u));
            const c64 x = state[at];
            value += energy * (x.x * x.x + x.y * x.y);
            if (GRADIENT) adjoint[at] = {energy * x.x, energy * x.y};
        }
        __syncthreads();
        warp_add(value, found);
        if (GRADIENT) {
            for (int layer = depth - 1; layer >= 0; layer--) {
                const float4 angle = *(const float4*)(mine + 4 * layer);
                float s, c;
                sincosf(angle.w, &s, &c);
                if (fabsf(c) < 1e-6f) c = copysignf(1e-6f, c);
                float derivative = unmix<false>(state, adjoint, features, c, s / c);
                derivative += unmix<true>(state, adjoint, samples, c, s / c);
                float from_row = 0.f, from_column = 0.f, from_pair = 0.f;
                for (int u = threadIdx.x; u < ROWS * COLUMNS; u += blockDim.x) {
                    const int row = u / COLUMNS, column = u % COLUMNS, at = row * STRIDE + column;
                    const float a = __ldg(by_row + row), b_ = __ldg(by_column + column), w = __ldg(pair + u);
                    const c64 x = state[at], y = adjoint[at];
                    const float q = y.x * x.y - y.y * x.x;
                    from_row += q * a;
                    from_column += q * b_;
                    from_pair += q * w;
                    c64 back = phase_of(angle.x * a + angle.y * b_ + angle.z * w);
                    back.y = -back.y;
                    state[at] = times(x, back);
                    adjoint[at] = times(y, back);
                }
                __syncthreads();
                double* mine_found = found + 1 + 4 * layer;
                warp_add(-2.f * from_row, mine_found);
                warp_add(-2.f * from_column, mine_found + 1);
                warp_add(-2.f * from_pair, mine_found + 2);
                warp_add(2.f * derivative, mine_found + 3);
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < 1 + 4 * depth; i += blockDim.x) out[(long long)b * (1 + 4 * depth) + i] = found[i];
        __syncthreads();
    }
}
