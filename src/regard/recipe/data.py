"""``[data]``: files and their format."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, field_validator, model_validator

from regard.recipe.settings import Refused, Settings

Files = tuple[str, ...]


class DataSettings(Settings):
    """Files and their format."""

    train: Files
    """Training files. Two files with the same number of lines are parallel; ``world:scenes`` is
    built in."""
    valid: Files = ()
    """Validation files, for model selection; leave out to hold out a share of ``train``."""
    test: Files = ()
    """Test files; never used in training."""
    labelled: Files = ()
    """Document vectors: labelled texts; n-grams that distinguish their labels get the largest
    weights."""
    format: Literal[
        "auto",
        "text",
        "lines",
        "whole",
        "parallel",
        "tsv",
        "csv",
        "jsonl",
        "parquet",
        "fasttext",
        "folders",
        "po",
        "tmx",
        "world",
    ] = "auto"
    """File format; ``auto`` infers it from the file names."""
    encoding: Literal["utf-8", "latin-1", "cp1252", "utf-16"] = "utf-8"
    """Encoding of text files; ``cp1252`` is that of Windows in western Europe."""
    fields: tuple[str, ...] = ()
    """Names or numbers (from 0) of the columns, in the order of the task; empty: usual names, else
    what the columns hold."""
    languages: tuple[str, ...] = ()
    """Source and target language, for the model card and for TMX files."""
    holdout: Annotated[float, Field(gt=0.0, lt=0.5)] = 0.05
    """Share of ``train`` held out for validation if ``valid`` is left out."""
    holdout_from: Literal["spread", "end"] = "spread"
    """How the held-out share is chosen: by a hash of each example, or from the end."""
    holdout_seed: NonNegativeInt | None = None
    """``spread``: seed of the hash; leave out for the recipe's own. With the same one, runs of
    different seeds are measured on the same examples."""
    group: str = ""
    """Column (name or number) with the group of an example, such as ``film``: ``holdout`` keeps a
    group on one side, and ``regard check`` warns of a group in two splits. Empty: no groups."""
    labels: tuple[str, ...] = ()
    """The labels, in order; leave out to take those of ``train``, sorted."""
    label_separator: str = ""
    """Separator between the labels of one text (multi-label classification); empty: one label per
    text."""
    scores: bool = False
    """Regression: whether the last field is a number to predict, such as the similarity of two
    sentences."""
    score_range: tuple[float, float] | None = None
    """``scores``: minimum and maximum score; leave out to take those of ``train``."""
    apart: bool = False
    """Language modelling: whether attention is masked across the boundaries of documents packed
    into one window."""
    on_bad_line: Literal["stop", "skip"] = "stop"
    """Whether a line that cannot be used is an error, or is skipped and counted."""

    @field_validator("fields", mode="before")
    @classmethod
    def _numbers_to_names(cls, fields: object) -> object:
        """Convert ``fields = [5, 6, 4]`` to ``["5", "6", "4"]``."""
        if not isinstance(fields, list | tuple):
            return fields
        return tuple(str(one) if type(one) is int else one for one in fields)

    @model_validator(mode="after")
    def _check_names_are_printable(self) -> "DataSettings":
        for side in ("train", "valid", "test", "labelled"):
            if not all(file.strip() and file.isprintable() for file in getattr(self, side)):
                raise Refused(
                    f"data.{side} has a file name that is empty or contains control characters",
                    "Write the name of every file",
                )
        return self

    @field_validator("group", mode="before")
    @classmethod
    def _number_to_name(cls, group: object) -> object:
        """Convert ``group = 2`` to ``"2"``."""
        return str(group) if type(group) is int else group

    @model_validator(mode="after")
    def _check_groups(self) -> "DataSettings":
        if self.group and self.holdout_from == "end":
            raise Refused(
                f'data.group = "{self.group}" keeps groups together, but data.holdout_from = "end" '
                "splits by position in the file",
                'Set data.holdout_from to "spread", or take data.group out',
            )
        numbered = bool(self.fields) and all(name.isdecimal() for name in self.fields)
        if self.group and numbered and not self.group.isdecimal():
            raise Refused(
                f'data.group = "{self.group}" is a name, but data.fields = {list(self.fields)} are '
                "numbers, which are for files without a header",
                "Name all columns, or number all from 0",
            )
        return self

    @model_validator(mode="after")
    def _check_labels_or_scores(self) -> "DataSettings":
        if self.scores and (self.labels or self.label_separator):
            raise Refused(
                "data.scores makes the last field a number, but data.labels or "
                "data.label_separator is set",
                "Set one of them only",
            )
        if self.score_range is not None:
            low, high = self.score_range
            if not low < high:
                raise Refused(
                    f"data.score_range = {[low, high]} must be a minimum and a larger maximum",
                    "Write the minimum first",
                )
        if len(set(self.labels)) != len(self.labels) or len(self.labels) == 1:
            raise Refused(
                f"data.labels must be at least two different labels; got {list(self.labels)}",
                "Leave data.labels out to take those of the training examples",
            )
        return self

    @model_validator(mode="after")
    def _check_parallel_files(self) -> "DataSettings":
        for side in ("train", "valid", "test"):
            if self.format == "parallel" and len(getattr(self, side)) == 1:
                raise Refused(
                    f'data.format is "parallel", but data.{side} names one file',
                    "Name one file per language, source first",
                )
        return self

    @model_validator(mode="after")
    def _check_worlds_are_alone(self) -> "DataSettings":
        for side in ("train", "valid", "test"):
            files: Files = getattr(self, side)
            worlds = [file for file in files if file.startswith("world:")]
            if worlds and len(files) > 1:
                raise Refused(
                    f"data.{side} names {worlds[0]} and other files; a world is a whole corpus",
                    "Name either one world or files",
                )
            if bool(worlds) != (self.format == "world") and files and self.format != "auto":
                raise Refused(
                    f'data.format is "{self.format}", but data.{side} names {files[0]}',
                    'Set data.format to "auto"',
                )
        return self
