"""Real translations: under 5% of a batch is padding."""

from pathlib import Path

import pytest

from regard.data.source import read
from regard.data.store import Store
from regard.data.stream import Stream
from regard.text.train import train_tokenizer

CORPUS = Path(__file__).parents[3] / "shared" / "data" / "multi30k"


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="../shared/data/multi30k is not on this machine")
def test_at_most_a_twentieth_is_padding_at_4096_tokens(tmp_path):
    files = [CORPUS / "train.de.gz", CORPUS / "train.en.gz"]
    pairs = [record.fields for record in read(files, expected=2)]
    tokenizer = train_tokenizer(
        (text for pair in pairs for text in pair), kind="bpe", vocabulary=4000
    )

    def encode(chunk):
        return list(zip(*map(tokenizer.encode_batch, zip(*chunk, strict=True)), strict=True))

    store = Store.open_or_write(tmp_path, lambda: iter(pairs), encode, key=(), longest=256)
    stream = Stream(store, seed=1, batch_tokens=4096)
    real = held = 0
    for step in range(stream.steps_per_epoch):
        lengths = store.lengths(stream[step])
        real += lengths.sum()
        held += (lengths.max(axis=0) * len(lengths)).sum()
    assert 1 - real / held <= 0.05
