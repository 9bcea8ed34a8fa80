// Many circuits of one small sector at once: one block runs a whole circuit. Compiled in: N and K (samples and their
// budget), ROWS, COLUMNS, STRIDE (odd, so that walking down a column meets every bank), GROUPS (of cost terms), THREADS and
// BLOCKS (on a multiprocessor). A state that fits stays in shared memory (CHUNK = ROWS); otherwise it lives in a slot of
// device memory, and CHUNK rows at a time are brought in for their feature mixing.
// SHORT_ROWS: `mix_row`, generated for the mixer, does the features of a row in registers.
//
// A basis start is an eigenstate of the first phase, and mixing keeps a product of the two registers: the state after the
// first layer is sample vector x feature vector, and that layer is not run (PRODUCT). An observable with few values beside
// zero (HITS of them) is a sum over basis states; pulled back through the last mixing they are products too, and the last
// mixing is not run either. Both kinds of vectors, with their derivatives by beta, come from `register_vectors`.

constexpr bool WHOLE = CHUNK == ROWS;
constexpr int SIZE = ROWS * STRIDE, WARPS = (THREADS + WARP - 1) / WARP, VECTOR = ROWS + COLUMNS;
constexpr int UNROLLED = GROUPS <= 8 ? GROUPS : 1;  // sums over more groups go to local memory
enum { UNIFORM, GIVEN, PRODUCT, STATE };  // what a phase meets

#define FOR_EACH_CELL(COUNT)                                                                                      \
    for (int u = threadIdx.x, row, column, at; u < (COUNT) * COLUMNS &&                                           \
         (row = u / COLUMNS, column = u - row * COLUMNS, at = row * STRIDE + column, true); u += THREADS)

// Stage 0 of the sample mixer, with which the phases go: for P = 0..3 its hypercubes, and for each the K + P samples that
// its phases are made of, two to a word: those that move, those that stay, and where the first ones move to.
struct PhaseCubes {
    const unsigned short* cubes;
    const unsigned int* samples;
    const int4* spans;  // for each P: where cubes begin, how many, where their samples begin
};

struct Job {
    PhaseCubes first;
    Tables samples, features;  // all stages
    const float* terms;        // (GROUPS, N, COLUMNS): what a sample adds to each group's phase, for every column
    const float* angles;       // (batch, depth, GROUPS + 1): gammas in turns, beta
    const c64* start;          // (ROWS, COLUMNS), where it is GIVEN
    const c64* vectors;        // (batch, 1 + HITS, value and derivative, VECTOR)
    const float* weights;      // of the hits
    const float* values;       // the observable, or the energies for CVaR, (ROWS, COLUMNS)
    const int* order;          // cells by rising energy, for CVaR: entry j of thread t at j * THREADS + t; -1 for none
    c64* slots;                // states that do not fit into shared memory
    float* items;              // phases of single samples, likewise
    float* sums;               // (blocks, WARPS, results)
    double* out;               // (batch, results): value; for each layer derivatives by gammas and beta
    int depth, batch;
};

__device__ __forceinline__ float2 rotation(float beta) {  // cos beta and tan beta, kept finite at pi/2
    float s, c;
    sincosf(beta, &s, &c);
    if (fabsf(c) < 1e-6f) c = copysignf(1e-6f, c);
    return {c, s / c};
}

__device__ __forceinline__ c64 conj(c64 a) { return {a.x, -a.y}; }
__device__ __forceinline__ void add_product(c64& sum, c64 a, c64 b) {
    sum.x += a.x * b.x - a.y * b.y;
    sum.y += a.x * b.y + a.y * b.x;
}
__device__ __forceinline__ c64 fetch(const c64* place) {
    const float2 z = __ldg((const float2*)place);
    return {z.x, z.y};
}

// ---- The sum over a block, for every thread. `scratch` holds COUNT floats a warp.

template <int COUNT> __device__ __forceinline__ void block_sums(float* value, float* scratch) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const float sum = warp_sum(value[i]);
        if (threadIdx.x % WARP == 0) scratch[threadIdx.x / WARP * COUNT + i] = sum;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        value[i] = 0.f;
        for (int w = 0; w < WARPS; w++) value[i] += scratch[w * COUNT + i];
    }
}

