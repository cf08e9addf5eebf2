"""The page of statements: every claim with a figure, filtered by verdict; no script, no network.

Cards are grouped by family; the list before them is grouped by document and links to the cards.
Both are filtered by radio buttons and style alone.
"""

from collections.abc import Sequence

from regard import __version__
from regard.claims.claim import FAMILIES, Claim, Curves, Drawing, Figure, Kind, choose_drawing
from regard.claims.measuring import Outcome
from regard.draw import bars
from regard.draw.bars import Bars, bar_chart, number
from regard.draw.chart import line_chart
from regard.draw.frame import page
from regard.draw.markup import tag, text
from regard.draw.svg import svg_map

DOCUMENTS = {
    "D0": "Attention, the Transformer, a translator, BERT's input",
    "D1": "Structured self-attention, hierarchical attention, limits",
    "D2": "Positions, heads, receptive fields, cost, self-supervision",
    "D3": "A small language model, transfer to sentiment",
    "D4": "Scaling, positions, BERT and GPT",
}
KINDS: dict[Kind, str] = {
    "holds": "holds",
    "holds if": "conditional",
    "fails": "fails",
    "not measured": "unmeasured",
}
"""The verdicts and their CSS classes."""

_STYLE = """
.claim{background:var(--card);border:1px solid var(--line);border-radius:12px;
padding:1.1rem 1.2rem;margin:0 0 1rem;scroll-margin-top:1rem;min-width:0}
.claim h4{margin:0;font-size:1rem;overflow-wrap:anywhere}
.claim .top{display:flex;flex-wrap:wrap;gap:.3rem .8rem;align-items:baseline;margin-bottom:.5rem}
.claim .source{color:var(--soft);font-size:.82rem;margin:0 0 .5rem}
.claim .statement{font-size:1.05rem;margin:0 0 .5rem}
.claim .summary{font-weight:600;margin:0 0 .7rem;overflow-wrap:anywhere}
.claim .both{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),1fr));
gap:.6rem 1.6rem;align-items:start}
.claim .both>*{min-width:0}
.claim dl{margin:0;font-size:.92rem}.claim dt{color:var(--soft);font-size:.8rem;font-weight:600}
.claim dd{margin:0 0 .6rem;overflow-wrap:anywhere}
.claim code{display:inline;padding:.05rem .35rem;font-size:.82rem}
.claim details{margin-top:.4rem;font-size:.9rem}.claim summary{cursor:pointer;color:var(--soft)}
.claim td{font-variant-numeric:tabular-nums}
.badge{display:inline-block;font-size:.78rem;font-weight:650;padding:.1rem .6rem;border-radius:1rem;
border:1px solid currentColor;color:var(--soft)}
.holds .badge,.badge.holds{color:var(--second)}
.fails .badge,.badge.fails{color:var(--accent-ink)}
.conditional .badge,.badge.conditional{color:#8a6100}
@media screen and (prefers-color-scheme:dark){
.conditional .badge,.badge.conditional{color:#e6bf55}}
.listed{list-style:none;margin:0 0 1.4rem;padding:0}
.listed li{padding:.4rem 0;border-bottom:1px solid var(--line)}
.listed a{color:var(--ink);text-decoration:none;border-bottom:1px solid var(--line)}
.listed a:hover{border-color:var(--accent);color:var(--accent-ink)}
h3{margin:2.2rem 0 .8rem;font-size:1.1rem}
.filter{position:sticky;top:0;background:var(--paper);padding:.7rem 0 .1rem;z-index:1}
.filter .tabs{margin-bottom:.6rem}
@media print{.filter{position:static}}
"""


def render_page(outcomes: Sequence[Outcome]) -> str:
    """Render the page of all outcomes."""
    counts = {kind: sum(one.kind == kind for one in outcomes) for kind in KINDS}
    shown = ", ".join(f"{many} {kind}" for kind, many in counts.items() if many)
    seconds = sum(one.seconds for one in outcomes)
    summary = (
        f"{len(outcomes)} statements of five course documents and their papers, measured on this "
        f"machine in {seconds / 60:.1f} minutes: {shown}."
    )
    inside = tag("style", bars.STYLE, _STYLE, _rules()) + _choices(counts) + _links(outcomes)
    inside += tag("div", _by_document(outcomes), _by_family(outcomes), class_="all")
    parts = {"Statements": tag("div", inside, class_="chosen")}
    return page(
        "What the papers say, measured", summary, parts, version=__version__, kind="regard claims"
    )


def _choices(counts: dict[Kind, int]) -> str:
    """Render the radio buttons and their labels; all verdicts are shown at first."""
    buttons = [_button("all", checked=True), *(_button(name) for name in KINDS.values())]
    labels = [tag("label", f"all {sum(counts.values())}", for_="show-all", class_="tab-all")]
    labels += [
        tag("label", f"{kind} {counts[kind]}", for_=f"show-{name}", class_=f"tab-{name}")
        for kind, name in KINDS.items()
        if counts[kind]
    ]
    return "".join(buttons) + tag("div", tag("div", *labels, class_="tabs"), class_="filter")


