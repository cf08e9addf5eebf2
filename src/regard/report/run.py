"""The report: a finished run as one self-contained HTML page."""

import platform
import re
from dataclasses import replace
from typing import Any

from regard.draw.document import DocumentPicture
from regard.draw.html import report_page
from regard.draw.label import label, strip_marks
from regard.draw.page import (
    AttentionMaps,
    Confusion,
    Curve,
    HeadMap,
    Panel,
    ReportData,
    ReportSample,
    SampleWords,
    Score,
)
from regard.errors import UsageError
from regard.explain.documents import (
    average_faithfulness,
    describe_mean,
    draw_document,
    has_text_attention,
)
from regard.explain.trace import Trace, trace
from regard.files import write_whole
from regard.report.card import count_skipped
from regard.report.costs import run_facts
from regard.report.sample_captions import novelty_facts
from regard.report.searches import searches_of
from regard.run import Run, describe_start
from regard.run_files import REPORT
from regard.tasks.kinds import kind_of
from regard.tasks.scores import (
    describe_alone,
    describe_empty,
    find_scale,
    format_duration,
    list_labels,
    tabulate_scores,
)

NAMES = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "ece": "calibration error (ECE)",
    "macro_f1": "macro F1",
    "map": "mean average precision",
    "micro_f1": "micro F1",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougel": "ROUGE-L",
}
MOST_DRAWN = 40  # words on a side of the drawn map
MOST_BASELINE_LETTERS = 48


def write_report(run: Run) -> None:
    """Write ``report.html`` into a run that is not sealed yet."""
    write_whole(run.folder / REPORT, report_page(report_data(run)))


def report_data(run: Run) -> ReportData:
    """Gather what the page says."""
    return replace(
        summarise_run(run),
        searches=searches_of(run),
        attention=_attention(run),
        document=_document(run),
    )


def summarise_run(run: Run) -> ReportData:
    """Gather what the page says without running the model."""
    training, captions = run.metrics["training"], kind_of(run.recipe).captions
    return ReportData(
        title=run.folder.name,
        summary=_summary(run),
        recipe=_recipe(run),
        scores=_scores(run),
        panels=_panels(run),
        confusion=_confusion(run),
        labels=_labels(run.evaluation),
        samples=_samples(run) if captions else [],
        sample_words=SampleWords(*captions) if captions else SampleWords(),
        data=[
            ("examples", f"{training['examples']:,}"),
            ("left out as too long", f"{training['overlong']:,}"),
            *(
                [("bad lines skipped", f"{skipped:,}")]
                if (skipped := count_skipped(training))
                else []
            ),
            ("fingerprint", training["data"]),
            *novelty_facts(run.evaluation.get("details", {})),
        ],
        cost=run_facts(run),
        environment=[
            ("seconds of training", f"{training['seconds']:.0f}"),
            ("tokens per second", f"{training['tokens_per_second']:,.0f}"),
            ("device", training.get("device", "cpu")),
            ("threads", str(training["threads"])),
            *made_with(run),
        ],
        commands=[
            ("ask it", f'regard predict {run.folder} "a text"'),
            ("explain an answer", f'regard explain {run.folder} "a text"'),
            ("measure it", f"regard evaluate {run.folder}"),
            ("compare it", f"regard compare {run.folder} ANOTHER"),
        ],
        version=run.facts["regard"],
    )


def made_with(run: Run) -> list[tuple[str, str]]:
    """Name the machine and the versions that a run was written with."""
    return [("machine", platform.machine()), *run.facts["versions"].items()]


def _summary(run: Run) -> str:
    """Say what was trained and how well it does; a score always has its baseline."""
    training = run.metrics["training"]
    rows = {row.metric: row for row in tabulate_scores(run.evaluation)}
    row = rows.get(run.task.metric) or next(iter(rows.values()))
    said = (
        f"A {run.recipe.task} model of {training['parameters']:,} parameters, trained on "
        f"{training['examples']:,} examples in {format_duration(training['seconds'])}. On "
        f"{run.split} it reaches {_figure(row.metric, row.model)} {_name(row.metric)}"
    )
    if row.baseline is not None:
        said += f"; {run.task.baseline} reaches {_figure(row.metric, row.baseline)}"
    began = describe_start(training["began"]) if "began" in training else ""
    return " ".join(part for part in (f"{said}.", describe_alone(run.evaluation), began) if part)


def _figure(metric: str, score: float) -> str:
    drawn = find_scale(metric)
    return f"{drawn.factor * score:.{drawn.digits}f}{drawn.unit}"


def _name(metric: str) -> str:
    return NAMES.get(metric, metric.replace("_", " "))