// ---- A hypercube with its phases

template <int P> struct Cube {
    static constexpr int WORDS = (K + P + 1) / 2;
    int at[1 << P], sample[2 * WORDS];

    __device__ __forceinline__ Cube(PhaseCubes cubes, int4 span, int number) {
        members<P>(cubes.cubes + span.x + (number << P), at);
        const unsigned int* words = cubes.samples + span.z + number * WORDS;
#pragma unroll
        for (int q = 0; q < WORDS; q++) {
            const unsigned int word = __ldg(words + q);
            sample[2 * q] = word & 0xffff, sample[2 * q + 1] = word >> 16;
        }
    }

    // Phase factors of all members, times a scale; items are what single samples add, in turns.
    __device__ __forceinline__ void factors(const float* items, c64* w, float scale = 1.f) const {
        float all = 0.f, own[P ? P : 1];
#pragma unroll
        for (int s = 0; s < K; s++) {
            const float turns = items[sample[s] * COLUMNS];
            if (s < P) own[s] = turns;
            all += turns;
        }
        w[0] = phase_of(all);
        w[0] = {scale * w[0].x, scale * w[0].y};
#pragma unroll
        for (int e = 0; e < P; e++) {
            const c64 move = phase_of(items[sample[K + e] * COLUMNS] - own[e]);
#pragma unroll
            for (int v = 0; v < (1 << e); v++) w[v | 1 << e] = times(w[v], move);
        }
    }

    // Adds this cube's sum of q times each group's value.
    __device__ __forceinline__ void add_groups(const float* q, const float* terms, float* by_group) const {
        float all = 0.f, moved[P ? P : 1];
#pragma unroll
        for (int e = 0; e < P; e++) moved[e] = 0.f;
#pragma unroll
        for (int v = 0; v < (1 << P); v++) {
            all += q[v];
#pragma unroll
            for (int e = 0; e < P; e++)
                if (v >> e & 1) moved[e] += q[v];
        }
#pragma unroll(UNROLLED)
        for (int g = 0; g < GROUPS; g++) {
            const float* term = terms + g * N * COLUMNS;
            float corner = 0.f, sum = 0.f;
#pragma unroll
            for (int s = 0; s < K; s++) {
                const float own = __ldg(term + sample[s] * COLUMNS);
                corner += own;
                if (s < P) sum += moved[s] * (__ldg(term + sample[K + s] * COLUMNS) - own);
            }
            by_group[g] += sum + all * corner;
        }
    }
};

// What the circuit starts from, for one block.
struct Begin {
    const c64* given;
    const c64 *vector, *slope;  // product of the registers' vectors, and their derivatives
    float uniform;
};

template <int P, int FROM>
__device__ __forceinline__ void load(const Cube<P>& cube, const c64* state, const Begin& begin, int column, c64* z) {
    c64 lane = {0.f, 0.f};
    if (FROM == PRODUCT) lane = fetch(begin.vector + ROWS + column);
#pragma unroll
    for (int v = 0; v < (1 << P); v++) {
        if (FROM == STATE) z[v] = state[cube.at[v] * STRIDE + column];
        if (FROM == UNIFORM) z[v] = {begin.uniform, 0.f};
        if (FROM == GIVEN) z[v] = fetch(begin.given + cube.at[v] * COLUMNS + column);
        if (FROM == PRODUCT) z[v] = times(fetch(begin.vector + cube.at[v]), lane);
    }
}

// Phase and stage 0.
template <int P, int FROM>
__device__ __forceinline__ void phase_some(c64* state, const Begin& begin, PhaseCubes cubes, const float* items, float2 turn, Lots& lots) {
    const int4 span = __ldg(cubes.spans + P);
    for (int u = lots.first(span.y * COLUMNS); u < span.y * COLUMNS; u += THREADS) {
        const int number = u / COLUMNS, column = u - number * COLUMNS;
        const Cube<P> cube(cubes, span, number);
        c64 z[1 << P], w[1 << P];
        load<P, FROM>(cube, state, begin, column, z);
        cube.factors(items + column, w, power<P>(turn.x));
#pragma unroll
        for (int v = 0; v < (1 << P); v++) z[v] = times(z[v], w[v]);
        rotate_unscaled<P>(z, turn.y);
#pragma unroll
        for (int v = 0; v < (1 << P); v++) state[cube.at[v] * STRIDE + column] = z[v];
    }
}

