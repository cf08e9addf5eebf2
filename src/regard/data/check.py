"""Checking data before training: every finding names file and line.

Each split is read once, as a stream, and checking goes on after the first problem. Checks of the
whole corpus (duplicates, leakage, length ratios) work on a bounded number of hashes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, NamedTuple

from regard.data.groups import Groups
from regard.data.record import Fault, Found, Record, Request
from regard.data.record_checks import check_record
from regard.data.sketch import Match, Sketch
from regard.data.source import WORLD, scan
from regard.data.split import describe_missing_group
from regard.errors import UsageError

MOST_LISTED = 20
"""At most this many findings of one kind are listed; all are counted."""

_MOST_LABELS = 100_000
_ODD_RATIO = 4.0
_RARE = 5
_IMBALANCE = 20.0
_NOTES = {"blank", "untranslated", "spacing", "markup", "duplicate", "sampled"}
_LEAVE_OUT = "Leave one of them out."


Read = Callable[[Sequence[str | Path], str], Iterable[Found]]
"""Reads the files of a split, which is given by name."""


class LabelChecks(NamedTuple):
    """How the last field is checked where it is a label or a score."""

    scores: bool = False
    """Whether it is a number, which is not counted as a label."""
    refusal: Callable[[tuple[str, ...]], tuple[str, str] | None] = lambda fields: None
    """Returns what is wrong with a record, and the remedy."""
    split: Callable[[str], Iterable[str]] | None = None
    """Returns the labels in the last field; None: it is one, or several with a separator."""


class Finding(NamedTuple):
    """One finding about the data, and where."""

    kind: str
    severity: Literal["fatal", "bad", "warning", "note"]
    split: str
    file: str
    line: int
    problem: str
    remedy: str


SEVERITIES = ("fatal", "bad", "warning", "note")


class Summary(NamedTuple):
    """All findings of one kind: how many there are, and the first ones."""

    severity: str
    kind: str
    total: int
    first: list[Finding]


@dataclass
class Report:
    """Result of a check: ``counts`` cover all findings, ``findings`` list some of each kind."""

    findings: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    records: dict[str, int] = field(default_factory=dict)
    labels: dict[str, Counter[str]] = field(default_factory=dict)
    skip: bool = False
    """Whether training skips bad lines."""

    @property
    def ok(self) -> bool:
        """Whether training can read everything that it does not skip."""
        stops = ("fatal",) if self.skip else ("fatal", "bad")
        return not any(found.severity in stops for found in self.findings)

    @property
    def bad(self) -> int:
        """How many lines cannot be used."""
        return sum(kind.total for kind in self.summarize() if kind.severity == "bad")

    def summarize(self) -> list[Summary]:
        """Return the findings by kind, the worst and most frequent first."""
        by_kind: dict[str, list[Finding]] = {}
        for found in self.findings:
            by_kind.setdefault(found.kind, []).append(found)
        kinds = [
            Summary(
                min((one.severity for one in found), key=SEVERITIES.index),
                kind,
                max(self.counts[kind], len(found)),
                found,
            )
            for kind, found in by_kind.items()
        ]
        return sorted(kinds, key=lambda kind: (SEVERITIES.index(kind.severity), -kind.total))

    def add(self, finding: Finding) -> None:
        """Count a finding, and list it unless enough of its kind are listed."""
        self.counts[finding.kind] += 1
        if self.counts[finding.kind] <= MOST_LISTED:
            self.findings.append(finding)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON-compatible values."""
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
    format: str | Read = "auto",
    request: Request | None = None,
    expected: int | None = None,
    longest_characters: int = 5000,
    labelled: bool | LabelChecks = False,
) -> Report:
    """Check every split, the training split first; splits without files are skipped.

    ``format`` is a name, or a function that reads the files of a split.
    """
    report = Report()
    request = request or Request(expected)
    labelling = (LabelChecks() if labelled else None) if isinstance(labelled, bool) else labelled
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
            reader.read(
                scan(files, request, format=format, split=split)
                if isinstance(format, str)
                else format(files, split)
            )
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
    """Reads and checks one split."""

    def __init__(
        self,
        report: Report,
        split: str,
        request: Request,
        labelling: LabelChecks | None,
        *,
        longest_characters: int,
        needs_group: bool,
    ) -> None:
        self._report, self._split = report, split
        self._longest, self._labelling = longest_characters, labelling
        self._group, self._needs_group = request.group, needs_group
        self._separator = request.label_separator
        self.sketch, self.groups = Sketch(), Groups()

    def read(self, found: Iterable[Found]) -> None:
        """Read records and faults."""
        count = 0
        labels: Counter[str] = self._report.labels.setdefault(self._split, Counter())
        for one in found:
            if isinstance(one, Fault):
                self._report.add(Finding(one.kind, one.severity, self._split, *one[2:]))
                continue
            count += 1
            self._check_text(one)
            self._count_group(one)
            if self._labelling is None:
                self.sketch.add(one)
                continue
            # Both texts of a pair share one label.
            whole = "\t".join(one.fields[:-1])
            self.sketch.add(one._replace(fields=(whole, one.fields[-1])))
            self._count_labels(one, labels)
        self._report.records[self._split] = count

    def _count_group(self, record: Record) -> None:
        self.groups.add(record)
        if self._group and not record.group:
            severity: Literal["bad", "warning"] = "bad" if self._needs_group else "warning"
            problem, remedy = describe_missing_group(self._group)
            place = _get_place(record)
            self._report.add(Finding("no-group", severity, self._split, *place, problem, remedy))

    def _count_labels(self, record: Record, labels: Counter[str]) -> None:
        assert self._labelling is not None
        if refused := self._labelling.refusal(record.fields):
            self._report.add(Finding("label", "bad", self._split, *_get_place(record), *refused))
        elif not self._labelling.scores:
            written = record.fields[-1]
            several = written.split(self._separator) if self._separator else [written]
            for label in self._labelling.split(written) if self._labelling.split else several:
                if label.strip() and (len(labels) < _MOST_LABELS or label.strip() in labels):
                    labels[label.strip()] += 1

    def _check_text(self, record: Record) -> None:
        labelled = self._labelling is not None
        found = check_record(record, longest_characters=self._longest, labelled=labelled)
        for kind, problem, remedy in found:
            _add(self._report, kind, self._split, _get_place(record), problem, remedy)


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
                problem = f"The file is in data.{earlier} and in data.{later}."
                remedy = "Give each split its own."
                _add(report, "same-file", later, (str(file), 0), problem, remedy)


