"""Usual names of columns, so that common files need no ``data.fields``."""

from collections.abc import Collection

from regard.data.record import Request

_USUAL: dict[int, tuple[tuple[str, ...], ...]] = {
    1: (("text",), ("sentence",), ("content",), ("document",)),
    2: (
        ("source", "target"),
        ("src", "tgt"),
        ("text", "label"),
        ("sentence", "label"),
        ("review", "sentiment"),
        ("text", "sentiment"),
        ("review", "label"),
        ("text", "stars"),
        ("text", "category"),
        ("document", "summary"),
        ("text", "summary"),
        ("article", "highlights"),
        ("article", "summary"),
        ("dialogue", "summary"),
        ("body", "subject"),
        ("query", "passage"),
        ("question", "answer"),
    ),
    3: (
        ("premise", "hypothesis", "label"),
        ("sentence1", "sentence2", "label"),
        ("sentence1", "sentence2", "score"),
        ("text1", "text2", "label"),
        ("text1", "text2", "score"),
        ("sentence_a", "sentence_b", "entailment_judgment"),
        ("question1", "question2", "is_duplicate"),
        ("#1 string", "#2 string", "quality"),
        ("query", "positive", "negative"),
    ),
}


def find_usual_names(names: Collection[str], request: Request) -> tuple[str, ...]:
    """Return the usual names among ``names``, in the task's order; () if there are none."""
    languages = tuple(language.lower() for language in request.languages)
    nested = tuple(f"translation.{language}" for language in languages)
    counts = [request.expected] if request.expected else [3, 2, 1]
    candidates = [names_wanted for count in counts for names_wanted in _USUAL.get(count, ())]
    for names_wanted in (languages, nested, *candidates):
        if (
            names_wanted
            and len(names_wanted) in counts
            and all(name in names for name in names_wanted)
        ):
            return names_wanted
    return ()
