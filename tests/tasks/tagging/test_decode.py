"""The likeliest allowed sequence is found among all of them."""

from itertools import pairwise, product

import numpy as np
import pytest

from regard.tasks.tagging.decode import Decoder
from regard.tasks.tagging.schemes import read_spans

TAGS = ("O", "B-A", "I-A", "B-B", "I-B")


def allowed(tags):
    """Whether every I continues a span of its type, by the definition of IOB2."""
    for before, tag in pairwise(("O", *tags)):
        if tag.startswith("I-") and before not in (f"B-{tag[2:]}", tag):
            return False
    return True


@pytest.mark.parametrize("seed", range(23))
def test_no_allowed_sequence_is_likelier(seed):
    rng = np.random.default_rng(seed)
    log_p = rng.normal(size=(4, 5)) * 2
    every = [path for path in product(range(5), repeat=4) if allowed([TAGS[n] for n in path])]
    best = max(every, key=lambda path: log_p[range(4), path].sum())
    assert Decoder(TAGS).best(log_p) == list(best)


@pytest.mark.parametrize("seed", range(7))
def test_what_is_found_is_well_formed(seed):
    log_p = np.random.default_rng(seed).normal(size=(31, 5)) * 5
    tags = [TAGS[n] for n in Decoder(TAGS).best(log_p)]
    assert read_spans(tags, "IOB2") == read_spans(tags, "IOB2", strict=True)


def test_tags_without_prefixes_are_each_the_likeliest():
    log_p = np.random.default_rng(0).normal(size=(13, 3))
    decoder = Decoder(("I-X", "NOUN", "VERB"))
    assert decoder.scheme == "none"
    assert decoder.best(log_p) == log_p.argmax(axis=1).tolist()


def test_no_tokens_have_no_tags():
    assert Decoder(TAGS).best(np.empty((0, 5))) == []
