"""Reading an untrusted ``tokenizer.json``: schema and size limits are checked before use.

A file is parsed into kind, ``lowercase`` and vocabulary, and must be exactly what this package
writes for these. So only a checked vocabulary reaches the library, no pipeline and no regular
expression.
"""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from regard.errors import RunError
from regard.text import bert
from regard.text.layout import (
    KINDS,
    Kind,
    bpe_model,
    build_tokenizer_json,
    starting_tokens,
    token_bytes,
    unigram_model,
    wordpiece_model,
)
from regard.text.special import SPECIAL

_MOST_BYTES = 500_000_000
_MOST_TOKENS = 5_000_000
_REMEDY = "Use the tokenizer.json that training wrote into the run folder."


class Parts(NamedTuple):
    """The parts of a tokenizer that determine everything else."""

    kind: Kind
    lowercase: bool
    model: dict[str, Any]
    folding: bert.Folding = bert.USUAL


class _Refused(Exception):
    """The file breaks a rule; the message names it."""


def read_parts(path: Path) -> Parts:
    """Read and check a ``tokenizer.json``."""
    try:
        return _parse(_read_json(path))
    except FileNotFoundError:
        raise RunError(f"There is no tokenizer at {path}.", _REMEDY) from None
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}.", _REMEDY) from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise RunError(f"{path} is not JSON: {reason}.", _REMEDY) from None
    except _Refused as error:
        raise RunError(f"{path} is not a tokenizer of this package: {error}.", _REMEDY) from None


def find_parts(found: object) -> Parts | None:
    """Return the parts of a parsed ``tokenizer.json``; None if this package did not write it."""
    try:
        return _parse(found)
    except _Refused:
        return None


def _read_json(path: Path) -> object:
    if (size := path.stat().st_size) > _MOST_BYTES:
        raise _Refused(f"it has {size:,} bytes, the most is {_MOST_BYTES:,}")
    return json.loads(path.read_bytes().decode("utf-8"))


def _parse(found: object) -> Parts:
    if not isinstance(found, dict) or not isinstance(found.get("model"), dict):
        raise _Refused("it has no model")
    model = found["model"]
    if normalizer := bert.read_normalizer(found.get("normalizer")):
        lowercase, folding = normalizer
        ours = build_tokenizer_json("bert", lowercase=lowercase, model=model, folding=folding)
        if found == ours and _is_model_of("bert", model):
            return Parts("bert", lowercase, model, folding)
    for kind in KINDS:
        for lowercase in (False, True):
            ours = build_tokenizer_json(kind, lowercase=lowercase, model=model)
            if found == ours and _is_model_of(kind, model):
                return Parts(kind, lowercase, model)
    raise _Refused("its pipeline is none of " + ", ".join((*KINDS, "bert")))


def _is_model_of(kind: Kind, model: dict[str, Any]) -> bool:
    """Return whether the model is of this kind; refuse one with an invalid vocabulary."""
    expected: dict[str, tuple[str, dict[str, Any]]] = {
        "bpe": ("BPE", {"ignore_merges": False}),
        "words": ("BPE", {"ignore_merges": True}),
        "characters": ("BPE", {"ignore_merges": True}),
        "wordpiece": ("WordPiece", {}),
        "unigram": ("Unigram", {}),
        "bert": ("WordPiece", {}),
    }
    name, flags = expected[kind]
    if model.get("type") != name or any(model.get(key) is not flag for key, flag in flags.items()):
        return False
    _check_frame(kind, model)
    tokens = (
        _list_scored_tokens(model["vocab"]) if kind == "unigram" else _list_tokens(model["vocab"])
    )
    _check_tokens(kind, tokens)
    if name == "BPE":
        _check_merges(kind, model["merges"], set(tokens))
    return True


def _check_frame(kind: Kind, model: dict[str, Any]) -> None:
    """Check that all but vocabulary and merges is as this package writes it."""
    if kind == "wordpiece":
        ours = wordpiece_model([])
    elif kind == "bert":
        ours = wordpiece_model([], continuing=bert.CONTINUING)
    elif kind == "unigram":
        ours = unigram_model([])
    else:
        ours = bpe_model([], [], whole_words=kind != "bpe")
    for key in ours.keys() | model.keys():
        if key not in model or key not in ours:
            raise _Refused(f"its model has a wrong set of keys: {key!r}")
        if key not in ("vocab", "merges") and model[key] != ours[key]:
            raise _Refused(f"its model has {key} = {model[key]!r}")


def _list_tokens(vocabulary: object) -> list[str]:
    if not isinstance(vocabulary, dict):
        raise _Refused("its vocabulary is not a table of ids")
    if not all(type(id) is int for id in vocabulary.values()):
        raise _Refused("an id of its vocabulary is not a whole number")
    if sorted(vocabulary.values()) != list(range(len(vocabulary))):
        raise _Refused("its ids do not count from 0 upwards")
    return sorted(vocabulary, key=vocabulary.__getitem__)


def _list_scored_tokens(vocabulary: object) -> list[str]:
    if not isinstance(vocabulary, list) or not all(map(_is_scored, vocabulary)):
        raise _Refused("its vocabulary is not a list of tokens with finite scores")
    return [token for token, _ in vocabulary]


def _is_scored(pair: object) -> bool:
    if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
        return False
    return type(pair[1]) in (int, float) and math.isfinite(pair[1]) and abs(pair[1]) < 1e9


def _check_tokens(kind: Kind, tokens: list[str]) -> None:
    if len(tokens) > _MOST_TOKENS:
        raise _Refused(f"it has {len(tokens):,} tokens, the most is {_MOST_TOKENS:,}")
    if tuple(tokens[: len(SPECIAL)]) != SPECIAL:
        raise _Refused("its first tokens are not the special ones")
    if len(set(tokens)) != len(tokens):
        raise _Refused("a token is in it twice")
    if kind != "bert" and not set(starting_tokens(kind)) <= set(tokens):
        raise _Refused("not every byte is a token")
    for token in tokens[len(SPECIAL) :]:
        try:
            empty = not token or not token_bytes(kind, token)
        except KeyError:
            raise _Refused(f"the token {token!r} is not spelled in bytes") from None
        if empty:
            raise _Refused("a token is empty")


def _check_merges(kind: Kind, merges: object, tokens: set[str]) -> None:
    if not isinstance(merges, list) or (kind != "bpe" and merges):
        raise _Refused("its merges are not a list, or not wanted")
    for pair in merges:
        if not isinstance(pair, list) or len(pair) != 2:
            raise _Refused(f"the merge {pair!r} is not a pair")
        if not all(isinstance(half, str) and half in tokens for half in pair):
            raise _Refused(f"the merge {pair!r} joins what is not a token")
        if "".join(pair) not in tokens:
            raise _Refused(f"the merge {pair!r} makes what is not a token")
