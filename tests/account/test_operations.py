"""The formulas equal a count of every matrix product, on the reference path; parameters too."""

from contextlib import nullcontext

import pytest

from regard.account.facts import facts_of
from regard.account.operations import attention_shares, operations
from regard.account.parameters import count
from regard.account.plan import ledger_of
from regard.layers.tap import Tap, listen
from regard.recipe.load import load
from regard.recipe.shipped import list_shipped

CHANGES = [
    'model.activation="swiglu"',
    'model.norm="layer"|model.norm_order="post"|model.biases=true',
    "model.tied=false|model.head={bias=true,transform=true}",
    'model.mixer={kind="recurrent"}',
    'model.mixer={kind="recurrent",cell="lstm"}',
    'model.mixer={kind="convolution",kernel=3,dilated=true}',
    'model.mixer={score="additive",heads=3}',
    'model.mixer={select="argmax",heads=2,biases=true,normed=true}',
    "model.mixer={dropout=0.1,window=3}",
    'model.position={kind="relative",positions=31}',
    'model.position={kind="relative",positions=31,buckets=16}',
    'model.position={kind="alibi"}|training.optimizer={kind="muon"}',
    'model.position={kind="learned",positions=31,joined="concatenated"}|model.tied=false',
    "model.embedding={ngrams=3,ngram_rows=17,segments=2,norm=true}|model.soft_cap=30.0",
]
OF_TASK = {
    "translation": ["training.consistency=1.0", "model.decoder_depth=3"],
    "language-modelling": [
        'model.writes="all"',
        'training.softmax="sampled"',
        'training.softmax="sampled"|model.head={bias=true}|model.tied=false',
        'training.softmax="sampled"|model.soft_cap=15.0',
    ],
    "masked-pretraining": [
        'pretraining.objective="replaced"|pretraining.pairs="sentence-order"',
        'pretraining.objective="autoencoder"|model.position={kind="learned",positions=31}',
        'pretraining.objective="hybrid"',
        'pretraining.pairs="next-sentence"|model.head={bias=true,transform=true}',
    ],
    "classification": [
        *(f'model.head={{pooling="{kind}"}}' for kind in ("cls", "attention", "mean-max", "last")),
        "data.scores=true|training.consistency=1.0",
        'training.adversarial=0.02|model.head={pooling="mean-max"}',
        'data.labels=["a","b","c","d","e"]|model.causal=true',
        'model.bare=true|model.states=14|model.depth=3|model.mixer={kind="recurrent"}|'
        'model.head={pooling="hops",hops={hops=3,features=5,narrow="dense",dense=7}}',
        'model.bare=true|model.head={pooling="hops",hops={narrow="pruned",penalty="kl"}}',
        'model.documents={read="sentences",context="both",gated=true}|'
        'model.head={pooling="attention"}|model.position={kind="learned",positions=31}',
        'model.documents={read="sentences",mixer="gru"}|model.head={pooling="attention"}',
    ],
    "sentence-pair": ["model.embedding={segments=4}"],
    "summarization": ["model.copying=true|model.mixer={heads=3}"],
    "denoising": ["model.biases=true"],
    "retrieval": [
        "retrieval={query_length=[2,5],document_length=[7,11],hard_negatives=2}",
        'retrieval={term_weights="learned"}',
        'retrieval={term_weights="idf"}',
        'model.head={pooling="mean-max"}',
    ],
}
SENTENCES = (
    'model.documents={read="sentences",words=17,depth=2,%s}|model.head={pooling="attention"}'
)
DOCUMENTS = [
    f"{SENTENCES % attention}|{mixer}"
    for attention in (
        'context="none"',
        'context="earlier",gather="sum"',
        'context="both",gated=true',
        'context="both",mixer="gru"',
    )
    for mixer in (
        'model.bare=true|model.states=14|model.mixer={kind="recurrent"}',
        'model.mixer={kind="attention",heads=2}|model.position={kind="learned",positions=211}',
    )
]
CASES = [("translation", sets) for sets in CHANGES]
CASES += [(task, sets) for task, more in OF_TASK.items() for sets in more]
ONLY_TOKENS = ("|model.soft_cap=30.0", "|model.head={bias=true,transform=true}")
"""Settings of a head that predicts tokens: refused where labels or vectors are predicted."""


def fit_to(task, sets):
    for setting in ONLY_TOKENS if task in ("classification", "sentence-pair", "retrieval") else ():
        sets = sets.replace(setting, "")
    return sets


REST = [(task, fit_to(task, sets)) for task in OF_TASK if task != "translation" for sets in CHANGES]