def _check_whole(report: Report, split: str, sketch: Sketch, *, labelled: bool) -> None:
    if sketch.scale > 1:
        problem = f"Too many records to compare: 1 in {sketch.scale} was compared, chosen by hash."
        remedy = "Duplicates and leaks are counted among these."
        _add(report, "sampled", split, sketch.locate(0), problem, remedy)
    for pair in sketch.find_duplicates():
        problem = f"The record is a duplicate of {_format_place(sketch.locate(pair.earlier))}."
        _add(report, "duplicate", split, sketch.locate(pair.later), problem, _LEAVE_OUT)
    if labelled:
        for pair in sketch.find_conflicts():
            other = _format_place(sketch.locate(pair.earlier))
            problem = f"The same text has another label at {other}."
            remedy = "Decide for one label."
            _add(report, "conflict", split, sketch.locate(pair.later), problem, remedy)
        return
    for at in sketch.find_odd_ratios(_ODD_RATIO):
        problem = f"The length ratio of the sides is over {_ODD_RATIO:g} times off the median."
        remedy = "Check that both sides still match: lines may be shifted."
        _add(report, "ratio", split, sketch.locate(int(at)), problem, remedy)


def _check_leaks(report: Report, earlier: str, later: str, sketches: dict[str, Sketch]) -> None:
    mine, theirs = sketches[later], sketches[earlier]
    pairs: list[Match] = mine.find_shared(theirs)
    for pair in pairs:
        other = _format_place(theirs.locate(pair.earlier))
        problem = f"The text is in data.{earlier} too, at {other}."
        remedy = f"Remove it from data.{earlier}; otherwise the score on data.{later} is too high."
        _add(report, "leak", later, mine.locate(pair.later), problem, remedy)


def _check_groups(report: Report, earlier: str, later: str, groups: dict[str, Groups]) -> None:
    mine, theirs = groups[later], groups[earlier]
    for name, here, there in mine.find_shared(theirs):
        problem = (
            f"The group {name!r} is in data.{earlier} too. Examples here: {here.examples:,}; "
            f"there: {there.examples:,}, the first at {_format_place(there[1:])}."
        )
        remedy = f"Keep each group in one split; otherwise the score on data.{later} is too high."
        _add(report, "group", later, here[1:], problem, remedy)
    scale = max(mine.scale, theirs.scale)
    if scale > 1:
        problem = f"Too many groups to compare: 1 in {scale} was compared, chosen by hash."
        _add(report, "sampled", later, ("", 0), problem, "Shared groups are counted among these.")


def _check_labels(report: Report, files: dict[str, str]) -> None:
    learned = next(iter(report.labels.values()), Counter())
    for split, labels in report.labels.items():
        place = (files[split], 0)
        for label in labels:
            if label not in learned:
                problem = f"The label {label!r} does not occur in the training data."
                _add(report, "unknown-label", split, place, problem, "Correct it, or add examples.")
        if labels is learned:
            _check_balance(report, split, place, labels)


def _check_balance(
    report: Report, split: str, place: tuple[str, int], labels: Counter[str]
) -> None:
    if len(labels) == 1:
        problem = f"Every record has the label {next(iter(labels))!r}."
        report.add(
            Finding("one-label", "fatal", split, *place, problem, "Give at least two classes.")
        )
        return
    for label, count in labels.items():
        if count < _RARE:
            examples = "1 example" if count == 1 else f"{count} examples"
            problem = f"The label {label!r} has {examples}."
            _add(report, "rare-label", split, place, problem, "Correct it, or add examples.")
    if labels and max(labels.values()) > _IMBALANCE * min(labels.values()):
        (most, often), (least, seldom) = labels.most_common()[0], labels.most_common()[-1]
        problem = f"Labels are uneven: {often:,} of {most!r}, {seldom:,} of {least!r}."
        remedy = "Judge by macro F1, not by accuracy; add examples of the rare classes."
        _add(report, "imbalance", split, place, problem, remedy)


def _get_place(record: Record) -> tuple[str, int]:
    return record.file, record.line


def _format_place(place: tuple[str, int]) -> str:
    return f"{place[0]}:{place[1]}"
