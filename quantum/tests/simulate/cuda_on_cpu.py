"""CUDA kernels compiled as C++ and run on the CPU with one thread a block: their logic, without a GPU.

With one thread a barrier does nothing and a warp is one lane, so indices, phases and derivatives are all tested; races
between threads are not. `use` puts this in the place of CuPy.
"""

import ctypes
import hashlib
import shutil
import subprocess
from functools import partial
from importlib.resources import files
from types import SimpleNamespace

import numpy as np

from biselect_quantum.simulate import _gpu as gpu

HEADER = """
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#define __device__
#define __global__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define WARP 1
using std::min;
using std::max;
struct dim { int x; };
static dim threadIdx, blockIdx, blockDim, gridDim;
struct float2 { float x, y; };
struct int2 { int x, y; };
struct int4 { int x, y, z, w; };
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
template <class T> T __ldg(const T* place) { return *place; }
inline void __syncthreads() {}
inline float __shfl_xor_sync(unsigned, float, int) { std::abort(); }
inline double __shfl_xor_sync(unsigned, double, int) { std::abort(); }
inline float __shfl_up_sync(unsigned, float, int) { std::abort(); }
inline void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
inline float rsqrtf(float x) { return 1.f / sqrtf(x); }
inline void atomicAdd(double* place, double value) { *place += value; }
"""
FOOTER = """
c64 tile[1 << 20], row[1 << 20];  // shared memory
template <class... A, size_t... I> void call(void (*kernel)(A...), void** given, std::index_sequence<I...>) {
    kernel(*(A*)given[I]...);
}
template <class... A> void launch(void (*kernel)(A...), int grid, void** given) {
    gridDim.x = grid, blockDim.x = 1, threadIdx.x = 0;
    for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++) call(kernel, given, std::index_sequence_for<A...>{});
}
"""
SECTOR = [f"{kind}<{p}>" for kind in ("sample_phase", "sample_stage", "sample_stage_back") for p in (1, 2)]
SECTOR += ["sample_phase<0>", *gpu.FEATURE_PASSES]
NAMES = {
    "sector.cu": ["fill_turns", "feature_pass_back", "observe", *SECTOR],
}


class Array(np.ndarray):
    """A NumPy array with the few methods of CuPy's that are used."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)

    def get(self):
        return np.asarray(self)

    def set(self, values):
        self[...] = values


class Kernel:
    """A compiled kernel, launched as CuPy launches one."""

    max_dynamic_shared_size_bytes = 0

    def __init__(self, function):
        self.function = function

    def __call__(self, grid, block, arguments, shared_mem=0):
        assert block == (1,)
        kept = [np.array(a.data.ptr if isinstance(a, Array) else a) for a in arguments]
        pointers = (ctypes.c_void_p * len(kept))(*(a.ctypes.data for a in kept))
        self.function(grid[0], pointers)


class Module:
    """All kernels of a CUDA file, compiled for some sizes."""

    def __init__(self, file, defines, folder):
        source = files("biselect_quantum.simulate") / "cuda"
        launchers = "".join(
            f'extern "C" void launch_{number}(int grid, void** given) {{ launch({name}, grid, given); }}\n'
            for number, name in enumerate(NAMES[file])
        )
        text = HEADER + (source / "common.cuh").read_text() + (source / file).read_text() + FOOTER + launchers
        key = hashlib.sha256(repr((text, defines)).encode()).hexdigest()
        code, library = folder / f"{key}.cpp", folder / f"{key}.so"
        if not library.exists():
            code.write_text(text)
            sizes = [f"-D{name}={value}" for name, value in defines]
            quiet = ["-w", "-std=c++17", "-shared", "-fPIC", "-O0"]
            subprocess.run([shutil.which("g++"), *quiet, *sizes, "-o", library, code], check=True)
        self.library, self.names = ctypes.CDLL(str(library)), NAMES[file]

    def get_function(self, name):
        return Kernel(getattr(self.library, f"launch_{self.names.index(name)}"))


def load(folder, file, names, defines):
    return Module(file, defines, folder)


def fake_cupy(shared_memory):
    device = SimpleNamespace(
        attributes={"MaxSharedMemoryPerBlockOptin": shared_memory, "MultiProcessorCount": 2}, mem_info=(2**30, 2**30)
    )
    pool = SimpleNamespace(free_bytes=lambda: 0)
    return SimpleNamespace(
        asarray=lambda values: np.array(values).view(Array),
        asnumpy=np.array,
        empty=lambda shape, dtype=np.float64: np.full(shape, np.nan, dtype).view(Array),
        empty_like=lambda array: np.full_like(array, np.nan).view(Array),
        zeros=lambda shape, dtype=np.float64: np.zeros(shape, dtype).view(Array),
        abs=np.abs,
        complex64=np.complex64,
        float32=np.float32,
        cuda=SimpleNamespace(Device=lambda: device),
        get_default_memory_pool=lambda: pool,
    )


def use(monkeypatch, folder, shared_memory=227 * 1024):
    """Let the GPU's classes run here; `folder` keeps what was compiled."""
    monkeypatch.setattr(gpu, "require_cupy", lambda: fake_cupy(shared_memory))
    monkeypatch.setattr(gpu, "load_module", partial(load, folder))
    monkeypatch.setattr(gpu, "row_threads", lambda states, blocks: 1)
    monkeypatch.setattr(gpu, "COLUMN_THREADS", 1)
