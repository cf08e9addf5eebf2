"""``[data]``: which files, and what is in them."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from regard.recipe.settings import Refused, Settings

Files = tuple[str, ...]


class DataSettings(Settings):
    """Which files, and what is in them."""

    train: Files
    """Files to learn from. Two files side by side are parallel; ``world:scenes`` is built in."""
    valid: Files = ()
    """Files to choose by; leave out to hold out a share of ``train``."""
    test: Files = ()
    """Files to report on; never looked at while training."""
    format: Literal[
        "auto",
        "text",
        "parallel",
        "tsv",
        "csv",
        "jsonl",
        "fasttext",
        "folders",
        "po",
        "tmx",
        "world",
    ] = "auto"
    """How the files are written; ``auto`` goes by their endings."""
    fields: tuple[str, ...] = ()
    """Names or numbers (from 0) of the columns to read, in the task's order; empty: by habit."""
    languages: tuple[str, ...] = ()
    """Source and target language, for the model card and for TMX files."""
    holdout: Annotated[float, Field(gt=0.0, lt=0.5)] = 0.05
    """Share of ``train`` held out to choose by where ``valid`` is left out."""
    on_bad_line: Literal["stop", "skip"] = "stop"
    """Whether a line that cannot be read ends the work or is left out and counted."""

    @model_validator(mode="after")
    def _there_is_something_to_learn_from(self) -> "DataSettings":
        if not self.train:
            raise Refused("data.train names no file", "Name at least one, or world:scenes")
        for side in ("train", "valid", "test"):
            if not all(file.strip() and file.isprintable() for file in getattr(self, side)):
                raise Refused(
                    f"data.{side} holds a name that is empty or cannot be printed",
                    "Give every file a visible name",
                )
        return self

    @model_validator(mode="after")
    def _parallel_files_come_together(self) -> "DataSettings":
        for side in ("train", "valid", "test"):
            if self.format == "parallel" and len(getattr(self, side)) == 1:
                raise Refused(
                    f'data.format is "parallel", but data.{side} names one file',
                    "Name one file per language, source first",
                )
        return self

    @model_validator(mode="after")
    def _worlds_stand_alone(self) -> "DataSettings":
        for side in ("train", "valid", "test"):
            files: Files = getattr(self, side)
            worlds = [file for file in files if file.startswith("world:")]
            if worlds and len(files) > 1:
                raise Refused(
                    f"data.{side} names {worlds[0]} beside other files; a world is a whole corpus",
                    "Name the world alone, or files alone",
                )
            if bool(worlds) != (self.format == "world") and files and self.format != "auto":
                raise Refused(
                    f'data.format is "{self.format}", but data.{side} names {files[0]}',
                    'Set data.format to "auto"',
                )
        return self
