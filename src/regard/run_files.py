"""The files of a run folder by name, and its journal read back; needs no torch.

What each of them holds is said in :mod:`regard.run`.
"""

import json
from pathlib import Path
from typing import Any

RECIPE, TOKENIZER = "recipe.toml", "tokenizer.json"
MODEL, CONFIG = "model.safetensors", "config.json"
JOURNAL, METRICS, CARD, REPORT = "journal.jsonl", "metrics.json", "README.md", "report.html"
BASELINE, ANSWERS = "baseline.safetensors", "answers.jsonl"
SEAL, CHECKPOINTS, LOCK = "regard.json", "checkpoints", ".lock"


def read_journal(file: Path) -> list[dict[str, Any]]:
    """Read the journal's events, each step once."""
    raw = file.read_bytes() if file.exists() else b""
    lines = raw.decode("utf-8", errors="replace").split("\n")
    return extend_journal([], lines)


def extend_journal(events: list[dict[str, Any]], lines: list[str]) -> list[dict[str, Any]]:
    """Add the events of further lines to those already read, each step once.

    A run that was stopped and resumed repeats some steps: an event ``resumed`` at step s discards
    earlier events of later steps.
    """
    kept = events
    for raw in lines:
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            continue  # cut short by a kill
        if not isinstance(line, dict) or "event" not in line:
            continue
        if line["event"] == "resumed":
            kept = [old for old in kept if old.get("step", 0) <= line["step"]]
        kept.append(line)
    return kept
