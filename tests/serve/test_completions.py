"""Completions as a worker computes them: texts, parts, tokens and their log-probabilities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.serve.protocol import Batch, Prompt
from regard.serve.work import open_served
from regard.serve.worker import compute

from .conftest import KEEPSAKES

OPENED = open_served(KEEPSAKES / "language-modelling", {})
TASK, MODEL = OPENED.run.task, OPENED.run.model
TOKENIZER = TASK.tokenizer
END = 3
GREEDY = {"temperature": 0.0, "top_p": 1.0, "logprobs": None}
HOT = {**GREEDY, "temperature": 2.0}


def ids(text):
    return tuple(TOKENIZER.encode(text))


def complete(prompts, options=GREEDY, find_cancelled=set):
    """Return choices and, by choice, the parts that were sent."""
    parts = [[] for _ in prompts]
    batch = Batch("lm", "complete", options, prompts, list(range(len(prompts))))
    outcomes = compute(
        batch, OPENED, find_cancelled, lambda part: parts[part.number].append(part.value)
    )
    assert {one.kind for one in outcomes} == {"answered"}, outcomes
    return [one.value for one in outcomes], parts


def choose(prompt, options=GREEDY):
    ((choice,), _) = complete([prompt], options)
    return choice


def test_greedy_completion_is_what_the_run_predicts():
    greedy = open_served(KEEPSAKES / "language-modelling", {"method": "greedy", "max_length": 20})
    for text in ("a b c", "g", "k k b", ""):
        (told,) = greedy.run.task.answer(greedy.run.model, [text])
        choice = choose(Prompt(ids(text), 20, 0))
        assert choice["text"] == told.text
        assert choice["written"] == len(told.ids) + (choice["finish_reason"] == "stop")


def test_prompts_of_many_lengths_are_completed_together():
    prompts = [Prompt(ids("a b c d e f"[:n]), 7, n) for n in range(11)]
    together, _ = complete(prompts, HOT)
    assert [choose(prompt, HOT)["text"] for prompt in prompts] == [one["text"] for one in together]
    assert len({one["text"] for one in together}) > 5


def test_a_seed_draws_the_same_alone_and_in_a_batch_and_another_differs():
    prompts = [Prompt(ids("a b"), 13, seed) for seed in range(7)]
    together, _ = complete(prompts, HOT)
    assert [choose(prompt, HOT) for prompt in prompts] == together
    assert len({one["text"] for one in together}) > 4


def test_the_begin_token_may_be_given_and_counts_as_one_only():
    for body in (ids("a b c"), ()):
        with_begin = choose(Prompt((END, *body), 7, 0, echo=True), {**GREEDY, "logprobs": 5})
        without = choose(Prompt(body, 7, 0, echo=True), {**GREEDY, "logprobs": 5})
        assert with_begin["text"] == without["text"]
        assert with_begin["logprobs"]["tokens"][1:] == without["logprobs"]["tokens"]
        assert with_begin["logprobs"]["tokens"][0] == "</s>"
        if body:
            given_p, left_out = (one["logprobs"]["token_logprobs"] for one in (with_begin, without))
            assert given_p[0] is None and left_out[0] is None and given_p[1] < 0
            assert given_p[2:] == left_out[1:]


@pytest.mark.parametrize("text", ["a b c", "a é b", "k k " * 40])
def test_echoed_tokens_are_scored_as_evaluation_does(text):
    prompt = (END, *ids(text))
    choice = choose(Prompt(prompt, 1, 0, echo=True), {**GREEDY, "logprobs": 1})
    listed = choice["logprobs"]["token_logprobs"]
    assert len(listed) == len(prompt) + 1
    expected = TASK.log_p(
        MODEL, np.array(prompt[1:], dtype=np.uint32), context=TASK.context, stride=TASK.context // 2
    )
    assert listed[1:-1] == expected.tolist()
    measured = TASK.measure(MODEL, [(text,)], quick=False)
    assert -np.mean(listed[1:-1]) == pytest.approx(measured.metrics["loss"], rel=1e-12)


def test_the_best_token_is_always_listed_and_offsets_point_into_the_text():
    options = {**HOT, "temperature": 0.7, "logprobs": 2}
    choice = choose(Prompt(ids("a b é"), 9, 5, echo=True), options)
    listed = choice["logprobs"]
    assert listed["tokens"][:2] == ["a", " b"] and listed["tokens"][3:5] == [
        "bytes:\\xc3",
        "bytes:\\xa9",
    ]
    assert listed["token_logprobs"][0] is None and listed["top_logprobs"][0] is None
    likeliest = 0
    for token, log_p, top, offset in list(zip(*listed.values(), strict=True))[1:]:
        assert 2 <= len(top) <= 3 and top[token] == log_p <= max(top.values())
        likeliest += log_p == max(top.values())
        if not token.startswith("bytes:") and token != "</s>":
            assert choice["text"].startswith(token, offset)
    assert 0 < likeliest < len(listed["tokens"]) - 1


def test_no_other_tokens_are_listed_if_none_are_asked_for():
    choice = choose(Prompt(ids("a b"), 5, 1), {**HOT, "logprobs": 0})
    listed = choice["logprobs"]
    assert [list(top) for top in listed["top_logprobs"]] == [[token] for token in listed["tokens"]]


def test_the_end_token_is_listed_and_counted():
    prompt = Prompt(ids("a b c é"), 50, 2)
    for seed in range(20):
        choice = choose(prompt._replace(seed=seed), {**HOT, "logprobs": 1})
        if choice["finish_reason"] == "stop":
            break
    listed = choice["logprobs"]
    assert listed["tokens"][-1] == "</s>" and listed["text_offset"][-1] == len(choice["text"])
    assert choice["written"] == len(listed["tokens"]) < 50


def test_nothing_is_written_if_no_token_may():
    echoed = choose(Prompt(ids("a b"), 0, 0, echo=True), {**GREEDY, "logprobs": 1})
    assert (echoed["text"], echoed["finish_reason"], echoed["written"]) == ("a b", "length", 0)
    assert len(echoed["logprobs"]["tokens"]) == len(ids("a b"))
    assert choose(Prompt(ids("a b"), 0, 0))["text"] == ""


def cut_by_hand(text, stops):
    for end in range(1, len(text) + 1):
        ended = [stop for stop in stops if text[:end].endswith(stop)]
        if ended:
            return text[: end - max(map(len, ended))], "stop"
    return None


STOPS = st.lists(st.sampled_from([" k", "k k", "b", " d g", "k b", "\ufffd", "é"]), max_size=3)


@settings(max_examples=25)
@given(
    text=st.sampled_from(["a b c", "é", "", "k k"]),
    stops=STOPS.map(tuple),
    seed=st.integers(0, 2**62),
    echo=st.booleans(),
    logprobs=st.sampled_from([None, 0, 2]),
    cut=st.booleans(),
)
def test_parts_joined_are_the_whole_and_end_before_the_stop(text, stops, seed, echo, logprobs, cut):
    prompt = ids(text)[: -1 if cut and text else None]  # may end inside a character
    plain = Prompt(prompt, 7, seed, echo=echo)
    stopped = plain._replace(stop=stops)
    asked = [plain, stopped, stopped._replace(stream=True)]
    (free, whole, streamed), (*_, parts) = complete(asked, {**HOT, "logprobs": logprobs})
    for name in ("text", "finish_reason", "written"):
        assert streamed[name] == whole[name]
    assert "".join(part["text"] for part in parts) == whole["text"]
    assert [part["finish_reason"] for part in parts[:-1]] == [None] * (len(parts) - 1)
    assert parts[-1]["finish_reason"] == whole["finish_reason"]
    assert [part["at"] for part in parts] == [
        sum(len(one["text"]) for one in parts[:n]) for n in range(len(parts))
    ]
    if logprobs is not None:
        assert streamed["logprobs"]["tokens"] == whole["logprobs"]["tokens"]
        for name, column in streamed["logprobs"].items():
            assert [entry for part in parts for entry in part["logprobs"][name]] == column
    read = len(TOKENIZER.decode(prompt)) - TOKENIZER.decode(prompt).endswith("\ufffd")
    echoed = read if echo else 0
    expected = cut_by_hand(free["text"][echoed:], stops)
    found = whole["text"][echoed:], whole["finish_reason"]
    assert found == (expected or (free["text"][echoed:], free["finish_reason"]))


def test_most_parts_come_before_the_end():
    _, (parts,) = complete([Prompt(ids("k k"), 15, 0, stream=True)])
    assert len(parts) > 10


def test_a_cancelled_choice_leaves_the_batch_and_a_stopped_one_too():
    prompts = [Prompt(ids("k k"), 15, seed, stream=True) for seed in range(5)]
    prompts[2] = prompts[2]._replace(stop=("k k k",))
    steps = []

    def find_cancelled():
        steps.append(1)
        return {1, 3} if len(steps) > 5 else set()

    whole, _ = complete(prompts)
    found, parts = complete(prompts, GREEDY, find_cancelled)
    assert [one["written"] for one in found] == [15, 5, 3, 5, 15]
    assert parts[2][-1]["finish_reason"] == "stop" and whole[2]["text"] == " "
    assert [found[n] for n in (0, 2, 4)] == [whole[n] for n in (0, 2, 4)]
