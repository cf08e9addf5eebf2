import tracemalloc

import pytest

from regard.errors import DataError, UsageError
from regard.text.train import draw_sample, train_tokenizer


def numbered(count: int):
    return (f"{number:09d}" for number in range(count))


def test_a_small_corpus_is_kept_whole_and_in_order():
    texts = list(numbered(101))
    assert draw_sample(texts, sample_bytes=9 * 101, seed=0) == texts


def test_the_sample_is_bounded_and_as_large_as_allowed():
    sample = draw_sample(numbered(1009), sample_bytes=1000, seed=0)
    assert sum(map(len, sample)) == 999


def test_the_sample_is_drawn_evenly_from_the_whole_stream():
    thirds = [0, 0, 0]
    for seed in range(20):
        for text in draw_sample(numbered(3000), sample_bytes=9 * 150, seed=seed):
            thirds[int(text) // 1000] += 1
    assert sum(thirds) == 20 * 150
    assert all(900 < third < 1100 for third in thirds)


def test_the_sample_depends_on_the_seed_alone():
    first, again, other = (
        draw_sample(numbered(997), sample_bytes=900, seed=seed) for seed in (3, 3, 5)
    )
    assert first == again != other


def test_bytes_are_counted_and_not_characters():
    assert len(draw_sample(["äöü"] * 11, sample_bytes=12, seed=0)) == 2


def test_one_endless_text_is_drawn_in_pieces():
    sample = draw_sample(["Haus " * 100_000], sample_bytes=60_000, seed=0)
    assert 40_000 <= sum(map(len, sample)) <= 60_000


def test_memory_does_not_grow_with_the_stream():
    def peak(count: int) -> int:
        tracemalloc.start()
        draw_sample((f"{number:0500d}" for number in range(count)), sample_bytes=100_000, seed=0)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(100)
    assert peak(20_000) < 1.2 * peak(2_000) < 1_000_000


@pytest.mark.parametrize(("kind", "least"), [("bpe", 263), ("wordpiece", 519), ("words", 263)])
def test_a_vocabulary_without_room_for_the_bytes_is_refused(kind, least):
    with pytest.raises(UsageError, match=f"vocabulary={least - 1}") as refusal:
        train_tokenizer(["Haus"], kind=kind, vocabulary=least - 1)
    assert str(least) in refusal.value.remedy
    assert train_tokenizer(["Haus"], kind=kind, vocabulary=least).size == least


@pytest.mark.parametrize("texts", [[], [""], ["  ", "\n"]])
def test_training_on_nothing_is_refused(texts):
    with pytest.raises(DataError, match="no text to train"):
        train_tokenizer(texts, kind="bpe", vocabulary=300)


def test_frequent_words_become_tokens():
    tokenizer = train_tokenizer(["Haus und Hof"] * 9 + ["Tür"], kind="words", vocabulary=266)
    assert tokenizer.tokens(tokenizer.encode("Haus Hof und Tür"))[:3] == ["▁Haus", "▁Hof", "▁und"]
    assert len(tokenizer.encode("Tür")) == len(" Tür".encode())


def test_a_word_is_the_same_token_at_the_start_and_within():
    tokenizer = train_tokenizer(["Haus und Haus"] * 9, kind="bpe", vocabulary=300)
    assert tokenizer.encode("Haus Haus") == 2 * tokenizer.encode("Haus")


@pytest.mark.parametrize("kind", ["bpe", "wordpiece"])
def test_a_piece_seen_once_is_no_token(kind):
    once = train_tokenizer(["Haus"], kind=kind, vocabulary=601)
    twice = train_tokenizer(["Haus", "Haus"], kind=kind, vocabulary=601)
    assert len(once.encode("Haus")) == len(" Haus") and len(twice.encode("Haus")) == 1
