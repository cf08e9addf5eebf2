"""Memory by formula, against what torch's allocator counts during a step."""

import pytest
from torch.profiler import ProfilerActivity, profile

from regard.account.facts import facts_of, load_of
from regard.account.fit import fit, format_bytes, required_memory
from regard.account.memory import memory
from regard.account.plan import ledger_of
from regard.ledger.load import Facts, Load
from regard.recipe.load import load

WITHIN = 0.1


def most_alive(take):
    """Return the peak of tensor bytes, from the allocator's own events."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        kept = take()
    found = recorded.profiler.kineto_results.events()
    events = sorted((e.start_ns(), e.nbytes()) for e in found if e.name() == "[memory]")
    alive = most = 0
    for _, size in events:
        alive += size
        most = max(most, alive)
    return most, kept


CASES = {
    "scenes": ["training.batch_tokens=512"],
    "bert": ["training.batch_tokens=512"],
    "shakespeare-long": ["training.batch_tokens=512", "model.embedding.ngram_rows=512"],
    "lab-language-model": ["training.batch_tokens=512", "text.vocabulary=2001"],
    "reviews-scratch": ["training.batch_tokens=1024", "model.embedding.ngram_rows=512"],
    "sentence-pairs": ["training.batch_tokens=1024", 'training.keep="last"'],
    "self-attentive": ["training.batch_tokens=1024"],
    "summaries": ["training.batch_tokens=2048"],
    "documents-han": ["training.batch_tokens=1024"],
    "documents-context": ["training.batch_tokens=1024"],
    "search": ["training.batch_tokens=256", "text.vocabulary=9001"],
    "reviews-pretraining": ["training.batch_tokens=1024", "model.embedding.ngram_rows=4096"],
}


@pytest.mark.parametrize("name", CASES)
def test_the_fullest_moment_is_known_within_a_tenth(name, staged):
    recipe = load(name, CASES[name])

    def put_on():
        return staged(recipe, vocabulary=recipe.text.vocabulary)

    found, measured = predicted_and_measured(recipe, put_on)
    assert found == pytest.approx(measured, rel=WITHIN)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("rows", [1, 97])
def test_the_parts_sum_to_the_peak(name, rows):
    for shards in (1, 2):
        recipe = load(name, [*CASES[name], f"training.shards={shards}"])
        found = memory(recipe, entries_of(recipe, rows))
        assert sum(found.at_peak.values()) == found.peak
        assert found.at_peak["activations"] <= found.activations
        assert found.at_peak["gradients"] <= 2 * found.gradients


@pytest.mark.parametrize(
    ("name", "twice"),
    [("reviews-scratch", "adversarial=0.02"), ("sentence-pairs", "consistency=1.0")],
)
def test_it_is_where_texts_are_read_twice(name, twice, staged):
    recipe = load(name, [*CASES[name], f"training.{twice}"])
    once = load(name, CASES[name])
    found, measured = predicted_and_measured(recipe, lambda: staged(recipe, vocabulary=2003))
    assert found == pytest.approx(measured, rel=WITHIN)
    assert found > predicted_and_measured(once, lambda: staged(once, vocabulary=2003))[0]


@pytest.mark.parametrize("name", ["documents-han", "documents-context"])
def test_it_is_for_uneven_sentences(name, staged_on_documents):
    recipe = load(name, ["training.batch_tokens=1021"])
    found, measured = predicted_and_measured(recipe, lambda: staged_on_documents(recipe))
    assert found == pytest.approx(measured, rel=WITHIN)


def predicted_and_measured(recipe, put_on):
    def take():
        stage = put_on()
        for _ in range(2):  # the optimizer has a state from the first step on
            stage.stepper.take(stage.state, 0)
        if recipe.training.keep == "best":
            stage.state.best = stage.state.copy_parameters()
            stage.stepper.take(stage.state, 0)
        return stage

    measured, stage = most_alive(take)
    return memory(stage.recipe, ledger_of(stage.recipe, stage.facts, stage.load)).peak, measured


def entries_of(recipe, rows=5):
    return ledger_of(recipe, facts_of(recipe), Load(rows, 7, target_length=7))


@pytest.mark.parametrize(
    ("sets", "numbers_kept"),
    [
        ([], 2),
        (['training.optimizer={kind="adam"}'], 2),
        (["training.ema=0.9"], 2),
    ],
)
def test_adam_keeps_two_numbers_for_each_parameter(toy, sets, numbers_kept):
    recipe = toy("translation", *sets)
    found = memory(recipe, entries_of(recipe))
    assert found.optimizer == numbers_kept * found.parameters == 2 * found.gradients


def test_muon_keeps_one_number_for_each_hidden_one(toy):
    adam, muon = toy("translation"), toy("translation", 'training.optimizer={kind="muon"}')
    hidden = sum(r * c for entry in entries_of(muon) for r, c in entry.matrices)
    state = memory(adam, entries_of(adam)).optimizer
    assert memory(muon, entries_of(muon)).optimizer == state - 4 * hidden < state


def test_copies_are_counted(toy):
    plain, averaged = toy("translation"), toy("translation", "training.ema=0.9")
    best = toy("translation", "training.ema=0.9", 'training.keep="best"')
    copies = [memory(recipe, entries_of(recipe)).copies for recipe in (plain, averaged, best)]
    size = memory(plain, entries_of(plain)).parameters
    assert copies == [0, size, 2 * size]


def test_activations_grow_with_rows_and_nothing_else_does(toy):
    recipe = toy("translation")
    one, three = (memory(recipe, entries_of(recipe, rows)) for rows in (11, 33))
    assert one.parameters == three.parameters
    assert one.optimizer == three.optimizer
    head = 4 * 293 * 24  # the head's gradient of its table is kept whatever the rows
    waves = one.activations - head - (three.activations - head) / 3
    assert 0 <= waves < 0.1 * one.activations  # but for positions, which rows share


def test_what_fits_is_said_to_fit_and_what_does_not_gets_a_way_out(toy):
    recipe = toy("translation", "training.batch_tokens=100000")
    facts = facts_of(recipe)
    needs = required_memory(recipe, facts, load_of(recipe))
    assert fit(recipe, facts, load_of(recipe), needs).fits
    assert fit(recipe, facts, load_of(recipe), None).fits is None
    tight = fit(recipe, facts, load_of(recipe), needs - 1)
    assert not tight.fits
    assert "--set training.shards=2" in tight.describe()


def test_every_proposal_keeps_its_word(toy):
    recipe = toy("translation", "training.batch_tokens=3000000", "model.width=1024")
    facts = facts_of(recipe)
    for free in (2 * 2**30, 2**30, 620 * 2**20):
        found = fit(recipe, facts, load_of(recipe), free)
        assert not found.fits
        sets = [word for word in found.proposal.split() if "=" in word]
        mended = toy("translation", "training.batch_tokens=3000000", "model.width=1024", *sets)
        assert required_memory(mended, facts, load_of(mended)) <= free


def test_nothing_is_proposed_where_nothing_helps(toy):
    recipe = toy("translation")
    found = fit(recipe, facts_of(recipe), load_of(recipe), 1000)
    assert "more memory" in found.describe()


def test_sizes_are_written_for_people():
    assert [format_bytes(n) for n in (3 * 2**30, 5 * 2**20, 2048)] == ["3.0 GiB", "5 MiB", "2 KiB"]


def test_facts_of_a_recipe_say_what_was_assumed(toy):
    found = facts_of(toy("classification"))
    assert found.labels == 2
    assert any("two labels" in words for words in found.assumed)
    named = facts_of(toy("classification", 'data.labels=["a","b","c"]'))
    assert named == Facts(293, 293, 3, named.assumed)
    assert facts_of(toy("sentence-pair", "data.scores=true")).labels == 1
