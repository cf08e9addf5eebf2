"""Comparison of runs: seeds grouped, groups named by what differs, significance in words."""

import csv
import json
import random
from types import SimpleNamespace

import pytest

from regard.errors import UsageError
from regard.files import hash_file
from regard.inference.comparison import compare
from regard.recipe.load import make
from regard.report.comparison import WRITERS, comparison_page, lines_of, mean_curves
from regard.run import Run

TASKS = {
    "classification": ("accuracy", {"accuracy": 0.5, "loss": 0.7}),
    "translation": ("bleu", {"bleu": 1.0, "chrf": 2.0}),
    "language-modelling": ("loss", {"loss": 3.0}),
}


def finished(folder, task, scores, answers, *, test="a" * 64, **settings):
    """Return a run as if it had been trained, from what comparing reads."""
    metric, baseline = TASKS[task]
    model = {"width": settings.pop("width", 192), "start": settings.pop("start", {})}
    model |= settings.pop("model", {})
    seed = settings.pop("seed", 1)
    run = Run.__new__(Run)
    run.folder = folder
    data = {"train": [settings.pop("train", "t")], "test": ["x"]}
    run.recipe = make({"task": task, "seed": seed, "data": data, "model": model})
    corpus = task == "translation"
    run.task = SimpleNamespace(metric=metric, baseline="a coin", corpus_metric=corpus)
    training = {"steps": 40, "seconds": 60.0, "tokens_per_second": 1.0, "parameters": 7}
    measured = {"metrics": {**scores, "baseline": baseline}, "signature": {}, "data": test}
    run.__dict__["metrics"] = {"test": {**measured, "count": len(answers)}, "training": training}
    run.__dict__["answers"] = answers
    folder.mkdir()
    evaluations = [
        {"event": "evaluation", "step": 10 * n, "epochs": n / 2, "seconds": 30.0 * n}
        | {"metrics": {metric: next(iter(scores.values())) * n / 2}}
        for n in (0, 1, 2)
    ]
    (folder / "journal.jsonl").write_text("".join(json.dumps(e) + "\n" for e in evaluations))
    run.facts = {"files": {"journal.jsonl": hash_file(folder / "journal.jsonl")}}
    return run


def classified(folder, share, *, seed=1, count=400, **settings):
    """Return a run whose answers are right this often."""
    draw = random.Random(seed)
    answers = []
    for number in range(count):
        expected = "yes" if number % 2 else "no"
        right = draw.random() < share
        answered = expected if right else {"yes": "no", "no": "yes"}[expected]
        sides = {"asked": f"{number}", "expected": expected, "answered": answered}
        answers.append({**sides, "score": float(right)})
    right = sum(answer["score"] for answer in answers) / count
    scores = {"accuracy": right, "loss": 1 - right}
    return finished(folder, "classification", scores, answers, seed=seed, **settings)


@pytest.fixture
def compared(tmp_path):
    good = [classified(tmp_path / f"wide{s}", 0.85, seed=s, width=256) for s in (3, 1, 2)]
    poor = [classified(tmp_path / f"thin{s}", 0.65, seed=s, width=64) for s in (1, 2)]
    return compare([*good, *poor])


def test_seeds_of_one_recipe_are_one_group_named_by_what_differs(compared):
    assert [group.name for group in compared.groups] == ["model.width 256", "model.width 64"]
    assert [group.seeds for group in compared.groups] == [[1, 2, 3], [1, 2]]
    wide = compared.groups[0].scores["accuracy"]
    assert wide.seeds == 3 and 0.8 < wide.mean < 0.9 and wide.half > 0
    assert compared.baseline == {"accuracy": 0.5, "loss": 0.7}


def test_a_clear_difference_is_said_to_be_no_chance_and_by_whom(compared):
    accuracy, loss = compared.pairs
    assert accuracy.metric == "accuracy" and accuracy.examples.bootstrap < 0.01
    assert accuracy.words.startswith("model.width 256 is ahead of model.width 64 by ")
    assert accuracy.verdict == "difference"
    assert "It is unlikely to be chance" in accuracy.words and "other seeds" in accuracy.words
    assert loss.examples is None and loss.seeds is not None
    assert loss.words.startswith("model.width 256 is ahead")  # by less loss


def test_a_small_difference_may_be_chance(tmp_path):
    runs = [
        classified(tmp_path / "a", 0.70, seed=4, width=64),
        classified(tmp_path / "b", 0.71, seed=5, width=256),
    ]
    pair = compare(runs).pairs[0]
    assert pair.seeds is None and pair.examples.randomisation > 0.05
    assert "It may be chance: other test examples" in pair.words and pair.verdict == "chance"


