"""An engine gives the answers of torch, whatever the limits; it is converted and compared once."""

import pytest
import torch

from regard.errors import RunError, UsageError
from regard.inference.engines import attach
from regard.inference.engines.translator import Divisors, Hypothesis, TranslatorEngine
from regard.recipe.decoding_overrides import override_decoding
from regard.tasks.kinds import make_task
from regard.text.special import END

pytest.importorskip("ctranslate2")

ROTARY = "model.position={kind='rotary', cross_attention=false}"
TEXTS = ["the ship sails", "a cat", "rain and rain over the green house", "café 漢字", "", "night."]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def translator(random_run):
    """Return a run whose answers end: it writes few tokens."""

    def make(*sets, **decoding):
        run = random_run("translation", "model.head.bias=true", *(sets or (ROTARY,)), double=False)
        run.model.head.restrict_vocabulary(torch.tensor([END, *range(40, 52)]))
        run.model.head.bias.data[END] += 4.0
        return override(run, **decoding)

    return make


def override(run, **decoding):
    run.recipe = override_decoding(run.recipe, decoding)
    run.task = make_task(run.recipe, run.tokenizer)
    return run


LIMITS = {
    "greedy": {"method": "greedy"},
    "greedy, at its limit": {"method": "greedy", "max_length": 4},
    "greedy, no trigram twice": {"method": "greedy", "no_repeat": 3},
    "beam": {"beam": 4},
    "beam, no length penalty": {"beam": 3, "length_penalty": 0.0},
    "beam, long answers": {"beam": 3, "length_penalty": 2.0},
    "beam, at its limit": {"beam": 3, "max_length": 4},
    "beam, limits of rows": {"beam": 3, "max_length_ratio": 1.0},
    "beam, at least six": {"beam": 3, "min_length": 6},
    "beam, no trigram twice": {"beam": 3, "no_repeat": 3},
}


@pytest.mark.parametrize("decoding", LIMITS.values(), ids=LIMITS)
def test_answers_are_those_of_torch(decoding, translator, monkeypatch):
    run = translator(**decoding)
    best = decoding.get("beam", 1)
    ours = run.task.hypotheses(run.model, TEXTS, best=best)
    run = override(run, engine="ctranslate2")
    answered = []

    def search(self, rows, limits, **options):
        answered.append(plain(self, rows, limits, **options))
        return answered[-1]

    plain = TranslatorEngine.search
    attach.attach_engine(run)
    monkeypatch.setattr(TranslatorEngine, "search", search)
    theirs = run.task.hypotheses(run.model, TEXTS, best=best)
    assert len(answered) == 1  # all texts at once
    for mine, others in zip(ours, theirs, strict=True):
        assert [one.ids for one in mine] == [one.ids for one in others]
        for one, other in zip(mine, others, strict=True):
            assert one.log_probability == pytest.approx(other.log_probability, abs=1e-4)


def test_the_engine_answers_most_rows_itself(translator):
    run = translator(engine="ctranslate2", beam=3)
    attach.attach_engine(run)
    rows = [[*row, END] for row in run.task.encode_sources([text for text in TEXTS if text])]
    limits = run.task._limits([len(row) for row in rows])
    for width in (1, 3):
        found = run.task.engine.search(rows, limits, width=width, length_penalty=0.6)
        answered = [answers for answers in found if answers]
        assert len(answered) >= len(rows) - 2
        assert all(len(answers) == 1 for answers in answered)


def test_it_is_converted_once(translator, monkeypatch):
    run = translator(engine="ctranslate2")
    attach.attach_engine(run)
    monkeypatch.setattr(attach, "write_ctranslate2", None)  # a second call would fail
    attach.attach_engine(override(run, beam=2))
    assert run.task.engine.name == "ctranslate2, float32"
    attach.attach_engine(override(run, quantization="int8"))
    assert run.task.engine.name == "ctranslate2, int8"
    run.facts["files"] = dict.fromkeys(run.facts["files"], "other")
    with pytest.raises(TypeError):
        attach.attach_engine(run)


def test_one_that_answers_otherwise_is_refused(translator, monkeypatch):
    run = translator(engine="ctranslate2")
    other, write = make_other(run), attach.write_ctranslate2

    def write_other(recipe, _model, tokenizer, folder):
        write(recipe, other, tokenizer, folder)

    monkeypatch.setattr(attach, "write_ctranslate2", write_other)
    with pytest.raises(RunError, match="same answers"):
        attach.attach_engine(run)
    assert run.task.engine is None
    attach.attach_engine(override(run, engine="auto"))
    assert run.task.engine is None


def make_other(run):
    torch.manual_seed(11)
    model = run.task.build()
    model.head.restrict_vocabulary(torch.tensor([END, *range(40, 52)]))
    return model


def test_what_does_not_fit_is_refused_or_left_to_torch(translator):
    run = translator("model.position={kind='rotary'}", engine="ctranslate2")
    with pytest.raises(UsageError, match=r"^model\.position\.cross_attention"):
        attach.attach_engine(run)
    attach.attach_engine(override(run, engine="auto"))
    assert run.task.engine is None


def test_without_the_library_auto_takes_torch(translator, monkeypatch):
    run = translator(engine="auto")
    monkeypatch.setattr(attach, "find_spec", lambda name: None)
    attach.attach_engine(run)
    assert run.task.engine is None


def test_a_model_with_hooks_is_not_the_one_that_was_converted(translator):
    run = translator(engine="ctranslate2", method="greedy")
    attach.attach_engine(run)
    usual = [one.ids for one in run.task.answer(run.model, TEXTS)]
    hook = run.model.decoder.register_forward_hook(lambda part, given, states: 0 * states)
    assert [one.ids for one in run.task.answer(run.model, TEXTS)] == [()] * len(TEXTS) != usual
    hook.remove()
    assert [one.ids for one in run.task.answer(run.model, TEXTS)] == usual


def test_an_engine_searches_and_does_not_draw(translator):
    run = translator()
    with pytest.raises(UsageError, match="sample"):
        override(run, engine="ctranslate2", method="sample")
    attach.attach_engine(override(run, engine="auto", method="sample"))
    assert run.task.engine is None


def test_an_answer_that_repeats_is_searched_again(translator):
    run = translator(engine="ctranslate2", method="greedy")
    attach.attach_engine(run)
    usual = [one.ids for one in run.task.answer(run.model, TEXTS)]
    run.task.repeat_guard = 2
    guarded = [one.ids for one in run.task.answer(run.model, TEXTS)]
    blocked = override(run, engine="torch", no_repeat=2)
    assert guarded == [one.ids for one in blocked.task.answer(run.model, TEXTS)] != usual


@pytest.mark.parametrize(("longest", "certain"), [(3, True), (20, False)])
def test_a_row_is_left_to_torch_if_a_dropped_hypothesis_may_be_better(longest, certain):
    """Less probable than -3, and of 20 tokens, it may score -0.17; the second returned has -0.73."""
    found = [
        Hypothesis([40], -1.0, finished=True),
        Hypothesis([40] * (longest - 1), -3.0, finished=True),
    ]
    ranked = Divisors(length_penalty=2.0, width=2).rank(found, best=2)
    assert (ranked is not None) == certain
    assert not ranked or ranked[0].score == pytest.approx(-1 / (7 / 6) ** 2)
