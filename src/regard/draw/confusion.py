"""A confusion matrix: how often each label was answered where each label was right."""

from regard.draw import svg
from regard.draw.label import label
from regard.draw.markup import tag, text
from regard.draw.page import Confusion
from regard.draw.picture import Picture

MOST_LABELS = 24  # in a table with figures; of more a map is drawn
_LONGEST_LABEL = 24


def confusion_table(confusion: Confusion) -> str:
    """Draw a table, shaded by each row's shares; a map where there are many labels."""
    hint = tag(
        "p",
        "Rows are the labels that were right, columns the labels that were answered.",
        class_="hint",
    )
    shares = [[count / max(1, sum(row)) for count in row] for row in confusion.counts]
    if len(confusion.labels) > MOST_LABELS:
        picture = Picture(confusion.labels, confusion.labels, shares)
        return hint + tag("div", svg.svg_map(picture, alone=False), class_="scroll")
    head = tag("tr", tag("th", ""), *(tag("th", _short(name)) for name in confusion.labels))
    rows = []
    for place, (name, counts) in enumerate(zip(confusion.labels, confusion.counts, strict=True)):
        cells = [
            tag(
                "td",
                f"{count:,}",
                class_="right" if column == place else "wrong",
                style=f"--share:{100 * shares[place][column]:.0f}%",
                title=f"{shares[place][column]:.1%} of {label(name)} answered "
                f"{label(confusion.labels[column])}",
            )
            for column, count in enumerate(counts)
        ]
        rows.append(tag("tr", tag("th", _short(name), scope="row", dir="auto"), *cells))
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="confusion")
    return hint + tag("div", table, class_="scroll")


def _short(name: str) -> str:
    return text(label(name, _LONGEST_LABEL))