def _recipe(run: Run) -> list[tuple[str, str]]:
    model, training = run.recipe.model, run.recipe.training
    labels = run.recipe.data.labels
    return [
        ("task", run.recipe.task),
        ("tokenizer", f"{run.recipe.text.tokenizer}, {run.tokenizer.size:,} tokens"),
        ("width", str(model.width)),
        ("blocks", f"{model.depth} encoder, {model.decoder_depth} decoder")
        if run.task.writes_target
        else ("blocks", str(model.depth)),
        ("mixer", f"{model.mixer.kind}"),
        ("position", model.position.kind),
        *([("labels", str(len(labels))), ("pooling", model.head.pooling)] if labels else []),
        ("optimizer", f"{training.optimizer.kind}, rate {training.optimizer.rate:g}"),
        ("schedule", training.schedule.kind),
        ("budget", training.budget),
        ("seed", str(run.recipe.seed)),
    ]


def _scores(run: Run) -> list[Score]:
    return [
        score
        for split in ("test", "valid")
        if split in run.metrics
        for score in _split_scores(run, split)
    ]


def _split_scores(run: Run, split: str) -> list[Score]:
    measured, found = run.metrics[split], []
    for row in tabulate_scores(measured):
        factor, unit, digits, best = find_scale(row.metric)
        found.append(
            Score(
                _name(row.metric),
                row.model * factor,
                baseline=None if row.baseline is None else row.baseline * factor,
                baseline_name=label(run.task.baseline, MOST_BASELINE_LETTERS),
                signature=measured["signature"].get(row.metric, ""),
                best=best,
                digits=digits,
                unit=unit,
                together=None if row.together is None else row.together * factor,
                note=f"{split}, {measured['count']:,} examples",
            )
        )
    return found


def _panels(run: Run) -> list[Panel]:
    """Draw the loss of training; then the scores on valid, those of one scale together."""
    steps = [line for line in run.journal if line["event"] == "step"]
    measured = [line for line in run.journal if line["event"] == "evaluation"]
    panels = []
    if steps:
        loss = _curve("training loss", steps, [line["loss"] for line in steps])
        panels.append(Panel("Loss while training", [loss]))
    scales: dict[object, list[Curve]] = {}
    for name in measured[0]["metrics"] if measured else ():
        drawn = find_scale(name)
        values = [line["metrics"][name] * drawn.factor for line in measured]
        key = drawn if drawn.best else name  # open scales have nothing in common
        scales.setdefault(key, []).append(_curve(_name(name), measured, values))
    for curves in scales.values():
        unit = find_scale(curves[0].name.replace(" ", "_")).unit
        panels.append(Panel("Measured on valid" + (f", {unit}" if unit else ""), curves))
    return panels


def _curve(name: str, lines: list[dict[str, Any]], values: list[float]) -> Curve:
    minutes = [line["seconds"] / 60 for line in lines]
    return Curve(name, [line["step"] for line in lines], minutes, values)


def _confusion(run: Run) -> Confusion | None:
    details = run.evaluation.get("details", {})
    counts = details.get("confusion")
    if isinstance(counts, dict):
        return Confusion(counts["labels"], counts["matrix"])
    return Confusion(details["labels"], counts) if counts else None


def _labels(measured: dict[str, Any]) -> list[tuple[str, str]]:
    empty = describe_empty(measured)
    return [*list_labels(measured), *([("no label", empty)] if empty else [])]


def _samples(run: Run) -> list[ReportSample]:
    samples = run.evaluation["samples"]
    details = run.evaluation.get("details", {})
    copied = [[(word, share) for word, share in each] for each in details.get("copied_words", ())]
    return [
        ReportSample(
            each["asked"], each["expected"], each["answered"], copied[at] if copied else ()
        )
        for at, each in enumerate(samples[:12])
    ]


def _document(run: Run) -> DocumentPicture | None:
    """Draw the first held-out document; the effect of erasing is the mean over several."""
    texts = [sample.source for sample in _samples(run)]
    if not texts or not has_text_attention(run):
        return None
    note = describe_mean(average_faithfulness(run, texts))
    return replace(draw_document(run, texts[0]), note=note)


def _attention(run: Run) -> AttentionMaps | None:
    if has_text_attention(run):
        return None
    if not run.task.writes_target and run.recipe.model.mixer.kind != "attention":
        return None
    for text in (re.sub(r"\[(CLS|SEP)\]", " ", sample.source) for sample in _samples(run)):
        if not 0 < len(text.split()) <= MOST_DRAWN:
            continue
        try:
            found = trace(run, text).by_words()
        except UsageError:  # longer, in tokens, than what the model reads at once
            continue
        if len(found.source) <= MOST_DRAWN:
            return make_attention_maps(found)
    return None


def make_attention_maps(trace: Trace) -> AttentionMaps:
    """Return every head's map of one trace, after the mean over all of them, named as such."""
    layers, heads = trace.weights.shape[:2]
    mean = HeadMap("mean over all layers and heads", trace.weights.mean(axis=(0, 1)))
    each = [
        HeadMap(f"layer {layer + 1}, head {head + 1}", trace.weights[layer, head])
        for layer in range(layers)
        for head in range(heads)
    ]
    source, target = strip_marks(trace.source), strip_marks(trace.target)
    return AttentionMaps(source, target, [mean, *each], self_attention=trace.self_attention)
