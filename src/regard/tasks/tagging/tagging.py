"""Tagging: a text in, a tag for each of its tokens out; names, parts of speech, chunks.

loss        Σ -log p(tag of word)      at each word's first subword; the others have no target
prediction  the most likely tags that the scheme allows, as spans of characters
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from regard.data.batch import Batch, collate
from regard.data.check import Report
from regard.data.record import Found
from regard.data.store import Store
from regard.data.stream import Stream
from regard.ledger.load import Load
from regard.models.build.body import body
from regard.models.parameters import initialise_parameters
from regard.models.tagger import Tagger, TagHead
from regard.recipe.data import DataSettings
from regard.recipe.recipe import Recipe
from regard.tasks.foreign import FRAMED, Export, kind_of_body
from regard.tasks.labelling.overlong import Fitted, head, head_tail
from regard.tasks.losses import Loss, cross_entropy
from regard.tasks.question import Inquiry, Question
from regard.tasks.suggest.survey import DataSurvey
from regard.tasks.tagging.check import check
from regard.tasks.tagging.cost import TaggingCost
from regard.tasks.tagging.decode import Decoder, Numbers
from regard.tasks.tagging.entities import find_entities, write_entities
from regard.tasks.tagging.example import Annotation, find_words, inner_tag, words_of
from regard.tasks.tagging.measure import Gold, Predicted, measure
from regard.tasks.tagging.most_frequent import MostFrequentTag
from regard.tasks.tagging.question import tag_question
from regard.tasks.tagging.read_examples import records
from regard.tasks.tagging.rows import MARKS, Row, encode_words, to_rows, token_logits
from regard.tasks.tagging.suggest import survey_tokens
from regard.tasks.tagging.tag_set import complete_tags, unknown_tag
from regard.tasks.task import Evaluation, Examples, Prediction, Task, Texts
from regard.text import special
from regard.text.from_recipe import dropout_from_recipe
from regard.text.tokenizer import Tokenizer

UNTAGGED = ""
"""An example without tags: every word then has the first tag."""
NO_TARGET = 0
"""A position without a target in the store; tag n is stored as n + 1."""


class Tagging(TaggingCost, Task[Tagger]):
    """A tag for each token of a text.

    Args:
        recipe: The whole recipe, complete.
        tokenizer: Converts texts to ids and back.

    """

    fields, texts = 2, 1
    reads_columns = False
    attribution = "occlusion"
    baseline = "the most frequent tag of each word in training; of unknown words, the commonest tag"

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        super().__init__(recipe, tokenizer)
        self.tags = recipe.data.labels
        self.decoder = Decoder(self.tags)
        self.metric = "accuracy" if self.decoder.scheme == "none" else "micro_f1"
        self.dropout = dropout_from_recipe(recipe.text, tokenizer)
        self.most_frequent = MostFrequentTag(self.tags)

    @classmethod
    def complete(cls, recipe: Recipe, source: Examples) -> Recipe:
        """Write the tags into the recipe."""
        return complete_tags(recipe, source)

    @classmethod
    def complete_without_data(cls, recipe: Recipe) -> Recipe:
        """Assume one type of span, unless the recipe names the tags."""
        tags = recipe.data.labels or ("O", "B-a", "I-a")
        data = recipe.data.model_copy(update={"labels": tags})
        return recipe.model_copy(update={"data": data})

    @classmethod
    def synthetic_fields(cls, recipe: Recipe, number: int) -> Texts:
        """Return an annotation without tags."""
        return (UNTAGGED,)

    def load(self, batch: Batch) -> Load:
        return Load(*batch.fields[1].ids.shape)

    @classmethod
    def survey(cls, data: DataSettings) -> DataSurvey:
        """Count the sentences of files that no recipe describes yet."""
        return survey_tokens(data)

    @classmethod
    def records(cls, recipe: Recipe, files: Sequence[str], split: str) -> Iterator[Found]:
        """Read tokens with tags, or texts with spans."""
        return records(recipe.data, files, split)

    @classmethod
    def refusal(cls, recipe: Recipe, fields: Texts) -> tuple[str, str] | None:
        """Return problem and remedy for an unknown tag."""
        return unknown_tag(recipe.data.labels, fields[-1])

    @classmethod
    def check(cls, recipe: Recipe) -> Report:
        """Check tokens and tags, or texts and spans."""
        return check(recipe)

    def export(self) -> Export:
        """Return a body with a tag for each token."""
        kind = kind_of_body(causal=self.recipe.model.causal)
        return Export(kind, "tags", FRAMED, "words", labels=self.tags)

    @property
    def longest(self) -> int | None:
        text = self.recipe.text
        return None if text.overlong == "windows" else text.max_length

    @property
    def encoding_key(self) -> tuple[str, ...]:
        text = self.recipe.text
        return ("tags first", "\0".join(self.tags), text.overlong, str(text.max_length))

    def stream(self, store: Store) -> Stream:
        settings = self.recipe.training
        fitted = Fitted(store, self.recipe.text.max_length)
        return Stream(fitted, seed=self.recipe.seed, batch_tokens=settings.batch_tokens)

    def build(self) -> Tagger:
        settings = self.recipe.model
        trunk = body(settings, self.tokenizer.size, bidirectional=not settings.causal)
        head = TagHead(settings.ends_in, len(self.tags), dropout=settings.head.dropout)
        model = Tagger(trunk, head)
        initialise_parameters(model, width=settings.width, zero_init=settings.zero_init)
        return model

    def encode(self, examples: list[Texts]) -> list[tuple[list[int], ...]]:
        """Return the target of each subword (0, or its word's tag plus 1), and the ids."""
        tagged = [list(self._tagged_words(text, field)) for text, field in examples]
        pieces = encode_words(self.tokenizer, (word for own in tagged for word, _ in own))
        numbers = {tag: number for number, tag in enumerate(self.tags, start=1)}
        return [
            self._make_row([(pieces[word], numbers[tag]) for word, tag in own]) for own in tagged
        ]

    def _tagged_words(self, text: str, field: str) -> Iterator[tuple[str, str]]:
        """Yield the words of an example with tags; a token of several words continues its tag."""
        annotation = self._annotation(text, field)
        for (begin, end), tag in zip(annotation.tokens, annotation.learned, strict=True):
            first, *rest = words_of(text[begin:end])
            yield first, tag
            yield from ((word, inner_tag(tag, annotation.scheme)) for word in rest)

    def _annotation(self, text: str, field: str) -> Annotation:
        if field != UNTAGGED:
            return Annotation.from_field(field)
        tokens = tuple(find_words(text))
        return Annotation(self.decoder.scheme, (self.tags[0],) * len(tokens), tokens)

    def _make_row(self, words: Sequence[tuple[list[int], int]]) -> tuple[list[int], ...]:
        settings = self.recipe.text
        targets, ids = _concatenate(words)
        if cut := {"head": head, "head-tail": head_tail}.get(settings.overlong):
            most = settings.max_length - MARKS
            targets, ids = cut(targets, most), cut(ids, most)
        return [NO_TARGET, *targets, NO_TARGET], special.frame(ids)

    def batch(
        self,
        store: Store,
        numbers: NDArray[np.int64],
        key: tuple[int, ...],
        *,
        progress: float = 0.0,
    ) -> Batch:
        if self.dropout is None and self.longest is not None:
            return collate(store, numbers, filler=special.PAD)
        rng = np.random.default_rng(list(key))
        stored = (
            (targets.tolist(), ids.tolist()) for targets, ids in (store[int(n)] for n in numbers)
        )
        rows = [self._augment(targets, ids, rng) for targets, ids in stored]
        return self.pad(rows)._replace(numbers=numbers)

    def _augment(
        self, targets: list[int], ids: list[int], rng: np.random.Generator
    ) -> tuple[list[int], list[int]]:
        """Draw a window of a row that is too long, and apply BPE dropout to its words."""
        longest = self.recipe.text.max_length
        if len(ids) > longest:
            begin = 1 + int(rng.integers(len(ids) - longest + 1))
            part = slice(begin, begin + longest - MARKS)
            targets, ids = [NO_TARGET, *targets[part], NO_TARGET], special.frame(ids[part])
        if self.dropout is None:
            return targets, ids
        firsts = [at for at, number in enumerate(targets) if number != NO_TARGET]
        words = [ids[begin:end] for begin, end in pairwise([*firsts, len(ids) - 1])]
        anew = zip(self.dropout.resegment(words, rng), words, strict=True)
        again = [(new or old, targets[at]) for (new, old), at in zip(anew, firsts, strict=True)]
        recut, pieces = _concatenate(again)
        before = firsts[0] if firsts else len(ids) - 1
        resegmented = [*targets[:before], *recut, NO_TARGET], [*ids[:before], *pieces, special.SEP]
        return resegmented if len(resegmented[1]) <= longest else (targets, ids)

    def encode_text(self, text: str) -> Batch:
        (row,) = to_rows(self.tokenizer, [text], [find_words(text)])
        ids = special.frame(row.ids)
        self.check_length(len(ids))
        return self.pad([([NO_TARGET] * len(ids), ids)])

    def loss(self, model: Tagger, batch: Batch) -> Loss:
        """Sum over words."""
        targets = batch.fields[0].ids - 1
        counted = targets >= 0
        smoothing = self.recipe.training.label_smoothing if model.training else 0.0
        logits = self.states(model, batch)
        return cross_entropy(logits[counted], targets[counted], smoothing=smoothing)

    def states(self, model: Tagger, batch: Batch) -> Tensor:
        ids, lengths = batch.fields[1]
        return model(ids, lengths=lengths)

    def _question(self, model: Tagger, inquiry: Inquiry) -> Question:
        return tag_question(self, self.decoder, model, inquiry)

    def fit_baseline(self, source: Examples) -> dict[str, Tensor]:
        """Count the tags of each word."""
        annotated = ((text, self._annotation(text, field)) for text, field in source())
        return self.most_frequent.fit(
            (text[begin:end], tag)
            for text, annotation in annotated
            for (begin, end), tag in zip(annotation.tokens, annotation.learned, strict=True)
        )

    def load_baseline(self, parameters: Mapping[str, Tensor]) -> None:
        self.most_frequent.load(parameters)

    def measure(self, model: Tagger, examples: Sequence[Texts], *, quick: bool) -> Evaluation:
        """Score the tags of the tokens in the data."""
        gold = [Gold(text, self._annotation(text, field)) for text, field in examples]
        rows = to_rows(
            self.tokenizer,
            [one.text for one in gold],
            [one.annotation.tokens for one in gold],
        )
        log_p = self._log_p(model, rows)
        true = [[self.tags.index(tag) for tag in one.annotation.learned] for one in gold]
        each = [own[range(len(tags)), tags] for own, tags in zip(log_p, true, strict=True)]
        predicted = Predicted(
            [[self.tags[n] for n in self.decoder.best(own)] for own in log_p],
            [self.most_frequent(_token_texts(one)) for one in gold],
            -float(np.concatenate(each).mean()),
        )
        return measure(gold, predicted)

    def answer(
        self, model: Tagger, texts: Sequence[str], *, quick: bool = False, truncate: bool = False
    ) -> list[Prediction]:
        """Find the spans of each text, in windows for a long one."""
        tokens = [find_words(text) for text in texts]
        rows = to_rows(self.tokenizer, texts, tokens)
        answers = []
        for text, places, log_p in zip(texts, tokens, self._log_p(model, rows), strict=True):
            best = self.decoder.best(log_p)
            chosen = log_p[range(len(best)), best]
            tags = [self.tags[number] for number in best]
            found = find_entities(text, places, tags, np.exp(chosen), self.decoder.scheme)
            written = write_entities(text, found) if places else ""
            answers.append(Prediction(written, float(chosen.sum()), 0, entities=tuple(found)))
        return answers

    def _log_p(self, model: Tagger, rows: Sequence[Row]) -> list[Numbers]:
        """Return the log-probabilities of every token's tags."""
        most = self.recipe.text.max_length - MARKS
        logits = token_logits(model, rows, most=most, tags=len(self.tags))
        return [own.double().log_softmax(dim=-1).numpy() for own in logits]


def _concatenate(words: Sequence[tuple[list[int], int]]) -> tuple[list[int], list[int]]:
    """Concatenate words; return the target of each subword, and the ids."""
    targets = [number for ids, tag in words for number in (tag, *[NO_TARGET] * (len(ids) - 1))]
    return targets, [id for ids, _ in words for id in ids]


def _token_texts(one: Gold) -> list[str]:
    return [one.text[begin:end] for begin, end in one.annotation.tokens]
