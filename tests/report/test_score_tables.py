"""A run's scores are the same in the terminal, on the card and on the report's page."""

from pathlib import Path

import pytest

from regard.cli.main import main
from regard.cli.progress import TrainingScreen
from regard.inference.predictor import Predictor
from regard.report.card import model_card
from regard.report.run import report_data
from regard.run import Run
from regard.tasks.task import Evaluation, Sample
from regard.training.watcher import Progress

FOLDER = Path(__file__).parents[1] / "keepsakes" / "0.1.0-a" / "classification"
MEASURED = Evaluation(
    metrics={"accuracy": 0.873, "loss": 0.41},
    baseline={"accuracy": 0.0},
    signature={"accuracy": "share of texts"},
    examples=7,
    samples=[],
    together={"accuracy": 0.881},
    details={"alone": {"network": 0.873, "bag": 0.8}},
)
SENTENCE = "accuracy alone: network 87.3%, bag 80.0%."


@pytest.fixture
def run():
    found = Run(FOLDER)
    measured = {**found.metrics["valid"], **MEASURED.as_json(), "samples": []}
    found.__dict__["metrics"] = {"training": found.metrics["training"], "valid": measured}
    return found


def test_on_the_card(run):
    card = model_card(run.recipe, run.metrics, baseline="a coin")
    assert "| split | metric | model | baseline | together | examples |" in card
    assert "| valid | accuracy | 87.3% | 0.0% | 88.1% | 7 |" in card
    assert "| valid | loss | 0.410 |  |  | 7 |" in card and SENTENCE in card


def test_in_the_report(run):
    data = report_data(run)
    accuracy, loss = data.scores
    assert (accuracy.value, accuracy.baseline, accuracy.together) == (87.3, 0.0, 88.1)
    assert (loss.value, loss.baseline, loss.together) == (0.41, None, None)
    assert "87.3% accuracy" in data.summary and "reaches 0.0%" in data.summary
    assert SENTENCE in data.summary


def test_after_training(run, capsys):
    TrainingScreen().conclude(run)
    shown = capsys.readouterr().err
    assert "accuracy   87.3%    (baseline 0.0%, together 88.1%)\n" in shown
    assert "    loss   0.410\n" in shown and SENTENCE in " ".join(shown.split())
    assert f"regard predict {FOLDER}" in "".join(shown.split("\n"))


def test_when_evaluated(monkeypatch, capsys):
    monkeypatch.setattr(Predictor, "evaluate", lambda *_, **__: MEASURED)
    assert main(["evaluate", str(FOLDER)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "accuracy          87.3%   baseline 0.0%   together 88.1%",
        "loss              0.410",
        "accuracy alone  network 87.3%, bag 80.0%",
        "accuracy is     share of texts",
        "examples        7",
    ]


SEVERAL = MEASURED._replace(
    details={
        "by_label": {"red": {"precision": 0.5, "recall": 1.0, "f1": 2 / 3, "support": 4}}
        | {"blue": {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 1}},
        "no_label": {"answered": 2, "true": 0},
    }
)
for each in SEVERAL.details["by_label"].values():
    each["threshold"] = 0.3
LINES = [
    ("red", "F1 66.7%, precision 50.0%, recall 100.0%; true of 4 texts; threshold 0.30"),
    ("blue", "F1 0.0%, precision 0.0%, recall 0.0%; true of 1 texts; threshold 0.30"),
    ("no label", "of 7 texts 2 are answered with no label; 0 have none"),
]


def test_several_labels_are_listed_with_their_thresholds(run, monkeypatch, capsys):
    run.metrics["valid"] |= SEVERAL.as_json()
    assert report_data(run).labels == LINES
    monkeypatch.setattr(Predictor, "evaluate", lambda *_, **__: SEVERAL)
    assert main(["evaluate", str(FOLDER)]) == 0
    shown = capsys.readouterr().out
    assert f"label red    {LINES[0][1]}" in shown and f"no label     {LINES[2][1]}" in shown


def test_metrics_and_samples_fit_the_screen(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    names = ("micro_f1", "macro_f1", "subset_accuracy", "map", "ece", "loss")
    sample = Sample("a text that goes on " * 20, "x", "")
    measured = MEASURED._replace(metrics=dict.fromkeys(names, 0.5), samples=[sample])
    TrainingScreen().receive_evaluation(Progress(7, 10, 2, 0.5, 0.01, 100.0, 60.0, 1.0), measured)
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 4 and max(map(len, shown)) <= 80
    assert "micro_f1" in shown[0] and "loss" in shown[0] and "ece" not in shown[0]
    assert shown[3].strip() == "→ (nothing)"
