"""The engine: batches, bounds, deadlines, cancellations, workers that die."""

import asyncio
import os
import random
import signal

import pytest

from regard.serve.engine import Engine
from regard.serve.pool import Worker
from regard.serve.protocol import Batch
from regard.serve.refusal import Refusal
from regard.serve.settings import USAGE, EngineSettings, Usage
from regard.serve.work import open_served
from regard.serve.worker import compute

from .conftest import KEEPSAKES, RUNS

WORDS = [
    "a",
    "the",
    "film",
    "was",
    "really",
    "great",
    "dull",
    "fine",
    "one",
    "plot",
    "b",
    "c",
    "d",
    "e",
    "f",
    "g",
    "h",
    "i",
    "j",
    "k",
    "m",
]


def texts(number, seed=1):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(1, 23))) for _ in range(number)]


def same(one, other):
    """Whether two answers are the same: texts equal, probabilities to 1e-6 relative."""
    assert one.keys() == other.keys()
    assert one["text"] == other["text"]
    assert one["log_probability"] == pytest.approx(other["log_probability"], rel=1e-6, abs=1e-6)
    assert one.get("probabilities") == pytest.approx(other.get("probabilities"), abs=1e-6)


async def ask_alone(engine, name, asked):
    return [(await engine.ask(name, "predict", [text]))[0] for text in asked]


async def ask_together(engine, name, asked):
    found = await asyncio.gather(*(engine.ask(name, "predict", [text]) for text in asked))
    return [one for (one,) in found]


@pytest.mark.parametrize("run", ["classification", "translation"])
def test_an_answer_does_not_depend_on_what_else_is_in_the_batch(engine, call, run):
    asked = texts(101)
    alone = call(ask_alone(engine, run, asked))
    before = engine.metrics.batch_texts.count
    mixed = call(ask_together(engine, run, asked))
    assert engine.metrics.batch_texts.count - before < 20, "they were not batched"
    for one, other in zip(alone, mixed, strict=True):
        same(one, other)
    assert len({one["log_probability"] for one in alone}) > 50


def test_drawn_answers_do_not_depend_on_the_batch_either(call):
    async def ask():
        engine = Engine(
            RUNS[2:], EngineSettings(workers=1, decoding={"method": "sample", "max_length": 9})
        )
        await engine.start()
        try:
            asked = texts(13)
            return await ask_alone(engine, RUNS[2].name, asked), await ask_together(
                engine, RUNS[2].name, asked
            )
        finally:
            await engine.stop()

    alone, mixed = call(ask())
    assert [one["text"] for one in alone] == [one["text"] for one in mixed]


def test_a_request_is_answered_in_order(engine, call):
    asked = texts(40)
    together = call(engine.ask("classification", "predict", asked))
    for one, other in zip(together, call(ask_alone(engine, "classification", asked)), strict=True):
        same(one, other)


def test_a_text_that_is_refused_does_not_spoil_its_batch(engine, call):
    async def ask():
        long = "a " * 900
        asked = [*texts(11), long, *texts(5, seed=2)]
        return await asyncio.gather(
            *(engine.ask("translation", "predict", [text]) for text in asked),
            return_exceptions=True,
        )

    found = call(ask())
    assert isinstance(found[11], Refusal) and found[11].status == 422
    assert "tokens" in found[11].message and found[11].param == "texts[0]"
    rest = [one for n, one in enumerate(found) if n != 11]
    assert all(isinstance(one, list) for one in rest)


def test_a_long_text_is_cut_where_that_is_allowed(engine, call):
    (found,) = call(engine.ask("translation", "predict", ["a " * 900], {"truncate": True}))
    assert found["truncated"] > 0


@pytest.mark.parametrize(
    ("asked", "status", "word"),
    [
        (["a"] * 65, 413, "64"),
        (["a b " * 20_000], 413, "16,384"),
        (["fine", "bad \ud800"], 422, "Unicode"),
    ],
)
def test_a_request_beyond_the_limits_is_refused(engine, call, asked, status, word):
    with pytest.raises(Refusal) as refused:
        call(engine.ask("classification", "predict", asked))
    assert refused.value.status == status and word in refused.value.message


def test_a_full_queue_refuses_and_says_when_to_come_back(call):
    async def ask():
        engine = Engine(RUNS[:1], EngineSettings(workers=1, queue_texts=7, batch_texts=2))
        await engine.start()
        try:
            return await asyncio.gather(
                *(engine.ask("translation", "predict", [text]) for text in texts(29)),
                return_exceptions=True,
            )
        finally:
            await engine.stop()

    found = call(ask())
    refused = [one for one in found if isinstance(one, Refusal)]
    assert len(refused) == 22 and len(found) - len(refused) == 7
    assert {(one.status, one.headers["retry-after"]) for one in refused} == {(429, "1")}


def test_work_that_takes_long_fills_the_queue_early(call):
    async def ask():
        engine = Engine(RUNS[:1], EngineSettings(workers=1, batch_texts=1, queue_seconds=0.05))
        await engine.start()
        try:
            await engine.ask("translation", "explain", ["a b c"])
            return await asyncio.gather(
                *(engine.ask("translation", "explain", ["a b c"]) for _ in range(29)),
                return_exceptions=True,
            )
        finally:
            await engine.stop()

    refused = [one for one in call(ask()) if isinstance(one, Refusal)]
    assert 5 < len(refused) < 29 and {one.status for one in refused} == {429}


