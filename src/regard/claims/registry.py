"""Every claim there is, family by family."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from regard.claims.claim import FAMILIES, Claim
from regard.errors import UsageError


def claims() -> dict[str, Claim]:
    """Return the claims by name, in the order of families and of the inventory."""
    found = [claim for family in FAMILIES for claim in _claims_of(family)]
    named = {claim.name: claim for claim in found}
    assert len(named) == len(found), "two claims have one name"
    return named


def chosen(names: Sequence[str]) -> list[Claim]:
    """Return the claims of these names, families or inventory numbers."""
    known = claims()
    asked: dict[str, Claim] = {}
    for name in names:
        found = [claim for claim in known.values() if _called(claim, name)]
        if not found:
            raise _unknown(name, known)
        asked |= {claim.name: claim for claim in found}
    return list(asked.values())


def _called(claim: Claim, name: str) -> bool:
    return name in (claim.name, claim.family) or (name.isdecimal() and int(name) in claim.numbers)


def _unknown(name: str, known: dict[str, Claim]) -> UsageError:
    near = get_close_matches(name, [*known, *FAMILIES], n=3, cutoff=0.4)
    offer = f"Did you mean {' or '.join(near)}? " if near else ""
    return UsageError(
        f"{name} is no claim, no family of claims and no number of the inventory.",
        f"{offer}`regard claims --list` names them all.",
    )


def _claims_of(family: str) -> list[Claim]:
    found = [
        thing
        for module in _modules(f"regard.claims.{family}")
        for thing in vars(module).values()
        if isinstance(thing, Claim)
    ]
    return sorted(found, key=lambda claim: claim.numbers)


def _modules(name: str) -> Iterator[ModuleType]:
    module = import_module(name)
    yield module
    for inner in iter_modules(getattr(module, "__path__", [])):
        yield import_module(f"{name}.{inner.name}")
