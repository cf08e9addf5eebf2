"""A BERT tokenizer imported: the same pieces for the same text, under our ids.

Our special tokens have fixed ids and spellings, theirs stand anywhere: theirs move to our places,
all others keep their order behind them, and ``rows`` says for each of our ids which row of their
table it had.

    theirs   [PAD] … [UNK] [CLS] [SEP] [MASK] … the    ,    ##s …
    ours     <pad> <unk> <s> </s> [CLS] [SEP] [MASK] … the , ##s …

Special tokens mark places, never text: a text that contains ``[SEP]`` is cut like any other.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from regard.errors import DataError
from regard.interop.files import make_missing, read_json, read_optional_json
from regard.text import special
from regard.text.bert import CONTINUING, Folding, read_normalizer
from regard.text.layout import wordpiece_model
from regard.text.tokenizer import Tokenizer

WHOLE, VOCABULARY, SETTINGS = "tokenizer.json", "vocab.txt", "tokenizer_config.json"
ROLES = {
    "pad_token": ("[PAD]", special.PAD),
    "unk_token": ("[UNK]", special.UNKNOWN),
    "cls_token": ("[CLS]", special.CLS),
    "sep_token": ("[SEP]", special.SEP),
    "mask_token": ("[MASK]", special.MASK),
}
"""Their names for special tokens: how BERT spells each, and the id it has here."""
LONGEST_WORD = 100


class Pieces(NamedTuple):
    """A tokenizer, and the rows of its tokens in the checkpoint."""

    tokenizer: Tokenizer
    rows: list[int | None]
    """For each of our ids, the row in their table; None for a token they do not have."""


class _Found(NamedTuple):
    tokens: list[str]
    """In the order of their ids."""
    lowercase: bool
    folding: Folding


def read_pieces(folder: Path) -> Pieces:
    """Read ``tokenizer.json``, or ``vocab.txt`` with ``tokenizer_config.json``."""
    settings = read_optional_json(folder, SETTINGS)
    special_tokens = _spellings(settings)
    if (folder / WHOLE).is_file():
        found = _whole(read_json(folder, WHOLE), settings, special_tokens, folder / WHOLE)
        file = folder / WHOLE
    elif (folder / VOCABULARY).is_file():
        found, file = _lines(folder / VOCABULARY, settings, folder), folder / VOCABULARY
    else:
        raise make_missing(folder, f"{WHOLE} or {VOCABULARY}")
    tokens, rows = _reorder(found.tokens, special_tokens, file)
    model = wordpiece_model(tokens, continuing=CONTINUING)
    return Pieces(Tokenizer("bert", model, lowercase=found.lowercase, folding=found.folding), rows)


def _reorder(
    theirs: list[str], special_tokens: Mapping[str, int], file: Path
) -> tuple[list[str], list[int | None]]:
    """Move special tokens to the front, in our order; return tokens and their former rows."""
    if len(set(theirs)) != len(theirs) or "" in theirs:
        raise _make_refusal(file, "a token is empty or in it twice")
    places = {token: row for row, token in enumerate(theirs)}
    rows: list[int | None] = [None] * len(special.SPECIAL)
    for spelling, id in special_tokens.items():
        if spelling not in places:
            raise _make_refusal(file, f"the special token {spelling} is not in it")
        rows[id] = places.pop(spelling)
    for id in (special.BEGIN, special.END):  # no role in BERT, but some vocabularies have them
        rows[id] = places.pop(special.SPECIAL[id], None)
    clash = [token for token in special.SPECIAL if token in places]
    if clash:
        raise _make_refusal(file, f"{clash[0]} is an ordinary token of it, and a special one here")
    tokens = [*special.SPECIAL, *places]
    return tokens, [*rows, *places.values()]


def _spellings(settings: Mapping[str, Any]) -> dict[str, int]:
    """Return the spelling of each special token in their vocabulary, with our id."""
    found = {}
    for role, (usual, id) in ROLES.items():
        named = settings.get(role) or usual
        found[str(named.get("content", usual) if isinstance(named, dict) else named)] = id
    return found


def _lines(file: Path, settings: Mapping[str, Any], folder: Path) -> _Found:
    if not (folder / SETTINGS).is_file():
        raise make_missing(folder, f"{SETTINGS}, which {VOCABULARY} needs")
    try:
        tokens = file.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise _make_refusal(file, f"it is not UTF-8 ({error.reason})") from None
    if tokens[-1] == "":
        tokens.pop()
    lowercase = settings.get("do_lower_case", True)
    folding = Folding(
        True, settings.get("tokenize_chinese_chars", True), settings.get("strip_accents")
    )
    accents = False if folding.accents is None else folding.accents
    if not all(type(switch) is bool for switch in (lowercase, folding.chinese, accents)):
        raise _make_refusal(folder / SETTINGS, "its switches are not true or false")
    return _Found(tokens, lowercase, folding)


def _whole(
    found: Mapping[str, Any],
    settings: Mapping[str, Any],
    special_tokens: Mapping[str, int],
    file: Path,
) -> _Found:
    """Parse a ``tokenizer.json``; every part must be BERT's own."""
    normalizer = read_normalizer(found.get("normalizer"))
    if normalizer is None:
        raise _make_refusal(file, f"its normalizer is {_kind(found.get('normalizer'))}")
    lowercase, folding = normalizer
    if _kind(found.get("pre_tokenizer")) != "BertPreTokenizer":
        raise _make_refusal(file, f"its pre-tokenizer is {_kind(found.get('pre_tokenizer'))}")
    tokens = _vocabulary(found.get("model"), special_tokens, file)
    _check_added(found.get("added_tokens"), special_tokens, file)
    _check_frame(found.get("post_processor"), special_tokens, file)
    expected = {
        "do_lower_case": lowercase,
        "tokenize_chinese_chars": folding.chinese,
        "strip_accents": folding.accents,
    }
    for name, here in expected.items():
        if settings.get(name, here) != here:
            raise _make_refusal(
                file, f"it contradicts {SETTINGS}, where {name} is {settings[name]!r}"
            )
    return _Found(tokens, lowercase, folding)


