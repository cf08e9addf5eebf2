"""Heads: masks that change nothing when they should not, roles that are found, curves that are true."""

import numpy as np
import pytest
import torch

from regard.explain.heads.analysis import analyse
from regard.explain.heads.masks import (
    HeadName,
    find_attentions,
    list_heads,
    mask_heads,
    measure_importance,
    order_heads,
    prune_heads,
)
from regard.explain.heads.roles import RoleCounts, find_cross_roles, find_self_roles
from regard.explain.trace import Trace
from regard.text import special

TEXT = "the book and the plot are fine"


def logits(run):
    return run.task.states(run.model, run.task.encode_text(TEXT))


def test_every_head_has_a_name(explained):
    names = list_heads(explained("translation").model)
    assert len(names) == len(set(names)) == 2 * 3 + 2 * 2 * 3
    assert {name.stack for name in names} == {"encoder", "decoder", "cross"}
    assert str(HeadName("cross", 1, 2)) == "cross, layer 2, head 3"


def test_a_mask_of_ones_changes_nothing_and_one_of_zeros_takes_the_heads_columns(explained):
    run = explained("label")
    model = run.model.eval()
    with torch.no_grad():
        plain = logits(run)
        ones = {place: torch.ones(3) for place in find_attentions(model)}
        with mask_heads(model, ones):
            torch.testing.assert_close(logits(run), plain, rtol=0, atol=0)
        with prune_heads(model, [HeadName("self", 1, 2)]):
            pruned = logits(run)
        part = find_attentions(model)["self", 1]
        kept = part.to_output.weight.clone()
        part.to_output.weight[:, 8:] = 0
        torch.testing.assert_close(pruned, logits(run), rtol=0, atol=0)
        part.to_output.weight.copy_(kept)
        torch.testing.assert_close(logits(run), plain, rtol=0, atol=0)
    assert (pruned - plain).abs().max() > 1e-5


def test_importance_is_the_slope_of_the_loss(explained):
    run = explained("label")
    row = run.task.encode([(TEXT, "good")])

    def loss():
        return run.task.loss(run.model, run.task.pad(row)).smoothed

    found = measure_importance(run.model.eval(), (loss() for _ in range(1)))
    slopes = {}
    for head in (0, 1, 2):
        ends = []
        for step in (-1e-2, 1e-2):
            mask = torch.ones(3)
            mask[head] += step
            with torch.no_grad(), mask_heads(run.model, {("self", 0): mask}):
                ends.append(float(loss()))
        slopes[head] = abs(ends[1] - ends[0])
    norm = sum(slope**2 for slope in slopes.values()) ** 0.5
    for head, slope in slopes.items():
        assert found[HeadName("self", 0, head)] == pytest.approx(slope / norm, abs=0.05)
    assert sum(found[HeadName("self", 1, head)] ** 2 for head in range(3)) == pytest.approx(
        1, rel=1e-4
    )


def test_heads_are_pruned_from_the_least_important_on():
    names = [HeadName("self", 0, n) for n in range(5)]
    weight = dict(zip(names, (0.3, 0.1, 0.5, 0.2, 0.4), strict=True))
    assert [n.head for n in order_heads(names, weight)] == [1, 3, 0, 4, 2]
    assert sorted(order_heads(names, weight, seed=7)) == names


def attending(where):
    """Return a trace of one head with one strong weight in each row."""
    n = len(where)
    weights = np.full((1, 1, n, n), 0.01, dtype=np.float32)
    weights[0, 0, np.arange(n), where] = 0.9
    words = ("[CLS]", "a", "b", "c", "d", "[SEP]")
    slices = tuple(slice(k, k + 1) for k in range(n))
    return Trace(
        words, words, weights, slices, slices, self_attention=True, stack="self", sinks=(0, 5)
    )


@pytest.mark.parametrize(
    ("role", "where"),
    [
        ("previous", [0, 0, 1, 2, 3, 4]),
        ("next", [1, 2, 3, 4, 5, 5]),
        ("separator", [0, 5, 0, 5, 5, 5]),
        ("rare", [3, 3, 3, 3, 3, 3]),
    ],
)
def test_a_head_made_for_a_role_has_it_and_no_other(role, where):
    trace = attending(where)
    counts = RoleCounts()
    counts.add(trace, find_self_roles(trace, [0, 9, 9, 1, 9, 0]))  # "c" is the rarest
    shares = counts.shares()[HeadName("self", 0, 0)]
    assert [name for name, found in shares.items() if found.has_role] == [role]
    assert shares[role].share == 1.0
    assert shares["rare"].chance == pytest.approx(1 / 6)


def test_an_alignment_head_attends_where_the_word_is_needed():
    trace = attending([1, 2, 3, 4, 1, 5])
    aligned = np.zeros((6, 6))
    aligned[np.arange(5), [1, 2, 3, 4, 2]] = 1.0  # the fifth word is aligned elsewhere
    counts = RoleCounts()
    counts.add(trace, find_cross_roles(trace, aligned))
    assert counts.shares()[HeadName("self", 0, 0)]["alignment"].share == pytest.approx(4 / 5)


WRITERS = ("translation", "denoising")


@pytest.mark.parametrize("kind", ["label", *WRITERS, "language"])
def test_a_run_is_analysed_from_its_own_split(explained, kind):
    run = explained(kind)
    found = analyse(run, split="valid")
    result = found.as_json()
    assert len(result["heads"]) == len(list_heads(run.model))
    assert result["pruning"]["pruned"][0] == 0 and result["pruning"]["pruned"][-1] == len(
        result["heads"]
    )
    scores = result["pruning"]["least_important_first"]
    assert scores[0] == result["pruning"]["random_order"][0] and scores[-1] == pytest.approx(
        result["pruning"]["random_order"][-1]
    )
    stacks = {head["stack"] for head in result["heads"]}
    assert stacks == ({"cross", "encoder", "decoder"} if kind in WRITERS else {"self"})
    if kind == "translation":
        cross = next(head for head in result["heads"] if head["stack"] == "cross")
        assert "alignment" in cross["shares"]
    assert len(found.lines()) == 2 + len(result["heads"]) + len(scores)


def test_a_denoiser_is_analysed_on_documents_with_gaps(explained):
    task = explained("denoising").task
    documents = [("the book and the plot are fine",), ("the hero is weak",)]
    rows = task.encode_truncated(documents)
    assert rows == task.encode_truncated(documents)
    for read, written in rows:
        assert special.MASK in read and special.MASK not in written
        assert read[-1] == written[-1] == special.END
