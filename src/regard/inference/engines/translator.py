"""Beam and greedy search by CTranslate2, with the answers of :mod:`regard.decoding`.

    CTranslate2 ranks by log p(Y | X) / |Y|^p      regard by log p(Y | X) / ((5 + |Y|) / 6)^α

Both extend the ``width`` best unfinished hypotheses and finish the ends among the ``width`` best
continuations. With p > 0 CTranslate2 goes on until ``width`` are finished, whatever p is, so all of
them are asked for and ranked anew by regard's score. With a tiny p those of the highest
log-probability are returned if more are finished in the last step. A row for which a better answer
may have been dropped so, or in which a limit or rule was at work, is left to
:mod:`regard.decoding`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from regard.decoding.rules import repeats
from regard.decoding.steps import Answer, Limits, make_answer
from regard.interop.exports.ctranslate2.spec import VOCABULARY_MAP, import_ctranslate2
from regard.text.special import END
from regard.text.tokenizer import Tokenizer

AT_ONCE = 32  # rows per batch; batches are spread over the workers
EXPONENT = 1e-6
"""p: with 0 CTranslate2 would stop when the likeliest hypothesis is finished."""


class Hypothesis(NamedTuple):
    """An answer as CTranslate2 returns it."""

    ids: list[int]
    """Without the end token."""
    total: float
    """Its log-probability, the end token included."""
    finished: bool

    @property
    def length(self) -> int:
        """The number of tokens whose log-probabilities are summed."""
        return len(self.ids) + self.finished


class TranslatorEngine:
    """An encoder-decoder in CTranslate2.

    Args:
        folder: The model, as ``regard export --to ctranslate2`` writes it.
        tokenizer: The run's.
        quantization: ``int8`` computes in 8-bit integers; answers may then differ.
        workers: How many batches are computed at the same time, each on one core.

    """

    def __init__(
        self, folder: Path, tokenizer: Tokenizer, *, quantization: str = "none", workers: int = 1
    ) -> None:
        precision = "float32" if quantization == "none" else quantization
        self.name = f"ctranslate2, {precision}"
        self.spelled = tokenizer.spelled
        self.ids = {token: id for id, token in enumerate(self.spelled)}
        self.maps = (folder / VOCABULARY_MAP).is_file()
        self.library: Any = import_ctranslate2().Translator(
            str(folder), compute_type=precision, inter_threads=workers, intra_threads=1
        )

    def search(
        self,
        rows: Sequence[list[int]],
        limits: Limits,
        *,
        width: int,
        length_penalty: float,
        best: int = 1,
    ) -> list[list[Answer] | None]:
        """Return the answers of :mod:`regard.decoding`; None where they could be others."""
        found: list[list[Answer] | None] = [None] * len(rows)
        if width > 1 and limits.no_repeat:  # a blocked n-gram may have been in any hypothesis
            return found
        divisors = Divisors(length_penalty, width)
        longest = max(limits.longest, default=0)
        for place, hypotheses in enumerate(self._translate(rows, longest, divisors)):
            own = limits.longest[place]
            whole = all(one.finished for one in hypotheses) or (width == 1 and own == longest)
            fits = all(one.length <= own for one in hypotheses)
            if whole and fits and not _is_ruled(hypotheses, limits, place):
                found[place] = divisors.rank(hypotheses, best)
        return found

    def _translate(
        self, rows: Sequence[list[int]], limit: int, divisors: "Divisors"
    ) -> list[list[Hypothesis]]:
        width, exponent = divisors.width, divisors.exponent
        results = self.library.translate_batch(
            [[self.spelled[id] for id in row] for row in rows],
            max_batch_size=AT_ONCE,
            beam_size=width,
            num_hypotheses=width,
            length_penalty=exponent,
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=limit,
            use_vmap=self.maps,
            return_scores=True,
            return_end_token=True,
        )
        return [
            [
                self._read(tokens, score, exponent)
                for tokens, score in zip(result.hypotheses, result.scores, strict=True)
            ]
            for result in results
        ]

    def _read(self, tokens: list[str], score: float, exponent: float) -> Hypothesis:
        ids = [self.ids[token] for token in tokens]
        finished = ids[-1:] == [END]
        total = score * len(ids) ** exponent
        return Hypothesis(ids[:-1] if finished else ids, total, finished)


def _is_ruled(hypotheses: Sequence[Hypothesis], limits: Limits, place: int) -> bool:
    """Whether a rule could have changed the search for a row."""
    shortest = limits.shortest[place] if limits.shortest else 0
    return any(
        (one.finished and len(one.ids) < shortest)
        or repeats(one.ids, limits.no_repeat)
        or not set(limits.never).isdisjoint(one.ids)
        for one in hypotheses
    )


class Divisors:
    """How both libraries divide log-probabilities.

    Args:
        length_penalty: Regard's exponent α.
        width: Number of hypotheses; 1 for greedy search, which divides by nothing.

    """

    def __init__(self, length_penalty: float, width: int) -> None:
        self.width = width
        self.length_penalty = length_penalty if width > 1 else 0.0
        self.exponent = EXPONENT if width > 1 else 0.0

    def score(self, total: float, length: int) -> float:
        """Return regard's score."""
        return total / ((5 + length) / 6) ** self.length_penalty

    def rank(self, hypotheses: Sequence[Hypothesis], best: int) -> list[Answer] | None:
        """Return the best answers; None if CTranslate2 may have dropped a better one."""
        ranked = sorted(
            (
                make_answer(
                    one.ids,
                    one.total,
                    score=self.score(one.total, one.length),
                    finished=one.finished,
                )
                for one in hypotheses
            ),
            key=lambda answer: answer.score,
            reverse=True,
        )[:best]
        if self.width > 1 and ranked[-1].score < self._highest_dropped(hypotheses):
            return None
        return ranked

    def _highest_dropped(self, hypotheses: Sequence[Hypothesis]) -> float:
        """Return what a hypothesis can score at most that is less probable than all of them."""
        worst = min(one.total for one in hypotheses)
        return self.score(worst, max(one.length for one in hypotheses))
