"""The corpus as a whole: splits, alignments, and the one translation of every sentence."""

import re
import subprocess
import sys
from collections import defaultdict
from hashlib import sha256
from itertools import islice, pairwise

import pytest

from regard.data.worlds.scenes import COUNTS, draw_scenes, english
from regard.data.worlds.scenes.chance import Chance, side_of
from regard.data.worlds.scenes.modifiers import ADJECTIVES, MANNERS, NUMBERS, TIMES
from regard.data.worlds.scenes.nouns import NOUNS
from regard.data.worlds.scenes.sentence import LONGEST
from regard.data.worlds.scenes.verbs import VERBS
from regard.errors import UsageError

FIRST_THOUSAND = "686e1bd85c530de7bdfe77ef65330496b7d6aae791bd9e71a6d462654fef4d8a"


def words(text):
    return [word.strip(".,?") for word in text.split()]


def everything(corpus):
    return [drawn.scene for split in corpus.values() for drawn in split]


def test_the_splits_have_the_promised_sizes_and_no_sentence_twice(corpus):
    assert {split: len(drawn) for split, drawn in corpus.items()} == COUNTS
    sources = [scene.source for scene in everything(corpus)]
    assert len(set(sources)) == len(sources)


@pytest.mark.parametrize("split", ["valid", "test"])
def test_held_out_combinations_never_occur_in_training(corpus, split):
    seen = {combination for drawn in corpus["train"] for combination in drawn.combinations}
    held_out = {combination for drawn in corpus[split] for combination in drawn.combinations}
    assert held_out and not held_out & seen
    assert all(drawn.combinations for drawn in corpus[split])


def described_nouns(scene):
    """(adjective, noun) read off the German text itself: a noun and the adjective before it."""
    for before, word in pairwise(words(scene.source)):
        stem = re.sub("e[nrsm]?$", "", before)
        if stem in STEMS and word in LEMMAS:
            yield stem, LEMMAS[word]


STEMS = {adjective.stem for adjective in ADJECTIVES.values()}
LEMMAS = {
    form: noun.german
    for noun in NOUNS.values()
    for form in (noun.german, noun.plural, noun.plural + "n")
}


@pytest.mark.parametrize("split", ["valid", "test"])
def test_the_text_shows_no_described_noun_of_training_again(corpus, split):
    seen = {pair for drawn in corpus["train"] for pair in described_nouns(drawn.scene)}
    held_out = {pair for drawn in corpus[split] for pair in described_nouns(drawn.scene)}
    assert len(seen) > 500 and len(held_out) > 50
    assert not held_out & seen


@pytest.mark.parametrize("side", ["source", "target"])
def test_every_held_out_word_occurs_in_training(corpus, side):
    seen = {w for drawn in corpus["train"] for w in words(getattr(drawn.scene, side))}
    for split in ("valid", "test"):
        met = {w for drawn in corpus[split] for w in words(getattr(drawn.scene, side))}
        assert met <= seen


def test_a_sentence_has_one_translation(corpus, unchecked):
    translations = defaultdict(set)
    for scene in everything(corpus):
        translations[scene.source].add(scene.target)
    for seed in (1, 2):
        for scene in draw_scenes("train", count=5000, seed=seed):
            translations[scene.source].add(scene.target)
    assert [many for many in translations.values() if len(many) > 1] == []


def test_the_first_thousand_pairs_are_the_same_everywhere(unchecked):
    text = "\n".join(
        f"{scene.source}\t{scene.target}" for scene in draw_scenes("train", count=1000)
    )
    assert sha256(text.encode()).hexdigest() == FIRST_THOUSAND


def test_another_process_with_other_hashes_draws_the_same():
    code = (
        "from regard.data.worlds.scenes import draw_scenes as scenes;"
        "print(hash(tuple(tuple(scene[2]) for scene in scenes('test', count=50))));"
        "print([scene.source for scene in scenes('test', count=50)])"
    )
    said = []
    for hashes in ("1", "2"):
        env = {"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": hashes, "PYTHONUTF8": "1"}
        run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
        said.append(run.stdout)
    assert said[0] == said[1]


def test_a_shorter_corpus_is_the_beginning_of_a_longer_one():
    assert list(draw_scenes("valid", count=7)) == list(islice(draw_scenes("valid", count=53), 7))


def test_another_seed_gives_other_sentences(unchecked):
    one, other = (set(draw_scenes("test", count=200, seed=seed)) for seed in (0, 1))
    assert len(one & other) < 40


def test_sentences_are_short(corpus):
    for scene in everything(corpus):
        assert 2 <= len(words(scene.source)) <= LONGEST
        assert 2 <= len(words(scene.target)) <= LONGEST


