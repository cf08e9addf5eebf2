r"""The tokenizer in the form that transformers loads with the same ids.

Always ``PreTrainedTokenizerFast``: the classes of the architectures replace parts of the pipeline
by their own. ``split_special_tokens`` keeps ``</s>`` in a text a text. Special tokens around a text
come from a template.

    folded   \s+ -> " ", ends stripped, before anything else
    masked   also: " [MASK]" is a token; the normalizer marks it by a character that no text has, so
             that lowercasing and the space before a text leave it alone
    words    every word is tokenized by itself, with a space before it
"""

import json
from typing import Any

from regard.run import Run
from regard.tasks.foreign import TEXT, Export, Obstacle
from regard.text.special import BEGIN, CLS, END, MASK, PAD, SEP, SPECIAL, UNKNOWN
from regard.text.tokenizer import Tokenizer

WHOLE, SETTINGS = "tokenizer.json", "tokenizer_config.json"
SPACES = "[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
"""What Python's ``str.split`` calls white space."""
MARK = "\U000101d0"
"""In the place of [MASK] while a text is normalized: a sign of the Phaistos disc."""
SPELLED = SPECIAL[MASK]
WORDS = r"\[MASK\]|'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The words of a byte-level tokenizer, and the mask."""
BERT_MARKS = r"\[MASK\]|[!-/:-@\[-`{-~\p{P}]"
"""What BERT separates from words."""
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER = rf"[\p{{L}}\p{{N}}_&&[^{_IDEOGRAPHS}]]"
TAGGED = (
    rf"[{_IDEOGRAPHS}]|{_LETTER}(?:{_LETTER}|[\p{{M}}\u200c\u200d])*"
    r"|[^\p{L}\p{N}_\s\x{1c}-\x{1f}]"
)
"""The words that have a tag each, as :mod:`regard.tasks.tagging.example` finds them."""


def build_tokenizer(tokenizer: Tokenizer, shape: Export) -> dict[str, Any]:
    """Return ``tokenizer.json``."""
    found = json.loads(tokenizer.canonical)
    found["post_processor"] = make_template(shape)
    if shape.reads in ("folded", "masked"):
        _fold(found)
    if shape.reads == "masked":
        _read_masks(found, tokenizer)
    if shape.reads == "words":
        _read_words(found, tokenizer)
    return found


def build_settings(run: Run, shape: Export) -> dict[str, Any]:
    """Return ``tokenizer_config.json``."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": run.recipe.text.max_length,
        "split_special_tokens": True,
        "clean_up_tokenization_spaces": False,
        "padding_side": "left" if shape.kind == "causal" and shape.head == "tokens" else "right",
        "model_input_names": ["input_ids", "attention_mask"]
        if shape.kind != "encoder"
        else ["input_ids", "token_type_ids", "attention_mask"],
        "pad_token": SPECIAL[PAD],
        "unk_token": SPECIAL[UNKNOWN],
        "bos_token": SPECIAL[END if shape.kind == "causal" else BEGIN],
        "eos_token": SPECIAL[END],
        "cls_token": SPECIAL[CLS],
        "sep_token": SPECIAL[SEP],
        "mask_token": SPECIAL[MASK],
    }


def make_template(shape: Export) -> dict[str, Any]:
    """Return the post-processor that puts special tokens around a text, or two."""
    single = [_place(piece, 0) for piece in shape.template]
    pair, kind = [], 0
    for piece in shape.pair_template or (*shape.template, "B"):
        kind = 1 if piece == "B" else kind
        pair.append(_place(piece, kind))
    used = {piece for piece in (*shape.template, *shape.pair_template) if piece in SPECIAL}
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": pair,
        "special_tokens": {
            token: {"id": token, "ids": [SPECIAL.index(token)], "tokens": [token]}
            for token in sorted(used)
        },
    }


def _place(piece: str, kind: int) -> dict[str, Any]:
    if piece in (TEXT, "B"):
        return {"Sequence": {"id": piece, "type_id": kind}}
    return {"SpecialToken": {"id": piece, "type_id": kind}}


def _replace(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def _steps(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of the normalizer, which may be a single one."""
    normalizer = found["normalizer"]
    if normalizer["type"] != "Sequence":
        found["normalizer"] = {"type": "Sequence", "normalizers": [normalizer]}
    return found["normalizer"]["normalizers"]


def _fold(found: dict[str, Any]) -> None:
    steps = _steps(found)
    steps[:0] = [
        _replace({"Regex": SPACES}, " "),
        {"type": "Strip", "strip_left": True, "strip_right": True},
    ]


def _read_masks(found: dict[str, Any], tokenizer: Tokenizer) -> None:
    """Let ``[MASK]`` in a text be the mask, and nothing else special."""
    steps = _steps(found)
    steps.insert(2, _replace({"Regex": r" ?\[MASK\]"}, MARK))
    # The space that is put before a text does not stand before a mask.
    steps += [_replace({"Regex": f"^ (?={MARK})"}, ""), _replace({"String": MARK}, SPELLED)]
    apart = _split({"String": SPELLED}, "Isolated")
    if tokenizer.kind == "bert":
        marks = _split({"Regex": BERT_MARKS}, "Isolated")
        words = [apart, marks, {"type": "WhitespaceSplit"}]
    else:
        first, *rest = found["pre_tokenizer"]["pretokenizers"]
        words = [apart, _split({"Regex": WORDS}, "Isolated"), {**first, "use_regex": False}, *rest]
    found["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": words}
    if tokenizer.kind == "bpe":
        found["model"]["ignore_merges"] = True


def _read_words(found: dict[str, Any], tokenizer: Tokenizer) -> None:
    """Tokenize the words of a text one by one, each with a space before it."""
    apart = _split({"Regex": TAGGED}, "Removed", invert=True)
    inner = found["pre_tokenizer"]
    if tokenizer.kind == "bert":
        found["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [apart, inner]}
        return
    steps = _steps(found)
    steps[:] = [step for step in steps if step["type"] != "Prepend"]
    first, *rest = inner["pretokenizers"]
    words = [apart, {**first, "add_prefix_space": True}, *rest]
    found["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": words}


def _split(pattern: dict[str, str], behavior: str, *, invert: bool = False) -> dict[str, Any]:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def find_obstacles(tokenizer: Tokenizer, shape: Export) -> list[Obstacle]:
    """Return what stands in the way of the same tokens."""
    name, kind = "text.tokenizer", tokenizer.kind
    if shape.reads in ("masked", "words") and kind == "characters":
        reason = "masks and tagged words cannot be distinguished from their characters there"
        return [Obstacle(name, kind, reason, f'Set {name} to "wordpiece" or "bpe".')]
    if shape.reads == "masked" and kind == "bpe" and not _merges_reach_all(tokenizer):
        reason = "some of its tokens are not what their own merges make, which masks need there"
        return [Obstacle(name, kind, reason, f'Set {name} to "wordpiece".')]
    return []


def _merges_reach_all(tokenizer: Tokenizer) -> bool:
    """Say whether every token is what BPE makes of its spelling: then it may be looked up."""
    spelled = json.loads(tokenizer.canonical)["model"]["vocab"]
    return all(
        tokenizer.encode_word(token) == [id] for token, id in spelled.items() if id >= len(SPECIAL)
    )