def _links(outcomes: Sequence[Outcome]) -> str:
    """Link to every document and family on the page."""
    documents = {name: name for one in outcomes for name in one.claim.documents}
    families = {one.claim.family: FAMILIES[one.claim.family] for one in outcomes}
    links = {**dict(sorted(documents.items())), **families}
    anchors = (tag("a", text(title), href=f"#{name}") for name, title in links.items())
    return tag("nav", *anchors, aria_label="Groups")


def _button(name: str, *, checked: bool = False) -> str:
    more = {"checked": "checked"} if checked else {}
    return tag("input", type="radio", name="verdict", id=f"show-{name}", class_="choice", **more)


def _rules() -> str:
    """Hide other verdicts than the selected one, and groups that become empty."""
    rules = []
    for name in ("all", *KINDS.values()):
        chosen = f"#show-{name}:checked~"
        rules.append(
            f"{chosen}.filter .tab-{name}{{background:var(--ink);color:var(--paper);"
            f"border-color:var(--ink)}}"
            f"#show-{name}:focus-visible~.filter .tab-{name}{{outline:2px solid var(--accent);"
            f"outline-offset:2px}}"
        )
        if name != "all":
            rules.append(
                f"{chosen}.all .judged:not(.{name}){{display:none}}"
                f"{chosen}.all .group:not(:has(.judged.{name})){{display:none}}"
            )
    return "".join(rules)


def _by_document(outcomes: Sequence[Outcome]) -> str:
    groups = []
    for name, about in DOCUMENTS.items():
        mine = [one for one in outcomes if name in one.claim.documents]
        if not mine:
            continue
        items = (
            tag(
                "li",
                tag("a", text(one.claim.statement), href=f"#{one.claim.name}"),
                " ",
                _badge(one, short=True),
                class_=f"judged {KINDS[one.kind]}",
            )
            for one in mine
        )
        heading = tag("h3", text(f"{name}. {about}"), id=name)
        groups.append(tag("div", heading, tag("ul", *items, class_="listed"), class_="group"))
    return tag("section", tag("h2", "By document"), *groups, id="documents")


def _by_family(outcomes: Sequence[Outcome]) -> str:
    groups = []
    for family, title in FAMILIES.items():
        cards = [_card(one) for one in outcomes if one.claim.family == family]
        if cards:
            heading = tag("h3", text(title), id=family)
            groups.append(tag("div", heading, *cards, class_="group"))
    return tag("section", tag("h2", "By family"), *groups, id="families")


def _card(outcome: Outcome) -> str:
    claim, measurement = outcome.claim, outcome.measurement
    top = tag("div", tag("h4", text(claim.name)), _badge(outcome), class_="top")
    statement = tag("p", text(claim.statement), class_="statement")
    where = tag(
        "p", text(f"{claim.source}. No. {', '.join(map(str, claim.numbers))}."), class_="source"
    )
    if measurement is None:
        why = outcome.problem or "It trains models: regard claims --slow."
        return _article(outcome, top, statement, where, tag("p", text(why), class_="hint"))
    drawn = tag("div", svg(choose_drawing(measurement)), class_="scroll")
    table = tag(
        "details",
        tag("summary", f"all {len(measurement.figures)} figures"),
        tag("table", *(_row(figure) for figure in measurement.figures)),
    )
    return _article(
        outcome,
        top,
        statement,
        where,
        tag("p", text(measurement.summary), class_="summary"),
        tag("div", tag("div", drawn, table), _words(claim), class_="both"),
    )


def _article(outcome: Outcome, *inside: str) -> str:
    return tag(
        "article",
        *inside,
        class_=f"claim judged {KINDS[outcome.kind]}",
        id=outcome.claim.name,
    )


def _badge(outcome: Outcome, *, short: bool = False) -> str:
    words = outcome.kind if short or outcome.measurement is None else outcome.verdict
    return tag("span", text(words), class_=f"badge {KINDS[outcome.kind]}")


def _words(claim: Claim) -> str:
    sections = {
        "Correction": claim.correction,
        "Method": claim.method,
        "Interpretation": claim.meaning,
        "Next step": claim.next_step,
    }
    rows = [tag("dt", name) + tag("dd", _prose(words)) for name, words in sections.items() if words]
    rows.append(tag("dt", "Tests") + tag("dd", tag("code", text(f"src/regard/{claim.layer}"))))
    return tag("dl", *rows)


def _prose(words: str) -> str:
    """Set text between backticks as code."""
    parts = enumerate(words.split("`"))
    return "".join(tag("code", text(part)) if n % 2 else text(part) for n, part in parts)


def _row(figure: Figure) -> str:
    given = "" if figure.given is None else f"reference {number(figure.given)}"
    note = f"{given} {figure.note}".strip()
    return tag(
        "tr",
        tag("td", text(figure.name)),
        tag("td", text(number(figure.value))),
        tag("td", text({True: "for", False: "against", None: ""}[figure.supports])),
        tag("td", text(note), class_="hint"),
    )


def svg(drawing: Drawing) -> str:
    """Draw a claim's picture; the page contains the styles."""
    if isinstance(drawing, Curves):
        return line_chart(drawing.lines, title=drawing.title, x_label=drawing.x_label, alone=False)
    if isinstance(drawing, Bars):
        return bar_chart(drawing, alone=False)
    return svg_map(drawing, alone=False)
