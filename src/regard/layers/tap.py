"""A tap: a named module at which an intermediate tensor can be recorded."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle


class Tap(nn.Module):
    """The identity, with a name. :mod:`regard.explain` registers a forward hook here."""

    @property
    def has_listener(self) -> bool:
        """Whether a hook is registered; if not, the model may skip this tensor to be faster."""
        return bool(self._forward_hooks)

    def forward(self, tensor: Tensor) -> Tensor:
        return tensor


@contextmanager
def listen(module: nn.Module, *names: str) -> Iterator[dict[str, list[Tensor]]]:
    """Record the tensors at the taps of ``module``: one list per tap, one tensor per call.

    ``names`` selects taps by their qualified name (``encoder.blocks.0.mixer.part.weights``) or the
    end of it; without names all taps are recorded.
    """
    taps = {name: part for name, part in module.named_modules() if isinstance(part, Tap)}
    chosen = {name: tap for name, tap in taps.items() if not names or _matches(name, names)}
    unknown = [name for name in names if not any(_matches(tap, (name,)) for tap in taps)]
    if unknown:
        raise ValueError(
            f"Only taps can be recorded. Got {', '.join(unknown)}; "
            f"the taps of this model are {', '.join(taps) or 'none'}."
        )
    recorded: dict[str, list[Tensor]] = {name: [] for name in chosen}
    handles = [_record(tap, recorded[name]) for name, tap in chosen.items()]
    try:
        yield recorded
    finally:
        for handle in handles:
            handle.remove()


def _matches(tap: str, names: tuple[str, ...]) -> bool:
    return any(tap == name or tap.endswith(f".{name}") for name in names)


def _record(tap: Tap, into: list[Tensor]) -> RemovableHandle:
    def hook(_tap: nn.Module, _inputs: object, tensor: Tensor) -> None:
        into.append(tensor)

    return tap.register_forward_hook(hook)