template <int FROM>
__device__ __forceinline__ void phase_stage(c64* state, const Begin& begin, PhaseCubes cubes, const float* items, float2 turn) {
    Lots lots;
    phase_some<3, FROM>(state, begin, cubes, items, turn, lots);
    phase_some<2, FROM>(state, begin, cubes, items, turn, lots);
    phase_some<1, FROM>(state, begin, cubes, items, turn, lots);
    phase_some<0, FROM>(state, begin, cubes, items, turn, lots);
    __syncthreads();
}

// Adds <y| d/dbeta of the product that the circuit went on from, without its factor 2.
template <int P>
__device__ __forceinline__ void add_begin_slope(const Cube<P>& cube, const Begin& begin, int column, const c64* y, float& sum) {
    c64 by_value = {0.f, 0.f}, by_slope = {0.f, 0.f};
#pragma unroll
    for (int v = 0; v < (1 << P); v++) {
        add_product(by_value, conj(y[v]), fetch(begin.vector + cube.at[v]));
        add_product(by_slope, conj(y[v]), fetch(begin.slope + cube.at[v]));
    }
    const c64 value = fetch(begin.vector + ROWS + column), slope = fetch(begin.slope + ROWS + column);
    sum += by_slope.x * value.x - by_slope.y * value.y + by_value.x * slope.x - by_value.y * slope.y;
}

// Undoes phase and stage 0 of state and adjoint, and takes the derivatives. LAST: nothing follows.
template <int P, int START, bool LAST>
__device__ __forceinline__ void unphase_some(
    c64* state, c64* adjoint, const Begin& begin, PhaseCubes cubes, const float* items, const float* terms, float2 turn,
    float* by_group, float& by_beta, float& by_first, Lots& lots) {
    const int4 span = __ldg(cubes.spans + P);
    for (int u = lots.first(span.y * COLUMNS); u < span.y * COLUMNS; u += THREADS) {
        const int number = u / COLUMNS, column = u - number * COLUMNS;
        const Cube<P> cube(cubes, span, number);
        c64 x[1 << P], y[1 << P];
        load<P, STATE>(cube, state, begin, column, x);
        load<P, STATE>(cube, adjoint, begin, column, y);
        by_beta += current<P>(y, x);
        rotate_unscaled<P>(x, -turn.y);
        rotate_unscaled<P>(y, -turn.y);
        const float scale = power<P>(turn.x), square = scale * scale;
        float q[1 << P];
#pragma unroll
        for (int v = 0; v < (1 << P); v++) q[v] = square * (y[v].x * x[v].y - y[v].y * x[v].x);
        cube.add_groups(q, terms + column, by_group);
        if (LAST && START != PRODUCT) continue;
        c64 w[1 << P];
        cube.factors(items + column, w, scale);
#pragma unroll
        for (int v = 0; v < (1 << P); v++) {
            y[v] = times(y[v], conj(w[v]));
            if (!LAST) {
                state[cube.at[v] * STRIDE + column] = times(x[v], conj(w[v]));
                adjoint[cube.at[v] * STRIDE + column] = y[v];
            }
        }
        if (LAST) add_begin_slope<P>(cube, begin, column, y, by_first);
    }
}

template <int START, bool LAST>
__device__ __forceinline__ void unphase_stage(
    c64* state, c64* adjoint, const Begin& begin, PhaseCubes cubes, const float* items, const float* terms, float2 turn,
    float* by_group, float& by_beta, float& by_first) {
    Lots lots;
    unphase_some<3, START, LAST>(state, adjoint, begin, cubes, items, terms, turn, by_group, by_beta, by_first, lots);
    unphase_some<2, START, LAST>(state, adjoint, begin, cubes, items, terms, turn, by_group, by_beta, by_first, lots);
    unphase_some<1, START, LAST>(state, adjoint, begin, cubes, items, terms, turn, by_group, by_beta, by_first, lots);
    unphase_some<0, START, LAST>(state, adjoint, begin, cubes, items, terms, turn, by_group, by_beta, by_first, lots);
    __syncthreads();
}

