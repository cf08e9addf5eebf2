"""Text generation by a language model, with the decoding of the recipe."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import numpy as np
import torch

from regard.decoding.beam import beam_search
from regard.decoding.sampling import SamplingParameters, sample
from regard.decoding.search import greedy_search
from regard.decoding.steps import Answer, Limits
from regard.device import device_of
from regard.models.gpt import LanguageModel, count_context
from regard.recipe.decoding import DecodingSettings
from regard.tasks.task import Prediction
from regard.text import special
from regard.text.tokenizer import Tokenizer

AT_ONCE = 64  # texts per batch
NEVER = (special.PAD, special.BEGIN, special.UNKNOWN, special.CLS, special.SEP, special.MASK)

CancelledRows = Callable[[Sequence[int]], Callable[[], list[int]] | None]
"""From the places of texts to the rows among them that are cancelled by now."""


def never_cancelled(_places: Sequence[int]) -> None:
    """Cancel nothing."""


class Continuation:
    """Generates continuations of texts.

    Args:
        settings: How tokens are chosen, and how many at most.
        tokenizer: Converts texts to ids and back.
        context: The most tokens that the model attends to.
        seed: Derives, with the index of a text, the random numbers of sampling.

    """

    def __init__(
        self, settings: DecodingSettings, tokenizer: Tokenizer, *, context: int, seed: int
    ) -> None:
        self.settings, self.tokenizer = settings, tokenizer
        self.context, self.seed = context, seed

    @torch.inference_mode()
    def __call__(
        self,
        model: LanguageModel,
        texts: Sequence[str],
        *,
        quick_tokens: int | None = None,
        cancelled_rows: CancelledRows = never_cancelled,
    ) -> list[Prediction]:
        """Continue each text; of one longer than the context only the end is read.

        ``quick_tokens`` bounds the length, and replaces beam search by greedy decoding.
        """
        model.eval()
        prompts = self.tokenizer.encode_batch(list(texts))
        answers = [Prediction("", 0.0, 0)] * len(texts)
        for places in group_by_length(prompts):
            limits = self._limits(len(places), quick_tokens)
            limits = limits._replace(cancelled=cancelled_rows(places))
            rows = [prompts[place] for place in places]
            found = self._decode(model, rows, places, limits, quick=bool(quick_tokens))
            for place, answer in zip(places, found, strict=True):
                prompt = prompts[place]
                # Decoded together, so that the space between the two is kept.
                text = self.tokenizer.decode([*prompt, *answer.ids])
                known = len(self.tokenizer.decode(prompt))
                unread = len(prompt) + 1 - count_context(len(prompt) + 1, self.context)
                answers[place] = Prediction(
                    text[known:], answer.log_probability, unread, ids=tuple(answer.ids)
                )
        return answers

    def _decode(
        self,
        model: LanguageModel,
        prompts: list[list[int]],
        places: list[int],
        limits: Limits,
        *,
        quick: bool,
    ) -> list[Answer]:
        settings, rows = self.settings, len(prompts)
        ids = torch.tensor(prompts, dtype=torch.long, device=device_of(model)).view(rows, -1)
        steps = model.steps(ids, context=self.context)
        if settings.method == "sample":
            parameters = SamplingParameters(settings.temperature, settings.top_k, settings.top_p)
            draws = [self._generator(place) for place in places]
            return sample(steps, rows, limits=limits, parameters=parameters, generator=draws)
        if quick or settings.method == "greedy":
            return greedy_search(steps, rows, limits=limits)
        found = beam_search(
            steps,
            rows,
            limits=limits,
            width=settings.beam,
            length_penalty=settings.length_penalty,
        )
        return [best[0] for best in found]

    def _limits(self, rows: int, quick_tokens: int | None) -> Limits:
        settings = self.settings
        most = min(settings.max_length, quick_tokens or settings.max_length)
        least = min(settings.min_length, most - 1)
        return Limits(
            special.END,
            special.END,
            [most] * rows,
            NEVER,
            shortest=(least,) * rows if least else (),
            no_repeat=settings.no_repeat,
        )

    def _generator(self, place: int) -> torch.Generator:
        seed = np.random.default_rng([self.seed, place]).integers(2**62)
        return torch.Generator().manual_seed(int(seed))


def group_by_length(prompts: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield the indices of prompts of one length, a bounded number at a time."""
    by_length = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))
    for _, group in groupby(by_length, key=lambda place: len(prompts[place])):
        places = list(group)
        for begin in range(0, len(places), AT_ONCE):
            yield places[begin : begin + AT_ONCE]
