"""Reports of every task: scores with their baseline, curves by scale, attention of the body."""

import numpy as np
import pytest

from regard.errors import UsageError
from regard.explain.trace import trace
from regard.recipe.load import make
from regard.report.run import report_data, write_report
from regard.training.train import train

GOOD, BAD = ("fine", "lovely", "great"), ("dull", "poor", "weak")
THINGS = ("book", "story", "hero", "plot", "scene")
MODEL = {"width": 12, "depth": 2, "feed_forward": 17, "mixer": {"kind": "attention", "heads": 3}}


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    every = [
        (f"the {a} and the {b} are {words[n % 3]}", label)
        for n, (a, b) in enumerate((a, b) for a in THINGS for b in THINGS)
        for words, label in ((GOOD, "good"), (BAD, "bad"))
    ]
    (folder / "a.tsv").write_text("".join(f"{text}\t{label}\n" for text, label in every))
    (folder / "a.txt").write_text("\n\n".join(text for text, _ in every) + "\n")
    return folder


@pytest.fixture(scope="module")
def run_of(texts):
    """Return a function that trains a tiny run of a task, once."""
    runs = {}

    def run(task, **model):
        name = f"{task}-{'-'.join(model)}"
        if name in runs:
            return runs[name]
        file = "a.tsv" if task == "classification" else "a.txt"
        recipe = {
            "task": task,
            "data": {"train": [str(texts / file)], "holdout": 0.3},
            "text": {"vocabulary": 290, "max_length": 24},
            "model": {**MODEL, **model},
            "training": {"budget": "20 steps", "threads": 1, "batch_tokens": 200}
            | {"evaluations": 2},
        }
        if task == "language-modelling":
            recipe["decoding"] = {"method": "greedy", "max_length": 4}
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("REGARD_CACHE", str(texts / "cache"))
            runs[name] = train(make(recipe), texts / name)
        return runs[name]

    return run


def test_a_classifiers_report_has_percentages_and_its_own_baseline(run_of):
    run = run_of("classification")
    data = report_data(run)
    accuracy = data.scores[0]
    assert accuracy.name == "accuracy" and accuracy.unit == "%" and accuracy.best == 100
    assert accuracy.value == pytest.approx(100 * run.metrics["valid"]["metrics"]["accuracy"])
    assert accuracy.baseline_name.startswith("logistic regression on ")
    assert accuracy.together is not None
    assert "logistic regression on " in data.summary and "%" in data.summary
    assert data.confusion is not None and list(data.confusion.labels) == ["bad", "good"]
    assert sum(map(sum, data.confusion.counts)) == run.metrics["valid"]["count"]


def test_scores_of_one_scale_share_a_panel_and_a_loss_has_its_own(run_of):
    panels = report_data(run_of("classification")).panels
    names = [{curve.name for curve in panel.curves} for panel in panels]
    assert {"accuracy", "macro F1", "calibration error (ECE)"} in names and {"loss"} in names
    assert panels[1].title == "Measured on valid, %"


@pytest.mark.parametrize("task", ["classification", "language-modelling", "masked-pretraining"])
def test_the_attention_of_the_body_is_whole_and_every_head_is_there(run_of, task):
    run = run_of(task)
    found = trace(run, "the book and the plot are fine")
    assert found.self_attention and found.weights.shape[:2] == (2, 3)
    np.testing.assert_allclose(found.weights.sum(-1), 1.0, rtol=1e-4)
    words = [word.replace("▁", "") for word in found.by_words().source]
    assert [word for word in words if word.isalpha()][:3] == ["the", "book", "and"]
    data = report_data(run)
    assert (data.attention is None) == (not data.samples)  # texts too short to go on with have none
    assert data.attention is None or (
        data.attention.self_attention and len(data.attention.heads) == 7
    )


def test_a_causal_body_never_attends_ahead(run_of):
    weights = trace(run_of("language-modelling"), "the book is fine").weights
    assert np.triu(weights, k=1).max() < 1e-7


def test_tracing_leaves_no_hooks(run_of):
    run = run_of("classification")
    trace(run, "the book is fine")
    assert not any(part._forward_pre_hooks for part in run.model.modules())


def test_a_report_is_written_for_every_task(run_of):
    for task in ("classification", "language-modelling", "masked-pretraining"):
        run = run_of(task)
        write_report(run)
        page = (run.folder / "report.html").read_text()
        assert "NaN" not in page and run.task.baseline[:30] in page


def test_without_attention_there_is_a_report_but_nothing_to_explain(run_of):
    run = run_of("classification", mixer={"kind": "recurrent"}, position={"kind": "none"})
    assert report_data(run).attention is None
    with pytest.raises(UsageError, match="mixer of this model is recurrent"):
        trace(run, "the book is fine")


def test_only_a_sequence_to_sequence_task_takes_a_target(run_of):
    with pytest.raises(UsageError, match="a target needs an encoder-decoder"):
        trace(run_of("classification"), "the book", "good")


def test_a_text_longer_than_a_window_is_refused(run_of):
    with pytest.raises(UsageError, match="must fit the model's input"):
        trace(run_of("language-modelling"), "the book " * 50)