def _vocabulary(model: object, special_tokens: Mapping[str, int], file: Path) -> list[str]:
    unknown = next(token for token, id in special_tokens.items() if id == special.UNKNOWN)
    frame = {
        "unk_token": unknown,
        "continuing_subword_prefix": CONTINUING,
        "max_input_chars_per_word": LONGEST_WORD,
    }
    if not isinstance(model, dict) or _kind({"type": "WordPiece", **model}) != "WordPiece":
        raise _make_refusal(file, f"its model is {_kind(model)}")
    for name, ours in frame.items():
        if model.get(name) != ours:
            raise _make_refusal(file, f"its {name} is {model.get(name)!r}, not {ours!r}")
    ids = model.get("vocab")
    if not isinstance(ids, dict) or not all(type(id) is int for id in ids.values()):
        raise _make_refusal(file, "it has no table of ids")
    if sorted(ids.values()) != list(range(len(ids))):
        raise _make_refusal(file, "its ids do not count from 0 upwards")
    return sorted(ids, key=ids.__getitem__)


def _check_added(added: object, special_tokens: Mapping[str, int], file: Path) -> None:
    """Refuse tokens that are cut out of a text before anything else, but for special ones."""
    for one in added if isinstance(added, list) else ():
        token = one.get("content") if isinstance(one, dict) else one
        if token not in special_tokens:
            raise _make_refusal(file, f"the token {token!r} was added to it by hand")


def _check_frame(processor: object, special_tokens: Mapping[str, int], file: Path) -> None:
    """Refuse any frame round a text but [CLS] and [SEP], as we place them."""
    names = {id: token for token, id in special_tokens.items()}
    expected = [names[special.CLS], "A", names[special.SEP]]
    match processor:
        case None:
            return
        case {"type": "TemplateProcessing", "single": [*parts]}:
            found = [_name_place(part) for part in parts]
        case {"type": "BertProcessing", "cls": [cls, *_], "sep": [sep, *_]}:
            found = [str(cls), "A", str(sep)]
        case _:
            found = [_kind(processor)]
    if found != expected:
        raise _make_refusal(
            file, f"it frames a text as {' '.join(found)}, not {' '.join(expected)}"
        )


def _name_place(part: object) -> str:
    """Name one place of a template: a special token, or the text A."""
    match part:
        case {"SpecialToken": {"id": name}} | {"Sequence": {"id": name}}:
            return str(name)
    return str(part)


def _kind(part: object) -> str:
    return str(part.get("type")) if isinstance(part, dict) else "none"


def _make_refusal(file: Path, why: str) -> DataError:
    return DataError(
        f"a text must be tokenized exactly as BERT does; {file} cannot be imported: {why}.",
        "Get the tokenizer files again, or import another model.",
    )
