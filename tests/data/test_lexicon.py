"""A lexicon learned from pairs finds the one that wrote them."""

import numpy as np

from regard.data.lexicon import learn_lexicon
from regard.data.store import Store

WORDS = 17


def corpus(pairs, seed=0):
    """Sentences of words 0..16 whose translation is word + 20, in another order."""
    rng = np.random.default_rng(seed)
    for _ in range(pairs):
        words = rng.choice(WORDS, size=5, replace=False)
        yield words.tolist(), (rng.permutation(words) + 20).tolist()


def store(folder, pairs):
    rows = list(corpus(pairs))
    texts = [(str(n), str(n)) for n in range(pairs)]
    return Store.open_or_write(
        folder,
        lambda: iter(texts),
        lambda chunk: [rows[int(a)] for a, _ in chunk],
        key=(),
        longest=9,
    )


def test_it_finds_which_word_means_which(tmp_path):
    lexicon = learn_lexicon(store(tmp_path, 400), tokens=41)
    best = {}
    for source, target, strength in zip(*map(np.ndarray.tolist, lexicon), strict=True):
        best[source] = max(best.get(source, (0, 0)), (strength, target))
    assert {source: target for source, (_, target) in best.items()} == {
        word: word + 20 for word in range(WORDS)
    }
    assert all(strength > 0.5 for strength, _ in best.values())


def test_strengths_are_shares(tmp_path):
    lexicon = learn_lexicon(store(tmp_path, 50), tokens=41)
    assert (lexicon.strength > 0).all() and (lexicon.strength <= 1 + 1e-9).all()