// ---- Few hits: the last layer is its phase alone, and then <hits pulled back|

// Adds <hit|state> to found[4 h], found[4 h + 1], and the same by the last beta to the next two.
template <int P, int FROM, int HITS, bool GRADIENT>
__device__ __forceinline__ void meet_some(
    const c64* state, const Begin& begin, PhaseCubes cubes, const float* items, const c64* hits, float* found,
    Lots& lots) {
    const int4 span = __ldg(cubes.spans + P);
    for (int u = lots.first(span.y * COLUMNS); u < span.y * COLUMNS; u += THREADS) {
        const int number = u / COLUMNS, column = u - number * COLUMNS;
        const Cube<P> cube(cubes, span, number);
        c64 z[1 << P], w[1 << P];
        load<P, FROM>(cube, state, begin, column, z);
        cube.factors(items + column, w);
#pragma unroll
        for (int v = 0; v < (1 << P); v++) z[v] = times(z[v], w[v]);
#pragma unroll
        for (int h = 0; h < HITS; h++) {
            const c64 *value = hits + 2 * h * VECTOR, *slope = value + VECTOR;
            c64 by_value = {0.f, 0.f}, by_slope = {0.f, 0.f};
#pragma unroll
            for (int v = 0; v < (1 << P); v++) {
                add_product(by_value, conj(fetch(value + cube.at[v])), z[v]);
                if (GRADIENT) add_product(by_slope, conj(fetch(slope + cube.at[v])), z[v]);
            }
            const c64 lane = conj(fetch(value + ROWS + column));
            const c64 amplitude = times(lane, by_value);
            found[4 * h] += amplitude.x, found[4 * h + 1] += amplitude.y;
            if (GRADIENT) {
                c64 change = times(lane, by_slope);
                add_product(change, conj(fetch(slope + ROWS + column)), by_value);
                found[4 * h + 2] += change.x, found[4 * h + 3] += change.y;
            }
        }
    }
}

// Forms the adjoint, takes the derivatives by the last gammas and undoes the phase; `state` is the one before it.
template <int P, int FROM, int HITS>
__device__ __forceinline__ void part_some(
    c64* state, c64* adjoint, const Begin& begin, PhaseCubes cubes, const float* items, const float* terms, const c64* hits,
    const c64* amplitude, float* by_group, float& by_first, Lots& lots) {
    const int4 span = __ldg(cubes.spans + P);
    for (int u = lots.first(span.y * COLUMNS); u < span.y * COLUMNS; u += THREADS) {
        const int number = u / COLUMNS, column = u - number * COLUMNS;
        const Cube<P> cube(cubes, span, number);
        c64 x[1 << P], y[1 << P], w[1 << P];
        load<P, FROM>(cube, state, begin, column, x);
        cube.factors(items + column, w);
#pragma unroll
        for (int v = 0; v < (1 << P); v++) y[v] = {0.f, 0.f};
#pragma unroll
        for (int h = 0; h < HITS; h++) {
            const c64* value = hits + 2 * h * VECTOR;
            const c64 lane = times(amplitude[h], fetch(value + ROWS + column));
#pragma unroll
            for (int v = 0; v < (1 << P); v++) add_product(y[v], lane, fetch(value + cube.at[v]));
        }
        float q[1 << P];
#pragma unroll
        for (int v = 0; v < (1 << P); v++) {
            y[v] = times(y[v], conj(w[v]));
            q[v] = y[v].x * x[v].y - y[v].y * x[v].x;
            if (FROM != PRODUCT) adjoint[cube.at[v] * STRIDE + column] = y[v];
        }
        cube.add_groups(q, terms + column, by_group);
        if (FROM == PRODUCT) add_begin_slope<P>(cube, begin, column, y, by_first);
    }
}

