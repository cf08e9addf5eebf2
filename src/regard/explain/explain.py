"""From a run and a text to an explanation: answer, attention, attribution, and faithfulness."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from regard.errors import UsageError
from regard.explain.alignment import MapIndex
from regard.explain.attributions.attribute import (
    ATTRIBUTIONS,
    Progress,
    attribute,
    measure_faithfulness,
)
from regard.explain.documents import draw_document, has_text_attention
from regard.explain.erasure import Faithfulness
from regard.explain.explanation import Explanation
from regard.explain.levels import trace_levels
from regard.explain.trace import Trace, Traced, no_attention, trace_all
from regard.run import Run
from regard.tasks.question import Question

SINKS = ("keep", "hide", "renormalise")
NEED_ATTENTION = ("weights", "rollout")


@dataclass(frozen=True)
class ExplainOptions:
    """What to explain, and which attention map to show."""

    attribution: str | None = None
    """One of :data:`ATTRIBUTIONS`; by default that of the task."""
    head: str | None = None
    """The attention map to show: ``LAYER.HEAD`` counted from 1 (``2.3``), ``LAYER.mean`` or
    ``mean`` for the mean over a layer's heads, each after a stack and a dot if not the main one
    (``encoder``, ``encoder.2.3``); None for the sharpest head of the last layer."""
    sinks: str = "keep"
    """One of :data:`SINKS`: attention to special tokens (else to the first word) is kept, hidden,
    or hidden and the rows renormalised to sum to one."""
    pieces: bool = False
    """Show the tokenizer's pieces instead of words."""
    label: str | None = None
    """Explain this label instead of the likeliest."""
    continue_text: bool = False
    """Let a language model go on with the text first."""
    attributed: bool = True
    """Whether the answer is attributed to words; without it only attention is recorded."""


class Shown(NamedTuple):
    """What ``head`` names: a stack, and the layer and head in it as they were written."""

    stack: str | None
    layer: str | None
    head: str | None


def explain(
    run: Run,
    text: str,
    target: str | None = None,
    options: ExplainOptions | None = None,
    progress: Progress | None = None,
) -> Explanation:
    """Answer a text; record the attention, and attribute the answer to the words of the text.

    ``progress`` is called with the number of texts with erased words that were read, and of all.
    """
    options = options or ExplainOptions()
    _check_options(options)
    wanted = _parse_head(options.head)
    traced = _trace(run, text, target, options)
    if not traced.attention and (options.attribution in NEED_ATTENTION or options.head):
        raise no_attention(run)
    attention = _prepare_traces(traced, options)
    stack = _choose_stack(attention, wanted)
    shown = _choose_map(attention[stack], wanted) if stack else None
    found = Explanation(
        text,
        traced.answer,
        run.recipe.task,
        attention,
        stack,
        shown,
        notes=(*_describe_changes(options, shown), *run.task.explanation_notes(text)),
    )
    question = _find_question(run, text, target, options) if options.attributed else None
    if question is not None:
        # Attributed by the map that is shown; by the last layer's mean if that is another stack's.
        chosen = shown if stack in ("cross", "self") else None
        name = options.attribution or _choose_attribution(run, traced)
        attribution = attribute(question, name, chosen)
        found = replace(
            found,
            words=question.names,
            answers=question.answers,
            attribution=attribution,
            faithfulness=measure_faithfulness(question, attribution, progress=progress),
            members=question.members,
        )
    return _draw_document(run, found, options) if has_text_attention(run) else found


def _choose_attribution(run: Run, traced: Traced) -> str:
    """Take the task's default, or occlusion where there is no attention to show."""
    name = run.task.attribution
    return "occlusion" if name in NEED_ATTENTION and not traced.attention else name


def _draw_document(run: Run, found: Explanation, options: ExplainOptions) -> Explanation:
    by_weights = found.attribution is not None and found.attribution.name == "weights"
    same = by_weights and options.label is None and not options.pieces
    tested = found.faithfulness if same and isinstance(found.faithfulness, Faithfulness) else None
    return replace(found, document=draw_document(run, found.text, tested, found.answer))


def _trace(run: Run, text: str, target: str | None, options: ExplainOptions) -> Traced:
    plain = (
        text.strip() and target is None and not options.continue_text
    )  # trace_all refuses the others
    if plain and run.recipe.model.documents.read == "sentences":
        return trace_levels(run, text)
    return trace_all(run, text, target, continue_text=options.continue_text)


