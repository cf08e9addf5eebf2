"""The report: a finished run as one page that a person can look at, file and all."""

import platform
from typing import Any

from regard.explain.alignment import Look
from regard.explain.draw.html import report_page
from regard.explain.draw.page import (
    Attention,
    Curve,
    Head,
    Panel,
    ReportData,
    Sample,
    Score,
)
from regard.explain.draw.picture import Picture
from regard.explain.trace import Trace, trace_translation
from regard.run import REPORT, Run, seal, write_whole

NAMES = {"bleu": "BLEU", "chrf": "chrF"}
MOST_DRAWN = 40  # tokens on a side of the drawn map


def write_report(run: Run) -> None:
    """Write ``report.html`` into a run and seal it anew."""
    write_whole(run.folder / REPORT, report_page(report_data(run)))
    seal(run.folder)


def report_data(run: Run) -> ReportData:
    """Gather what the page says."""
    training, summary = run.metrics["training"], run.summary
    scores = dict(summary["metrics"])
    scores.pop("baseline")
    first: str = next(iter(scores))
    return ReportData(
        title=run.folder.name,
        summary=(
            f"A {run.recipe.task} model of {training['parameters']:,} parameters, trained on "
            f"{training['examples']:,} examples in {training['seconds'] / 60:.1f} minutes. On "
            f"{summary['split']} it reaches {scores[first]:.1f} {NAMES.get(first, first)}."
        ),
        recipe=_recipe(run),
        scores=_scores(run),
        panels=_panels(run.journal),
        samples=_samples(run),
        attention=_attention(run),
        data=[
            ("examples", f"{training['examples']:,}"),
            ("left out as too long", f"{training['overlong']:,}"),
            ("fingerprint", training["data"]),
        ],
        environment=[
            ("seconds of training", f"{training['seconds']:.0f}"),
            ("tokens per second", f"{training['tokens_per_second']:,.0f}"),
            ("threads", str(training["threads"])),
            ("machine", platform.machine()),
            *((name, version) for name, version in run.facts["versions"].items()),
        ],
        commands=[
            ("ask it", f'regard predict {run.folder} "a text"'),
            ("measure it", f"regard evaluate {run.folder}"),
        ],
        version=run.facts["regard"],
    )


def _recipe(run: Run) -> list[tuple[str, str]]:
    model, training = run.recipe.model, run.recipe.training
    return [
        ("task", run.recipe.task),
        ("tokenizer", f"{run.recipe.text.tokenizer}, {run.tokenizer.size:,} tokens"),
        ("width", str(model.width)),
        ("blocks", f"{model.depth} read, {model.decoder_depth} write"),
        ("mixer", f"{model.mixer.kind}"),
        ("position", model.position.kind),
        ("optimizer", f"{training.optimizer.kind}, rate {training.optimizer.rate:g}"),
        ("schedule", training.schedule.kind),
        ("budget", training.budget),
        ("seed", str(run.recipe.seed)),
    ]


def _scores(run: Run) -> list[Score]:
    found = []
    for split in ("test", "valid"):
        if split not in run.metrics:
            continue
        measured = run.metrics[split]
        scores = dict(measured["metrics"])
        baseline = scores.pop("baseline")
        found += [
            Score(
                NAMES.get(str(name), str(name)),
                score,
                baseline=baseline.get(name),
                baseline_name="copying the source",
                signature=measured["signature"].get(name, ""),
                best=100,
                note=f"{split}, {measured['count']:,} examples",
            )
            for name, score in scores.items()
        ]
    return found


def _panels(journal: list[dict[str, Any]]) -> list[Panel]:
    steps = [line for line in journal if line["event"] == "step"]
    measured = [line for line in journal if line["event"] == "evaluation"]
    panels = []
    if steps:
        loss = _curve("training loss", steps, [line["loss"] for line in steps])
        panels.append(Panel("Loss per token, in nats", [loss]))
    if measured:
        curves = [
            _curve(NAMES.get(name, name), measured, [line["metrics"][name] for line in measured])
            for name in measured[0]["metrics"]
        ]
        panels.append(Panel("Scores on valid, greedy", curves))
    return panels


def _curve(name: str, lines: list[dict[str, Any]], values: list[float]) -> Curve:
    minutes = [line["seconds"] / 60 for line in lines]
    return Curve(name, [line["step"] for line in lines], minutes, values)


def _samples(run: Run) -> list[Sample]:
    samples = run.metrics[run.summary["split"]]["samples"]
    return [Sample(each["asked"], each["expected"], each["answered"]) for each in samples[:12]]


def _attention(run: Run) -> Attention | None:
    fitting = [sample for sample in _samples(run) if len(sample.source.split()) <= MOST_DRAWN]
    if not fitting:
        return None
    return attention_of(trace_translation(run, fitting[0].source).by_words())


def attention_of(trace: Trace) -> Attention:
    """Every head's map of one trace, the mean over all of them first and said to be one."""
    layers, heads = trace.weights.shape[:2]
    mean = Head("mean over all layers and heads", trace.weights.mean(axis=(0, 1)))
    each = [
        Head(f"layer {layer + 1}, head {head + 1}", trace.weights[layer, head])
        for layer in range(layers)
        for head in range(heads)
    ]
    return Attention(_plain(trace.source), _plain(trace.target), [mean, *each])


def picture_of(trace: Trace, look: Look | None = None) -> Picture:
    """One map of a trace, without the ends of the two texts; by default the last layer's mean."""
    look = look or Look(len(trace.weights) - 1, None)
    return Picture(
        _plain(trace.target)[:-1],
        _plain(trace.source)[:-1],
        look.of(trace)[:-1, :-1],
        f"where each word looked ({look.name})",
    )


def _plain(words: tuple[str, ...]) -> list[str]:
    return [word.replace("▁", "") for word in words]
