"""What a model settles is read off it, and its card says what it costs."""

from regard.account.observed import facts_of_model
from regard.account.summary import account
from regard.report.card import _cost


def test_what_is_never_seen_cannot_be_written_and_costs_nothing(toy, staged):
    stage = staged(toy("translation"), vocabulary=293)
    facts = facts_of_model(stage.model, 293)
    assert facts.output_vocabulary == len(stage.model.head.written) <= 293
    assert account(stage.recipe, facts).parameters.total == sum(
        p.numel() for p in stage.model.parameters()
    )


def test_labels_are_those_of_the_head(toy, staged):
    stage = staged(toy("classification", 'data.labels=["a","b","c","d","e"]'))
    assert facts_of_model(stage.model, 293).labels == 5


def test_a_card_has_every_part_and_their_sum(toy):
    found = account(toy("translation")).as_json()
    table = _cost(found)
    for part, number in found["parameters"]["parts"].items():
        assert f"| {part} | {number:,} |" in table
    assert f"{found['parameters']['total']:,}" in table
