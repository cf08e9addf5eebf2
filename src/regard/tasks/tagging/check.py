"""Checks of tagged data before any compute: no span that does not fit goes unnamed."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.check import Finding, LabelChecks, Report
from regard.data.check import check as check_data
from regard.data.record import Fault, Found
from regard.recipe.recipe import Recipe
from regard.tasks.tagging.example import Annotation
from regard.tasks.tagging.read_examples import records
from regard.tasks.tagging.tag_set import unknown_tag

SPANS = ("span", "overlap", "tag")
"""Kinds of findings that are all listed, however many there are."""


def check(recipe: Recipe) -> Report:
    """Check the splits as every labelled data is checked, and list every span that is refused."""
    refused: list[Finding] = []

    def read(files: Sequence[str | Path], split: str) -> Iterator[Found]:
        for found in records(recipe.data, list(map(str, files)), split):
            if isinstance(found, Fault) and found.kind in SPANS:
                refused.append(Finding(found.kind, found.severity, split, *found[2:]))
            yield found

    data = recipe.data
    labels = LabelChecks(
        refusal=lambda fields: unknown_tag(data.labels, fields[-1]), split=_labels_of
    )
    splits = {"train": data.train, "valid": data.valid, "test": data.test}
    report = check_data(splits, format=read, labelled=labels)
    listed = [one for one in report.findings if one.kind not in SPANS]
    report.findings[:] = [*refused, *listed]
    return report


def _labels_of(field: str) -> list[str]:
    return [span.label for span in Annotation.from_field(field).spans]
