"""Settings that were renamed or removed before 0.1.0; these tables will be removed in 1.0.

A recipe with an old name is refused with the new name as the remedy, one with a removed setting
with the reason. The recipe in an older run folder is translated when it is loaded.
"""

from typing import Any

Tables = dict[str, Any]

RENAMED = {
    "text.longest": "text.max_length",
    "model.quiet_start": "model.zero_init",
    "model.embedding.ngram_least": "model.embedding.ngram_min_count",
    "model.start.thaw_after": "model.start.unfreeze_after",
    "model.start.layer_rate": "model.start.layer_decay",
    "retrieval.asking": "retrieval.query_length",
    "retrieval.answering": "retrieval.document_length",
    "retrieval.both_ways": "retrieval.symmetric",
    "training.first_look": "training.evaluate_first",
    "decoding.baseline": "decoding.baseline_weight",
    "decoding.longest": "decoding.max_length",
    "decoding.shortest": "decoding.min_length",
    "decoding.longest_share": "decoding.max_length_ratio",
    "decoding.shortest_share": "decoding.min_length_ratio",
}
REMOVED = {
    "decoding.neighbours": "votes of labelled texts do not raise accuracy on unseen films",
}
"""Removed settings, and why."""
VALUES = {"training.softmax": {"all": "full", "step": "sampled"}}
"""Values of a setting, old and new."""


def translate_names(tables: Tables) -> Tables:
    """Translate the tables of an older recipe to today's names."""
    found = _copy(tables)
    for old, new in RENAMED.items():
        table, name = _table_of(found, old)
        if name in table:
            table[new.rpartition(".")[2]] = table.pop(name)
    for path, words in VALUES.items():
        table, name = _table_of(found, path)
        if name in table:
            table[name] = words.get(table[name], table[name])
    for path in REMOVED:
        table, name = _table_of(found, path)
        table.pop(name, None)
    return found


def _copy(tables: Tables) -> Tables:
    return {n: _copy(part) if isinstance(part, dict) else part for n, part in tables.items()}


def _table_of(tables: Tables, path: str) -> tuple[Tables, str]:
    """Return the table of a setting, empty if there is none, and the setting's name."""
    *steps, name = path.split(".")
    for step in steps:
        inner = tables.get(step)
        tables = inner if isinstance(inner, dict) else {}
    return tables, name
