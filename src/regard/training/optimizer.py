"""Optimizers: torch's AdamW, Adam and SGD; Muon in float32; Adam on the rows of sparse tables.

    update = orthogonalize(lerp(gradient, momentum))     orthogonalize(G) = U·Vᵀ of G = U·S·Vᵀ
    matrix = (1 - rate·decay)·matrix - rate·√max(1, rows/columns)·update

Muon (Jordan 2024) gives every singular direction of an update the same length. The orthogonal
factor comes from a few Newton-Schulz iterations. torch's own Muon computes them in bfloat16, which
is ten times slower than float32 on CPUs without it; here they are computed in float32, for all
matrices of one shape at once.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from regard.recipe.training import (
    AdamSettings,
    AdamWSettings,
    AnyOptimizer,
    MuonSettings,
    SgdSettings,
)
from regard.training.row_adam import RowAdam

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # Jordan 2024: steepest at zero, within 0.7..1.2 after


def make_optimizers(
    model: nn.Module,
    settings: AnyOptimizer,
    *,
    factors: Mapping[str, float] = MappingProxyType({}),
) -> list[torch.optim.Optimizer]:
    """Make the optimizers that together step every parameter; each group keeps its peak ``rate``.

    ``factors`` multiplies the rate of the parameters that it names.
    """
    factor = {id(w): factors.get(name, 1.0) for name, w in model.named_parameters()}
    if isinstance(settings, SgdSettings):
        groups = _group_by_factor(model.parameters(), factor)
        return [
            torch.optim.SGD(
                [{"params": group, "rate": settings.rate * f} for f, group in groups],
                lr=settings.rate,
            )
        ]
    lazy = lazy_tables(model)
    sparse = {id(table) for table in lazy}
    parameters: list[Tensor] = [w for w in model.parameters() if id(w) not in sparse]
    if isinstance(settings, MuonSettings):
        hidden = hidden_matrices(model)
        chosen = {id(matrix) for matrix in hidden}
        rest = [parameter for parameter in parameters if id(parameter) not in chosen]
        muon = Muon(
            [{"params": w, "rate": settings.rate * f} for f, w in _group_by_factor(hidden, factor)],
            rate=settings.rate,
            momentum=settings.momentum,
            weight_decay=settings.weight_decay,
            steps=settings.newton_schulz_steps,
        )
        return [muon, _adam(rest, settings.rest, factor), *_row_adam(lazy, settings.rest, factor)]
    return [_adam(parameters, settings, factor), *_row_adam(lazy, settings, factor)]


def lazy_tables(model: nn.Module) -> list[Tensor]:
    """Return the tables of which a step updates only the rows in its batch."""
    return [
        table
        for part in model.modules()
        if getattr(part, "lazy", False)
        for table in part.parameters()
    ]


def hidden_matrices(model: nn.Module) -> list[Tensor]:
    """Return the weights of every linear map that is not an output head's."""
    return [
        part.weight
        for name, part in model.named_modules()
        if isinstance(part, nn.Linear) and not any(p.endswith("head") for p in name.split("."))
    ]


def _group_by_factor(
    parameters: Iterable[Tensor], factor: Mapping[int, float]
) -> list[tuple[float, list[Tensor]]]:
    groups: dict[float, list[Tensor]] = defaultdict(list)
    for parameter in parameters:
        groups[factor[id(parameter)]].append(parameter)
    return list(groups.items())


def _adam(
    parameters: list[Tensor],
    settings: AdamWSettings | AdamSettings,
    factor: Mapping[int, float],
) -> torch.optim.Optimizer:
    """Make AdamW; vectors (norms, biases) have no weight decay."""
    decay = settings.weight_decay if isinstance(settings, AdamWSettings) else 0.0
    kinds = [
        ([w for w in parameters if w.ndim > 1], decay),
        ([w for w in parameters if w.ndim <= 1], 0.0),
    ]
    return torch.optim.AdamW(
        [
            {"params": group, "weight_decay": weight_decay, "rate": settings.rate * f}
            for kind, weight_decay in kinds
            for f, group in _group_by_factor(kind, factor)
        ],
        lr=settings.rate,
        betas=settings.betas,
        eps=settings.epsilon,
        fused=True,
    )


def _row_adam(
    tables: list[Tensor], settings: AdamWSettings | AdamSettings, factor: Mapping[int, float]
) -> list[torch.optim.Optimizer]:
    if not tables:
        return []
    decay = settings.weight_decay if isinstance(settings, AdamWSettings) else 0.0
    return [
        RowAdam(
            [{"params": w, "rate": settings.rate * f} for f, w in _group_by_factor(tables, factor)],
            rate=settings.rate,
            betas=settings.betas,
            epsilon=settings.epsilon,
            weight_decay=decay,
        )
    ]


class Muon(torch.optim.Optimizer):
    """Orthogonalized momentum.

    Args:
        matrices: The matrices to update, or torch parameter groups of them.
        rate: Learning rate.
        momentum: Decay of the running mean of gradients.
        weight_decay: Decoupled weight decay.
        steps: Newton-Schulz iterations.

    """

    def __init__(
        self,
        matrices: Iterable[Any],
        *,
        rate: float,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        steps: int = 5,
    ) -> None:
        defaults = {
            "lr": rate,
            "rate": rate,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "steps": steps,
        }
        super().__init__(list(matrices), defaults)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every matrix."""
        assert closure is None
        for group in self.param_groups:
            for matrices in _group_by_shape(group["params"]):
                self._update(matrices, group)

    def _update(self, matrices: list[Tensor], group: dict[str, Any]) -> None:
        momenta = []
        for matrix in matrices:
            assert matrix.grad is not None
            state = self.state[matrix]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(matrix)
            mean = state["momentum"].lerp_(matrix.grad, 1 - group["momentum"])
            momenta.append(matrix.grad.lerp(mean, group["momentum"]))  # Nesterov
        updates = orthogonalize(torch.stack(momenta), steps=group["steps"])
        rows, columns = matrices[0].shape
        length = group["lr"] * max(1.0, rows / columns) ** 0.5
        for matrix, update in zip(matrices, updates, strict=True):
            matrix.mul_(1 - group["lr"] * group["weight_decay"]).add_(update, alpha=-length)


def orthogonalize(matrices: Tensor, *, steps: int) -> Tensor:
    """Bring every singular value near one, without turning the singular vectors."""
    a, b, c = NEWTON_SCHULZ
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT.contiguous() if tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        square = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


def _group_by_shape(matrices: Iterable[Tensor]) -> list[list[Tensor]]:
    groups = defaultdict(list)
    for matrix in matrices:
        if matrix.grad is not None:
            groups[matrix.shape].append(matrix)
    return list(groups.values())
