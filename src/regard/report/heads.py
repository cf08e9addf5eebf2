"""The page of a head analysis: what each head does, how much it matters, and what pruning costs."""

from regard import __version__
from regard.draw.chart import Curve, line_chart
from regard.draw.frame import page
from regard.draw.markup import tag, text
from regard.explain.heads.analysis import HeadAnalysis
from regard.explain.heads.roles import THRESHOLD, TIMES_CHANCE

_HINT = (
    f"A figure is how often a head's strongest attention weight falls where the role says, and in "
    f"brackets how often it would by chance. A head has a role from {THRESHOLD:.0%} on, if that is "
    f"{TIMES_CHANCE:g} times chance: such figures are bold. Importance is the mean gradient of the "
    f"loss with respect to a mask on the head, scaled within each layer."
)


def heads_page(found: HeadAnalysis) -> str:
    """Draw a head analysis as one self-contained page."""
    roles = list(dict.fromkeys(role for shares in found.roles.values() for role in shares))
    titles = ["head", "importance", *roles]
    head = tag("thead", tag("tr", *(tag("th", text(title)) for title in titles)))
    rows = []
    for name, shares in found.roles.items():
        cells = [tag("td", text(str(name))), tag("td", f"{found.importance[name]:.2f}")]
        for role in roles:
            one = shares.get(role)
            share = f"{one.share:.0%} ({one.chance:.0%})" if one else ""
            cells.append(tag("td", tag("b", share) if one and one.has_role else share))
        rows.append(tag("tr", *cells))
    table = tag("table", head, tag("tbody", *rows), class_="figures")
    pruning = found.pruning
    lines = [
        Curve("least important first", pruning.pruned, pruning.scores),
        Curve("random order", pruning.pruned, pruning.random),
    ]
    chart = line_chart(
        lines, title=f"{found.metric} without heads", x_label="heads pruned", alone=False
    )
    parts = {
        "Pruning": tag("div", tag("div", chart, class_="card"), class_="charts"),
        "Heads": tag("p", _HINT, class_="hint") + tag("div", table, class_="scroll"),
    }
    summary = f"{len(found.roles)} heads over {found.texts} texts."
    return page(found.run, summary, parts, version=__version__, kind="Heads")
