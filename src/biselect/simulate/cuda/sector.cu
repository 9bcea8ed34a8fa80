// One circuit on a large sector. The state is psi[row][column], one row a sample subset, columns contiguous. N (samples),
// K (their budget), D (features), COLUMNS and THREADS are compiled in.

constexpr int PER_THREAD = (COLUMNS + THREADS - 1) / THREADS;

// Sum over the block; every thread must call it.
__device__ void block_add(double value, double* target) {
    __shared__ double warps[32];
#pragma unroll
    for (int step = 16; step; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < (blockDim.x + 31) / 32; w++) value += warps[w];
        atomicAdd(target, value);
    }
}

// ---- Sample register: one thread takes one hypercube of rows and one column; nothing but registers in between.

template <int P>
__global__ void sample_stage(c64* __restrict__ psi, int blocks, const int* __restrict__ cubes, float c, float t) {
    const long long cube = blockIdx.x / blocks;
    const int column = blockIdx.x % blocks * blockDim.x + threadIdx.x;
    if (column >= COLUMNS) return;
    c64 x[1 << P];
    const int* rows = cubes + (cube << P);
#pragma unroll
    for (int v = 0; v < (1 << P); v++) x[v] = psi[(long long)__ldg(rows + v) * COLUMNS + column];
    rotate<P>(x, c, t);
#pragma unroll
    for (int v = 0; v < (1 << P); v++) psi[(long long)__ldg(rows + v) * COLUMNS + column] = x[v];
}

template <int P>
__global__ void sample_stage_back(
    c64* __restrict__ psi, c64* __restrict__ adjoint, int blocks, const int* __restrict__ cubes, float c, float t, double* out) {
    const long long cube = blockIdx.x / blocks;
    const int column = blockIdx.x % blocks * blockDim.x + threadIdx.x;
    float total = 0.f;
    if (column < COLUMNS) {
        c64 x[1 << P], y[1 << P];
        const int* rows = cubes + (cube << P);
#pragma unroll
        for (int v = 0; v < (1 << P); v++) {
            const long long at = (long long)__ldg(rows + v) * COLUMNS + column;
            x[v] = psi[at];
            y[v] = adjoint[at];
        }
        total = 2.f * current<P>(y, x);
        rotate<P>(x, c, -t);
        rotate<P>(y, c, -t);
#pragma unroll
        for (int v = 0; v < (1 << P); v++) {
            const long long at = (long long)__ldg(rows + v) * COLUMNS + column;
            psi[at] = x[v];
            adjoint[at] = y[v];
        }
    }
    block_add(total, out);
}

// ---- Rows come in groups that differ in their smallest sample only: row `first + i` of a group has smallest sample i.
// A table (N + 1, COLUMNS) holds what each sample adds for every column and, last, what the column adds by itself.

struct Groups {
    const int2* rows;            // first row and number of rows
    const unsigned short* rest;  // the other K - 1 samples
    int count;
};

