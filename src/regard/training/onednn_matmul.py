"""Products of matrices by oneDNN where MKL, torch's own choice, leaves half of the processor idle.

MKL multiplies with AVX-512 on Intel's processors only; on others that have it, oneDNN, which torch
carries as well, is more than twice as fast. For every new shape it first writes itself a program,
which takes some milliseconds: so it gets only the products of steps that are all alike, as those of
a language model's windows are. Which ones follows from the shape alone: a run that is resumed sums
in the same order as one that never stopped. Only steps are taken this way: what a run answers does
not depend on who asks.
"""

import functools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

LEAST = 2**21  # multiplications: below this, calling takes longer than multiplying
ALIKE = 128  # windows are mostly of powers of two tokens; other batches have any number of them
FEW = 8


@contextmanager
def fast_products(*, suited: bool | None = None) -> Iterator[None]:
    """Let oneDNN multiply the large matrices of steps that are alike, where it is faster."""
    if not (is_suited() if suited is None else suited):
        yield
        return
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():  # that a product is overridden is what we want
        warnings.simplefilter("ignore", UserWarning)
        library.impl("mm", _product, "CPU", allow_override=True)
        library.impl("addmm", _product_and_bias, "CPU", allow_override=True)
    try:
        yield
    finally:
        library._destroy()


def is_suited() -> bool:
    """Say whether the processor has AVX-512 and MKL would not use it."""
    return (
        torch.backends.cpu.get_cpu_capability() == "AVX512"
        and torch.backends.mkldnn.is_available()
        and torch.backends.mkl.is_available()
        and _maker() not in ("", "GenuineIntel")
    )


@functools.cache
def _maker(facts: Path = Path("/proc/cpuinfo")) -> str:
    """Read who made the processor; nothing where the system does not say."""
    try:
        lines = facts.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.split(":")[1].strip() for line in lines if line.startswith("vendor_id")), "")


def _product(left: Tensor, right: Tensor) -> Tensor:
    if _is_worth_it(left, right):
        return _by_onednn(left, right, None)
    out = left.new_empty(left.shape[0], right.shape[1])
    return torch.ops.aten.mm.out(left, right, out=out)


def _product_and_bias(
    bias: Tensor, left: Tensor, right: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    if bias.dim() == 1 and beta == alpha == 1 and _is_worth_it(left, right):
        return _by_onednn(left, right, bias)
    out = left.new_empty(left.shape[0], right.shape[1])
    return torch.ops.aten.addmm.out(bias, left, right, beta=beta, alpha=alpha, out=out)


def _is_worth_it(left: Tensor, right: Tensor) -> bool:
    rows, inner, columns = left.shape[0], left.shape[1], right.shape[1]
    return (
        left.dtype is torch.float32
        and rows * inner * columns >= LEAST
        and max(rows, inner, columns) % ALIKE == 0
        and columns >= FEW
    )


def _by_onednn(left: Tensor, right: Tensor, bias: Tensor | None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(left, right.t(), bias, "none", [], "")