def counted(stage, products):
    """FLOPs forward, of a step without its optimizer, and of the optimizer."""
    task, model, batch = stage.stepper.task, stage.model.double().train(), stage.batch
    recorded = any(isinstance(part, Tap) for part in model.modules())
    with (
        listen(model) if recorded else nullcontext()
    ):  # where a tap is recorded, the equation is used
        learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
        model.requires_grad_(False)
        with products() as forward:
            task.loss(model, batch)
        for parameter in learned:
            parameter.requires_grad_(True)
        with products() as learning:
            task.loss(model, batch).smoothed.backward()
        with products() as moving:
            for optimizer in stage.state.optimizers:
                optimizer.step()
    return forward.flops, learning.flops, moving.flops


def held_against(stage, products):
    entries = ledger_of(stage.recipe, stage.facts, stage.load)
    flops, numbers = operations(stage.recipe, entries), count(entries)
    assert numbers.total == sum(p.numel() for p in stage.model.parameters())
    assert numbers.total == sum(numbers.parts.values())
    expected = (flops.forward, flops.forward + flops.backward, flops.optimizer)
    assert counted(stage, products) == expected
    assert flops.step == flops.forward + flops.backward + flops.optimizer


@pytest.mark.parametrize(("task", "sets"), CASES)
def test_the_formulas_equal_the_count_for_every_kind(toy, staged, products, task, sets):
    held_against(staged(toy(task, *sets.split("|"))), products)


@pytest.mark.parametrize("sets", DOCUMENTS)
def test_they_do_so_for_uneven_sentences(toy, staged_on_documents, products, sets):
    more = ["text.max_length=211", "training.batch_tokens=499", *sets.split("|")]
    stage = staged_on_documents(toy("classification", *more))
    sentences = stage.load.sentences
    assert len(sentences.groups) > 1
    assert sentences.padded.tokens > sum(group.tokens for group in sentences.groups)
    assert len(set(sentences.counts)) > 1
    held_against(stage, products)


@pytest.mark.slow
@pytest.mark.parametrize(("task", "sets"), REST)
def test_they_do_so_in_every_task(toy, staged, products, task, sets):
    held_against(staged(toy(task, *sets.split("|"))), products)


@pytest.mark.parametrize("name", list_shipped())
def test_the_formulas_equal_the_count_for_every_shipped_recipe(staged, products, name):
    recipe = load(name)
    if recipe.task == "document-vectors":
        pytest.skip("document-vectors has no account yet")
    small = ["training.batch_tokens=61", "training.shards=1", "text.vocabulary=293"]
    small += ["text.max_length=23"] if recipe.task != "classification" else []
    small += ["model.start={}"] if recipe.model.start.run else []  # no such run here to begin from
    if recipe.model.width >= 200:
        small += ["model.width=24", "model.feed_forward=31"]
        if recipe.model.mixer.kind == "attention":
            small += [f"model.mixer.heads={4 if recipe.model.width % 8 == 0 else 2}"]
    held_against(staged(load(name, small)), products)


def test_shards_take_as_many_passes_and_one_move(toy):
    whole = toy("translation", 'training.optimizer={kind="muon"}')
    parted = toy("translation", 'training.optimizer={kind="muon"}', "training.shards=4")
    facts = facts_of(whole)
    entries = ledger_of(whole, facts, load_of_rows(3))
    one, four = operations(whole, entries), operations(parted, entries)
    assert (four.forward, four.backward) == (4 * one.forward, 4 * one.backward)
    assert four.optimizer == one.optimizer > 0


def load_of_rows(rows):
    from regard.ledger.load import Load

    return Load(rows, 7, target_length=5)


def test_the_share_of_scores_grows_with_length_as_its_formula_says(toy):
    recipe = toy("language-modelling", "model.mixer={heads=2}")
    facts, width, inner, depth = facts_of(recipe), 24, 29, 2
    shares = attention_shares(recipe, facts, [11, 1013])
    for length, share in shares.items():
        attention = 2 * length * width * depth
        rest = depth * (4 * width**2 + 2 * width * inner) + facts.output_vocabulary * width
        assert share == pytest.approx(attention / (attention + rest))


def test_a_frozen_body_has_no_way_back(toy):
    learning = toy("classification")
    start = learning.model.start.model_copy(update={"run": "x", "freeze": True})
    model = learning.model.model_copy(update={"start": start})
    frozen = learning.model_copy(update={"model": model})
    facts = facts_of(learning)
    entries = ledger_of(frozen, facts, load_of_rows(3))
    head = [entry for entry in entries if not entry.body]
    assert operations(frozen, entries).backward == 4 * sum(entry.macs for entry in head) > 0
    assert count(entries) == count(ledger_of(learning, facts, load_of_rows(3)))
