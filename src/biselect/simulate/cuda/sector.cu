// One circuit on a large sector. The state is psi[row][column], one row a sample subset, columns contiguous.

// Sum over the block, in double; every thread must call it, thread 0 adds to target.
__device__ void block_add(float value, double* target) {
    __shared__ double warps[32];
    double sum = value;
#pragma unroll
    for (int step = 16; step; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < (blockDim.x + 31) / 32; w++) sum += warps[w];
        atomicAdd(target, sum);
    }
}

// ---- Sample register: one thread takes one hypercube of rows and one column; nothing but registers in between.

template <int P, typename Index>
__device__ __forceinline__ void load_rows(c64* x, const c64* state, const Index* cube, long long stride, long long lane) {
#pragma unroll
    for (int v = 0; v < (1 << P); v++) x[v] = state[(long long)__ldg(cube + v) * stride + lane];
}

template <int P, typename Index>
__device__ __forceinline__ void store_rows(const c64* x, c64* state, const Index* cube, long long stride, long long lane) {
#pragma unroll
    for (int v = 0; v < (1 << P); v++) state[(long long)__ldg(cube + v) * stride + lane] = x[v];
}

template <int P>
__global__ void sample_stage(c64* __restrict__ psi, int columns, int blocks, const int* __restrict__ cubes, float c, float t) {
    const long long cube = blockIdx.x / blocks;
    const int column = blockIdx.x % blocks * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    c64 x[1 << P];
    const int* rows = cubes + (cube << P);
    load_rows<P>(x, psi, rows, columns, column);
    rotate<P>(x, c, t);
    store_rows<P>(x, psi, rows, columns, column);
}

template <int P>
__global__ void sample_stage_back(
    c64* __restrict__ psi, c64* __restrict__ adjoint, int columns, int blocks, const int* __restrict__ cubes, float c, float t,
    double* out) {
    const long long cube = blockIdx.x / blocks;
    const int column = blockIdx.x % blocks * blockDim.x + threadIdx.x;
    float total = 0.f;
    if (column < columns) {
        c64 x[1 << P], y[1 << P];
        const int* rows = cubes + (cube << P);
        load_rows<P>(x, psi, rows, columns, column);
        load_rows<P>(y, adjoint, rows, columns, column);
        total = 2.f * current<P>(y, x);
        rotate<P>(x, c, -t);
        rotate<P>(y, c, -t);
        store_rows<P>(x, psi, rows, columns, column);
        store_rows<P>(y, adjoint, rows, columns, column);
    }
    block_add(total, out);
}

// ---- Feature register: a block holds whole rows in shared memory, one after the other.

struct FeatureTables {
    const unsigned short* cubes;  // column numbers of all hypercubes
    const int* spans;             // (stages, 5): where P = 1..4 begin, and the end
    int stages;
};

template <int P> __device__ __forceinline__ void mix_some(c64* row, const unsigned short* cubes, int begin, int end, float c, float t) {
    for (int at = begin + (threadIdx.x << P); at < end; at += blockDim.x << P) {
        c64 x[1 << P];
        load_rows<P>(x, row, cubes + at, 1, 0);
        rotate<P>(x, c, t);
        store_rows<P>(x, row, cubes + at, 1, 0);
    }
}

__device__ void mix_row(c64* row, FeatureTables tables, float c, float t) {
    for (int stage = 0; stage < tables.stages; stage++) {
        const int* span = tables.spans + 5 * stage;
        mix_some<1>(row, tables.cubes, span[0], span[1], c, t);
        mix_some<2>(row, tables.cubes, span[1], span[2], c, t);
        mix_some<3>(row, tables.cubes, span[2], span[3], c, t);
        mix_some<4>(row, tables.cubes, span[3], span[4], c, t);
        __syncthreads();
    }
}

template <int P>
__device__ __forceinline__ float unmix_some(
    c64* row, c64* other, const unsigned short* cubes, int begin, int end, float c, float t) {
    float total = 0.f;
    for (int at = begin + (threadIdx.x << P); at < end; at += blockDim.x << P) {
        c64 x[1 << P], y[1 << P];
        load_rows<P>(x, row, cubes + at, 1, 0);
        load_rows<P>(y, other, cubes + at, 1, 0);
        total += current<P>(y, x);
        rotate<P>(x, c, -t);
        rotate<P>(y, c, -t);
        store_rows<P>(x, row, cubes + at, 1, 0);
        store_rows<P>(y, other, cubes + at, 1, 0);
    }
    return total;
}

// Sum over a row's items of a table (items, columns), plus the table's last line, the empty set.
__device__ __forceinline__ float item_sum(const float* table, const unsigned char* items, int chosen, int n, int columns, int column) {
    float sum = __ldg(table + (long long)n * columns + column);
    for (int i = 0; i < chosen; i++) sum += __ldg(table + (long long)items[i] * columns + column);
    return sum;
}