template <int FROM, int HITS, bool GRADIENT>
__device__ __forceinline__ void meet(
    const c64* state, const Begin& begin, PhaseCubes cubes, const float* items, const c64* hits, float* found) {
    Lots lots;
    meet_some<3, FROM, HITS, GRADIENT>(state, begin, cubes, items, hits, found, lots);
    meet_some<2, FROM, HITS, GRADIENT>(state, begin, cubes, items, hits, found, lots);
    meet_some<1, FROM, HITS, GRADIENT>(state, begin, cubes, items, hits, found, lots);
    meet_some<0, FROM, HITS, GRADIENT>(state, begin, cubes, items, hits, found, lots);
}

template <int FROM, int HITS>
__device__ __forceinline__ void part(
    c64* state, c64* adjoint, const Begin& begin, PhaseCubes cubes, const float* items, const float* terms, const c64* hits,
    const c64* amplitude, float* by_group, float& by_first) {
    Lots lots;
    part_some<3, FROM, HITS>(state, adjoint, begin, cubes, items, terms, hits, amplitude, by_group, by_first, lots);
    part_some<2, FROM, HITS>(state, adjoint, begin, cubes, items, terms, hits, amplitude, by_group, by_first, lots);
    part_some<1, FROM, HITS>(state, adjoint, begin, cubes, items, terms, hits, amplitude, by_group, by_first, lots);
    part_some<0, FROM, HITS>(state, adjoint, begin, cubes, items, terms, hits, amplitude, by_group, by_first, lots);
    __syncthreads();
}

// ---- CVaR: the energy up to which the lowest energies hold `share` of all probability.

__device__ __forceinline__ float probability(const c64* state, int cell) {
    const c64 z = state[cell / COLUMNS * STRIDE + cell % COLUMNS];
    return z.x * z.x + z.y * z.y;
}

__device__ float quantile(const c64* state, const int* order, const float* energies, float share, float* scratch) {
    constexpr int EACH = (ROWS * COLUMNS + THREADS - 1) / THREADS;
    float own = 0.f;
    for (int j = 0; j < EACH; j++) {
        const int cell = __ldg(order + j * THREADS + threadIdx.x);
        if (cell >= 0) own += probability(state, cell);
    }
    float before = own;  // up to and with this thread's cells, in its warp
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const float lower = __shfl_up_sync(0xffffffffu, before, step);
        if (threadIdx.x % WARP >= step) before += lower;
    }
    __syncthreads();
    if (threadIdx.x % WARP == WARP - 1) scratch[threadIdx.x / WARP] = before;
    if (threadIdx.x == THREADS - 1) scratch[WARPS] = -1.f;  // nobody has found it yet
    __syncthreads();
    float total = 0.f, warps_before = 0.f;
    for (int w = 0; w < WARPS; w++) {
        if (w == threadIdx.x / WARP) warps_before = total;
        total += scratch[w];
    }
    before += warps_before - own;
    const float wanted = share * total;
    if (before < wanted && wanted <= before + own)
        for (int j = 0; j < EACH; j++) {
            const int cell = __ldg(order + j * THREADS + threadIdx.x);
            if (cell < 0) break;
            before += probability(state, cell);
            if (before >= wanted || j == EACH - 1) {
                scratch[WARPS] = 1.f, scratch[WARPS + 1] = __ldg(energies + cell);
                break;
            }
        }
    __syncthreads();
    if (scratch[WARPS] > 0.f) return scratch[WARPS + 1];
    float most = -3.4e38f;  // rounding: all of the distribution
    for (int cell = threadIdx.x; cell < ROWS * COLUMNS; cell += THREADS) most = fmaxf(most, __ldg(energies + cell));
#pragma unroll
    for (int step = WARP / 2; step; step >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
    if (threadIdx.x % WARP == 0) scratch[threadIdx.x / WARP] = most;
    __syncthreads();
    for (int w = 0; w < WARPS; w++) most = fmaxf(most, scratch[w]);
    return most;
}

// ---- Mixing beside stage 0

__device__ __forceinline__ Tables without_first(Tables tables) {
    return tables.stages ? Tables{tables.cubes, tables.spans + 4, tables.stages - 1} : tables;
}

