"""Tokenizers of imported folders: those that this package exported, and BERT's.

A ``tokenizer.json`` is never given to a library as it is. Its vocabulary is read, the whole file is
built again from it for each kind of tokenizer, and one of them must be equal to what is there.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import tokenizers

from regard.errors import DataError
from regard.interop.exports.hf.tokenizer import build_tokenizer
from regard.interop.files import read_json
from regard.interop.pieces import WHOLE, read_pieces
from regard.tasks.foreign import Export
from regard.text.bert import read_normalizer
from regard.text.layout import KINDS, build_tokenizer_json
from regard.text.tokenizer import Tokenizer
from regard.text.tokenizer_file import find_parts

PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "model")
KINDS_OF = {
    "BPE": ("bpe", "words", "characters"),
    "WordPiece": ("wordpiece", "bert"),
    "Unigram": ("unigram",),
}


class Cut(NamedTuple):
    """A tokenizer, and the row of each of its tokens in their tables."""

    tokenizer: Tokenizer
    rows: list[int | None] | None
    """None where their ids are ours."""


def read_tokenizer(source: Path, shape_of: Callable[[Tokenizer], Export], *, encoder: bool) -> Cut:
    """Read the tokenizer of a folder; ``shape_of`` says how the task reads texts with it."""
    found = read_json(source, WHOLE) if (source / WHOLE).is_file() else {}
    for tokenizer in list_candidates(found):
        shape = shape_of(tokenizer)
        if is_same(found, build_tokenizer(tokenizer, shape), pairs=bool(shape.pair_template)):
            return Cut(tokenizer, None)
    if encoder:
        pieces = read_pieces(source)
        return Cut(pieces.tokenizer, pieces.rows)
    raise DataError(
        f"{source / WHOLE}: its tokenizer is {_describe(found)}, which is not one of regard's.",
        "Folders of `regard export` and encoders with BERT's tokenizer can be imported.",
    )


def list_candidates(found: Mapping[str, Any]) -> Iterator[Tokenizer]:
    """Yield every tokenizer of this package that has the vocabulary of a file."""
    model = found.get("model")
    if not isinstance(model, dict):
        return
    kinds = KINDS_OF.get(str(model.get("type")), ())
    for kind in (*KINDS, "bert"):
        if kind not in kinds:
            continue
        own = model
        if model.get("type") == "BPE":  # an export of masked models looks words up first
            own = {**model, "ignore_merges": kind != "bpe"}
        for lowercase in (False, True):
            step = _find_bert_step(found)
            if kind == "bert" and (step is None or step[0] is not lowercase):
                continue
            more = {"folding": step[1]} if kind == "bert" and step else {}
            plain = build_tokenizer_json(kind, lowercase=lowercase, model=own, **more)  # type: ignore[arg-type]
            if parts := find_parts(plain):
                yield Tokenizer(
                    parts.kind, parts.model, lowercase=parts.lowercase, folding=parts.folding
                )


def _find_bert_step(found: Mapping[str, Any]) -> Any:  # noqa: ANN401 - lowercase and folding
    normalizer = found.get("normalizer")
    steps = normalizer.get("normalizers", [normalizer]) if isinstance(normalizer, dict) else []
    return next(filter(None, map(read_normalizer, steps)), None)


def is_same(found: Mapping[str, Any], ours: dict[str, Any], *, pairs: bool) -> bool:
    """Say whether a file is what would be exported, as written or as the library writes it."""
    canonical = json.loads(tokenizers.Tokenizer.from_str(json.dumps(ours)).to_str())
    theirs = _list_parts(found, pairs=pairs)
    return any(theirs == _list_parts(one, pairs=pairs) for one in (ours, canonical))


def _list_parts(found: Mapping[str, Any], *, pairs: bool) -> list[Any]:
    """Return the parts that decide on the ids; how pairs are framed only if pairs are read."""
    parts = {name: found.get(name) for name in PARTS}
    if not pairs and isinstance(template := parts["post_processor"], dict):
        parts["post_processor"] = {**template, "pair": None}
    return list(parts.values())


def _describe(found: Mapping[str, Any]) -> str:
    kinds = [str(part.get("type")) for name in PARTS if isinstance(part := found.get(name), dict)]
    return ", ".join(kinds) or "missing"
