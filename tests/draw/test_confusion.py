"""A confusion matrix is a table with every count, or a map where labels are many."""

import re

from regard.draw.confusion import MOST_LABELS, confusion_table
from regard.draw.page import Confusion


def test_each_count_is_in_the_cell_of_its_labels_and_correct_ones_are_marked():
    drawn = confusion_table(Confusion(["bad", "good"], [[7, 3], [0, 1234]]))
    cells = re.findall(r'<td class="(\w+)" style="--share:(\d+)%"[^>]*>([\d,]+)</td>', drawn)
    assert cells == [
        ("right", "70", "7"),
        ("wrong", "30", "3"),
        ("wrong", "0", "0"),
        ("right", "100", "1,234"),
    ]
    assert "70.0% of bad answered bad" in drawn


def test_labels_of_any_kind_are_harmless():
    drawn = confusion_table(Confusion(["<b>x", '"y'], [[1, 0], [0, 0]]))
    assert "<b>" not in drawn and "&lt;b&gt;x" in drawn


def test_many_labels_are_a_map():
    names = [f"label {n}" for n in range(MOST_LABELS + 1)]
    counts = [[int(a == b) for b in names] for a in names]
    drawn = confusion_table(Confusion(names, counts))
    assert "<svg" in drawn and "<table" not in drawn