__device__ __forceinline__ void mix_features(c64* state, c64* tile, Tables features, float2 turn) {
#ifdef SHORT_ROWS  // a thread has a whole row in registers, and `mix_row` knows the mixer by heart
    if constexpr (WHOLE) {
        for (int row = threadIdx.x; row < ROWS; row += THREADS) {
            c64 x[COLUMNS];
#pragma unroll
            for (int f = 0; f < COLUMNS; f++) x[f] = state[row * STRIDE + f];
            mix_row(x, turn.x, turn.y);
#pragma unroll
            for (int f = 0; f < COLUMNS; f++) state[row * STRIDE + f] = x[f];
        }
        __syncthreads();
        return;
    }
#endif
    for (int first = 0; first < ROWS; first += CHUNK) {
        const int rows = min(CHUNK, ROWS - first);
        if (!WHOLE) {
            FOR_EACH_CELL(rows) tile[at] = state[first * STRIDE + at];
            __syncthreads();
        }
        mix<3, CHUNK, 1, STRIDE>(tile, features, turn.x, turn.y);
        if (!WHOLE) {
            FOR_EACH_CELL(rows) state[first * STRIDE + at] = tile[at];
            __syncthreads();
        }
    }
}

__device__ __forceinline__ float unmix_features(c64* state, c64* adjoint, c64* tile, c64* other, Tables features, float2 turn) {
    float by_beta = 0.f;
    for (int first = 0; first < ROWS; first += CHUNK) {
        const int rows = min(CHUNK, ROWS - first);
        if (!WHOLE) {
            FOR_EACH_CELL(CHUNK) {  // a last chunk is filled up with zeros
                tile[at] = row < rows ? state[first * STRIDE + at] : c64{0.f, 0.f};
                other[at] = row < rows ? adjoint[first * STRIDE + at] : c64{0.f, 0.f};
            }
            __syncthreads();
        }
        by_beta += unmix<3, CHUNK, 1, STRIDE>(tile, other, features, turn.x, turn.y);
        if (!WHOLE) {
            FOR_EACH_CELL(rows) state[first * STRIDE + at] = tile[at], adjoint[first * STRIDE + at] = other[at];
            __syncthreads();
        }
    }
    return by_beta;
}

// What each sample adds to the phase of a layer for every column, in turns.
__device__ __forceinline__ void fill_items(float* items, const float* terms, const float* gammas) {
    for (int e = threadIdx.x; e < N * COLUMNS; e += THREADS) {
        float turns = 0.f;
#pragma unroll(UNROLLED)
        for (int g = 0; g < GROUPS; g++) turns += __ldg(gammas + g) * __ldg(terms + g * N * COLUMNS + e);
        items[e] = turns - rintf(turns);
    }
}

