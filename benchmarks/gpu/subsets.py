"""Certifies random subsets on a GPU and on its machine's CPU, compared with torch's matrix_rank.

Rates are subsets per second after the table is prepared; `first_s` also
counts the preparation and the compilation at the first call. Tables hold normally distributed
float32 numbers.
"""

from __future__ import annotations

import functools
import importlib
import time
from typing import Any

import numpy as np

from attncert.verify.kruskal.shards.draws import sequences
from attncert.verify.rank.modular import IndependenceTester
from gpu import place
from gpu.rows import START, Row, beside_floor, rate, rounded

D = 768
SIZES = [(2000, 197, 20_000), (2000, 32, 50_000), (2000, 768, 1000), (20_000, 197, 20_000)]
DRY = [(60, 9, 4)]  # vectors, k, subsets in a slice
LIMIT = 2.0  # seconds for measuring a rate
MEMORY = 16 << 30
DRAWS = 4  # slices drawn before the clock starts, and tested in turn
SAMPLE = 64  # subsets that the CPU repeats


def rows(dry: bool) -> list[Row]:
    """Rows for the GPU, its steps, torch and the CPU; the first size is the one in the paper."""
    found = []
    limit = 0.0 if dry else LIMIT
    for n, k, count in DRY if dry else SIZES:
        width = 24 if dry else D
        name, job = f"N={n} k={k}", (n, width, k, count, limit)
        found.append(Row(f"{name} GPU", START + 4 * LIMIT, lambda j=job: on_gpu(*j)))  # type: ignore
        found.append(Row(f"{name} GPU steps", LIMIT, lambda j=job: steps(*j[:4])))  # type: ignore
        if place.has_torch() and not dry:
            for way in ("batched", "single"):
                job_ = functools.partial(by_torch, *job, way)
                found.append(Row(f"{name} torch {way}", START + 2 * LIMIT, job_))
        found.append(Row(f"{name} CPU", START + 2 * LIMIT, lambda j=job: on_cpu(*j)))  # type: ignore
    return found


def table(n: int, width: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, width)).astype(np.float32)


def draws(n: int, k: int, count: int) -> list[np.ndarray]:
    return [sequences(n, k, 0, i * count, (i + 1) * count) for i in range(DRAWS)]


def on_gpu(n: int, width: int, k: int, count: int, limit: float) -> dict[str, Any]:
    """The rate on the GPU, also with the default memory limit; the CPU repeats a sample."""
    data, subsets = table(n, width), draws(n, k, count)
    found: dict[str, Any] = {}
    for name, memory in (("", MEMORY), ("default memory: ", None)):
        options = {} if memory is None else {"memory": memory}
        tester = IndependenceTester(data, device="cuda", **options)
        certified: list[int] = []

        def slice_(i: int, tester: Any = tester, certified: list[int] = certified) -> int:
            certified.append(int(tester.subsets(subsets[i % DRAWS]).sum()))
            return count

        found |= {f"{name}{key}": value for key, value in rate(slice_, limit).items()}
        found[f"{name}certified"] = f"{sum(certified)} of {count * len(certified)}"
    found |= beside_floor(2 / 3 * k**3 * found["items"], found["seconds"])
    sample = sequences(n, k, 0, 0, SAMPLE)
    sample[0, -1] = sample[0, 0]  # a planted dependence
    want = IndependenceTester(data, device="cpu").subsets(sample)
    same = np.array_equal(tester.subsets(sample), want)
    if not same or want[0] or want.sum() < SAMPLE - 1:
        found["error"] = f"GPU and CPU disagree on {SAMPLE} subsets"
    return found


def on_cpu(n: int, width: int, k: int, count: int, limit: float) -> dict[str, Any]:
    """The rate for the same subsets on all threads of the CPU."""
    tester = IndependenceTester(table(n, width), device="cpu")
    count = max(1, count // 10)
    subsets = draws(n, k, count)

    def slice_(i: int) -> int:
        tester.subsets(subsets[i % DRAWS])
        return count

    return rate(slice_, limit) | {"threads": tester.threads}


def steps(n: int, width: int, k: int, count: int) -> dict[str, Any]:
    """The time of each step of one batch; their sum is larger, as each waits for the device."""
    cupy = importlib.import_module("cupy")
    from attncert.verify.rank.engines.cuda import CudaKernels

    spent = {"panel": 0.0, "product": 0.0}

    class Timed(CudaKernels):
        def panel(self, *arguments: Any) -> Any:
            return waited("panel", super().panel, arguments)

        def subtract(self, *arguments: Any) -> None:
            waited("product", super().subtract, arguments)

    def waited(name: str, step: Any, arguments: Any) -> Any:
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        result = step(*arguments)
        cupy.cuda.Device().synchronize()
        spent[name] += time.perf_counter() - start
        return result

    tester = IndependenceTester(table(n, width), device="cuda", memory=MEMORY)
    drawn = sequences(n, k, 0, 0, min(count, 4000))
    found: dict[str, Any] = {"subsets": len(drawn)}
    for kernels in (tester._kernels, Timed()):
        tester._kernels = kernels
        tester.subsets(drawn)
        spent.update(dict.fromkeys(spent, 0.0))
        start = time.perf_counter()
        tester.subsets(drawn)
        cupy.cuda.Device().synchronize()
        name = "without waiting" if kernels is not None and not spent["panel"] else "waiting"
        found[f"{name} s"] = rounded(time.perf_counter() - start)
    return found | {f"{name} s": rounded(seconds) for name, seconds in spent.items()}


def by_torch(n: int, width: int, k: int, count: int, limit: float, way: str) -> dict[str, Any]:
    """The rate of torch's float32 matrix_rank on the same GPU, for single subsets and batches."""
    torch = importlib.import_module("torch")
    data = torch.from_numpy(table(n, width)).cuda()
    batch = 1 if way == "single" else max(8, min(1024, 2**22 // k**2))
    ranks, subsets = torch.linalg.matrix_rank, draws(n, k, batch)
    importlib.import_module("cupy").get_default_memory_pool().free_all_blocks()
    full = 0

    def slice_(i: int) -> int:
        nonlocal full
        chosen = torch.from_numpy(subsets[i % DRAWS]).cuda()
        full = int((ranks(data[chosen]) == k).sum().item())
        return batch

    found = rate(slice_, limit)
    return found | {"batch": batch, "says_independent": f"{full} of {batch}",
                    "torch": torch.__version__}  # fmt: skip
