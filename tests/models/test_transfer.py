"""Transfer copies what was learned to the bit, leaves heads new, and refuses what does not fit."""

import pytest
import torch

from regard.errors import RunError
from regard.models.build.labels import classifier
from regard.models.build.writing import language_model, transformer
from regard.models.parameters import collect_parameters
from regard.models.transfer import transfer_parameters
from regard.recipe.model import ModelSettings

TOKENS, LABELS = 23, 5
SHAPE = {"width": 14, "depth": 3, "feed_forward": 11, "mixer": {"kind": "attention", "heads": 2}}


def settings(**changes):
    return ModelSettings.model_validate({**SHAPE, **changes})


def learned(**changes):
    """Return the parameters of a language model, none of them where it began."""
    torch.manual_seed(2)
    model = language_model(settings(**changes), TOKENS)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))
    return {name: tensor.clone() for name, tensor in collect_parameters(model).items()}


def fresh(build, *more, **changes):
    torch.manual_seed(3)
    return build(settings(**changes), TOKENS, *more)


def equal(model, name, there, parameters):
    return torch.equal(dict(model.named_parameters())[name], parameters[there])


def test_a_classifier_takes_the_whole_body_and_keeps_its_own_head():
    parameters, model = learned(), fresh(classifier, LABELS)
    head = {n: p.clone() for n, p in model.named_parameters() if n.startswith("head.")}
    carried, new = transfer_parameters(model, parameters)
    assert set(carried) == {n for n in parameters if n.startswith("body.")}
    assert set(new) == set(head)
    assert set(carried) | set(new) == {n for n, _ in model.named_parameters()}
    assert all(equal(model, name, name, parameters) for name in carried)
    assert all(torch.equal(dict(model.named_parameters())[n], p) for n, p in head.items())


def test_states_of_a_carried_body_are_those_it_had():
    parameters = learned()
    before, after = fresh(language_model), fresh(language_model)
    transfer_parameters(before, parameters)
    ids = torch.randint(4, TOKENS, (3, 7))
    after.body.load_state_dict(before.body.state_dict())
    assert torch.equal(before.eval()(ids), after.eval()(ids))
    assert not torch.allclose(before(ids), fresh(language_model).eval()(ids))


def test_the_embedding_alone_is_its_tables():
    ngrams = {"embedding": {"ngrams": 3, "ngram_rows": 29, "segments": 2}}
    parameters, model = learned(**ngrams), fresh(classifier, LABELS, **ngrams, depth=1)
    carried, new = transfer_parameters(model, parameters, what="embedding")
    assert set(carried) == {
        "body.reading.table",
        "body.reading.segments",
        "body.reading.ngrams.tables.0",
        "body.reading.ngrams.tables.1",
    }
    assert all(equal(model, name, name, parameters) for name in carried)
    assert any(name.startswith("body.stack.blocks.0") for name in new)


def test_vectors_of_spans_begin_anew_where_the_body_never_read_pairs():
    model = fresh(classifier, LABELS, embedding={"segments": 2})
    assert "body.reading.segments" in transfer_parameters(model, learned()).new
    model = fresh(classifier, LABELS)
    assert (
        "head.to_logits.weight"
        in transfer_parameters(model, learned(embedding={"segments": 2})).new
    )


@pytest.mark.parametrize("tied", [True, False])
def test_a_causal_body_becomes_a_decoder_with_new_cross_attention(tied):
    parameters = learned()
    model = fresh(transformer, decoder_depth=3, depth=2, tied=tied)
    encoder = model.encoder.blocks[0].mixer.part.to_query.weight.clone()
    carried, new = transfer_parameters(model, parameters, causal=True)
    table = "reading.table" if tied else "writing.table"
    assert equal(model, table, "body.reading.table", parameters)
    for number in range(3):
        for part in ("mixer.part.to_query", "feed_forward.part.to_output"):
            name = f"blocks.{number}.{part}.weight"
            assert equal(model, f"decoder.{name}", f"body.stack.{name}", parameters)
    assert equal(model, "decoder.norm.weight", "body.stack.norm.weight", parameters)
    assert all(".cross." not in name for name in carried)
    assert {n.split(".")[0] for n in carried} == {table.split(".")[0], "decoder"}
    assert torch.equal(model.encoder.blocks[0].mixer.part.to_query.weight, encoder)
    assert sum(".cross." in name for name in new) == 3 * 5
    assert ("reading.table" in new) != tied


def test_any_other_body_becomes_an_encoder_and_an_encoder_a_body():
    parameters = learned()
    model = fresh(transformer, decoder_depth=1)
    new = transfer_parameters(model, parameters, causal=False).new
    name = "blocks.2.feed_forward.part.to_output.weight"
    assert equal(model, f"encoder.{name}", f"body.stack.{name}", parameters)
    assert all(n.startswith("decoder.") for n in new)
    back = fresh(classifier, LABELS)
    transfer_parameters(back, collect_parameters(model))
    assert all(equal(back, n, n, parameters) for n in parameters if n.startswith("body."))


def test_a_translator_takes_everything_of_a_translator():
    theirs, model = fresh(transformer), fresh(transformer)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_()
    carried, new = transfer_parameters(model, collect_parameters(theirs))
    assert not new
    assert any(".cross." in name for name in carried)
    assert all(equal(model, n, n, collect_parameters(theirs)) for n in carried)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"width": 16}, "(23, 16) here, (23, 14) in the other run"),
        ({"feed_forward": 13}, "block 1's feed-forward"),
        ({"depth": 2}, "weight) is in the other run only"),
        ({"depth": 4}, "weight) is in this model only"),
        ({"biases": True}, "is in this model only"),
        ({"embedding": {"ngrams": 2}}, "is in this model only"),
    ],
)
def test_a_body_that_does_not_fit_is_refused_and_nothing_is_touched(changes, word):
    model = fresh(classifier, LABELS, **changes)
    before = {n: p.clone() for n, p in model.named_parameters()}
    with pytest.raises(RunError) as refused:
        transfer_parameters(model, learned())
    assert "a body must fit" in refused.value.problem and word in refused.value.problem
    assert all(torch.equal(p, before[n]) for n, p in model.named_parameters())


def test_what_has_no_body_carries_nothing():
    with pytest.raises(RunError, match="only a body"):
        transfer_parameters(fresh(classifier, LABELS), {"tower.weight": torch.zeros(3)})
