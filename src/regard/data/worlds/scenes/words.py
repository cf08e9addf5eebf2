"""Words with the concepts they express, and the alignment that follows from them.

Every word of either language carries the concepts it expresses ("the subject's noun", "the verb").
A German and an English word are aligned if and only if they share a concept:
``alignment = {(s, t) : concepts(s) ∩ concepts(t) ≠ ∅}``.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Word(NamedTuple):
    """A word, the concepts it expresses, and whether it is a content word."""

    text: str
    concepts: tuple[str, ...] = ()
    content: bool = False


Words = tuple[Word, ...]


class Scene(NamedTuple):
    """A German sentence, its English translation, and which word translates which.

    Words are what whitespace separates; punctuation is attached to the word before it and does not
    count: strip it to compare words. ``alignment`` pairs source and target indices of words;
    ``content`` lists the target indices of nouns, adjectives, verbs, numbers and adverbs.
    """

    source: str
    target: str
    alignment: tuple[tuple[int, int], ...]
    content: tuple[int, ...]


class Sentence(NamedTuple):
    """The same sentence in both languages."""

    german: Words
    english: Words


def end_sentence(german: Words, english: Words, mark: str = ".") -> Sentence:
    """Put the final punctuation mark on both sides of a sentence."""
    return Sentence(punctuate(german, mark), punctuate(english, mark))


def prefix_concepts(words: Iterable[Word], prefix: str) -> Words:
    """Prefix the concepts of words, so that two clauses share none."""
    return tuple(
        Word(text, tuple([f"{prefix}.{concept}" for concept in concepts]), content)
        for text, concepts, content in words
    )


def punctuate(words: Sequence[Word], mark: str) -> Words:
    """Put a punctuation mark after the last word."""
    return (*words[:-1], words[-1]._replace(text=words[-1].text + mark))


def to_scene(sentence: Sentence) -> Scene:
    """Write both sentences, and derive the alignment from shared concepts."""
    german, english = sentence
    expressed: dict[str, list[int]] = {}
    for target, word in enumerate(english):
        for concept in word.concepts:
            expressed.setdefault(concept, []).append(target)
    pairs = {
        (source, target)
        for source, word in enumerate(german)
        for concept in word.concepts
        for target in expressed.get(concept, ())
    }
    alignment = tuple(sorted(pairs))
    content = tuple(index for index, word in enumerate(english) if word.content)
    return Scene(_write(german), _write(english), alignment, content)


def _write(words: Iterable[Word]) -> str:
    text = " ".join(word.text for word in words)
    return text[0].upper() + text[1:]
