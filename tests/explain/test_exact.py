"""The weights of a trace are the equation's own, and listening changes nothing."""

import math

import numpy as np
import pytest
import torch

from regard.errors import UsageError
from regard.explain.trace import Trace, trace_all, trace_batch
from regard.layers.attention import Attention
from regard.layers.tap import Tap


def question(run, *text, **options):
    return run.task.question(run.model, *text, **options)


TEXT = "the book and the plot are fine"


@torch.inference_mode()
def by_hand(attention, states, context, visible):
    """softmax(q·k / √features) in numpy, head by head, without any of our code."""
    found = []
    features = attention.to_query.weight.shape[0] // attention.heads
    q, k = (
        (x @ layer.weight.T).detach().numpy()
        for x, layer in ((states, attention.to_query), (context, attention.to_key))
    )
    for head in range(attention.heads):
        own = slice(head * features, (head + 1) * features)
        scores = q[:, own] @ k[:, own].T / math.sqrt(features)
        scores = np.where(visible, scores, -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        found.append(e / e.sum(-1, keepdims=True))
    return np.stack(found)


@pytest.mark.parametrize("kind", ["label", "translation"])
def test_the_weights_are_those_of_the_equation(explained, kind):
    run = explained(kind)
    run.model.double()
    given = {}

    def record(part, args, named):
        given.setdefault(id(part), (args[0][0], args[1][0] if len(args) > 1 else args[0][0]))

    parts = [part for part in run.model.modules() if isinstance(part, Attention)]
    for part in parts:  # the default place of a translator turns queries: leave it out of the sum
        part.turn = None
    hooks = [part.register_forward_pre_hook(record, with_kwargs=True) for part in parts]
    example = ("eins zwei", "two one") if kind == "translation" else (TEXT, "good")
    try:
        traces = trace_batch(run, run.task.pad(run.task.encode([example])))
    finally:
        for hook in hooks:
            hook.remove()
        del run.model  # its turns are gone: it is read anew
        assert run.model is not None
    order = {"self": 0} if kind == "label" else {"encoder": 0, "decoder": 2, "cross": 3}
    for stack, first in order.items():
        trace = traces[stack]
        step = 1 if stack in ("self", "encoder") else 2
        for layer in range(trace.weights.shape[0]):
            part = parts[first + step * layer]
            rows, columns = trace.weights.shape[-2:]
            visible = np.tri(rows, columns, dtype=bool) if stack == "decoder" else True
            expected = by_hand(part, *given[id(part)], visible)
            np.testing.assert_allclose(trace.weights[layer], expected, atol=1e-6)


def test_listening_changes_no_answer_and_leaves_nothing_behind(explained):
    run = explained("label")
    batch = run.task.encode_text(TEXT)
    with torch.inference_mode():
        before = run.task.states(run.model, batch)
        trace_all(run, TEXT)
        after = run.task.states(run.model, batch)
    torch.testing.assert_close(before, after, rtol=0, atol=0)
    assert not any(part.has_listener for part in run.model.modules() if isinstance(part, Tap))
    assert not any(part._forward_pre_hooks for part in run.model.modules())


def test_every_stack_of_a_translator_is_there_with_its_own_sides(explained):
    run = explained("translation")
    traces = trace_all(run, "eins zwei", "two one").attention
    assert list(traces) == ["cross", "encoder", "decoder"]
    assert traces["encoder"].source == traces["encoder"].target == traces["cross"].source
    assert traces["decoder"].target == traces["cross"].target
    assert (
        traces["decoder"].source[0] == "<s>"
        and traces["decoder"].source[1:] == traces["cross"].target[:-1]
    )
    for trace in traces.values():
        assert trace.weights.shape == (2, 3, len(trace.target), len(trace.source))
        np.testing.assert_allclose(trace.weights.sum(-1), 1.0, rtol=1e-5)


def test_the_hypothesis_that_won_the_beam_is_the_one_traced_and_scores_the_same(explained):
    run = explained("translation")
    answered = run.task.answer(run.model, ["eins zwei"])[0]
    asked = question(run, "eins zwei", pieces=True)
    assert list(asked.answers[:-1]) == run.tokenizer.tokens(answered.ids)
    total = asked.evaluate([list(asked.ids)])[0]
    spoken = total[: len(answered.ids)].sum()
    finished = abs(total.sum() - answered.log_probability) < 1e-4
    assert finished or abs(spoken - answered.log_probability) < 1e-4  # cut off before its ending


def test_a_language_model_continues_and_what_it_wrote_is_traced(explained):
    run = explained("language")
    written = run.task.answer(run.model, ["the book and"])[0]
    trace = trace_all(run, "the book and", continue_text=True).attention["self"]
    assert list(trace.ids[-len(written.ids) :]) == list(written.ids)
    assert np.triu(trace.weights, k=1).max() < 1e-7
    with pytest.raises(UsageError, match="--continue needs a language model"):
        trace_all(explained("label"), TEXT, continue_text=True)


def test_attention_pooling_is_a_stack_of_its_own(explained):
    traces = trace_all(explained("pool"), TEXT).attention
    assert list(traces) == ["self", "pool"]
    assert traces["pool"].weights.shape[:3] == (1, 1, 1) and traces["pool"].target == ("hop 1",)
    np.testing.assert_allclose(traces["pool"].weights.sum(), 1.0, rtol=1e-5)
    assert traces["pool"].by_words().source == traces["self"].by_words().source


def test_hiding_the_sink_takes_its_columns_and_says_what_is_left():
    weights = np.array([[[[0.5, 0.25, 0.25], [0.0, 0.4, 0.6]]]], dtype=np.float32)
    pieces = (slice(0, 1), slice(1, 3))
    trace = Trace(("[CLS]", "▁a", "b"), ("▁x", "▁y"), weights, pieces, (slice(0, 2),), sinks=(0,))
    hidden = trace.without_sinks()
    assert hidden.source == ("▁a", "b") and hidden.source_words == (slice(0, 2),)
    np.testing.assert_allclose(hidden.weights[0, 0], [[0.25, 0.25], [0.4, 0.6]])
    whole = trace.without_sinks(renormalised=True)
    np.testing.assert_allclose(whole.weights[0, 0], [[0.5, 0.5], [0.4, 0.6]])
    np.testing.assert_allclose(trace.by_words().without_sinks().weights[0, 0], [[0.75]])


def test_a_text_without_special_tokens_has_its_first_word_for_a_sink(explained):
    trace = trace_all(explained("label"), TEXT).main
    assert trace.sinks == (0, len(trace.source) - 1)
    decoder = trace_all(explained("translation"), "eins zwei", "two one").attention["decoder"]
    assert decoder.sinks == (0,)