def _find_question(
    run: Run, text: str, target: str | None, options: ExplainOptions
) -> Question | None:
    """Find a number to explain; where there is none, the attention can still be shown."""
    try:
        return run.task.question(
            run.model,
            text,
            target,
            label=options.label,
            continue_text=options.continue_text,
            pieces=options.pieces,
        )
    except UsageError:
        if options.attribution not in (None, "weights") or options.label is not None:
            raise
        return None


def _check_options(options: ExplainOptions) -> None:
    if options.attribution is not None and options.attribution not in ATTRIBUTIONS:
        raise UsageError(
            f"an attribution is one of {', '.join(ATTRIBUTIONS)}. Got {options.attribution!r}.",
            "Name one of them with --attribution.",
        )
    if options.sinks not in SINKS:
        raise UsageError(
            f"attention sinks are one of {', '.join(SINKS)}. Got {options.sinks!r}.",
            "Name one of them with --sinks.",
        )


def _parse_head(head: str | None) -> Shown:
    """Take apart ``[STACK.]LAYER.HEAD``; ``mean`` stands for a head, or for the whole."""
    parts = head.split(".") if head is not None else []
    named = bool(parts) and parts[0].isalpha() and parts[0] != "mean"
    stack, rest = (parts[0], parts[1:]) if named else (None, parts)
    match rest:
        case []:
            return Shown(stack, None, None)
        case ["mean"]:
            return Shown(stack, None, "mean")
        case [layer, number] if layer.isdecimal() and (number.isdecimal() or number == "mean"):
            return Shown(stack, layer, number)
    raise UsageError(
        f"a head is LAYER.HEAD, both counted from 1, a stack before it if need be. Got {head!r}.",
        "Write for instance --head 2.3, --head 2.mean, --head mean, --head encoder or "
        "--head encoder.2.3.",
    )


def _prepare_traces(traced: Traced, options: ExplainOptions) -> dict[str, Trace]:
    """Merge pieces into words and hide attention sinks, as the options say."""
    traces = {
        name: trace if options.pieces else trace.by_words()
        for name, trace in traced.attention.items()
    }
    if options.sinks == "keep":
        return traces
    return {
        name: trace.without_sinks(renormalised=options.sinks == "renormalise")
        for name, trace in traces.items()
        if len(trace.sinks) < len(trace.source)
    }


def _choose_stack(attention: Mapping[str, Trace], wanted: Shown) -> str | None:
    if wanted.stack is not None and wanted.stack not in attention:
        raise UsageError(
            f"the attention of this model is {', '.join(attention)}. Got {wanted.stack!r}.",
            "Name one of them with --head.",
        )
    return wanted.stack or next(iter(attention), None)


def _choose_map(trace: Trace, wanted: Shown) -> MapIndex:
    layers, heads = trace.weights.shape[:2]
    layer = layers - 1 if wanted.layer is None else _count("layer", wanted.layer, layers)
    if wanted.head == "mean":
        return MapIndex(layer, None)
    if wanted.head is None:
        return MapIndex(layer, _find_sharpest(trace, layer))
    return MapIndex(layer, _count("head", wanted.head, heads))


def _count(name: str, wanted: str, count: int) -> int:
    if not 1 <= int(wanted) <= count:
        raise UsageError(
            f"a {name} is counted from 1. Got {wanted}; this model has {count}.",
            f"Give a {name} of 1 to {count}.",
        )
    return int(wanted) - 1


def _find_sharpest(trace: Trace, layer: int) -> int:
    """Find the head whose rows put the most weight on a single word, special tokens aside."""
    words = [n for n in range(len(trace.source)) if n not in trace.sinks]
    weights = trace.weights[layer][..., words] if words else trace.weights[layer]
    return int(weights.max(axis=-1).mean(axis=-1).argmax())


def _describe_changes(options: ExplainOptions, shown: MapIndex | None) -> tuple[str, ...]:
    """Say what was done to the weights."""
    if shown is None:
        return ()
    notes = []
    if not options.pieces:
        notes.append(
            "Pieces are merged into words: attention to a word is the sum over its pieces, "
            "attention from a word the mean over its pieces."
        )
    if options.sinks != "keep":
        rest = "are renormalised" if options.sinks == "renormalise" else "sum to less than one"
        notes.append(
            f"Attention to special tokens (else to the first word) is hidden; rows {rest}."
        )
    if shown.head is None:
        notes.append("The map is the mean over the layer's heads; no single head attends like it.")
    return tuple(notes)
