"""Matrix products by oneDNN on CPUs with AVX-512 that MKL, torch's default, does not use.

MKL uses AVX-512 on Intel's CPUs only; on others that have it, oneDNN, which torch ships as well, is
more than twice as fast. It compiles a kernel for every new shape, which takes some milliseconds: so
it gets only shapes that recur in every step, as those of a language model's windows do. The choice
depends on the shape alone, so that a resumed run sums in the same order as one that never stopped.
Only training steps use it: answers do not depend on the CPU's vendor.
"""

import functools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

MIN_SIZE = 2**21  # multiplications; below this the call takes longer than the product
MULTIPLE = 128  # windows mostly have a power of two tokens; other batches have any number
MIN_COLUMNS = 8


@contextmanager
def use_onednn(*, enabled: bool | None = None) -> Iterator[None]:
    """Compute large products of recurring shapes by oneDNN, where it is faster."""
    if not (is_faster() if enabled is None else enabled):
        yield
        return
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():  # torch warns that an operator is overridden
        warnings.simplefilter("ignore", UserWarning)
        library.impl("mm", _mm, "CPU", allow_override=True)
        library.impl("addmm", _addmm, "CPU", allow_override=True)
    try:
        yield
    finally:
        library._destroy()


def is_faster() -> bool:
    """Return whether the CPU has AVX-512 and MKL would not use it."""
    return (
        torch.backends.cpu.get_cpu_capability() == "AVX512"
        and torch.backends.mkldnn.is_available()
        and torch.backends.mkl.is_available()
        and _cpu_vendor() not in ("", "GenuineIntel")
    )


@functools.cache
def _cpu_vendor(facts: Path = Path("/proc/cpuinfo")) -> str:
    """Read the CPU vendor; empty where the system does not say."""
    try:
        lines = facts.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.split(":")[1].strip() for line in lines if line.startswith("vendor_id")), "")


def _mm(left: Tensor, right: Tensor) -> Tensor:
    if _is_large_and_recurring(left, right):
        return _linear(left, right, None)
    out = left.new_empty(left.shape[0], right.shape[1])
    return torch.ops.aten.mm.out(left, right, out=out)


def _addmm(
    bias: Tensor, left: Tensor, right: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    if bias.dim() == 1 and beta == alpha == 1 and _is_large_and_recurring(left, right):
        return _linear(left, right, bias)
    out = left.new_empty(left.shape[0], right.shape[1])
    return torch.ops.aten.addmm.out(bias, left, right, beta=beta, alpha=alpha, out=out)


def _is_large_and_recurring(left: Tensor, right: Tensor) -> bool:
    rows, inner, columns = left.shape[0], left.shape[1], right.shape[1]
    return (
        left.dtype is torch.float32
        and rows * inner * columns >= MIN_SIZE
        and max(rows, inner, columns) % MULTIPLE == 0
        and columns >= MIN_COLUMNS
    )


def _linear(left: Tensor, right: Tensor, bias: Tensor | None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(left, right.t(), bias, "none", [], "")
