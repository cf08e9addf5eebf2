"""Three kinds of answers keep the same promises."""

import math

import pytest
import torch

from regard.recipe.data import DataSettings
from regard.tasks.labelling.label_set import labels_from_recipe
from regard.tasks.labelling.labels import OneLabel, Score, split
from regard.tasks.labelling.several_labels import SeveralLabels

KINDS = {
    "one": (OneLabel(["a", "b", "c"]), ["b", "a", "c", "b", "b"]),
    "two": (OneLabel(["no", "yes"]), ["yes", "no", "no", "yes", "no"]),
    "several": (SeveralLabels(["a", "b", "c"], "|"), ["a|c", "b", "c | a", "a|b|c", "c"]),
    "score": (Score(1.0, 5.0), ["1.0", "5", "3.0", "4.5", "2"]),
}


@pytest.fixture(params=KINDS, ids=KINDS)
def kind(request):
    return KINDS[request.param]


def perfect(labels, written):
    targets = labels.targets([labels.numbers(one) for one in written]).double()
    return torch.logit(targets.clamp(1e-6, 1 - 1e-6)).float() * (2 if labels.exclusive else 1)


def test_what_is_written_comes_back_from_the_store(kind):
    labels, written = kind
    targets = labels.targets([labels.numbers(one) for one in written])
    assert targets.shape == (5, labels.columns)
    assert ((targets >= 0) & (targets <= 1)).all()


def test_true_logits_score_best_and_are_answered_as_written(kind):
    labels, written = kind
    logits = perfect(labels, written)
    scores = labels.score(logits, written)
    assert scores[labels.metric] == pytest.approx(1.0)
    worse = labels.score(-logits, written)
    assert worse[labels.metric] < 0.5 and worse["loss"] > scores["loss"]
    result = [one.text for one in labels.predict(logits)]
    for said, true in zip(result, written, strict=True):
        assert labels.numbers(said) == pytest.approx(labels.numbers(true), abs=300)


def test_the_loss_is_least_at_its_target_and_its_gradient_is_predicted_minus_true(kind):
    labels, written = kind
    targets = labels.targets([labels.numbers(one) for one in written]).double()
    logits = torch.randn(5, labels.columns, dtype=torch.double, requires_grad=True)
    labels.lost(logits, targets, smoothing=0.0).sum().backward()
    result = logits.softmax(dim=1) if labels.exclusive else logits.sigmoid()
    torch.testing.assert_close(logits.grad, (result - targets).detach())


def test_smoothing_moves_the_target_but_not_that_of_a_score(kind):
    labels, written = kind
    targets = labels.targets([labels.numbers(one) for one in written])
    logits = torch.randn(5, labels.columns)
    plain, smoothed = (labels.lost(logits, targets, smoothing=s).sum() for s in (0.0, 0.2))
    assert (plain == smoothed) == isinstance(labels, Score)
    even = labels.lost(torch.zeros(5, labels.columns), targets, smoothing=0.2)
    doubt = math.log(labels.columns) if labels.exclusive else labels.columns * math.log(2)
    assert even.tolist() == pytest.approx([doubt] * 5)


def test_two_equal_passes_are_not_apart_and_two_others_are(kind):
    labels, _ = kind
    first, second = torch.randn(7, labels.columns), torch.randn(7, labels.columns)
    assert float(labels.divergence(first, first)) == 0.0
    assert float(labels.divergence(first, second)) == pytest.approx(
        float(labels.divergence(second, first))
    )
    assert float(labels.divergence(first, second)) > 0.1


def test_balanced_weights_give_every_label_the_same_sum():
    labels = OneLabel(["a", "b"])
    targets = labels.targets([[0]] * 9 + [[1]] * 3)
    weights = labels.weights(targets, targets.mean(dim=0))
    assert float(weights[:9].sum()) == pytest.approx(6) == float(weights[9:].sum())
    several = SeveralLabels(["a", "b"], "|")
    targets = several.targets([[0]] * 9 + [[0, 1]] * 3)
    weights = several.weights(targets, targets.mean(dim=0))
    assert weights[-1] > weights[0]


def test_probabilities_are_given_by_label():
    result = OneLabel(["no", "yes"]).predict(torch.tensor([[0.0, 2.0]]))[0]
    assert result.text == "yes" and sum(result.probabilities.values()) == pytest.approx(1)
    assert result.probabilities["yes"] == pytest.approx(torch.tensor(result.log_probability).exp())
    result = SeveralLabels(["a", "b", "c"], "; ").predict(torch.tensor([[1.0, -2.0, 3.0]]))[0]
    p = torch.tensor([1.0, 2.0, 3.0]).sigmoid()  # each on its side
    assert result.text == "a; c" and result.log_probability == pytest.approx(float(p.log().sum()))


def test_scores_beyond_the_range_count_as_its_ends():
    labels = Score(1.0, 5.0)
    assert labels.numbers("0.2") == labels.numbers("1") and labels.numbers("9") == [1_000_000]
    assert labels.predict(torch.tensor([[0.0]]))[0].text == "3.000"


def test_the_recipe_decides_the_kind_of_labels():
    files = {"train": ("x.jsonl",)}
    assert isinstance(labels_from_recipe(DataSettings(**files, labels=("a", "b"))), OneLabel)
    several = DataSettings(**files, labels=("a", "b"), label_separator="|")
    assert isinstance(labels_from_recipe(several), SeveralLabels)
    score = DataSettings(**files, scores=True, score_range=(0.0, 5.0))
    assert isinstance(labels_from_recipe(score), Score)


def test_labels_are_split_and_stripped():
    assert split(" a | b||c ", "|") == ["a", "b", "c"]
    assert split(" a | b ", "") == ["a | b"]


def test_an_answer_of_several_labels_may_be_empty():
    labels = SeveralLabels(["a", "b", "c"], "|")
    told = labels.predict(torch.tensor([[-1.0, -2.0, -3.0]]))[0]
    p = torch.tensor([1.0, 2.0, 3.0]).sigmoid()
    assert (told.text, told.labels) == ("", ())
    assert told.log_probability == pytest.approx(float(p.log().sum()))
    assert labels.numbers("") == [] and labels.targets([[]]).tolist() == [[0.0, 0.0, 0.0]]


def test_thresholds_decide_what_is_answered_and_what_its_probability_is():
    labels = SeveralLabels(["a", "b"], "|").with_thresholds(torch.tensor([0.2, 0.9]))
    logits = torch.logit(torch.tensor([[0.3, 0.8], [0.1, 0.95]]))
    first, second = labels.predict(logits)
    assert (first.labels, second.labels) == (("a",), ("b",))
    assert math.exp(first.log_probability) == pytest.approx(0.3 * 0.2)
    details = labels.details(logits, ["a", ""])
    assert details["by_label"]["b"]["threshold"] == pytest.approx(0.9)
    assert details["by_label"]["a"]["recall"] == 1.0
    assert details["no_label"] == {"answered": 0, "true": 1}


def test_a_text_without_labels_weighs_as_much_as_the_mean():
    several = SeveralLabels(["a", "b"], "|")
    targets = several.targets([[0]] * 9 + [[]] * 3)
    assert several.weights(targets, targets.mean(dim=0))[-1] == 1.0
