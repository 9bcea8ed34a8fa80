// One circuit on a large sector. The state is psi[row][column], one row a sample subset, columns contiguous. N (samples),
// K (their budget), D (features), COLUMNS, THREADS and RESIDENT (blocks on a
// multiprocessor), EDGES (of a feature hypercube) and COLUMN_THREADS are compiled in.

constexpr int PER_THREAD = (COLUMNS + THREADS - 1) / THREADS;

// Sum over the block; every thread must call it.
__device__ void block_add(double value, double* target) {
    __shared__ double warps[32];
#pragma unroll
    for (int step = WARP / 2; step; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
    __syncthreads();
    if (threadIdx.x % WARP == 0) warps[threadIdx.x / WARP] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < (blockDim.x + WARP - 1) / WARP; w++) value += warps[w];
        atomicAdd(target, value);
    }
}

// ---- Sample register: a block takes one hypercube of rows, a thread one column of it; nothing but registers in between.

// The rows of a block's hypercube. They are volatile so that they are read again for the stores: 64 addresses kept in
// registers would leave room for too few threads.
template <int P> struct Rows {
    const volatile int* row;
    __device__ __forceinline__ Rows(const int* cube, int* shared) : row(shared) {
        for (int v = threadIdx.x; v < (1 << P); v += COLUMN_THREADS) shared[v] = cube[v];
        __syncthreads();
    }
    __device__ __forceinline__ long long operator[](int v) const { return (long long)row[v] * COLUMNS; }
};

constexpr int sample_blocks(int p) { return p == 6 ? 3 : p == 5 ? 5 : 8; }  // on a multiprocessor

template <int P>
__global__ void __launch_bounds__(COLUMN_THREADS, sample_blocks(P)) sample_stage(
    c64* __restrict__ psi, int blocks, const int* __restrict__ cubes, float c, float t) {
    __shared__ int shared[1 << P];
    const Rows<P> rows(cubes + ((long long)(blockIdx.x / blocks) << P), shared);
    const int column = blockIdx.x % blocks * COLUMN_THREADS + threadIdx.x;
    if (column >= COLUMNS) return;
    c64 x[1 << P];
#pragma unroll
    for (int v = 0; v < (1 << P); v++) x[v] = psi[rows[v] + column];
    rotate<P>(x, c, t);
#pragma unroll
    for (int v = 0; v < (1 << P); v++) psi[rows[v] + column] = x[v];
}

// A layer's table of phases in turns, (N + 1, COLUMNS), from those of its pairs and, last, its features, (N + 1, D).
// `features_of` lists the features of every column, (chosen, COLUMNS).
extern "C" __global__ void fill_turns(
    float* __restrict__ turns, const double* __restrict__ phases, const unsigned short* __restrict__ features_of, int chosen) {
    const int entry = blockIdx.x * blockDim.x + threadIdx.x, item = entry / COLUMNS, column = entry % COLUMNS;
    if (item > N) return;
    double sum = 0.0;
    for (int j = 0; j < chosen; j++) sum += __ldg(phases + item * D + __ldg(features_of + j * COLUMNS + column));
    turns[entry] = (float)(sum - rint(sum));
}

// A stage after a layer's phases. Their table `turns` (N + 1, COLUMNS) holds what each sample adds for every column and,
// last, what the column adds by itself. `samples` lists for each hypercube the K + P samples that its phases are made of,
// two to a word: those that move, those that stay, and where the first ones move to.
template <int P>
__global__ void __launch_bounds__(COLUMN_THREADS, sample_blocks(P)) sample_phase(
    c64* __restrict__ psi, float uniform, int blocks, const int* __restrict__ cubes, const unsigned int* __restrict__ samples,
    const float* __restrict__ turns, float c, float t) {
    constexpr int WORDS = (K + P + 1) / 2, TOGETHER = 3;  // factors are made for so many edges at once
    const long long cube = blockIdx.x / blocks;
    __shared__ int shared[1 << P];
    const Rows<P> rows(cubes + (cube << P), shared);
    const int column = blockIdx.x % blocks * COLUMN_THREADS + threadIdx.x;
    if (column >= COLUMNS) return;
    c64 x[1 << P];
#pragma unroll
    for (int v = 0; v < (1 << P); v++) x[v] = uniform > 0.f ? c64{uniform, 0.f} : psi[rows[v] + column];
    const float* items = turns + column;
    float all = __ldg(items + N * COLUMNS), moved[P ? P : 1];
    int sample[2 * WORDS];
#pragma unroll
    for (int q = 0; q < WORDS; q++) {
        const unsigned int word = __ldg(samples + cube * WORDS + q);
        sample[2 * q] = word & 0xffff, sample[2 * q + 1] = word >> 16;
    }
#pragma unroll
    for (int s = 0; s < K; s++) {
        const float own = __ldg(items + sample[s] * COLUMNS);
        all += own;
        if (s < P) moved[s] = __ldg(items + sample[K + s] * COLUMNS) - own;
    }
#pragma unroll
    for (int first = 0; first == 0 || first < P; first += TOGETHER) {
        c64 w[1 << TOGETHER];
        w[0] = first ? c64{1.f, 0.f} : phase_of(all);
#pragma unroll
        for (int e = 0; e < TOGETHER; e++)
            if (first + e < P) {
                const c64 move = phase_of(moved[first + e]);
#pragma unroll
                for (int v = 0; v < (1 << e); v++) w[v | 1 << e] = times(w[v], move);
            }
#pragma unroll
        for (int v = 0; v < (1 << P); v++) {
            const int factor = v >> first & ((1 << TOGETHER) - 1);
            if (first == 0 || factor) x[v] = times(x[v], w[factor]);
        }
    }
    rotate<P>(x, c, t);
#pragma unroll
    for (int v = 0; v < (1 << P); v++) psi[rows[v] + column] = x[v];
}

