"""From a run and a text to an explanation: answer, listen, read, and test the reading."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from regard.errors import UsageError
from regard.explain.alignment import Look
from regard.explain.attributions.attribute import READINGS, read, trusted
from regard.explain.documents import document_picture, draws_documents
from regard.explain.explanation import Explanation
from regard.explain.levels import trace_levels
from regard.explain.trace import Trace, Traced, no_looks, trace_all
from regard.run import Run
from regard.tasks.question import Question


@dataclass(frozen=True)
class Choice:
    """What of an explanation is wanted, and how it is shown."""

    reading: str = "weights"
    """One of :data:`READINGS`."""
    stack: str | None = None
    """Which looks to show first; None for those that matter most."""
    layer: int | None = None
    """Counted from 1, as people do; None for the last."""
    head: int | None = None
    """Counted from 1; None for the sharpest of the layer."""
    mean: bool = False
    """Whether the heads of the layer are averaged, which shows no head."""
    pieces: bool = False
    """Whether the tokenizer's pieces are shown instead of words."""
    hide_sink: bool = False
    """Whether special tokens (else the first word) are left out of what is looked at."""
    renormalise: bool = False
    """Whether rows then sum to one again."""
    label: str | None = None
    """Which label to ask about; None for the likeliest."""
    go_on: bool = False
    """Whether a language model goes on with the text first."""


def explain(
    run: Run, asked: str, target: str | None = None, choice: Choice | None = None
) -> Explanation:
    """Answer a text and gather where the model looked and which words the answer came from."""
    choice = choice or Choice()
    _check(choice)
    traced = _traced(run, asked, target, choice)
    attends = bool(traced.looks)
    if not attends and (choice.reading in ("weights", "rollout") or choice.stack):
        raise no_looks(run)
    looks = _as_wanted(traced, choice)
    stack = _stack(looks, choice)
    look = _look(looks[stack], choice) if stack else None
    found = Explanation(
        asked,
        traced.answer,
        run.recipe.task,
        looks,
        stack,
        look,
        notes=(*_notes(choice, looks), *run.task.explanation_notes(asked)),
    )
    asking = _question(run, asked, target, choice)
    if asking is not None:
        reading = read(asking, choice.reading, _reading_look(look, stack))
        found = replace(
            found,
            words=asking.names,
            answers=asking.answers,
            reading=reading,
            faithfulness=trusted(asking, reading),
        )
    if not draws_documents(run):
        return found
    same = choice.reading == "weights" and choice.label is None and not choice.pieces
    picture = document_picture(run, asked, found.faithfulness if same else None)
    return replace(found, document=picture)


def _traced(run: Run, asked: str, target: str | None, choice: Choice) -> Traced:
    plain = asked.strip() and target is None and not choice.go_on  # trace_all refuses the others
    if plain and run.recipe.model.documents.read == "sentences":
        return trace_levels(run, asked)
    return trace_all(run, asked, target, go_on=choice.go_on)


def _question(run: Run, asked: str, target: str | None, choice: Choice) -> Question | None:
    """Find a number to explain; where there is none, weights can still be looked at."""
    try:
        return run.task.question(
            run.model,
            asked,
            target,
            label=choice.label,
            go_on=choice.go_on,
            pieces=choice.pieces,
        )
    except UsageError:
        if choice.reading != "weights" or choice.label is not None:
            raise
        return None


def _reading_look(look: Look | None, stack: str | None) -> Look | None:
    """Read by the look that is shown; by the last layer's mean where others are shown."""
    return look if stack in ("cross", "self") else None


def _check(choice: Choice) -> None:
    if choice.reading not in READINGS:
        raise UsageError(
            f"a reading is one of {', '.join(READINGS)}. Got {choice.reading!r}.",
            "Name one of them with --reading.",
        )
    if choice.mean and choice.head is not None:
        raise UsageError(
            "a mean over heads shows no single head. Got both --mean and --head.",
            "Leave one of them out.",
        )


def _as_wanted(traced: Traced, choice: Choice) -> dict[str, Trace]:
    looks = traced.looks if choice.pieces else {n: t.by_words() for n, t in traced.looks.items()}
    if choice.hide_sink:
        looks = {
            name: trace.without_sinks(renormalised=choice.renormalise)
            for name, trace in looks.items()
            if len(trace.sinks) < len(trace.source)
        }
    return looks


def _stack(looks: Mapping[str, Trace], choice: Choice) -> str | None:
    if choice.stack is not None and choice.stack not in looks:
        raise UsageError(
            f"looks are of one of these: {', '.join(looks)}. Got {choice.stack!r}.",
            "Name one of them with --stack.",
        )
    return choice.stack or next(iter(looks), None)


def _look(trace: Trace, choice: Choice) -> Look:
    layers, heads = trace.weights.shape[:2]
    layer = _within("layer", choice.layer, layers, layers)
    if choice.mean:
        return Look(layer, None)
    sharpest = _sharpest(trace, layer)
    return Look(layer, _within("head", choice.head, heads, sharpest + 1))


def _within(name: str, wanted: int | None, count: int, otherwise: int) -> int:
    number = otherwise if wanted is None else wanted
    if not 1 <= number <= count:
        raise UsageError(
            f"a {name} is counted from 1. Got {number}; this model has {count}.",
            f"Give a --{name} of 1 to {count}.",
        )
    return number - 1


def _sharpest(trace: Trace, layer: int) -> int:
    """Find the head whose looks at words are the most decided."""
    words = [n for n in range(len(trace.source)) if n not in trace.sinks]
    onto = trace.weights[layer][..., words] if words else trace.weights[layer]
    return int(onto.max(axis=-1).mean(axis=-1).argmax())


def _notes(choice: Choice, looks: Mapping[str, Trace]) -> tuple[str, ...]:
    if not looks:
        return ()
    notes = []
    if not choice.pieces:
        notes.append(
            "Pieces are merged into words: a look at a word is the sum over its pieces, a word's "
            "look the mean over its pieces."
        )
    if choice.hide_sink:
        rest = "sum to one again" if choice.renormalise else "sum to what is left"
        notes.append(f"Looks at special tokens (else at the first word) are hidden; rows {rest}.")
    if choice.mean:
        notes.append("The map shows the mean over the layer's heads, which no head looked.")
    return tuple(notes)
