"""Language modelling: predict the next token of plain text.

    loss = -1/N · Σₙ log p(id(n) | the tokens before it in its window)        nats per token
    perplexity = exp(loss)      bits per byte = N · loss / ln 2 / bytes of the text

Documents are joined into one text, the token of ending between them and before the first. A token
that training never showed has no logit of its own: all such share the probability of <unk> evenly,
so that the softmax is as small as the text allows and every text still has a probability.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.batch import Batch, Padded, pad
from regard.data.store import Store
from regard.data.windows import Windows, cut_windows, slide_windows
from regard.device import device_of
from regard.errors import DataError, UsageError
from regard.ledger.load import Load
from regard.models.build.writing import language_model
from regard.models.gpt import LanguageModel, document_mask
from regard.recipe.model import AttentionSettings
from regard.recipe.recipe import Recipe
from regard.tasks.foreign import TEXT, Export
from regard.tasks.language.continuation import Continuation
from regard.tasks.language.cost import LanguageModelCost
from regard.tasks.language.ngrams import NgramModel, learn_ngrams
from regard.tasks.language.question import continued_batch, ending_question
from regard.tasks.language.ranking import RankedTargets, rank_targets
from regard.tasks.losses import Loss, head_loss
from regard.tasks.question import AnsweredBatch, Inquiry, Question
from regard.tasks.task import Evaluation, Examples, Prediction, Sample, Task
from regard.text import special
from regard.text.tokenizer import Tokenizer

MEASURED_AT_ONCE = 1 << 14  # tokens that pass the model side by side
MOST_QUICK = 1 << 17  # tokens measured on while training
SAMPLES, SAMPLE_TOKENS = 4, 64  # continuations shown in a report, and how long they are
ORDERS = {"characters": 6, "words": 3}
"""Order of the n-gram baseline; 5 for subwords."""


class LanguageModelling(LanguageModelCost, Task[LanguageModel]):
    """Next-token prediction by a causal model.

    Args:
        recipe: The whole recipe; ``text.max_length`` is the length of a window.
        tokenizer: Converts texts to ids and back.

    """

    fields = texts = 1
    metric = "loss"
    continues_text = True

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        super().__init__(recipe, tokenizer)
        self.context = recipe.text.max_length
        self.order = ORDERS.get(tokenizer.kind, 5)
        self.baseline = f"an n-gram model of order {self.order} (interpolated Kneser-Ney)"
        self._ngrams: NgramModel | None = None
        self._shares: Tensor | None = None
        """Token frequencies, for the sampled softmax."""
        self._continue = Continuation(
            recipe.decoding, tokenizer, context=self.context, seed=recipe.seed_of_draws
        )

    @classmethod
    def complete(cls, recipe: Recipe, source: Examples) -> Recipe:
        """Refuse settings that do not apply to a language model."""
        attends = isinstance(recipe.model.mixer, AttentionSettings)
        wrong = {
            "model.causal = false lets a language model see the token that it predicts": (
                recipe.model.causal is False
            ),
            "data.apart hides documents from each other's attention; the mixer is another": (
                recipe.data.apart and not attends
            ),
        }
        for problem, there in wrong.items():
            if there:
                raise UsageError(f"{problem}.", f"Take {problem.split()[0]} out of the recipe.")
        return recipe

    def load(self, batch: Batch) -> Load:
        ids = batch.fields[0].ids
        sampled = self.recipe.training.softmax == "sampled"
        return Load(len(ids), ids.shape[1] - 1, sampled=len(ids[:, 1:].unique()) if sampled else 0)

    def export(self) -> Export:
        """Return a causal model whose texts begin with the end token."""
        return Export("causal", "tokens", (special.SPECIAL[special.END], TEXT))

    @property
    def longest(self) -> None:
        """Documents may have any length: windows are cut from them."""
        return

    def stream(self, store: Store) -> Windows:
        """Cut the whole text into windows."""
        length = store.tokens - 1  # nothing is learned from the very last token of ending
        if length < self.context:
            raise DataError(
                f"the training text must fill a window. Got {length:,} tokens; text.max_length is "
                f"{self.context:,}.",
                f"Give more text, or set text.max_length to at most {max(1, length // 2):,}.",
            )
        training = self.recipe.training
        return Windows(
            length,
            context=self.context,
            seed=self.recipe.seed,
            batch_tokens=training.batch_tokens,
        )

    def fit_baseline(self, source: Examples) -> dict[str, Tensor]:
        """Count n-grams, in a bounded part of the text."""
        encoded = (self.encode([example])[0][0] for example in source())
        tables = learn_ngrams(
            chain.from_iterable(encoded),
            order=self.order,
            tokens=self.tokenizer.size,
            boundary=special.END,
        )
        return {name: torch.from_numpy(table) for name, table in tables.items()}

    def load_baseline(self, parameters: Mapping[str, Tensor]) -> None:
        tables = {name: tensor.numpy() for name, tensor in parameters.items()}
        self._ngrams = NgramModel(tables, tokens=self.tokenizer.size, boundary=special.END)

    def build(self) -> LanguageModel:
        return language_model(self.recipe.model, self.tokenizer.size)

    def prepare_model(self, model: LanguageModel, store: Store) -> None:
        """Give logits to the tokens of the text, and one to all others together."""
        counts = store.count_tokens(0, tokens=self.tokenizer.size)
        if self.recipe.model.writes == "seen":
            seen = counts > 0
            seen[[special.END, special.UNKNOWN]] = True
            written = np.flatnonzero(seen)
            model.head.restrict_vocabulary(torch.from_numpy(written))
            counts = counts[written]
        if self.recipe.training.softmax == "sampled":
            self._shares = torch.from_numpy(counts / counts.sum())

    def encode(self, examples: list[tuple[str, ...]]) -> list[tuple[list[int], ...]]:
        """Every document, closed by the token of ending."""
        texts = [example[0] for example in examples]
        return [([*ids, special.END],) for ids in self.tokenizer.encode_batch(texts)]

    def batch(
        self,
        store: Store,
        numbers: NDArray[np.int64],
        key: tuple[int, ...],
        *,
        progress: float = 0.0,
    ) -> Batch:
        return self._windows(store.flat(0), numbers, self.context)

    def _windows(self, ids: NDArray[Any], begins: NDArray[np.int64], context: int) -> Batch:
        rows = cut_windows(ids, begins, context=context, before=special.END)
        lengths = torch.full((len(rows),), context + 1)
        return Batch((Padded(torch.from_numpy(rows), lengths),), begins)

    def pad(self, rows: Sequence[tuple[list[int], ...]]) -> Batch:
        """Pad encoded documents to a batch, each after the end token."""
        padded = pad([[special.END, *ids] for (ids,) in rows], filler=special.PAD)
        return Batch((padded,), np.arange(len(rows)))

    def states(self, model: LanguageModel, batch: Batch) -> Tensor:
        """Run the model: the state before every token but the first."""
        ids = batch.fields[0].ids[:, :-1]
        return model(
            ids, visible=document_mask(ids, special.END) if self.recipe.data.apart else None
        )

    def loss(self, model: LanguageModel, batch: Batch) -> Loss:
        """Sum over every token that follows another; one that was never seen is left out."""
        ids, lengths = batch.fields[0]
        places = model.head.places(ids[:, 1:])
        counted = torch.arange(1, ids.shape[1], device=ids.device)[None] < lengths[:, None]
        counted &= places >= 0
        states = self.states(model, batch)
        if counted.all():  # as always in training: views are cheaper than a choice
            states, places = states.flatten(0, 1), places.flatten()
        else:
            states, places = states[counted], places[counted]
        smoothing = self.recipe.training.label_smoothing if model.training else 0.0
        shares = self._shares if model.training else None
        return head_loss(model.head, states, places, smoothing=smoothing, shares=shares)

    @torch.inference_mode()
    def measure(
        self, model: LanguageModel, examples: Sequence[tuple[str, ...]], *, quick: bool
    ) -> Evaluation:
        """Measure on the whole text, in windows that overlap by half.

        ``quick`` takes the first 131,072 tokens, in windows that do not overlap. ``together`` is
        the mean of the model's and the baseline's probability.
        """
        encoded = [ids for (ids,) in self.encode(list(examples))]
        joined = [np.asarray(ids, dtype=np.uint32) for ids in encoded]
        ids = np.concatenate(joined)[:-1] if joined else np.empty(0, dtype=np.uint32)
        size = sum(len(text.encode()) for (text,) in examples)
        if not len(ids) or not size:
            raise DataError("the evaluation data is empty.", "Name a file that has text.")
        if quick and len(ids) > MOST_QUICK:
            ids, size = ids[:MOST_QUICK], round(size * MOST_QUICK / len(ids))
        context = self.context
        stride = context if quick else max(1, context // 2)
        own = self.log_p(model, ids, context=context, stride=stride)
        baseline, together = {}, {}
        if self._ngrams is not None and not quick:
            theirs = self._ngrams.log_p(ids)
            baseline = _scores(theirs, size)
            together = _scores(np.logaddexp(own, theirs) - math.log(2), size)
        signature = (
            f"nats per token ({self.tokenizer.kind}), windows of {context} every {stride} tokens"
        )
        return Evaluation(
            _scores(own, size),
            baseline,
            {"loss": signature},
            len(examples),
            self._samples(model, encoded, 1 if quick else SAMPLES),
            together,
            {"tokens": len(ids), "bytes": size},
        )

    def log_p(
        self, model: LanguageModel, ids: NDArray[np.uint32], *, context: int, stride: int
    ) -> NDArray[np.float64]:
        """Log-probability of every token of a text, each once, from windows ``stride`` apart."""
        found = self.rank_tokens(model, ids, context=context, stride=stride)
        return found.log_p.double().numpy()

    @torch.inference_mode()
    def rank_tokens(
        self,
        model: LanguageModel,
        ids: NDArray[np.uint32],
        *,
        context: int,
        stride: int,
        top: int = 0,
    ) -> RankedTargets:
        """Do the same, with the ``top`` likeliest tokens in each place."""
        model.eval()
        device, context = device_of(model), min(context, len(ids))
        cuts = np.asarray(slide_windows(len(ids), context=context, stride=stride))
        rows, found = max(1, MEASURED_AT_ONCE // context), []
        for part in range(0, len(cuts), rows):
            begins, counted = cuts[part : part + rows].T
            batch = self._windows(ids, begins, context).to(device)
            wanted = torch.arange(context)[None] >= torch.from_numpy(counted)[:, None]
            wanted = wanted.to(device)
            states, targets = self.states(model, batch), batch.fields[0].ids[:, 1:]
            found.append(
                rank_targets(
                    model.head,
                    states[wanted],
                    targets[wanted],
                    top=top,
                    vocabulary=self.tokenizer.size,
                )
            )
        return RankedTargets(*(torch.cat(parts).cpu() for parts in zip(*found, strict=True)))

    def _samples(self, model: LanguageModel, encoded: list[list[int]], most: int) -> list[Sample]:
        """Continue the beginnings of documents, or of parts of a single one."""
        length = min(SAMPLE_TOKENS, self.context)
        texts = [ids[:-1] for ids in encoded if len(ids) > 2 * length][:most]
        if len(texts) == 1:
            apart_by = max(1, (len(texts[0]) - 2 * length) // most)
            texts = [texts[0][n * apart_by :] for n in range(most)]
        decode = self.tokenizer.decode
        prompts = [decode(ids[:length]) for ids in texts]
        expected = [decode(ids[length : 2 * length]) for ids in texts]
        answers = self._continue(model, prompts, quick_tokens=length)
        return [
            Sample(prompt, right, answered.text)
            for prompt, right, answered in zip(prompts, expected, answers, strict=True)
        ]

    def _answer_batch(self, model: LanguageModel, inquiry: Inquiry) -> AnsweredBatch:
        if inquiry.continue_text:
            return continued_batch(self, model, inquiry.text)
        return super()._answer_batch(model, inquiry)

    def _question(self, model: LanguageModel, inquiry: Inquiry) -> Question:
        return ending_question(self, model, inquiry)

    def answer(
        self,
        model: LanguageModel,
        texts: Sequence[str],
        *,
        quick: bool = False,
        truncate: bool = False,
    ) -> list[Prediction]:
        """Continue each text; of one longer than the context only the end is read."""
        quick_tokens = SAMPLE_TOKENS if quick else None
        return self._continue(
            model, texts, quick_tokens=quick_tokens, cancelled_rows=self.cancelled_rows
        )


def _scores(log_p: NDArray[np.float64], size: int) -> dict[str, float]:
    loss, total = -float(log_p.mean()), -float(log_p.sum())
    return {
        "loss": loss,
        "perplexity": math.exp(min(loss, 700.0)),
        "bits_per_byte": total / math.log(2) / size,
    }