template <int P>
__global__ void sample_stage_back(
    c64* __restrict__ psi, c64* __restrict__ adjoint, int blocks, const int* __restrict__ cubes, float c, float t, double* out) {
    const long long cube = blockIdx.x / blocks;
    const int column = blockIdx.x % blocks * COLUMN_THREADS + threadIdx.x;
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

// ---- Rows come in groups that differ in their smallest sample only.

struct Groups {
    const int2* rows;                // first row and number of rows
    const unsigned short* rest;      // the other K - 1 samples
    const unsigned short* smallest;  // of every row
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

// kind 0: the energy; 1: whether it is at most the threshold; 2: its part below the threshold.
__device__ __forceinline__ float observed(float energy, int kind, float threshold) {
    return kind == 0 ? energy : kind == 1 ? (energy <= threshold ? 1.f : 0.f) : fminf(energy - threshold, 0.f);
}

struct Goal {
    const float* energies;  // a table like that of the phases
    int kind;
    float threshold;
};

// Feature mixing of rows in shared memory. PHASE: followed by the next layer's phase and feature mixing. OBSERVE: the last
// pass of a circuit, which takes the expectation value and writes no state.
template <bool PHASE, bool OBSERVE>
__global__ void __launch_bounds__(THREADS, RESIDENT) feature_pass(
    c64* __restrict__ psi, Groups groups, Tables features, float c, float t, const float* __restrict__ turns, float next_c,
    float next_t, Goal goal, double* out) {
    extern __shared__ c64 row[];
    float part[PER_THREAD];
    double sum = 0.0;
    for (int g = blockIdx.x; g < groups.count; g += gridDim.x) {
        const int2 rows = groups.rows[g];
        const unsigned short* rest = groups.rest + (long long)g * (K - 1);
        if (PHASE) shared_part(turns, rest, part);
        if (OBSERVE) shared_part(goal.energies, rest, part);
        float total = 0.f;
        for (int r = rows.x; r < rows.x + rows.y; r++) {
            const int smallest = groups.smallest[r];
            c64* line = psi + (long long)r * COLUMNS;
#pragma unroll
            for (int i = 0; i < PER_THREAD; i++) {
                const int f = threadIdx.x + i * THREADS;
                if (f < COLUMNS) row[f] = line[f];
            }
            __syncthreads();
            mix<EDGES, 1, 1, 0>(row, features, c, t);
            if (PHASE) {
#pragma unroll
                for (int i = 0; i < PER_THREAD; i++) {
                    const int f = threadIdx.x + i * THREADS;
                    if (f < COLUMNS) row[f] = times(row[f], phase_of(part[i] + __ldg(turns + smallest * COLUMNS + f)));
                }
                __syncthreads();
                mix<EDGES, 1, 1, 0>(row, features, next_c, next_t);
            }
#pragma unroll
            for (int i = 0; i < PER_THREAD; i++) {
                const int f = threadIdx.x + i * THREADS;
                if (f < COLUMNS && OBSERVE) {
                    const c64 x = row[f];
                    const float energy = part[i] + __ldg(goal.energies + smallest * COLUMNS + f);
                    total += observed(energy, goal.kind, goal.threshold) * (x.x * x.x + x.y * x.y);
                }
                if (f < COLUMNS && !OBSERVE) line[f] = row[f];
            }
            __syncthreads();
        }
        sum += total;
    }
    if (OBSERVE) block_add(sum, out);
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) feature_pass_back(
    c64* __restrict__ psi, c64* __restrict__ adjoint, Groups groups, const float* __restrict__ turns,
    const unsigned short* __restrict__ columns_with, const int* __restrict__ with_each, Tables features, float c, float t, double* mixing, double* pair) {
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
        for (int r = rows.x; r < rows.x + rows.y; r++) {
            const int smallest = groups.smallest[r];
            const long long begin = (long long)r * COLUMNS;
            for (int f = threadIdx.x; f < COLUMNS; f += THREADS) {
                row[f] = psi[begin + f];
                other[f] = adjoint[begin + f];
            }
            __syncthreads();
            derivative += unmix<EDGES, 1, 1, 0>(row, other, features, c, t);
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
            for (int j = threadIdx.x / WARP; j < D; j += THREADS / WARP) {  // a warp sums the columns that hold feature j
                float sum = 0.f;
                for (int e = with_each[j] + threadIdx.x % WARP; e < with_each[j + 1]; e += WARP)
                    sum += current_of[__ldg(columns_with + e)];
                sum = warp_sum(sum);
                if (threadIdx.x % WARP == 0) by_feature[j] = sum;
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

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) observe(
    const c64* __restrict__ psi, c64* __restrict__ adjoint, Groups groups, Goal goal, int with_adjoint, double* out) {
    double sum = 0.0;
    float part[PER_THREAD];
    for (int g = blockIdx.x; g < groups.count; g += gridDim.x) {
        const int2 rows = groups.rows[g];
        shared_part(goal.energies, groups.rest + (long long)g * (K - 1), part);
        float total = 0.f;
        for (int r = rows.x; r < rows.x + rows.y; r++) {
            const int smallest = groups.smallest[r];
            const long long begin = (long long)r * COLUMNS;
#pragma unroll
            for (int i = 0; i < PER_THREAD; i++) {
                const int f = threadIdx.x + i * THREADS;
                if (f < COLUMNS) {
                    const float energy = part[i] + __ldg(goal.energies + smallest * COLUMNS + f);
                    const float value = observed(energy, goal.kind, goal.threshold);
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
