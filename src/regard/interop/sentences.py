"""The pooling of a sentence-transformers model: how its states become one vector.

    modules.json           Transformer, Pooling, perhaps Normalize; nothing else
    1_Pooling/config.json  mean of the states, [CLS] alone, or the largest of each feature
    sentence_bert_config   maximum number of tokens; longer texts are truncated

Our vectors always have length one and are compared by their cosine.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from regard.errors import DataError
from regard.interop.files import read_json, read_list, read_optional_json

MODULES = "modules.json"
READ = "sentence_bert_config.json"
SIMILARITY = "config_sentence_transformers.json"
FEWEST = 3  # tokens: [CLS], one of the text, [SEP]
POOLINGS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "first",
    "pooling_mode_max_tokens": "max",
}


class Sentences(NamedTuple):
    """Length limit and pooling of a sentence encoder."""

    pooling: str
    longest: int | None
    """Maximum tokens of a text, special ones included; None for as many as fit."""
    normalized: bool
    """Whether it normalises its vectors."""


PLAIN = Sentences("mean", None, normalized=False)
"""For a BERT whose files do not say how to pool."""


def is_sentence_encoder(folder: Path) -> bool:
    """Whether a folder has sentence-transformers' layout."""
    return (folder / MODULES).is_file()


def read_sentences(folder: Path, *, lowercase: bool) -> Sentences:
    """Read how the folder pools; refuse what is not supported."""
    modules = read_list(folder, MODULES)
    kinds = [str(module.get("type")).rpartition(".")[2] for module in modules]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise DataError(
            f"{folder / MODULES}: a sentence encoder is a Transformer, a Pooling and perhaps a "
            f"Normalize. Got {', '.join(kinds)}.",
            "Import an encoder without further layers.",
        )
    if modules[0].get("path"):
        raise DataError(
            f"{folder / MODULES}: the transformer must be in the folder itself. It is in "
            f"{modules[0]['path']}.",
            "Import that folder with --task retrieval, or save the encoder again.",
        )
    normalized = kinds[-1] == "Normalize"
    _check_similarity(
        read_optional_json(folder, SIMILARITY), folder / SIMILARITY, normalized=normalized
    )
    read = read_optional_json(folder, READ)
    if read.get("do_lower_case") and not lowercase:
        raise DataError(
            f"{folder / READ} lowercases before the tokenizer, which does not.",
            "Set do_lower_case in tokenizer_config.json and tokenizer.json as well.",
        )
    longest = read.get("max_seq_length")
    if longest is not None and (type(longest) is not int or longest < FEWEST):
        raise DataError(
            f"{folder / READ}: max_seq_length must be a whole number from {FEWEST} on. Got "
            f"{longest!r}.",
            "Get this file again.",
        )
    place = str(modules[1].get("path"))
    pooling = _pooling(read_json(folder, f"{place}/config.json"), folder / place / "config.json")
    return Sentences(pooling, longest, normalized)


def _pooling(config: Mapping[str, Any], file: Path) -> str:
    modes = [name for name, on in config.items() if name.startswith("pooling_mode_") and on is True]
    if len(modes) != 1 or modes[0] not in POOLINGS:
        raise DataError(
            f"{file}: a text must be pooled in one way: {', '.join(POOLINGS)}. Got "
            f"{', '.join(modes) or 'none'}.",
            "Import another encoder.",
        )
    return POOLINGS[modes[0]]


def _check_similarity(config: Mapping[str, Any], file: Path, *, normalized: bool) -> None:
    similarity = config.get("similarity_fn_name") or "cosine"
    if similarity != "cosine" and not (similarity == "dot" and normalized):
        raise DataError(
            f"{file}: vectors are compared by cosine here, and by {similarity} there.",
            "Import an encoder that was trained for cosine similarity.",
        )
    if prompt := config.get("default_prompt_name"):
        raise DataError(
            f"{file}: every text is prefixed with the prompt {prompt!r} there, and with none here.",
            "Import an encoder without a default prompt.",
        )