def test_sentences_are_written_like_text(corpus):
    written = re.compile(r"[A-ZÄÖÜ][\wäöüÄÖÜß]*(,? [\wäöüÄÖÜß]+)*[.?]")
    for scene in everything(corpus):
        assert written.fullmatch(scene.source), scene.source
        assert written.fullmatch(scene.target), scene.target
        assert scene.source[-1] == scene.target[-1]


def test_every_content_word_is_aligned_and_every_index_exists(corpus):
    for scene in everything(corpus):
        source, target = len(words(scene.source)), len(words(scene.target))
        assert all(0 <= s < source and 0 <= t < target for s, t in scene.alignment)
        assert len(set(scene.alignment)) == len(scene.alignment)
        linked = {t for _, t in scene.alignment}
        assert scene.content and set(scene.content) <= linked


def forms_of(verb):
    """Every German and every English form of a verb, with what else may stand for the latter."""
    forms = {verb.stem, verb.third, verb.stem.removesuffix("n").removesuffix("e") + "e"}
    german = forms | {verb.prefix + form for form in forms} | {verb.participle, verb.prefix}
    base = verb.english
    for form in (base, english.third_of(base), english.progressive_of(base)):
        yield form, german
    yield verb.english_participle, german
    yield verb.past, german | {"hat", "haben", "habe", "ist", "sind", "bin"}


def meanings():
    """Which German words may stand for an English content word, made of the tables alone."""
    for noun in NOUNS.values():
        for form in (noun.english, noun.english_plural):
            yield form, {noun.german, noun.plural, noun.plural + "n"}
    for verb in VERBS:
        yield from forms_of(verb)
    for adjective in ADJECTIVES.values():
        endings = ("e", "en", "er", "es", "em")
        yield adjective.english, {adjective.german, *(adjective.stem + e for e in endings)}
        yield adjective.english_comparative.rpartition(" ")[2], {adjective.comparative}
    for adverb in (*TIMES, *MANNERS.values()):
        yield adverb.english.rpartition(" ")[2], set(adverb.german.split())
    for german, word in (*NUMBERS, ("sehr", "very"), ("zu", "too")):
        yield word, {german}


def test_every_link_of_a_content_word_is_in_the_dictionary(corpus):
    meant = defaultdict(set)
    for word, forms in meanings():
        meant[word.lower()] |= {form.lower() for form in forms} - {""}
    for scene in everything(corpus):
        source, target = words(scene.source.lower()), words(scene.target.lower())
        for s, t in scene.alignment:
            if t in scene.content:
                assert source[s] in meant[target[t]], (scene, source[s], target[t])


def test_grammar_words_are_aligned_with_their_like(corpus):
    articles = re.compile("d(er|ie|as|en|em)|k?ein(e|en|em|er)?|ins?|im|am|zum|zur")
    for scene in everything(corpus):
        source, target = words(scene.source.lower()), words(scene.target.lower())
        for s, t in scene.alignment:
            if target[t] in ("a", "an"):
                assert articles.fullmatch(source[s])


def test_every_pattern_and_much_variety_is_there(corpus):
    sources = [drawn.scene.source for drawn in corpus["train"]]
    for clue in (
        "weil ",
        "obwohl ",
        "während ",
        "dass ",
        "aber ",
        " und ",
        "Wo ",
        "Warum ",
        "Was ",
    ):
        assert sum(clue in source for source in sources) > 30, clue
    for clue in (" nicht", " kein", " als ", ", der ", "hat ", " will ", " wird "):
        assert sum(clue in source for source in sources) > 100, clue
    assert len({c for drawn in corpus["train"] for c in drawn.combinations}) > 5000


def test_a_combination_belongs_to_one_split_for_ever():
    sides = [side_of((str(number),)) for number in range(6000)]
    assert side_of(("Hund", "jagen", "Maus")) == "valid"
    assert 0.63 < sides.count("train") / 6000 < 0.70
    assert 0.14 < sides.count("valid") / 6000 < 0.19
    assert 0.14 < sides.count("test") / 6000 < 0.19


def test_chance_chooses_by_weight():
    chance = Chance("train", 0)
    drawn = [chance.pick_weighted({"often": 0.9, "seldom": 0.1}) for _ in range(2000)]
    assert 0.87 < drawn.count("often") / 2000 < 0.93


def test_an_unknown_split_is_refused_at_once():
    with pytest.raises(UsageError, match=r"'dev'.*\n.*train, valid, test"):
        next(draw_scenes("dev"))


def test_more_sentences_than_there_are_is_an_error_and_not_an_endless_search(monkeypatch):
    monkeypatch.setattr("regard.data.worlds.scenes._PATIENCE", 0)
    with pytest.raises(UsageError, match="distinct sentences"):
        list(draw_scenes("valid", count=100_000))
