"""A page: HTML and SVG in one file, without fonts or network, and without scripts but our own.

Its content security policy forbids everything but its own style and ``data:`` pictures, so that
even a text that slipped through the escaping could not run or call anything. A page that needs the
viewer's script names that script by its hash: no other runs.
"""

import base64
import hashlib
from collections.abc import Sequence

from regard.draw import chart, svg
from regard.draw.markup import tag, text
from regard.draw.page_style import PAGE_STYLE, write_tab_rules

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


def page(
    title: str, summary: str, parts: dict[str, str], *, version: str, kind: str, script: str = ""
) -> str:
    """Build a page of sections with titles; empty ones are omitted.

    ``script`` is ours, never a reader's: it goes in as it is, and is the only one to run.
    """
    filled = {name: part for name, part in parts.items() if part}
    links = "".join(tag("a", name, href=f"#{name.lower()}") for name in filled)
    header = tag(
        "header",
        tag("p", text(kind), class_="made"),
        tag("h1", text(title), dir="auto"),
        tag("p", text(summary), class_="summary", dir="auto") if summary else "",
        tag("nav", links, aria_label="Parts of this page") if len(filled) > 1 else "",
    )
    sections = (
        tag("section", tag("h2", name), part, id=name.lower()) for name, part in filled.items()
    )
    runs = "runs nothing but its own viewer" if script else "runs nothing"
    made_by = f"Made by regard {version}".strip() + f". This page loads nothing and {runs}."
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy(script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", text(title)),
        tag("style", PAGE_STYLE, chart.STYLE, svg.STYLE),
    )
    body = tag(
        "body",
        tag("main", header, *sections, tag("footer", text(made_by))),
        tag("script", script) if script else "",
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def policy(script: str = "") -> str:
    """Return a content security policy that allows only this script."""
    if not script:
        return POLICY
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return f"{POLICY}; script-src 'sha256-{digest}'"


def tabs(group: str, views: Sequence[tuple[str, str]], aside: str = "") -> str:
    """Show one view at a time, by radio buttons and CSS alone, with ``aside`` next to it."""
    names = [f"{group}-{place}" for place in range(len(views))]
    rules = "".join(write_tab_rules(name, f"view-{name}", f"tab-{name}") for name in names)
    buttons = (
        tag("input", type="radio", name=group, id=name, class_="choice", **_check_first(place))
        for place, name in enumerate(names)
    )
    labels = (
        tag("label", text(title), for_=name, class_=f"tab-{name}")
        for name, (title, _) in zip(names, views, strict=True)
    )
    shown = (
        tag("div", view, class_=f"shown view-{name}")
        for name, (_, view) in zip(names, views, strict=True)
    )
    return tag(
        "div",
        tag("style", rules),
        *buttons,
        tag("div", *labels, class_="tabs"),
        *shown,
        aside,
        class_=f"chosen {group}",
    )


def _check_first(place: int) -> dict[str, str]:
    return {"checked": "checked"} if place == 0 else {}