// START is UNIFORM, GIVEN or PRODUCT; HITS is 0 where the observable is dense. `share` > 0: CVaR.
template <int START, int HITS, bool GRADIENT>
__global__ void __launch_bounds__(THREADS, BLOCKS) run_batch(Job job, float share) {
    extern __shared__ c64 tile[];
    __shared__ float scratch[WARPS * (HITS ? 4 * HITS : 1) + 2];
    constexpr int FIRST = START == PRODUCT ? 1 : 0;
    const int depth = job.depth, last = HITS ? depth - 1 : depth, results = GRADIENT ? 1 + (GROUPS + 1) * depth : 1;
    c64* other = tile + CHUNK * STRIDE;
    c64* state = WHOLE ? tile : job.slots + (long long)blockIdx.x * (GRADIENT ? 2 : 1) * SIZE;
    c64* adjoint = WHOLE ? other : state + SIZE;
    float* items = WHOLE ? (float*)(tile + (GRADIENT ? 2 : 1) * SIZE) : job.items + (long long)blockIdx.x * N * COLUMNS;
    float* sums = job.sums + (long long)blockIdx.x * WARPS * results;
    const Tables rest = without_first(job.samples);
    for (int b = blockIdx.x; b < job.batch; b += gridDim.x) {
        const float* angles = job.angles + (long long)b * depth * (GROUPS + 1);
        const c64* vectors = job.vectors + (long long)b * 2 * (1 + HITS) * VECTOR;
        const c64* hits = vectors + 2 * VECTOR;
        const Begin begin = {job.start, vectors, vectors + VECTOR, rsqrtf((float)ROWS * COLUMNS)};
        auto keep = [&](int place, float value) {  // one result's sum over the warp
            const float sum = warp_sum(value);
            if (threadIdx.x % WARP == 0) sums[threadIdx.x / WARP * results + place] = sum;
        };
        auto keep_layer = [&](int layer, const float* by_group, float by_beta) {
            for (int g = 0; g < GROUPS; g++) keep(1 + (GROUPS + 1) * layer + g, -2.f * by_group[g]);
            keep(1 + (GROUPS + 1) * layer + GROUPS, 2.f * by_beta);
        };
        if (FIRST < depth) fill_items(items, job.terms, angles + FIRST * (GROUPS + 1));
        __syncthreads();
        for (int layer = FIRST; layer < last; layer++) {
            const float2 turn = rotation(__ldg(angles + layer * (GROUPS + 1) + GROUPS));
            if (layer == FIRST)
                phase_stage<START>(state, begin, job.first, items, turn);
            else
                phase_stage<STATE>(state, begin, job.first, items, turn);
            if (layer + 1 < depth) fill_items(items, job.terms, angles + (layer + 1) * (GROUPS + 1));
            mix<3, COLUMNS, STRIDE, 1>(state, rest, turn.x, turn.y);
            mix_features(state, tile, job.features, turn);
            __syncthreads();
        }
        float value = 0.f, by_first = 0.f;
        if constexpr (HITS > 0) {
            float found[4 * HITS] = {};
            if (START == PRODUCT && last == FIRST)
                meet<PRODUCT, HITS, GRADIENT>(state, begin, job.first, items, hits, found);
            else
                meet<STATE, HITS, GRADIENT>(state, begin, job.first, items, hits, found);
            block_sums<4 * HITS>(found, scratch);
            c64 amplitude[HITS];
            float by_last = 0.f;
#pragma unroll
            for (int h = 0; h < HITS; h++) {
                const float weight = __ldg(job.weights + h);
                amplitude[h] = {weight * found[4 * h], weight * found[4 * h + 1]};
                value += amplitude[h].x * found[4 * h] + amplitude[h].y * found[4 * h + 1];
                by_last += amplitude[h].x * found[4 * h + 2] + amplitude[h].y * found[4 * h + 3];
            }
            if (threadIdx.x) value = by_last = 0.f;  // every thread has them whole
            if constexpr (GRADIENT) {
                float by_group[GROUPS] = {};
                if (START == PRODUCT && last == FIRST)
                    part<PRODUCT, HITS>(state, adjoint, begin, job.first, items, job.terms, hits, amplitude, by_group, by_first);
                else
                    part<STATE, HITS>(state, adjoint, begin, job.first, items, job.terms, hits, amplitude, by_group, by_first);
                keep_layer(last, by_group, by_last);
            }
        } else {
            if (START == PRODUCT && depth == 1) {
                FOR_EACH_CELL(ROWS) state[at] = times(fetch(begin.vector + row), fetch(begin.vector + ROWS + column));
                __syncthreads();
            }
            const float lowest = share > 0.f ? quantile(state, job.order, job.values, share, scratch) : 0.f;
            FOR_EACH_CELL(ROWS) {
                float observed = __ldg(job.values + u);
                if (share > 0.f) observed = fminf(observed - lowest, 0.f) / share;
                const c64 x = state[at];
                value += observed * (x.x * x.x + x.y * x.y);
                if (GRADIENT) {
                    const c64 y = {observed * x.x, observed * x.y};
                    adjoint[at] = y;
                    if (START == PRODUCT && depth == 1) {
                        const c64 rows = fetch(begin.vector + row), columns = fetch(begin.vector + ROWS + column);
                        c64 slope = times(fetch(begin.slope + row), columns);
                        add_product(slope, rows, fetch(begin.slope + ROWS + column));
                        by_first += y.x * slope.x + y.y * slope.y;
                    }
                }
            }
            if (threadIdx.x == 0) value += lowest;
            __syncthreads();
        }
        keep(0, value);
        if constexpr (GRADIENT) {
            for (int layer = last - 1; layer >= FIRST; layer--) {
                const float2 turn = rotation(__ldg(angles + layer * (GROUPS + 1) + GROUPS));
                if (layer < depth - 1) fill_items(items, job.terms, angles + layer * (GROUPS + 1));
                float by_group[GROUPS] = {};
                float by_beta = unmix_features(state, adjoint, tile, other, job.features, turn);
                by_beta += unmix<3, COLUMNS, STRIDE, 1>(state, adjoint, rest, turn.x, turn.y);
                __syncthreads();
                if (layer == FIRST)
                    unphase_stage<START, true>(
                        state, adjoint, begin, job.first, items, job.terms, turn, by_group, by_beta, by_first);
                else
                    unphase_stage<START, false>(
                        state, adjoint, begin, job.first, items, job.terms, turn, by_group, by_beta, by_first);
                keep_layer(layer, by_group, by_beta);
            }
            if constexpr (START == PRODUCT) {
                const float none[GROUPS] = {};
                keep_layer(0, none, by_first);
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < results; i += THREADS) {
            double sum = 0.0;
            for (int w = 0; w < WARPS; w++) sum += sums[w * results + i];
            job.out[(long long)b * results + i] = sum;
        }
        __syncthreads();
    }
}

// ---- The registers' vectors: one block does one vector of one circuit, straight in device memory.

// A stage on a vector and its derivative by beta; `sign` -1 where the mixing is undone.
template <int P>
__device__ __forceinline__ void turn_some(c64* value, c64* slope, const unsigned short* cubes, int2 span, float2 turn, float sign) {
    for (int u = threadIdx.x; u < (span.y - span.x) >> P; u += blockDim.x) {
        int at[1 << P];
        members<P>(cubes + span.x + (u << P), at);
        c64 x[1 << P], y[1 << P];
#pragma unroll
        for (int v = 0; v < (1 << P); v++) x[v] = value[at[v]], y[v] = slope[at[v]];
        rotate<P>(x, turn.x, sign * turn.y);
        rotate<P>(y, turn.x, sign * turn.y);
#pragma unroll
        for (int v = 0; v < (1 << P); v++) {
#pragma unroll
            for (int e = 0; e < P; e++) y[v].x += sign * x[v ^ 1 << e].y, y[v].y -= sign * x[v ^ 1 << e].x;
            value[at[v]] = x[v], slope[at[v]] = y[v];
        }
    }
}

__device__ __forceinline__ void turn_vector(c64* value, c64* slope, Tables tables, float2 turn, float sign) {
    for (int done = 0; done < tables.stages; done++) {
        const int2* span = tables.spans + 4 * (sign > 0 ? done : tables.stages - 1 - done);
        turn_some<3>(value, slope, tables.cubes, span[2], turn, sign);
        turn_some<2>(value, slope, tables.cubes, span[1], turn, sign);
        turn_some<1>(value, slope, tables.cubes, span[0], turn, sign);
        __syncthreads();
    }
}

// places: row and column of the start and of each hit; the first goes forward through the first mixing, the others back
// through the last one.
extern "C" __global__ void register_vectors(
    c64* __restrict__ vectors, const int2* __restrict__ places, int count, int first, Tables samples, Tables features,
    const float* __restrict__ angles, int depth) {
    const int number = first + blockIdx.x % (count - first);
    const long long b = blockIdx.x / (count - first);
    c64* value = vectors + (b * count + number) * 2 * VECTOR;
    c64* slope = value + VECTOR;
    const int2 place = places[number];
    for (int i = threadIdx.x; i < VECTOR; i += blockDim.x) {
        value[i] = {i == place.x || i == ROWS + place.y ? 1.f : 0.f, 0.f};
        slope[i] = {0.f, 0.f};
    }
    __syncthreads();
    const int layer = number ? depth - 1 : 0;
    const float2 turn = rotation(angles[(b * depth + layer) * (GROUPS + 1) + GROUPS]);
    const float sign = number ? -1.f : 1.f;
    turn_vector(value, slope, samples, turn, sign);
    turn_vector(value + ROWS, slope + ROWS, features, turn, sign);
}
