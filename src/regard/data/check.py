"""Checking data before any compute: every finding with file and line.

Reads each split once, as a stream, and never stops at the first problem. What needs the whole
corpus (duplicates, leakage, odd lengths) works on hashes of bounded number.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, NamedTuple

from regard.data.groups import Groups
from regard.data.record import Fault, Found, Record, Request
from regard.data.record_checks import suspicions
from regard.data.sketch import Pair, Sketch
from regard.data.source import WORLD, find
from regard.data.split import no_group
from regard.errors import UsageError

MOST_LISTED = 20
"""The most findings of one kind that are listed; all are counted."""

_MOST_LABELS = 100_000
_ODD_RATIO = 4.0
_RARE = 2
_IMBALANCE = 20.0
_NOTES = {"blank", "untranslated", "spacing", "markup", "duplicate", "sampled"}
_LEAVE_OUT = "Leave one of them out."


class Labelling(NamedTuple):
    """What is known of the last field where it is no text."""

    scores: bool = False
    """Whether it is a number: numbers are not counted as labels."""
    refusal: Callable[[tuple[str, ...]], tuple[str, str] | None] = lambda fields: None
    """Says what is wrong with a record, and the remedy."""


class Finding(NamedTuple):
    """Something worth knowing about the data, and where."""

    kind: str
    severity: Literal["fatal", "bad", "warning", "note"]
    split: str
    file: str
    line: int
    problem: str
    remedy: str


@dataclass
class Report:
    """What a check found: ``findings`` are listed up to a number per kind, ``counts`` are whole."""

    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    records: dict[str, int] = field(default_factory=dict)
    labels: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether training can read everything: no bad line, no fatal fault."""
        return not any(found.severity in ("fatal", "bad") for found in self.findings)

    def add(self, finding: Finding) -> None:
        """Count a finding, and list it unless there are enough of its kind."""
        self.counts[finding.kind] += 1
        if self.counts[finding.kind] <= MOST_LISTED:
            self.findings.append(finding)

    def as_dict(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        return {
            "ok": self.ok,
            "records": self.records,
            "counts": dict(self.counts),
            "labels": {split: dict(labels) for split, labels in self.labels.items()},
            "findings": [found._asdict() for found in self.findings],
        }


def check(
    splits: Mapping[str, Sequence[str | Path]],
    *,
    format: str = "auto",
    request: Request | None = None,
    expected: int | None = None,
    longest_characters: int = 5000,
    labelled: bool | Labelling = False,
) -> Report:
    """Check every split, first the one learned from; splits without files are passed over."""
    report = Report()
    request = request or Request(expected)
    labelling = (Labelling() if labelled else None) if isinstance(labelled, bool) else labelled
    named = {split: files for split, files in splits.items() if files}
    _check_names(report, named)
    sketches, groups = {}, {}
    for split, files in named.items():
        reader = _Reader(
            report,
            split,
            request,
            labelling,
            longest_characters=longest_characters,
            needs_group=split == "train" and "valid" not in named,
        )
        try:
            reader.take(find(files, request, format=format, split=split))
        except UsageError as error:
            report.add(
                Finding("usage", "fatal", split, str(files[0]), 0, error.problem, error.remedy)
            )
        sketches[split], groups[split] = reader.sketch, reader.groups
    for split, sketch in sketches.items():
        _check_whole(report, split, sketch, labelled=labelling is not None)
    for earlier, later in combinations(sketches, 2):
        _check_leaks(report, earlier, later, sketches)
        _check_groups(report, earlier, later, groups)
    if labelling and not labelling.scores:
        _check_labels(report, {split: str(files[0]) for split, files in named.items()})
    return report


class _Reader:
    """Takes in one split."""

    def __init__(
        self,
        report: Report,
        split: str,
        request: Request,
        labelling: Labelling | None,
        *,
        longest_characters: int,
        needs_group: bool,
    ) -> None:
        self._report, self._split = report, split
        self._longest, self._labelling = longest_characters, labelling
        self._group, self._needs_group = request.group, needs_group
        self._separator = request.label_separator
        self.sketch, self.groups = Sketch(), Groups()

    def take(self, found: Iterable[Found]) -> None:
        """Take in records and faults."""
        count = 0
        labels: Counter[str] = self._report.labels.setdefault(self._split, Counter())
        for one in found:
            if isinstance(one, Fault):
                self._report.add(Finding(one.kind, one.severity, self._split, *one[2:]))
                continue
            count += 1
            self._suspect(one)
            self._count_group(one)
            if self._labelling is None:
                self.sketch.add(one)
                continue
            # The texts of a pair are one thing that has a label.
            whole = "\t".join(one.fields[:-1])
            self.sketch.add(one._replace(fields=(whole, one.fields[-1])))
            self._count(one, labels)
        self._report.records[self._split] = count

    def _count_group(self, record: Record) -> None:
        self.groups.add(record)
        if self._group and not record.group:
            severity: Literal["bad", "warning"] = "bad" if self._needs_group else "warning"
            told, remedy = no_group(self._group)
            place = _place(record)
            self._report.add(Finding("no-group", severity, self._split, *place, told, remedy))

    def _count(self, record: Record, labels: Counter[str]) -> None:
        assert self._labelling is not None
        if refused := self._labelling.refusal(record.fields):
            self._report.add(Finding("label", "bad", self._split, *_place(record), *refused))
        elif not self._labelling.scores:
            written = record.fields[-1]
            for label in written.split(self._separator) if self._separator else [written]:
                if len(labels) < _MOST_LABELS or label.strip() in labels:
                    labels[label.strip()] += 1

    def _suspect(self, record: Record) -> None:
        labelled = self._labelling is not None
        found = suspicions(record, longest_characters=self._longest, labelled=labelled)
        for kind, problem, remedy in found:
            _add(self._report, kind, self._split, _place(record), problem, remedy)


def _add(
    report: Report, kind: str, split: str, place: tuple[str, int], problem: str, remedy: str
) -> None:
    severity: Literal["note", "warning"] = "note" if kind in _NOTES else "warning"
    report.add(Finding(kind, severity, split, *place, problem, remedy))


def _check_names(report: Report, splits: Mapping[str, Sequence[str | Path]]) -> None:
    for earlier, later in combinations(splits, 2):
        known = {str(file) for file in splits[earlier] if not str(file).startswith(WORLD)}
        for file in splits[later]:
            if str(file) in known:
                told = f"The file is in data.{earlier} and in data.{later}."
                _add(report, "same-file", later, (str(file), 0), told, "Give each split its own.")


def _check_whole(report: Report, split: str, sketch: Sketch, *, labelled: bool) -> None:
    if sketch.scale > 1:
        told = f"Too many records to compare: 1 in {sketch.scale} was, chosen by hash."
        _add(report, "sampled", split, sketch.place(0), told, "Counts below are of those.")
    for pair in sketch.duplicates():
        told = f"The record repeats {_told(sketch.place(pair.earlier))}."
        _add(report, "duplicate", split, sketch.place(pair.later), told, _LEAVE_OUT)
    if labelled:
        for pair in sketch.conflicts():
            told = f"The same text has another label at {_told(sketch.place(pair.earlier))}."
            _add(report, "conflict", split, sketch.place(pair.later), told, "Decide for one label.")
        return
    for at in sketch.odd_ratios(_ODD_RATIO):
        told = f"One side is over {_ODD_RATIO:g} times longer than usual beside the other."
        remedy = "See whether the two still belong together: lines may have slipped."
        _add(report, "ratio", split, sketch.place(int(at)), told, remedy)


def _check_leaks(report: Report, earlier: str, later: str, sketches: dict[str, Sketch]) -> None:
    mine, theirs = sketches[later], sketches[earlier]
    pairs: list[Pair] = mine.shared(theirs)
    for pair in pairs:
        told = f"The text is in data.{earlier} too, at {_told(theirs.place(pair.earlier))}."
        remedy = f"Take it out of data.{earlier}, or the score of data.{later} flatters."
        _add(report, "leak", later, mine.place(pair.later), told, remedy)


def _check_groups(report: Report, earlier: str, later: str, groups: dict[str, Groups]) -> None:
    mine, theirs = groups[later], groups[earlier]
    for name, here, there in mine.shared(theirs):
        told = (
            f"The group {name!r} is in data.{earlier} too. Examples here: {here.examples:,}; "
            f"there: {there.examples:,}, the first at {_told(there[1:])}."
        )
        remedy = f"Keep a group in one split, or the score of data.{later} flatters."
        _add(report, "group", later, here[1:], told, remedy)
    scale = max(mine.scale, theirs.scale)
    if scale > 1:
        told = f"Too many groups to compare: 1 in {scale} was, chosen by hash."
        _add(report, "sampled", later, ("", 0), told, "Groups above are of those.")


def _check_labels(report: Report, files: dict[str, str]) -> None:
    learned = next(iter(report.labels.values()), Counter())
    for split, labels in report.labels.items():
        place = (files[split], 0)
        for label in labels:
            if label not in learned:
                told = f"The label {label!r} is never seen in training."
                _add(report, "unknown-label", split, place, told, "Correct it, or add examples.")
        if labels is learned:
            _check_balance(report, split, place, labels)


def _check_balance(
    report: Report, split: str, place: tuple[str, int], labels: Counter[str]
) -> None:
    if len(labels) == 1:
        told = f"Every record has the label {next(iter(labels))!r}."
        _add(report, "one-label", split, place, told, "Give at least two classes.")
    for label, count in labels.items():
        if count < _RARE:
            told = f"The label {label!r} has {count} example."
            _add(report, "rare-label", split, place, told, "Correct it, or add examples.")
    if labels and max(labels.values()) > _IMBALANCE * min(labels.values()):
        (most, often), (least, seldom) = labels.most_common()[0], labels.most_common()[-1]
        told = f"Labels are uneven: {often:,} of {most!r}, {seldom:,} of {least!r}."
        remedy = "Judge by macro F1, not by accuracy; add examples of the rare classes."
        _add(report, "imbalance", split, place, told, remedy)


def _place(record: Record) -> tuple[str, int]:
    return record.file, record.line


def _told(place: tuple[str, int]) -> str:
    return f"{place[0]}:{place[1]}"
