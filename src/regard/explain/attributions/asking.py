"""From a run and a text to a question: what there is to explain about the answer."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import UsageError
from regard.explain.attributions.question import Question, Row, grouped, log_p, speaking, words
from regard.explain.trace import fitting, translated
from regard.layers.visibility import padding
from regard.models.bert import Bert
from regard.models.copying import likelihood
from regard.models.gpt import LanguageModel
from regard.models.transformer import Transformer
from regard.run import Run

MASK = "[MASK]"


def question(
    run: Run,
    asked: str,
    target: str | None = None,
    *,
    label: str | None = None,
    go_on: bool = False,
    pieces: bool = False,
) -> Question:
    """Say what there is to explain about a run's answer to a text.

    ``label`` asks about another label than the likeliest; ``go_on`` about what a language model
    writes next instead of about the last word given; ``pieces`` about tokens instead of words.
    """
    if not asked.strip():
        raise UsageError("there must be a text to look at. Got an empty one.", "Give some words.")
    if label is not None and not hasattr(run.task, "labels"):
        raise UsageError(
            f"only a classifier has labels. This is a run of {run.recipe.task}.",
            "Leave --label out.",
        )
    model = run.model.eval()
    if isinstance(model, Transformer):
        return _of_a_translation(run, model, asked, target, pieces=pieces)
    if isinstance(model, LanguageModel):
        return _of_an_ending(run, model, asked, go_on=go_on, pieces=pieces)
    if hasattr(run.task, "labels"):
        return _of_a_label(run, asked, label, pieces=pieces)
    if isinstance(model, Bert):
        return _of_masks(run, model, asked, pieces=pieces)
    raise UsageError(
        f"a reading needs a number to explain. A run of {run.recipe.task} with this objective "
        "gives none for a text.",
        "Look at its weights instead: --reading weights.",
    )


# ── what the numbers are ─────────────────────────────────────────────────────────────────────────


def _of_a_label(run: Run, asked: str, label: str | None, *, pieces: bool) -> Question:
    batch, task = fitting(run, asked), run.task
    labels = task.labels  # type: ignore[attr-defined]
    ids, length = batch.fields[1].ids[0], int(batch.fields[1].lengths[0])
    row = ids[:length].tolist()

    def logits(rows: Sequence[Row]) -> Tensor:
        return task.states(run.model, task.pad([([0], one) for one in rows]))

    with torch.inference_mode():
        first = logits([row])[0]
    column = _column(labels.names, label, int(first.argmax()))

    def chance(rows: Sequence[Row]) -> Tensor:
        found = logits(rows)
        every = found.softmax(dim=1) if labels.exclusive else found.sigmoid()
        return every[:, column]

    return Question(
        run,
        asked,
        tuple(row),
        words(run, row, pieces),
        lambda rows: logits(rows)[:, column, None],
        chance,
        (labels.names[column],),
        "the logit of the label",
        _pooled_from(run.recipe.model.head.pooling, length),
        batch,
    )


def _column(names: Sequence[str], label: str | None, likeliest: int) -> int:
    if label is None:
        return likeliest
    if label not in names:
        raise UsageError(
            f"a label must be one of the run's. Got {label!r}; it has {', '.join(names[:20])}.",
            "Name one of them with --label.",
        )
    return list(names).index(label)


def _pooled_from(pooling: str, length: int) -> NDArray[np.float64]:
    """Say which states become the one that is labelled; largest ones count as their mean."""
    readers = np.full((1, length), 1 / length)
    if pooling in ("cls", "first", "last"):
        readers = np.eye(length)[[-1 if pooling == "last" else 0]]
    return readers


def _of_a_translation(
    run: Run, model: Transformer, asked: str, target: str | None, *, pieces: bool
) -> Question:
    sides, task = translated(run, asked, target), run.task
    groups = words(run, sides.target, pieces)

    def each(rows: Sequence[Row]) -> Tensor:
        batch = task.pad([(row, sides.target) for row in rows])
        read: list[Tensor] = []
        hook = model.encoder.register_forward_hook(lambda _part, _given, found: read.append(found))
        try:
            states = task.states(model, batch)
        finally:
            hook.remove()
        written = log_p(model.head, states, sides.target)
        if model.copying is None:
            return written
        source, written_ids = batch.fields[0], torch.tensor(sides.target)
        visible = padding(source.lengths, source.ids.shape[1])
        pointed = model.copying(states, read[0], visible=visible)
        matches = source.ids[:, None] == written_ids[None, :, None]
        return likelihood(pointed, written, matches=matches)

    tokens = run.tokenizer.tokens(sides.target)
    return Question(
        run,
        asked,
        tuple(sides.source),
        words(run, sides.source, pieces),
        lambda rows: grouped(each(rows), groups),
        lambda rows: each(rows).mean(dim=1).exp(),
        tuple("".join(tokens[p]) for p in groups),
        "the log-probability of each written word",
        speaking(groups, 0, len(sides.target)),
        task.pad([(sides.source, sides.target)]),
    )


def _of_an_ending(
    run: Run, model: LanguageModel, asked: str, *, go_on: bool, pieces: bool
) -> Question:
    task, (ids,) = run.task, run.task.encode([(asked,)])[0]
    boundary, most = ids[-1], run.recipe.text.max_length
    prompt, ending = _prompt_and_ending(run, asked, ids[:-1], go_on=go_on)
    if len(prompt) + 1 > most:
        raise UsageError(
            f"a text must fit what the model reads at once. Got {len(prompt) + 1} tokens; it "
            f"reads {most}.",
            "Take a part of the text.",
        )
    ending = ending[: max(1, most - len(prompt))]
    groups = words(run, ending, pieces)

    def each(rows: Sequence[Row]) -> Tensor:
        states = task.states(model, task.pad([([*row[1:], *ending],) for row in rows]))
        last = [len(row) - 1 for row in rows]
        places = torch.tensor(last)[:, None] + torch.arange(len(ending))
        chosen = states.gather(1, places[:, :, None].expand(-1, -1, states.shape[2]))
        return log_p(model.head, chosen, ending)

    tokens = run.tokenizer.tokens(ending)
    row = [boundary, *prompt]
    return Question(
        run,
        asked,
        tuple(row),
        words(run, row, pieces),
        lambda rows: grouped(each(rows), groups),
        lambda rows: each(rows).mean(dim=1).exp(),
        tuple("".join(tokens[p]) for p in groups),
        "the log-probability of each word that followed",
        speaking(groups, len(prompt), len(prompt) + len(ending)),
        task.pad([([*prompt, *ending],)]),
    )


def _prompt_and_ending(run: Run, asked: str, ids: Row, *, go_on: bool) -> tuple[Row, Row]:
    """Take the last word as the ending, or what the model writes."""
    if go_on:
        return ids, list(run.task.answer(run.model, [asked])[0].ids) or ids[-1:]
    last = run.tokenizer.words(ids)[-1].tokens
    return ids[: last.start], ids[last]


def _of_masks(run: Run, model: Bert, asked: str, *, pieces: bool) -> Question:
    batch, task = fitting(run, asked), run.task
    shown = batch.fields[0]
    row = shown.ids[0, : int(shown.lengths[0])].tolist()
    masked = [n for n in range(len(row)) if _is_mask(run, row, n)]
    if not masked:
        raise UsageError(
            f"a reading needs a {MASK} whose word it explains. Got none in {asked[:60]!r}.",
            f"Write {MASK} where a word is to be guessed, or take --reading weights.",
        )

    def each(rows: Sequence[Row]) -> Tensor:
        states = task.states(model, task.pad([(one[1:],) for one in rows]))
        places = torch.tensor([[n for n in range(len(r)) if _is_mask(run, r, n)] for r in rows])
        chosen = states.gather(1, places[:, :, None].expand(-1, -1, states.shape[2]))
        return model.head(chosen).log_softmax(dim=-1)

    with torch.no_grad():
        ordinary = each([row])[0]
        ordinary[
            :, [n for n in range(run.tokenizer.size) if run.tokenizer.is_special(n)]
        ] = -torch.inf
        filled = ordinary.argmax(dim=-1)

    def chosen(rows: Sequence[Row]) -> Tensor:
        return each(rows).gather(2, filled.expand(len(rows), -1)[:, :, None])[:, :, 0]

    return Question(
        run,
        asked,
        tuple(row),
        words(run, row, pieces),
        chosen,
        lambda rows: chosen(rows).mean(dim=1).exp(),
        tuple(run.tokenizer.tokens(filled.tolist())),
        f"the log-probability of the word at each {MASK}",
        np.eye(len(row))[masked],
        batch,
    )


def _is_mask(run: Run, row: Row, place: int) -> bool:
    return run.tokenizer.is_special(row[place]) and run.tokenizer.tokens([row[place]])[0] == MASK
