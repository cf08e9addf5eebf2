"""Closer looks at one answer, as a page asks for them: one function per kind of work.

(run, text, options) -> a value as JSON has it
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from regard.draw.label import strip_marks
from regard.errors import UsageError
from regard.explain.explain import ExplainOptions, explain
from regard.explain.what_if import answer_without
from regard.run import Run
from regard.serve.evidence import align, describe_evidence

Options = Mapping[str, Any]


def rank_answers(run: Run, text: str, options: Options) -> list[dict[str, Any]]:
    """Give the ``best`` answers of a task that writes, each with its probability."""
    task: Any = run.task
    if not hasattr(task, "hypotheses"):
        raise UsageError(f"a run of {run.recipe.task} has one answer.", "Ask for one.")
    (ranked,) = task.hypotheses(run.model, [text], best=options.get("best", 1))
    return [{"text": one.text, "probability": math.exp(one.log_probability)} for one in ranked]


def view_attention(run: Run, text: str, options: Options) -> dict[str, Any]:
    """Give every attention map of an answer, packed as the viewer of pages draws it."""
    found = explain(run, text, options.get("target"), replace(_choose(options), attributed=False))
    view = found.view_data() if found.attention else None
    return {
        "text": text,
        "answer": found.answer,
        "task": found.task,
        "view": view,
        "notes": list(found.notes),
        "alignment": align(found) if found.stack == "cross" else None,
        "document": _describe_document(found.document),
    }


def _describe_document(document: Any) -> dict[str, Any] | None:  # noqa: ANN401 - a picture or None
    return {**document.as_json(), "verdict": document.verdict} if document else None


def attribute_answer(run: Run, text: str, options: Options) -> dict[str, Any]:
    """Attribute an answer to words by one method, with the test of its faithfulness."""
    found = explain(run, text, options.get("target"), _choose(options))
    if found.attribution is None or found.faithfulness is None:
        raise UsageError("this answer has no number to explain.", "Ask for another text.")
    evidence = describe_evidence(found)
    return {
        "answer": found.answer,
        **found.attribution.as_json(found.answers, found.words),
        "total": found.attribution.by_word().tolist(),
        "sentence": found.sentence,
        "verdict": evidence if isinstance(evidence, str) else "faithful",
        "members": found.members_sentence,
    }


def erase_words(run: Run, text: str, options: Options) -> dict[str, Any]:
    """Answer a text without some of its words, counted as an attribution counts them."""
    found = answer_without(
        run,
        text,
        options["erased"],
        target=options.get("target"),
        label=options.get("label"),
        continue_text=bool(options.get("continue_text")),
    )
    outputs = [one._asdict() for one in found.outputs]
    return {**found._asdict(), "words": strip_marks(found.words), "outputs": outputs}


def _choose(options: Options) -> ExplainOptions:
    known = ExplainOptions.__dataclass_fields__
    return ExplainOptions(**{name: value for name, value in options.items() if name in known})