def test_one_run_has_its_row_and_no_pairs(tmp_path):
    compared = compare([classified(tmp_path / "a", 0.7)])
    assert compared.pairs == [] and len(compared.groups) == 1
    assert compared.rows()[1][:2] == ["classification", "1"]
    assert compared.rows()[-1] == ["baseline", "", "50.0%", "0.700"]


def test_the_rows_hold_mean_and_interval(compared):
    heading, wide, thin, baseline = compared.rows()
    assert heading == ["", "seeds", "accuracy", "loss"]
    assert wide[1] == "3" and "% ± " in wide[2] and thin[1] == "2"
    assert baseline[0] == "baseline"


def test_translations_are_compared_by_their_texts(tmp_path):
    references = [f"the {a} sees the {b}" for a in "abcdefg" for b in "hijklmn"]
    texts = {"good": references, "poor": [r.replace("sees", "see") for r in references]}
    runs = [
        finished(
            tmp_path / name,
            "translation",
            {"bleu": 100.0 if name == "good" else 50.0, "chrf": 60.0},
            [{"expected": r, "answered": t} for r, t in zip(references, some, strict=True)],
            width=64 if name == "good" else 256,
        )
        for name, some in texts.items()
    ]
    bleu, chrf = compare(runs).pairs
    assert bleu.examples.bootstrap < 0.01 and chrf.metric == "chrf"


def test_without_single_scores_only_seeds_are_compared(tmp_path):
    runs = [
        finished(tmp_path / f"{w}-{s}", "language-modelling", {"loss": loss}, [], seed=s, width=w)
        for w, losses in ((64, (2.0, 2.1)), (256, (1.5, 1.6)))
        for s, loss in enumerate(losses)
    ]
    (pair,) = compare(runs).pairs
    assert pair.examples is None and pair.seeds < 0.05
    assert pair.words.startswith("model.width 256 is ahead of model.width 64 by 0.500 in loss")
    (alone,) = compare(runs[::2]).pairs
    assert "is unknown: train more seeds" in alone.words


def test_other_test_examples_another_task_and_a_seed_twice_are_refused(tmp_path):
    first = classified(tmp_path / "a", 0.7)
    other = classified(tmp_path / "b", 0.7, test="b" * 64, seed=2)
    with pytest.raises(UsageError) as refused:
        compare([first, other])
    assert "aaaaaaaaaaaa" in refused.value.problem and "bbbbbbbbbbbb" in refused.value.problem
    with pytest.raises(UsageError, match="one task"):
        compare([first, finished(tmp_path / "c", "language-modelling", {"loss": 1.0}, [])])
    with pytest.raises(UsageError, match="both have seed 1"):
        compare([first, classified(tmp_path / "d", 0.8)])
    with pytest.raises(UsageError, match="nothing to compare"):
        compare([])


def test_the_same_folder_twice_is_one_run(tmp_path):
    run = classified(tmp_path / "a", 0.7)
    assert compare([run, run]).groups[0].seeds == [1]


def test_many_groups_are_each_compared_with_the_first(tmp_path):
    runs = [classified(tmp_path / f"{n}", 0.7, width=64 * n) for n in range(1, 7)]
    pairs = [p for p in compare(runs).pairs if p.metric == "accuracy"]
    assert len(pairs) == 5 and {p.first for p in pairs} == {"model.width 64"}
    assert len([p for p in compare(runs[:4]).pairs if p.metric == "accuracy"]) == 6


def test_curves_are_means_with_the_least_and_greatest_seed(compared):
    (wide, _) = lines_of(compared.groups, "accuracy", "epochs")
    last = compared.groups[0].scores["accuracy"].mean
    assert wide.xs == [0, 0.5, 1.0] and wide.ys[-1] == pytest.approx(100 * last)
    assert wide.lows[-1] < wide.ys[-1] < wide.highs[-1]
    assert lines_of(compared.groups, "accuracy", "minutes")[0].xs == [0, 0.5, 1.0]


def test_mean_curves_have_the_interval_of_their_last_score(compared):
    wide, thin = mean_curves(compared.groups)["accuracy"]
    score = compared.groups[0].scores["accuracy"]
    assert wide["steps"] == [0, 10, 20] and (wide["seeds"], thin["seeds"]) == (3, 2)
    assert wide["mean"][-1] == pytest.approx(score.mean)
    assert wide["half"][-1] == pytest.approx(score.half) and wide["half"][0] == 0


