"""The recipe of an imported model, but for its tokenizer."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from regard.errors import DataError
from regard.interop.files import CONFIG, read_optional_json
from regard.interop.sentences import PLAIN, is_sentence_encoder, read_sentences

SETTINGS = "tokenizer_config.json"
LONGEST = 512
"""Tokens of a text, where a folder does not say."""
LABEL_TABLES = ("classifier.weight", "classifier.out_proj.weight")


def make_tables(
    source: Path, config: Mapping[str, Any], settings: dict[str, Any], task: str, name: str
) -> dict[str, Any]:
    """Return the tables of the recipe, but for the tokenizer."""
    head, tables = dict(settings.pop("head", {})), {}
    sentences = PLAIN
    if task == "retrieval" and is_sentence_encoder(source):
        sentences = read_sentences(source, lowercase=True)
        head["pooling"] = sentences.pooling
    if task == "masked-pretraining":
        head |= {"bias": True, "transform": True}
        tables["pretraining"] = {"pairs": "next-sentence" if "PreTraining" in name else "none"}
        if "BertForPreTraining" not in name:
            tables["pretraining"]["pairs"] = "none"
        if settings["activation"] != "gelu":
            raise DataError(
                f"{source / CONFIG}: hidden_act must be 'gelu' in a model with a head for masked "
                f"tokens. Got {settings['activation']!r}.",
                "Import another model.",
            )
    if task in ("classification", "sentence-pair"):
        head["pooling"] = "cls"
    longest = _find_longest(source, config, settings, sentences.longest)
    overlong: dict[str, Any] = {"text": {"max_length": longest}}
    if task not in ("translation", "language-modelling", "masked-pretraining"):
        overlong["text"]["overlong"] = "head"
    return {
        **tables,
        **overlong,
        "task": task,
        "data": {"train": []},
        "model": {**settings, "head": head, "start": {"imported": source.resolve().name}},
    }


def _find_longest(
    source: Path, config: Mapping[str, Any], settings: Mapping[str, Any], stated: int | None
) -> int:
    """Return the most tokens of a text."""
    own = read_optional_json(source, SETTINGS).get("model_max_length")
    limits = [stated, own, config.get("max_position_embeddings"), config.get("n_positions")]
    if settings["position"]["kind"] == "learned":
        limits.append(settings["position"]["positions"])
    found = [one for one in limits if type(one) is int and 0 < one <= 1_000_000]
    return min(found, default=LONGEST)


def read_labels(
    source: Path, config: Mapping[str, Any], task: str, tensors: Mapping[str, Tensor]
) -> dict[str, Any]:
    """Return the settings of ``[data]`` that name labels or tags."""
    if task not in ("classification", "sentence-pair", "tagging"):
        return {}
    found = config.get("id2label")
    last = next((tensors[name] for name in LABEL_TABLES if name in tensors), None)
    if found is None and last is not None:  # transformers leaves its own names out
        found = {str(number): f"LABEL_{number}" for number in range(len(last))}
    numbers = [str(number) for number in range(len(found))] if isinstance(found, dict) else []
    if not isinstance(found, dict) or sorted(found) != sorted(numbers):
        raise DataError(
            f"{source / CONFIG}: id2label must name every label from 0 on. Got {found!r}.",
            "Get this file again.",
        )
    labels = [str(found[number]) for number in numbers]
    problem = config.get("problem_type")
    if task == "tagging" or problem in (None, "single_label_classification"):
        return {"labels": labels}
    if problem != "multi_label_classification":
        raise DataError(
            f"{source / CONFIG}: problem_type must be single_label_classification or "
            f"multi_label_classification. Got {problem!r}.",
            "This variant is not supported; import another model.",
        )
    if labels == ["score"]:
        return {"scores": True, "score_range": [0.0, 1.0]}
    return {"labels": labels, "label_separator": "|"}