extern "C" __global__ void feature_pass(
    c64* __restrict__ psi, long long rows, int columns, float uniform, const unsigned char* __restrict__ subsets, int chosen, int n,
    const float* __restrict__ turns, FeatureTables tables, float c, float t) {
    extern __shared__ c64 row[];
    for (long long r = blockIdx.x; r < rows; r += gridDim.x) {
        const unsigned char* items = subsets + r * chosen;
        for (int f = threadIdx.x; f < columns; f += blockDim.x) {
            const c64 x = uniform > 0.f ? c64{uniform, 0.f} : psi[r * columns + f];
            row[f] = times(x, phase_of(item_sum(turns, items, chosen, n, columns, f)));
        }
        __syncthreads();
        mix_row(row, tables, c, t);
        for (int f = threadIdx.x; f < columns; f += blockDim.x) psi[r * columns + f] = row[f];
        __syncthreads();
    }
}

extern "C" __global__ void feature_pass_back(
    c64* __restrict__ psi, c64* __restrict__ adjoint, long long rows, int columns, const unsigned char* __restrict__ subsets, int chosen,
    int n, const float* __restrict__ turns, const unsigned int* __restrict__ column_bits, FeatureTables tables, float c, float t,
    double* mixing, double* pair) {
    extern __shared__ c64 row[];
    __shared__ float by_feature[DFEATURES];
    c64* other = row + columns;
    float derivative = 0.f;
    for (long long r = blockIdx.x; r < rows; r += gridDim.x) {
        const unsigned char* items = subsets + r * chosen;
        for (int f = threadIdx.x; f < columns; f += blockDim.x) {
            row[f] = psi[r * columns + f];
            other[f] = adjoint[r * columns + f];
        }
        if (threadIdx.x < DFEATURES) by_feature[threadIdx.x] = 0.f;
        __syncthreads();
        for (int stage = tables.stages - 1; stage >= 0; stage--) {
            const int* span = tables.spans + 5 * stage;
            derivative += unmix_some<1>(row, other, tables.cubes, span[0], span[1], c, t);
            derivative += unmix_some<2>(row, other, tables.cubes, span[1], span[2], c, t);
            derivative += unmix_some<3>(row, other, tables.cubes, span[2], span[3], c, t);
            derivative += unmix_some<4>(row, other, tables.cubes, span[3], span[4], c, t);
            __syncthreads();
        }
        float sums[DFEATURES];
#pragma unroll
        for (int j = 0; j < DFEATURES; j++) sums[j] = 0.f;
        for (int f = threadIdx.x; f < columns; f += blockDim.x) {
            const c64 x = row[f], y = other[f];
            const float q = y.x * x.y - y.y * x.x;
            const unsigned int bits = __ldg(column_bits + f);
#pragma unroll
            for (int j = 0; j < DFEATURES; j++) sums[j] += bits >> j & 1 ? q : 0.f;
            c64 back = phase_of(item_sum(turns, items, chosen, n, columns, f));
            back.y = -back.y;
            psi[r * columns + f] = times(x, back);
            adjoint[r * columns + f] = times(y, back);
        }
#pragma unroll
        for (int j = 0; j < DFEATURES; j++) {
            float sum = sums[j];
#pragma unroll
            for (int step = 16; step; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
            if (threadIdx.x % 32 == 0) atomicAdd(by_feature + j, sum);
        }
        __syncthreads();
        for (int e = threadIdx.x; e < chosen * DFEATURES; e += blockDim.x)
            atomicAdd(pair + items[e / DFEATURES] * DFEATURES + e % DFEATURES, -2.0 * by_feature[e % DFEATURES]);
        __syncthreads();
    }
    block_add(2.f * derivative, mixing);
}

// kind 0: the energy; 1: whether it is at most the threshold; 2: its part below the threshold.
__device__ __forceinline__ float observed(float energy, int kind, float threshold) {
    return kind == 0 ? energy : kind == 1 ? (energy <= threshold ? 1.f : 0.f) : fminf(energy - threshold, 0.f);
}

extern "C" __global__ void observe(
    const c64* __restrict__ psi, c64* __restrict__ adjoint, long long rows, int columns, const unsigned char* __restrict__ subsets, int chosen,
    int n, const float* __restrict__ energies, int kind, float threshold, int with_adjoint, double* out) {
    double sum = 0.0;
    for (long long r = blockIdx.x; r < rows; r += gridDim.x) {
        const unsigned char* items = subsets + r * chosen;
        float total = 0.f;
        for (int f = threadIdx.x; f < columns; f += blockDim.x) {
            const float value = observed(item_sum(energies, items, chosen, n, columns, f), kind, threshold);
            const c64 x = psi[r * columns + f];
            total += value * (x.x * x.x + x.y * x.y);
            if (with_adjoint) adjoint[r * columns + f] = {value * x.x, value * x.y};
        }
        sum += total;
    }
    __shared__ double warps[32];
#pragma unroll
    for (int step = 16; step; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; w++) sum += warps[w];
        atomicAdd(out, sum);
    }
}