def test_a_worker_that_is_stuck_with_what_nobody_waits_for_is_replaced(call, monkeypatch):
    monkeypatch.setattr("regard.serve.engine.STUCK", 0.1)

    async def ask():
        engine = Engine(RUNS[1:2], EngineSettings(workers=1))
        await engine.start()
        try:
            first = engine.workers[0].pid
            os.kill(first, signal.SIGSTOP)
            with pytest.raises(Refusal, match="deadline"):
                await engine.ask("classification", "predict", ["fine"], deadline=0.05)
            (found,) = await engine.ask("classification", "predict", ["a really fine one"])
            return first, engine.workers[0].pid, found
        finally:
            await engine.stop()

    first, second, found = call(ask())
    assert first != second and found["text"] == "good"


def test_what_waits_too_long_leaves_the_queue(call):
    async def ask():
        engine = Engine(RUNS[:1], EngineSettings(workers=1, batch_texts=1))
        await engine.start()
        try:
            found = await asyncio.gather(
                *(
                    engine.ask("translation", "predict", [text], deadline=0.02)
                    for text in texts(64)
                ),
                return_exceptions=True,
            )
            left = engine.queues.texts
            (later,) = await engine.ask("translation", "predict", ["a b"])
            return found, left, later
        finally:
            await engine.stop()

    found, left, later = call(ask())
    late = [one for one in found if isinstance(one, Refusal)]
    assert late and {one.status for one in late} <= {422, 429}
    assert left == 0 and later["text"]


def test_a_caller_that_leaves_takes_its_texts_along(engine, call):
    async def ask():
        asking = asyncio.ensure_future(engine.ask("language-modelling", "predict", texts(50)))
        await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        return engine.queues.texts

    assert call(ask()) == 0
    assert call(engine.ask("classification", "predict", ["fine"]))


def test_cancelled_texts_leave_the_batch_between_decoding_steps():
    opened = open_served(KEEPSAKES / "translation", {"no_repeat": 0, "max_length_ratio": None})
    asked = texts(5)
    batch = Batch("translation", "predict", {}, asked, [70, 71, 72, 73, 74])
    whole = compute(batch, opened, set)
    calls = []

    def find_cancelled():
        calls.append(1)
        return {71, 73} if len(calls) > 3 else set()

    found = compute(batch, opened, find_cancelled)
    for place, (one, other) in enumerate(zip(found, whole, strict=True)):
        if place in (1, 3):
            assert len(one.value["ids"]) < len(other.value["ids"])
        else:
            assert one.value["ids"] == other.value["ids"]


def test_a_translator_is_kept_from_endless_repetition_unless_asked():
    opened = open_served(KEEPSAKES / "translation", {})
    settings = opened.run.recipe.decoding
    assert (settings.no_repeat, settings.max_length_ratio) == (4, 4.0)
    asked = open_served(KEEPSAKES / "translation", {"no_repeat": 0, "max_length_ratio": 9.0})
    settings = asked.run.recipe.decoding
    assert (settings.no_repeat, settings.max_length_ratio) == (0, 9.0)


def test_the_cost_of_a_request_is_known(engine, call):
    async def ask():
        usage = Usage()
        USAGE.set(usage)
        await engine.ask("classification", "predict", ["a fine film", "bad"])
        return usage

    usage = call(ask())
    assert (usage.task, usage.texts, usage.characters) == ("classification", 2, 14)
    assert usage.tokens >= 4 and usage.inference > 0


def test_a_worker_that_dies_is_replaced_and_its_texts_are_answered(call):
    async def ask():
        engine = Engine(RUNS[1:2], EngineSettings(workers=1))
        await engine.start()
        try:
            os.kill(engine.workers[0].pid, signal.SIGSTOP)
            asking = asyncio.ensure_future(engine.ask("classification", "predict", texts(9)))
            await asyncio.sleep(0.05)
            os.kill(engine.workers[0].pid, signal.SIGKILL)
            return await asking, engine.metrics.render()
        finally:
            await engine.stop()

    found, metrics = call(ask())
    assert len(found) == 9 and "regard_workers_died_total 1" in metrics


def test_a_text_that_kills_two_workers_is_given_up(engine, call, monkeypatch):
    batches = []

    def die(worker, batch, _take_part):
        batches.append(len(batch.texts))
        dead = asyncio.get_running_loop().create_future()
        dead.set_exception(ConnectionError())
        asyncio.get_running_loop().call_later(0.01, engine._dispatch)
        return dead

    monkeypatch.setattr(Worker, "compute", die)
    with pytest.raises(Refusal) as refused:
        call(engine.ask("classification", "predict", ["fine", "dull", "great"]))
    assert refused.value.status == 500
    assert batches == [3, 1, 1, 1]


def test_names_that_collide_are_refused():
    with pytest.raises(Exception, match="Rename"):
        Engine([RUNS[0], RUNS[0]])


def test_a_folder_that_is_no_run_is_refused(call, tmp_path):
    with pytest.raises(Exception, match="not a finished run"):
        call(Engine([tmp_path], EngineSettings(workers=1)).start())
