"""Tagging: what the store keeps, windows, decoding, the answer, what is explained."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.data.store import Store
from regard.errors import DataError, UsageError
from regard.recipe.load import make
from regard.tasks.kinds import make_task, make_tokenizer, task_class
from regard.tasks.tagging.align import Marked, annotate
from regard.tasks.tagging.example import Annotation, find_words
from regard.tasks.tagging.rows import Row, to_rows, token_logits, windows
from regard.tasks.tagging.tagging import NO_TARGET
from regard.text import special

TEXTS = {
    "Anna Berg lives in Rome.": [(0, 9, "PER"), (19, 23, "LOC")],
    "In May, U.S. troops met May.": [(3, 6, "TIME"), (8, 12, "LOC"), (24, 27, "PER")],
    "Nobody came": [],
}


def example(text, spans):
    return text, annotate(text, find_words(text), [Marked(*span) for span in spans]).as_field()


EXAMPLES = [example(text, spans) for text, spans in TEXTS.items()]


def task_for(examples=EXAMPLES, **tables):
    data = {"train": ["x.conll"], **tables.pop("data", {})}
    model = {
        "width": 12,
        "depth": 1,
        "feed_forward": 13,
        "mixer": {"kind": "attention", "heads": 2},
        **tables.pop("model", {}),
    }
    text = {"tokenizer": "bpe", "vocabulary": 290, "max_length": 64, **tables.pop("text", {})}
    recipe = make({"task": "tagging", "data": data, "text": text, "model": model, **tables})
    recipe = task_class(recipe).complete(recipe, lambda: iter(examples))
    return make_task(recipe, make_tokenizer(recipe, lambda: iter(examples)))


def model_of(task):
    torch.manual_seed(0)
    model = task.build()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model.eval().requires_grad_(False)


def stored(task, folder, examples=EXAMPLES):
    encode = task.encode
    return Store.open_or_write(folder, lambda: iter(examples), encode, key=(), longest=task.longest)


def test_the_tags_are_those_of_the_spans_outside_first():
    labels = task_for().recipe.data.labels
    assert labels == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER", "B-TIME", "I-TIME")


@pytest.mark.parametrize("tokenizer", ["bpe", "wordpiece", "unigram", "characters", "words"])
def test_each_word_is_asked_once_at_its_first_piece(tokenizer):
    task = task_for(text={"tokenizer": tokenizer, "vocabulary": 600})
    targets, ids = task.encode(EXAMPLES)[0]
    assert len(targets) == len(ids)
    assert (ids[0], ids[-1]) == (special.CLS, special.SEP)
    assert targets[0] == targets[-1] == NO_TARGET
    tags = [task.tags[number - 1] for number in targets if number != NO_TARGET]
    assert tags == ["B-PER", "I-PER", "O", "O", "B-LOC", "O"]
    firsts = [at for at, number in enumerate(targets) if number != NO_TARGET]
    words = [
        task.tokenizer.decode(ids[a:b]) for a, b in zip(firsts, [*firsts[1:], -1], strict=True)
    ]
    assert [word.strip() for word in words] == ["Anna", "Berg", "lives", "in", "Rome", "."]


def test_a_token_of_several_words_is_read_as_these_and_scored_as_one():
    annotation = Annotation("IOB2", ("O", "B-LOC", "O"), ((0, 2), (3, 7), (8, 14)))
    text = "In U.S. troops"
    task = task_for()
    ((targets, _),) = task.encode([(text, annotation.as_field())])
    tags = [task.tags[number - 1] for number in targets if number != NO_TARGET]
    assert tags == ["O", "B-LOC", "I-LOC", "I-LOC", "I-LOC", "O"]
    (row,) = to_rows(task.tokenizer, [text], [annotation.tokens])
    assert len(row.firsts) == 3
    model = model_of(task)
    assert len(token_logits(model, [row], most=62, tags=7)[0]) == 3
    measured = task.measure(model, [(text, annotation.as_field())], quick=False)
    assert measured.examples == 1 and "B-LOC" not in measured.samples[0].expected


def test_the_loss_is_the_cross_entropy_at_first_pieces(tmp_path):
    task = task_for()
    model, store = model_of(task), stored(task, tmp_path)
    batch = task.batch(store, np.arange(len(store)), (1,))
    lost = task.loss(model, batch)
    by_hand = words = 0
    for targets, ids in task.encode(EXAMPLES):
        logits = model(torch.tensor([ids]), lengths=torch.tensor([len(ids)]))[0]
        for place, number in enumerate(targets):
            if number != NO_TARGET:
                by_hand -= float(logits[place].log_softmax(dim=0)[number - 1])
                words += 1
    assert lost.tokens == words == 6 + 11 + 2
    assert float(lost.smoothed) == pytest.approx(by_hand, rel=1e-5)


def test_bpe_dropout_cuts_words_anew_and_keeps_their_tags(tmp_path):
    task = task_for(text={"dropout": 0.5, "vocabulary": 400})
    store = stored(task, tmp_path)
    plain = [task.encode([one])[0] for one in EXAMPLES]
    seen = set()
    for step in range(20):
        batch = task.batch(store, np.arange(len(store)), (step,))
        for n, (targets, ids) in enumerate(plain):
            length = int(batch.fields[1].lengths[n])
            row, numbers = (field.ids[n][:length].tolist() for field in reversed(batch.fields))
            assert task.tokenizer.decode(row[1:-1]) == task.tokenizer.decode(ids[1:-1])
            assert [x for x in numbers if x] == [x for x in targets if x]
            assert row[0] == special.CLS and row[-1] == special.SEP
            seen.add(tuple(row))
    assert len(seen) > 2 * len(EXAMPLES)


@pytest.mark.parametrize("overlong", ["leave-out", "head", "head-tail", "windows"])
def test_texts_that_are_too_long_are_left_out_or_cut(tmp_path, overlong):
    long = example(" ".join(["Anna Berg lives in Rome."] * 7), [])
    task = task_for([*EXAMPLES, long], text={"max_length": 24, "overlong": overlong})
    examples = [EXAMPLES[2], long]
    store = stored(task, tmp_path, examples)
    assert store.counts.overlong == (overlong == "leave-out")
    seen = set()
    for step in range(9):
        batch = task.batch(store, np.array([len(store) - 1]), (step,))
        assert batch.fields[0].ids.shape == batch.fields[1].ids.shape
        assert batch.fields[1].ids.shape[1] <= 24
        seen.add(tuple(batch.fields[1].ids[0].tolist()))
    assert len(seen) > 1 if overlong == "windows" else len(seen) == 1


@given(st.integers(0, 300), st.integers(1, 40))
def test_windows_answer_for_every_place_once(length, most):
    found = windows(length, most)
    places = [place for one in found for place in range(one.first, one.last)]
    assert places == list(range(length))
    for one in found:
        assert one.begin <= one.first and one.last <= one.begin + max(most, 1)
        assert one.begin >= 0 and (length <= most or one.begin + most <= length)


def test_a_long_text_is_read_in_windows_and_a_short_one_at_once():
    task = task_for(text={"max_length": 16})
    model = model_of(task)
    text = " ".join(["Anna Berg lives in Rome."] * 9)
    (row,) = to_rows(task.tokenizer, [text], [find_words(text)])
    (logits,) = token_logits(model, [row], most=14, tags=7)
    for one in windows(len(row.ids), 14):
        part = row.ids[one.begin : one.begin + 14]
        (alone,) = token_logits(model, [Row(part, list(range(len(part))))], most=14, tags=7)
        for number, first in enumerate(row.firsts):
            if one.first <= first < one.last:
                assert torch.allclose(logits[number], alone[first - one.begin], atol=1e-5)
    (answer,) = task.answer(model, [text])
    assert answer.truncated == 0


def test_an_answer_has_spans_of_the_asked_text():
    task = task_for()
    texts = ["  Anna\tBerg  met Rome!", "", "May"]
    for text, answer in zip(texts, task.answer(model_of(task), texts), strict=True):
        for one in answer.entities:
            assert set(one) == {"entity_group", "score", "word", "start", "end"}
            assert text[one["start"] : one["end"]] == one["word"]
            assert 0 < one["score"] <= 1
        plain = answer.text
        for one in answer.entities:
            plain = plain.replace(f"[{one['entity_group']} {one['score']:.2f}]", "", 1)
        assert plain == text


def test_the_score_is_the_mean_probability_of_the_spans_tags():
    task = task_for()
    model, text = model_of(task), "Anna Berg lives in Rome."
    (answer,) = task.answer(model, [text])
    (row,) = to_rows(task.tokenizer, [text], [find_words(text)])
    p = token_logits(model, [row], most=62, tags=7)[0].double().softmax(dim=-1).numpy()
    best = task.decoder.best(np.log(p))
    chosen = p[range(len(best)), best]
    words = [text[begin:end] for begin, end in find_words(text)]
    for one in answer.entities:
        own = [
            n for n, (begin, _) in enumerate(find_words(text)) if one["start"] <= begin < one["end"]
        ]
        assert " ".join(words[n] for n in own) == one["word"].replace(".", " .").strip()
        assert one["score"] == pytest.approx(chosen[own].mean())
    assert answer.log_probability == pytest.approx(np.log(chosen).sum())


def test_the_order_of_rows_does_not_matter():
    task = task_for()
    model, texts = model_of(task), [text for text, _ in EXAMPLES]
    forward = task.answer(model, texts)
    backward = task.answer(model, texts[::-1])[::-1]
    for one, other in zip(forward, backward, strict=True):
        assert one.text == other.text


def test_the_baseline_is_kept_and_its_tags_are_made_spans():
    task = task_for()
    parameters = task.fit_baseline(lambda: iter(EXAMPLES))
    fresh = task_for()
    fresh.load_baseline(parameters)
    measured = fresh.measure(model_of(fresh), EXAMPLES, quick=False)
    # Of five spans three are found: "May" is a person to it both times, and "U" and "S" are places,
    # since a full stop is as often outside of a place as inside of one. It finds six.
    assert measured.baseline["micro_f1"] == pytest.approx(2 * 3 / (5 + 6))
    assert (
        set(measured.baseline)
        < set(measured.metrics)
        == {"micro_f1", "accuracy", "macro_f1", "loss"}
    )


@pytest.mark.parametrize("scheme", ["IOB1", "IOB2", "BIOES"])
def test_scores_are_those_of_seqeval_on_the_datas_own_tags(scheme):
    seqeval = pytest.importorskip("seqeval.metrics", reason="seqeval is not installed")
    import seqeval.scheme as schemes

    from regard.tasks.tagging.schemes import read_spans, write_tags

    task = task_for()
    examples, gold = [], []
    for text, field in EXAMPLES:
        found = Annotation.from_field(field)
        tags = write_tags(found.spans, len(found.tags), scheme)
        gold.append(tags)
        examples.append((text, found._replace(scheme=scheme, tags=tuple(tags)).as_field()))
    model = model_of(task)
    measured = task.measure(model, examples, quick=False)
    rows = to_rows(
        task.tokenizer,
        [t for t, _ in examples],
        [Annotation.from_field(f).tokens for _, f in examples],
    )
    said = []
    for logits in token_logits(model, rows, most=62, tags=7):
        best = [task.tags[n] for n in task.decoder.best(logits.double().log_softmax(-1).numpy())]
        said.append(write_tags(read_spans(best, "IOB2"), len(best), scheme))
    assert measured.signature["micro_f1"].split("|")[:3] == [
        "entity-f1",
        "mode:default",
        f"scheme:{scheme}",
    ]
    assert measured.metrics["micro_f1"] == pytest.approx(seqeval.f1_score(gold, said))
    assert measured.metrics["macro_f1"] == pytest.approx(
        seqeval.f1_score(gold, said, average="macro", zero_division=0)
    )
    assert measured.metrics["accuracy"] == pytest.approx(seqeval.accuracy_score(gold, said))
    named = getattr(schemes, "IOBES" if scheme == "BIOES" else scheme)
    strict = seqeval.f1_score(gold, said, mode="strict", scheme=named, zero_division=0)
    assert measured.details["strict"]["micro_f1"] == pytest.approx(strict)


def test_data_of_several_schemes_is_scored_in_the_learned_one():
    annotation = Annotation.from_field(EXAMPLES[0][1])
    other = annotation._replace(scheme="IOB1", tags=("I-PER", "I-PER", "O", "O", "I-LOC", "O"))
    examples = [EXAMPLES[0], ("Anna Berg lives in Rome.", other.as_field())]
    task = task_for(examples)
    measured = task.measure(model_of(task), examples, quick=False)
    assert "scheme:IOB2" in measured.signature["micro_f1"]
    assert measured.details["by_label"]["PER"]["support"] == 2


def test_parts_of_speech_are_tagged_word_by_word():
    annotation = Annotation("none", ("NOUN", "VERB"), ((0, 4), (5, 10)))
    examples = [("Anna lives", annotation.as_field())]
    task = task_for(examples)
    assert task.tags == ("NOUN", "VERB") and task.metric == "accuracy"
    model = model_of(task)
    measured = task.measure(model, examples, quick=True)
    assert "micro_f1" not in measured.metrics and "micro_f1" not in measured.signature
    (answer,) = task.answer(model, ["Anna lives"])
    assert [one["word"] for one in answer.entities] == ["Anna", "lives"]


def test_a_question_is_about_every_span_and_masks_words_in_their_places():
    task = task_for()
    model, text = model_of(task), "Anna Berg lives in Rome."
    question = task.question(model, text)
    (answer,) = task.answer(model, [text])
    assert [name.rsplit("[", 1)[0] for name in question.answers] == [
        e["word"] for e in answer.entities
    ]
    # The words add up to the whole answer where every token is in a span or not.
    row = list(question.ids)
    numbers = question.evaluate([row])[0]
    (places,) = to_rows(task.tokenizer, [text], [find_words(text)])
    log_p = token_logits(model, [places], most=62, tags=7)[0].double().log_softmax(-1).numpy()
    best = task.decoder.best(log_p)
    for number, one in zip(numbers, answer.entities, strict=True):
        own = [
            n for n, (begin, _) in enumerate(find_words(text)) if one["start"] <= begin < one["end"]
        ]
        assert number == pytest.approx(log_p[own, [best[n] for n in own]].sum(), abs=1e-5)
    assert question.predicting.sum(axis=1) == pytest.approx(1.0)
    without = question.without([question.erasable[0]])
    assert len(without) == len(row) and special.MASK in without


def test_only_spans_of_a_label_are_explained_if_asked():
    task = task_for()
    model, text = model_of(task), "Anna Berg lives in Rome."
    labels = [one["entity_group"] for one in task.answer(model, [text])[0].entities]
    question = task.question(model, text, label=labels[0])
    assert len(question.answers) == labels.count(labels[0])
    with pytest.raises(UsageError, match="tagged XYZ"):
        task.question(model, text, label="XYZ")


@pytest.mark.parametrize(
    ("examples", "said"),
    [
        ([example("Nobody came", [])], "at least 1"),
        (
            [EXAMPLES[0], ("a b", Annotation("none", ("X", "Y"), ((0, 1), (2, 3))).as_field())],
            "both kinds",
        ),
        ([("a", Annotation("none", ("X",), ((0, 1),)).as_field())], "at least 2"),
    ],
)
def test_tags_that_cannot_be_learned_are_refused(examples, said):
    with pytest.raises(DataError, match=said):
        task_for(examples)


def test_a_tag_that_training_has_not_seen_is_refused():
    task = task_for()
    odd = example("Anna", [(0, 4, "ORG")])
    problem, _ = type(task).refusal(task.recipe, odd)
    assert "'B-ORG'" in problem
    assert type(task).refusal(task.recipe, EXAMPLES[0]) is None


def test_a_text_too_long_to_be_explained_is_refused():
    task = task_for(text={"max_length": 8})
    with pytest.raises(UsageError, match="fit the model"):
        task.encode_text("Anna Berg lives in Rome and elsewhere too.")


def test_an_annotation_is_plain_json():
    found = json.loads(EXAMPLES[0][1])
    assert found["scheme"] == "IOB2" and found["tokens"][0] == [0, 4]


def test_where_nothing_is_found_that_is_explained():
    task = task_for()
    model = model_of(task)
    with torch.no_grad():
        model.head.to_logits.bias[0] += 1000.0
    question = task.question(model, "Nobody came")
    assert question.answers == ("no span",) and question.probability([list(question.ids)]) > 0.99
    assert task.answer(model, [" ", "Nobody came"])[0].text == ""