__device__ __forceinline__ void shared_part(const float* table, const unsigned short* rest, float* part) {
#pragma unroll
    for (int i = 0; i < PER_THREAD; i++) {
        const int f = threadIdx.x + i * THREADS;
        if (f < COLUMNS) {
            part[i] = __ldg(table + N * COLUMNS + f);
#pragma unroll
            for (int s = 0; s < K - 1; s++) part[i] += __ldg(table + (int)rest[s] * COLUMNS + f);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1024 / THREADS) feature_pass(
    c64* __restrict__ psi, float uniform, Groups groups, const float* __restrict__ turns, Tables features, float c, float t) {
    extern __shared__ c64 row[];
    float part[PER_THREAD];
    for (int g = blockIdx.x; g < groups.count; g += gridDim.x) {
        const int2 rows = groups.rows[g];
        shared_part(turns, groups.rest + (long long)g * (K - 1), part);
        for (int smallest = 0; smallest < rows.y; smallest++) {
            c64* line = psi + (long long)(rows.x + smallest) * COLUMNS;
#pragma unroll
            for (int i = 0; i < PER_THREAD; i++) {
                const int f = threadIdx.x + i * THREADS;
                if (f < COLUMNS) {
                    const c64 x = uniform > 0.f ? c64{uniform, 0.f} : line[f];
                    row[f] = times(x, phase_of(part[i] + __ldg(turns + smallest * COLUMNS + f)));
                }
            }
            __syncthreads();
            mix<4, 1, 1, 0>(row, features, c, t);
            for (int f = threadIdx.x; f < COLUMNS; f += THREADS) line[f] = row[f];
            __syncthreads();
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) feature_pass_back(
    c64* __restrict__ psi, c64* __restrict__ adjoint, Groups groups, const float* __restrict__ turns,
    const unsigned short* __restrict__ columns_with, int with_each, Tables features, float c, float t, double* mixing, double* pair) {
    extern __shared__ c64 row[];
    __shared__ float by_feature[D], by_pair[N * D];
    c64* other = row + COLUMNS;
    float* current_of = (float*)row;  // Im(conj(y) x), in the place of the row once that is written
    float part[PER_THREAD], derivative = 0.f;
    for (int e = threadIdx.x; e < N * D; e += THREADS) by_pair[e] = 0.f;
    for (int g = blockIdx.x; g < groups.count; g += gridDim.x) {
        const int2 rows = groups.rows[g];
        const unsigned short* rest = groups.rest + (long long)g * (K - 1);
        shared_part(turns, rest, part);
        for (int smallest = 0; smallest < rows.y; smallest++) {
            const long long begin = (long long)(rows.x + smallest) * COLUMNS;
            for (int f = threadIdx.x; f < COLUMNS; f += THREADS) {
                row[f] = psi[begin + f];
                other[f] = adjoint[begin + f];
            }
            __syncthreads();
            derivative += unmix<4, 1, 1, 0>(row, other, features, c, t);
            float q[PER_THREAD];
#pragma unroll
            for (int i = 0; i < PER_THREAD; i++) {
                const int f = threadIdx.x + i * THREADS;
                if (f < COLUMNS) {
                    const c64 x = row[f], y = other[f];
                    q[i] = y.x * x.y - y.y * x.x;
                    c64 back = phase_of(part[i] + __ldg(turns + smallest * COLUMNS + f));
                    back.y = -back.y;
                    psi[begin + f] = times(x, back);
                    adjoint[begin + f] = times(y, back);
                }
            }
            __syncthreads();
#pragma unroll
            for (int i = 0; i < PER_THREAD; i++)
                if (threadIdx.x + i * THREADS < COLUMNS) current_of[threadIdx.x + i * THREADS] = q[i];
            __syncthreads();
            for (int j = threadIdx.x / 32; j < D; j += THREADS / 32) {  // a warp sums the columns that hold feature j
                float sum = 0.f;
                for (int e = threadIdx.x % 32; e < with_each; e += 32) sum += current_of[__ldg(columns_with + j * with_each + e)];
                sum = warp_sum(sum);
                if (threadIdx.x % 32 == 0) by_feature[j] = sum;
            }
            __syncthreads();
            for (int e = threadIdx.x; e < K * D; e += THREADS)
                by_pair[(e / D < K - 1 ? rest[e / D] : smallest) * D + e % D] -= 2.f * by_feature[e % D];
            __syncthreads();
        }
    }
    for (int e = threadIdx.x; e < N * D; e += THREADS) atomicAdd(pair + e, (double)by_pair[e]);
    block_add(2.f * derivative, mixing);
}

// kind 0: the energy; 1: whether it is at most the threshold; 2: its part below the threshold.
__device__ __forceinline__ float observed(float energy, int kind, float threshold) {
    return kind == 0 ? energy : kind == 1 ? (energy <= threshold ? 1.f : 0.f) : fminf(energy - threshold, 0.f);
}

extern "C" __global__ void __launch_bounds__(THREADS) observe(
    const c64* __restrict__ psi, c64* __restrict__ adjoint, Groups groups, const float* __restrict__ energies, int kind, float threshold,
    int with_adjoint, double* out) {
    double sum = 0.0;
    float part[PER_THREAD];
    for (int g = blockIdx.x; g < groups.count; g += gridDim.x) {
        const int2 rows = groups.rows[g];
        shared_part(energies, groups.rest + (long long)g * (K - 1), part);
        float total = 0.f;
        for (int smallest = 0; smallest < rows.y; smallest++) {
            const long long begin = (long long)(rows.x + smallest) * COLUMNS;
#pragma unroll
            for (int i = 0; i < PER_THREAD; i++) {
                const int f = threadIdx.x + i * THREADS;
                if (f < COLUMNS) {
                    const float value = observed(part[i] + __ldg(energies + smallest * COLUMNS + f), kind, threshold);
                    const c64 x = psi[begin + f];
                    total += value * (x.x * x.x + x.y * x.y);
                    if (with_adjoint) adjoint[begin + f] = {value * x.x, value * x.y};
                }
            }
        }
        sum += total;
    }
    block_add(sum, out);
}
