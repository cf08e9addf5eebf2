"""A tap: a named place in a model where a tensor can be watched without being touched."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle


class Tap(nn.Module):
    """The identity, with a name. :mod:`regard.explain` listens here through a forward hook."""

    @property
    def heard(self) -> bool:
        """Whether anyone listens; if not, the model may compute by a faster way that skips this."""
        return bool(self._forward_hooks)

    def forward(self, tensor: Tensor) -> Tensor:
        return tensor


@contextmanager
def listen(module: nn.Module, *names: str) -> Iterator[dict[str, list[Tensor]]]:
    """Record what flows through the taps of ``module``: one list per tap, one tensor per call.

    Taps go by their qualified name (``encoder.blocks.0.mixer.part.weights``); ``names`` chooses
    those whose qualified name is or ends with one of them, and no names choose every tap.
    """
    taps = {name: part for name, part in module.named_modules() if isinstance(part, Tap)}
    chosen = {name: tap for name, tap in taps.items() if not names or _called(name, names)}
    unknown = [name for name in names if not any(_called(tap, (name,)) for tap in taps)]
    if unknown:
        raise ValueError(
            f"Only a tap can be listened to. Got {', '.join(unknown)}; "
            f"the taps here are {', '.join(taps) or 'none'}."
        )
    heard: dict[str, list[Tensor]] = {name: [] for name in chosen}
    handles = [_record(tap, heard[name]) for name, tap in chosen.items()]
    try:
        yield heard
    finally:
        for handle in handles:
            handle.remove()


def _called(tap: str, names: tuple[str, ...]) -> bool:
    return any(tap == name or tap.endswith(f".{name}") for name in names)


def _record(tap: Tap, into: list[Tensor]) -> RemovableHandle:
    def hook(_tap: nn.Module, _inputs: object, tensor: Tensor) -> None:
        into.append(tensor)

    return tap.register_forward_hook(hook)