def test_the_verdict_is_unknown_where_nothing_was_tested(compared):
    pair = compared.pairs[0]._replace(examples=None, seeds=None)
    assert pair.verdict == "unknown" and pair._replace(difference=0.0).verdict == "same"


def test_the_page_needs_nothing_and_shows_bands_words_and_runs(compared):
    page = comparison_page(compared)
    assert page.count('class="band"') == 6  # two groups against three axes
    assert "It is unlikely to be chance" in page and "wide3" in page
    assert "<script" not in page and "https://" not in page


def test_json_has_every_figure(compared):
    result = json.loads(json.dumps(compared.as_json()))
    assert result["groups"][0]["metrics"]["accuracy"]["seeds"] == 3
    assert {"p_bootstrap", "p_randomisation", "p_seeds", "words"} <= set(result["pairs"][0])


def test_seeds_that_begin_from_runs_numbered_as_they_are_stay_one_group(tmp_path):
    runs = [
        classified(tmp_path / f"{name}{seed}", 0.7, seed=seed, start={"run": f"/x/{name}-{seed}"})
        for name in ("lm", "none")
        for seed in (1, 2)
    ]
    groups = compare(runs).groups
    assert [group.name for group in groups] == ["model.start.run lm", "model.start.run none"]
    assert [group.seeds for group in groups] == [[1, 2], [1, 2]]


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        ("{}-{}", ["deep", "flat"]),
        ("{}-seed{}", ["deep", "flat"]),
        ("{1}-{0}", None),  # begins with the seed: nothing in common
    ],
)
def test_groups_that_differ_in_much_are_named_by_their_folders(tmp_path, folder, names):
    much = {"deep": {"depth": 3, "dropout": 0.3}, "flat": {"depth": 1, "dropout": 0.1}}
    much["deep"] |= {"feed_forward": 64, "tied": False}
    runs = [
        classified(tmp_path / folder.format(name, seed), 0.7, seed=seed, model=model)
        for name, model in much.items()
        for seed in (1, 2)
    ]
    found = [group.name for group in compare(runs).groups]
    if names is None:
        assert all("model.depth" in name and "and 1 more" in name for name in found)
    else:
        assert found == names


def test_names_say_the_settings_that_tell_most_groups_apart(tmp_path):
    runs = []
    for number, width in enumerate((64, 128, 192, 256)):
        model = {"depth": 1 + number // 2, "dropout": 0.1 + number % 2 / 10, "width": width}
        model |= {"activation": "gelu" if number else "relu", "feed_forward": 32}
        (tmp_path / f"{number}").mkdir()
        runs.append(classified(tmp_path / f"{number}" / "same", 0.7, model=model))
    found = [group.name for group in compare(runs).groups]
    assert all(name.startswith("model.width ") for name in found) and len(set(found)) == 4
    assert all(name.endswith("and 1 more") for name in found)


def test_groups_have_the_names_that_are_given(tmp_path):
    runs = [classified(tmp_path / f"run{width}", 0.7, width=width) for width in (64, 128)]
    assert [group.name for group in compare(runs, ["B_2", "A%"]).groups] == ["B_2", "A%"]
    for names in (["one"], ["same", "same"]):
        with pytest.raises(UsageError, match="2 groups") as caught:
            compare(runs, names)
        assert "run64; " in caught.value.remedy


def test_a_comparison_is_written_as_csv_and_latex(tmp_path):
    runs = [classified(tmp_path / f"r{s}", 0.7, seed=s, width=64) for s in (1, 2)]
    compared = compare(runs, ["A_%~"])
    rows = list(csv.DictReader(WRITERS[".csv"](compared).splitlines()))
    (accuracy,) = (row for row in rows if (row["group"], row["metric"]) == ("A_%~", "accuracy"))
    score = compared.groups[0].scores["accuracy"]
    assert (float(accuracy["mean"]), float(accuracy["half_interval"])) == score[:2]
    assert accuracy["seeds"] == "2" and rows[-1]["group"] == "baseline"
    lines = WRITERS[".tex"](compared).splitlines()
    assert any(line.startswith(r"A\_\%\textasciitilde{} & 2 & ") for line in lines)
    assert len({line.count(" & ") for line in lines if line.endswith(r"\\")}) == 1


def test_data_that_was_moved_is_still_the_same_and_other_data_is_not(tmp_path):
    files = ["/one/books/train.tsv", "/two/books/train.tsv", "/two/films/train.tsv"]
    runs = [
        classified(tmp_path / f"r{seed}", 0.7, seed=seed, train=file)
        for seed, file in enumerate(files)
    ]
    assert [group.seeds for group in compare(runs).groups] == [[0, 1], [2]]
