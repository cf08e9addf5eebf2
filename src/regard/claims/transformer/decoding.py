"""Decoding: beam search and its properties (D0; the paper's §6.1)."""

import itertools

import torch

from regard.claims.claim import Figure, Measurement, claim
from regard.claims.precision import exact
from regard.decoding import beam
from regard.decoding.search import greedy_search
from regard.decoding.steps import Answer, Limits, Steps
from regard.models.build.writing import language_model
from regard.models.gpt import LanguageModel
from regard.recipe.model import AttentionSettings, ModelSettings

TOKENS, LONGEST = 5, 4
BEGIN, END = 0, 1
PENALTY = 0.6


@claim(
    numbers=(36,),
    source="D0; Wu et al. 2016, eq. 14; Vaswani et al. 2017, §6.1",
    statement="A beam of 1 is greedy search, a beam as wide as all sequences is exhaustive, and "
    "the score is log p over ((5+|Y|)/6)^0.6.",
    layer="decoding/beam.py",
    meaning="True of all 16, and re-scoring an answer in one pass gives the reported score.",
    next_step="`regard predict RUN TEXT --set decoding.beam=1`.",
)
@exact()
def beam_search() -> Measurement:
    """Decode from 16 small random models with beams of 1, 2, 4 and one as wide as all sequences.

    5 tokens, at most 4 of them. Compared with greedy search, with an exhaustive list of all
    answers, and with re-scoring in one pass of the model.
    """
    same = exhaustive = worse = 0
    rescored = 0.0
    for seed in range(16):
        model = _make_model(seed)
        answers = {width: _search(model, width) for width in (1, 2, 4, TOKENS**LONGEST)}
        same += answers[1].ids == greedy_search(_start(model), 1, limits=_set_limits())[0].ids
        exhaustive += _equal(answers[TOKENS**LONGEST].score, max(_score_all(model)))
        worse += answers[2].score < answers[1].score - 1e-9
        worse += answers[4].score < answers[2].score - 1e-9
        gap = abs(_rescore(model, answers[4]) - answers[4].log_probability)
        rescored = max(rescored, gap)
    return Measurement(
        f"beam 1 is greedy in {same} of 16, the widest is exhaustive in {exhaustive} of 16; a "
        "wider "
        f"beam scored lower {worse} times in 32",
        (
            Figure("beam 1 equals greedy, of 16", same, same == 16),
            Figure("widest beam equals exhaustive, of 16", exhaustive, exhaustive == 16),
            Figure("re-scored against reported", rescored, rescored < 1e-9),
            Figure("a wider beam scored lower, of 32", worse),
        ),
    )


@claim(
    numbers=(36,),
    source="D0; Stahlberg and Byrne 2019",
    statement="A wider beam always finds an answer that scores at least as high.",
    layer="decoding/beam.py",
    meaning="Counted are comparisons in which doubling the beam found a worse score. A wide beam "
    "can keep two good prefixes and drop the one that greedy search would have continued; and it "
    "stops once as many answers are finished as it is wide.",
    next_step="Try beams of 1 to 50 on a trained translator and watch BLEU fall.",
    correction="Beam search is not monotone in its width.",
)
@exact()
def wider_beam_never_worse() -> Measurement:
    """Decode from 30 small random models with beams of 1, 2 and 4 and compare the scores."""
    pairs = worse = 0
    for seed in range(30):
        model = _make_model(seed)
        scores = [_search(model, width, longest=6).score for width in (1, 2, 4)]
        for narrow, wide in itertools.pairwise(scores):
            pairs += 1
            worse += wide < narrow - 1e-9
    return Measurement(
        f"in {worse} of {pairs} comparisons the wider beam found a worse score",
        (
            Figure("comparisons", pairs),
            Figure("wider beam scored lower", worse, worse == 0),
        ),
    )


def _make_model(seed: int) -> LanguageModel:
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


def _set_limits(longest: int = LONGEST) -> Limits:
    return Limits(BEGIN, END, [longest])


def _start(model: LanguageModel) -> Steps:
    return model.steps(torch.empty(1, 0, dtype=torch.long), context=64)


def _search(model: LanguageModel, width: int, longest: int = LONGEST) -> Answer:
    limits = _set_limits(longest)
    found = beam.beam_search(_start(model), 1, limits=limits, width=width, length_penalty=PENALTY)
    return found[0][0]


def _rescore(model: LanguageModel, answer: Answer) -> float:
    ids = [*answer.ids, *([END] if answer.finished else [])]
    prefixed = torch.tensor([[BEGIN, *ids]])
    with torch.no_grad():
        log_p = model.head(model(prefixed)).log_softmax(dim=-1)[0]
    return sum(log_p[index, token].item() for index, token in enumerate(ids))


def _score_all(model: LanguageModel) -> list[float]:
    """Score all finished answers."""
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


def _equal(first: float, second: float) -> bool:
    return abs(first - second) < 1e-9
