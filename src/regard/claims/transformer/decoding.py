"""How it writes: beam search and its properties (D0; the paper's §6.1)."""

import itertools

import torch

from regard.claims.claim import Figure, Measured, claim
from regard.claims.precision import exact
from regard.decoding.beam import beam
from regard.decoding.search import greedy
from regard.decoding.steps import Answer, Limits
from regard.models.build.writing import language_model
from regard.models.gpt import LanguageModel
from regard.recipe.model import AttentionSettings, ModelSettings

TOKENS, LONGEST = 5, 4
BEGIN, END = 0, 1
PENALTY = 0.6


@claim(
    numbers=(36,),
    source="D0; Wu et al. 2016, eq. 14; Vaswani et al. 2017, §6.1",
    statement="A beam of 1 is greedy search, a beam as wide as everything is exhaustive, and the "
    "score is log p over ((5+|Y|)/6)^0.6.",
    layer="decoding/beam.py",
    reading="All 16, and re-scoring an answer by one pass gives the reported number.",
    then="`regard predict RUN TEXT --set decoding.beam=1`.",
)
@exact()
def beam_search() -> Measured:
    """Let 16 small random models write with beams of 1, 2, 4 and one as wide as all there is.

    5 tokens, at most 4 of them. Greedy search, an exhaustive list of all answers and re-scoring by
    one pass of the model are the yardsticks.
    """
    same = exhaustive = falls = 0
    rescored = 0.0
    for seed in range(16):
        model = _model(seed)
        answers = {width: _beam(model, width) for width in (1, 2, 4, TOKENS**LONGEST)}
        same += answers[1].ids == greedy(_steps(model), 1, limits=_limits())[0].ids
        exhaustive += _close(answers[TOKENS**LONGEST].score, max(_every_score(model)))
        falls += answers[2].score < answers[1].score - 1e-9
        falls += answers[4].score < answers[2].score - 1e-9
        gap = abs(_log_probability(model, answers[4]) - answers[4].log_probability)
        rescored = max(rescored, gap)
    return Measured(
        f"beam 1 is greedy in {same} of 16, the widest is exhaustive in {exhaustive} of 16; a "
        "wider "
        f"beam scored lower {falls} times in 32",
        (
            Figure("beam 1 equals greedy, of 16", same, same == 16),
            Figure("widest beam equals exhaustive, of 16", exhaustive, exhaustive == 16),
            Figure("re-scored against reported", rescored, rescored < 1e-9),
            Figure("a wider beam scored lower, of 32", falls),
        ),
    )


@claim(
    numbers=(36,),
    source="D0; Stahlberg and Byrne 2019",
    statement="A wider beam always finds an answer that scores at least as high.",
    layer="decoding/beam.py",
    reading="Counted are comparisons in which doubling the beam lost. A wide beam can keep two "
    "good beginnings and lose the one that greedy search would have gone on with; and it stops "
    "once as many answers are finished as it is wide.",
    then="Try beams of 1 to 50 on a trained translator and watch BLEU fall.",
    right="Beam search is not monotone in its width.",
)
@exact()
def wider_beam_never_worse() -> Measured:
    """Let 30 small random models write with beams of 1, 2 and 4 and compare the scores."""
    pairs = falls = 0
    for seed in range(30):
        model = _model(seed)
        scores = [_beam(model, width, longest=6).score for width in (1, 2, 4)]
        for narrow, wide in itertools.pairwise(scores):
            pairs += 1
            falls += wide < narrow - 1e-9
    return Measured(
        f"in {falls} of {pairs} comparisons the wider beam found a lower score",
        (
            Figure("comparisons", pairs),
            Figure("wider beam scored lower", falls, falls == 0),
        ),
    )


def _model(seed: int) -> LanguageModel:
    torch.manual_seed(seed)
    settings = ModelSettings(
        width=8,
        depth=1,
        feed_forward=8,
        dropout=0.0,
        zero_init=False,
        mixer=AttentionSettings(heads=1),
    )
    model = language_model(settings, TOKENS)
    with torch.no_grad():
        model.body.reading.table.mul_(3.0)
    return model.eval()


def _limits(longest: int = LONGEST) -> Limits:
    return Limits(BEGIN, END, [longest])


def _steps(model: LanguageModel):  # type: ignore[no-untyped-def]  # noqa: ANN202
    return model.steps(torch.empty(1, 0, dtype=torch.long), context=64)


def _beam(model: LanguageModel, width: int, longest: int = LONGEST) -> Answer:
    limits = _limits(longest)
    return beam(_steps(model), 1, limits=limits, width=width, length_penalty=PENALTY)[0][0]


def _log_probability(model: LanguageModel, answer: Answer) -> float:
    ids = [*answer.ids, *([END] if answer.finished else [])]
    read = torch.tensor([[BEGIN, *ids]])
    with torch.no_grad():
        log_p = model.head(model(read)).log_softmax(dim=-1)[0]
    return sum(log_p[place, token].item() for place, token in enumerate(ids))


def _every_score(model: LanguageModel) -> list[float]:
    """Score every finished answer there is; the unfinished only where none is finished."""
    others = [token for token in range(TOKENS) if token != END]
    rows = [ids for many in range(LONGEST) for ids in itertools.product(others, repeat=many)]
    scores = []
    for length, group in itertools.groupby(rows, key=len):
        ids = torch.tensor([[BEGIN, *row, END] for row in group])
        with torch.no_grad():
            log_p = model.head(model(ids[:, :-1])).log_softmax(dim=-1)
        totals = log_p.gather(2, ids[:, 1:, None])[:, :, 0].sum(dim=1)
        scores += (totals / ((5 + length + 1) / 6) ** PENALTY).tolist()
    return scores


def _close(first: float, second: float) -> bool:
    return abs(first - second) < 1e-9
