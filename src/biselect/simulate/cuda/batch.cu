// Many angle vectors at once: one block runs a whole circuit. ROWS, COLUMNS and STRIDE (odd, so that walking down a column
// meets every bank) are compiled in. A state that fits stays in shared memory (CHUNK = ROWS); otherwise it lives in a slot
// of device memory, and CHUNK rows at a time are brought in for their phases and feature mixing.

constexpr bool WHOLE = CHUNK == ROWS;

#define FOR_EACH_CELL(COUNT)                                                                                      \
    for (int u = threadIdx.x, row, column, at; u < (COUNT) * COLUMNS &&                                           \
         (row = u / COLUMNS, column = u - row * COLUMNS, at = row * STRIDE + column, true); u += THREADS)

__device__ __forceinline__ void warp_add(float value, double* target) {
    const float sum = warp_sum(value);
    if (threadIdx.x % 32 == 0) atomicAdd(target, (double)sum);
}

__device__ __forceinline__ float2 rotation(float beta) {  // cos beta and tan beta, kept finite at pi/2
    float s, c;
    sincosf(beta, &s, &c);
    if (fabsf(c) < 1e-6f) c = copysignf(1e-6f, c);
    return {c, s / c};
}

// angles: (batch, depth, 4): gamma_S, gamma_F, gamma_SF (in turns) and beta. out: (batch, 1 + 4 depth): value, derivatives.
// by_row, by_column and pair are the scores of sample subsets, of feature subsets and of their coupling.
template <bool GRADIENT>
__global__ void __launch_bounds__(THREADS, GRADIENT ? 1 : 2) run_batch(
    c64* __restrict__ slots, Tables samples, Tables features, const float* __restrict__ pair, const float* __restrict__ by_row,
    const float* __restrict__ by_column, const float* __restrict__ angles, int depth, int batch, float uniform,
    double* __restrict__ out) {
    extern __shared__ double shared[];
    constexpr int SIZE = ROWS * STRIDE;
    double* found = shared;
    c64* tile = (c64*)(shared + 1 + 4 * depth);
    c64* other_tile = tile + CHUNK * STRIDE;
    c64* state = WHOLE ? tile : slots + (long long)blockIdx.x * (GRADIENT ? 2 : 1) * SIZE;
    c64* adjoint = WHOLE ? other_tile : state + SIZE;
    for (int b = blockIdx.x; b < batch; b += gridDim.x) {
        const float4* mine = (const float4*)angles + (long long)b * depth;
        for (int i = threadIdx.x; i < 1 + 4 * depth; i += blockDim.x) found[i] = 0.0;
        for (int layer = 0; layer < depth; layer++) {
            const float4 angle = mine[layer];
            const float2 turn = rotation(angle.w);
            for (int first = 0; first < ROWS; first += CHUNK) {
                const int rows = min(CHUNK, ROWS - first);
#pragma unroll 8
                FOR_EACH_CELL(rows) {
                    const c64 x = layer ? state[first * STRIDE + at] : c64{uniform, 0.f};
                    const float turns = angle.x * __ldg(by_row + first + row) + angle.y * __ldg(by_column + column) +
                                        angle.z * __ldg(pair + (first + row) * COLUMNS + column);
                    tile[at] = times(x, phase_of(turns));
                }
                __syncthreads();
                mix<3, CHUNK, 1, STRIDE>(tile, features, turn.x, turn.y);
                if (!WHOLE) {
                    FOR_EACH_CELL(rows) state[first * STRIDE + at] = tile[at];
                    __syncthreads();
                }
            }
            mix<3, COLUMNS, STRIDE, 1>(state, samples, turn.x, turn.y);
        }
        float value = 0.f;
        FOR_EACH_CELL(ROWS) {
            const float energy = -(__ldg(by_row + row) + __ldg(by_column + column) + __ldg(pair + row * COLUMNS + column));
            const c64 x = state[at];
            value += energy * (x.x * x.x + x.y * x.y);
            if (GRADIENT) adjoint[at] = {energy * x.x, energy * x.y};
        }
        __syncthreads();
        warp_add(value, found);
        for (int layer = depth - 1; GRADIENT && layer >= 0; layer--) {
            const float4 angle = mine[layer];
            const float2 turn = rotation(angle.w);
            float derivative = unmix<3, COLUMNS, STRIDE, 1>(state, adjoint, samples, turn.x, turn.y);
            float from_row = 0.f, from_column = 0.f, from_pair = 0.f;
            for (int first = 0; first < ROWS; first += CHUNK) {
                const int rows = min(CHUNK, ROWS - first);
                if (!WHOLE) {
                    FOR_EACH_CELL(CHUNK) {  // a last chunk is filled up with zeros
                        tile[at] = row < rows ? state[first * STRIDE + at] : c64{0.f, 0.f};
                        other_tile[at] = row < rows ? adjoint[first * STRIDE + at] : c64{0.f, 0.f};
                    }
                    __syncthreads();
                }
                derivative += unmix<3, CHUNK, 1, STRIDE>(tile, other_tile, features, turn.x, turn.y);
                FOR_EACH_CELL(rows) {
                    const float a = __ldg(by_row + first + row), f = __ldg(by_column + column);
                    const float w = __ldg(pair + (first + row) * COLUMNS + column);
                    const c64 x = tile[at], y = other_tile[at];
                    const float q = y.x * x.y - y.y * x.x;
                    from_row += q * a;
                    from_column += q * f;
                    from_pair += q * w;
                    c64 back = phase_of(angle.x * a + angle.y * f + angle.z * w);
                    back.y = -back.y;
                    state[first * STRIDE + at] = times(x, back);
                    adjoint[first * STRIDE + at] = times(y, back);
                }
                __syncthreads();
            }
            warp_add(-2.f * from_row, found + 1 + 4 * layer);
            warp_add(-2.f * from_column, found + 2 + 4 * layer);
            warp_add(-2.f * from_pair, found + 3 + 4 * layer);
            warp_add(2.f * derivative, found + 4 + 4 * layer);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < 1 + 4 * depth; i += blockDim.x) out[(long long)b * (1 + 4 * depth) + i] = found[i];
        __syncthreads();
    }
}
