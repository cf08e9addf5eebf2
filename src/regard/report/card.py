"""The model card: what was trained, on what, how well, and how to load it."""

from collections.abc import Mapping
from typing import Any

from regard.recipe.recipe import Recipe
from regard.run import describe_start
from regard.tasks.kinds import kind_of
from regard.tasks.scores import describe_alone, format_duration, tabulate_scores

WHO = ("model", "baseline", "together")


def model_card(recipe: Recipe, metrics: dict[str, Any], *, baseline: str) -> str:
    """Return the README.md of a run, with the front matter that model hubs read."""
    training, kind = metrics["training"], kind_of(recipe)
    split = "test" if "test" in metrics else "valid"
    languages = "".join(f"\n  - {language}" for language in recipe.data.languages)
    front = [
        "---",
        *([f"language:{languages}"] if languages else []),
        "library_name: regard",
        f"pipeline_tag: {kind.pipeline_tag}",
        "tags:\n  - regard",
        f"metrics:{''.join(f'{chr(10)}  - {n}' for n in metrics[split]['signature'])}",
        "---",
    ]
    body = f"""
# A {recipe.task} model

{training["parameters"]:,} parameters, trained by regard on {training["examples"]:,} examples
({training["overlong"]:,} left out as too long{_say_skips(training)}) in {training["steps"]:,} steps
and {format_duration(training["seconds"])} on {_device(training)}.
{describe_start(training["began"]) if "began" in training else ""}

## Scores

{_scores(metrics)}

The baseline is {baseline}.
{describe_alone(metrics[split])}

{_signatures(metrics[split]["signature"])}

{_cost(training["account"]) if "account" in training else ""}
## Use

```
regard predict RUN "{kind.example}"
```
```python
import regard
model = regard.load("RUN")
model.predict("{kind.example}")
```

## Made of

- data fingerprint `{training["data"]}`, seed {recipe.seed}
- the whole recipe, every default written out: `recipe.toml`
- what happened step by step: `journal.jsonl`; as charts: `report.html`

A model this small knows only the kind of text it was trained on; try it on yours before you rely
on it.
"""
    return "\n".join(front) + "\n" + body


def _say_skips(training: Mapping[str, Any]) -> str:
    """Say how many bad lines were skipped, if any."""
    count = count_skipped(training)
    return f", {count:,} bad {'line' if count == 1 else 'lines'} skipped" if count else ""


def count_skipped(training: Mapping[str, Any]) -> int:
    """Return how many bad lines a run skipped in all splits; runs of old versions did not count."""
    return sum(sum(kinds.values()) for kinds in training.get("skipped", {}).values())


def _device(training: Mapping[str, Any]) -> str:
    device = training.get("device", "cpu")
    return f"{training['threads']} threads" if device == "cpu" else device


def _cost(account: Mapping[str, Any]) -> str:
    parameters, flops = account["parameters"], account["flops"]
    rows = [f"| {part} | {number:,} |" for part, number in parameters["parts"].items()]
    return "\n".join(
        [
            "## Cost",
            "",
            "| part | parameters |",
            "|---|---|",
            *rows,
            f"| total; without heads {parameters['body']:,} | {parameters['total']:,} |",
            "",
            f"A training step takes {flops['step'] / 1e9:,.1f} GFLOP and a peak of "
            f"{account['memory']['peak'] / 2**20:,.0f} MiB in tensors,",
            f"with texts of {account['length']} tokens; by formula, see `regard account RUN`.",
            "",
        ]
    )


def _scores(metrics: dict[str, Any]) -> str:
    rows = [f"| split | metric | {' | '.join(WHO)} | examples |", "|---|---|---|---|---|---|"]
    for split in ("valid", "test"):
        for row in tabulate_scores(metrics[split]) if split in metrics else ():
            scores = " | ".join({**dict.fromkeys(WHO, ""), **row.format()}.values())
            rows.append(f"| {split} | {row.metric} | {scores} | {metrics[split]['count']:,} |")
    return "\n".join(rows)


def _signatures(signatures: dict[str, str]) -> str:
    return "\n".join(f"- {name}: `{signature}`" for name, signature in signatures.items())
