"""The registry: all claims, by family."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from regard.claims.claim import FAMILIES, Claim
from regard.errors import UsageError


def load_claims() -> dict[str, Claim]:
    """Return all claims by name, ordered by family and number."""
    found = [claim for family in FAMILIES for claim in _find_claims(family)]
    named = {claim.name: claim for claim in found}
    assert len(named) == len(found), "two claims have the same name"
    return named


def select_claims(names: Sequence[str]) -> list[Claim]:
    """Return the claims with these names, families or numbers, or that contain these words."""
    known = load_claims()
    selected: dict[str, Claim] = {}
    for name in names:
        found = [claim for claim in known.values() if _matches(claim, name)]
        found = found or [claim for claim in known.values() if _contains(claim, name)]
        if not found:
            raise _unknown_name(name, known)
        selected |= {claim.name: claim for claim in found}
    return list(selected.values())


def _matches(claim: Claim, name: str) -> bool:
    return name in (claim.name, claim.family) or (name.isdecimal() and int(name) in claim.numbers)


def _contains(claim: Claim, words: str) -> bool:
    """Search the source and all sentences for a text that begins a word."""
    texts = (claim.source, claim.statement, claim.correction, claim.meaning, claim.method)
    beginning = re.compile(rf"\b{re.escape(words)}", re.IGNORECASE)
    return any(map(beginning.search, (claim.name, *texts)))


def _unknown_name(name: str, known: dict[str, Claim]) -> UsageError:
    near = get_close_matches(name, [*known, *FAMILIES], n=3, cutoff=0.4)
    offer = f"Did you mean {' or '.join(near)}? " if near else ""
    return UsageError(
        f"no claim, family of claims or source is called {name}, and none mentions it.",
        f"{offer}`regard claims --list` lists them all.",
    )


def _find_claims(family: str) -> list[Claim]:
    found = [
        thing
        for module in _import_modules(f"regard.claims.{family}")
        for thing in vars(module).values()
        if isinstance(thing, Claim)
    ]
    return sorted(found, key=lambda claim: claim.numbers)


def _import_modules(name: str) -> Iterator[ModuleType]:
    module = import_module(name)
    yield module
    for inner in iter_modules(getattr(module, "__path__", [])):
        yield import_module(f"{name}.{inner.name}")
