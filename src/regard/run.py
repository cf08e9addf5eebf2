"""The run folder: training (or an import) writes it, everything later reads it.

    recipe.toml        every default written out          tokenizer.json   strings <-> ids
    model.safetensors  the parameters                        config.json      the model's shape
    journal.jsonl      events, one per line               metrics.json     scores by split
    README.md          the model card                     report.html      the same as a page
    answers.jsonl      every answer on the last split, with the expected one
    baseline.safetensors   parameters of the baseline, where it has some
    checkpoints/       for --resume; may be deleted       regard.json      versions and hashes

``regard.json`` is written last: a folder without it is an unfinished run. It holds the SHA-256 of
every file and a digest of itself, so that a file of another run, or a flipped bit, is found when it
is read. README.md and report.html are for people, who may edit them: they are not compared.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from regard import __version__
from regard.device import choose_device
from regard.errors import RunError, UsageError
from regard.files import (
    find_broken,
    hash_file,
    lock_file,
    make_folder,
    read_seal,
    write_seal,
    write_tensors_whole,
    write_whole,
)
from regard.models.parameters import collect_parameters, load_parameters
from regard.recipe.decoding_overrides import override_decoding
from regard.recipe.dump import dump
from regard.recipe.load import load as load_recipe
from regard.recipe.recipe import Recipe
from regard.run_files import (
    ANSWERS,
    BASELINE,
    CARD,
    CONFIG,
    JOURNAL,
    LOCK,
    METRICS,
    MODEL,
    RECIPE,
    REPORT,
    SEAL,
    TOKENIZER,
    read_journal,
)
from regard.tasks.kinds import make_task
from regard.tasks.task import Task
from regard.text.tokenizer import Tokenizer

FORMAT, FIRST_FORMAT = 2, 1
VERIFIED = (RECIPE, TOKENIZER, MODEL, CONFIG, METRICS)
"""Files that answers depend on; verified whenever a run is opened."""
SEALED = (*VERIFIED, BASELINE, JOURNAL, ANSWERS, CARD, REPORT)
FOR_PEOPLE = (CARD, REPORT)


class Parts(NamedTuple):
    """What a run determines before its first step."""

    recipe: Recipe
    tokenizer: Tokenizer


class Run:
    """A finished run, opened for reading.

    Args:
        folder: The run folder; its seal is verified at once.
        decoding: Settings of [decoding] that override the recipe's.
        facts: What the seal will say, for a run that is about to be sealed.

    """

    def __init__(
        self,
        folder: Path,
        *,
        decoding: Mapping[str, Any] | None = None,
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.folder = folder
        self.facts = facts or _read_facts(folder)
        for name in VERIFIED:
            _verify(folder, name, self.facts["files"])
        self.recipe: Recipe = override_decoding(load_recipe(folder), decoding or {})
        self.tokenizer = Tokenizer.load(folder / TOKENIZER)
        trained_with = str(_read_table(folder / CONFIG).get("tokenizer"))
        if trained_with != self.tokenizer.fingerprint:
            raise RunError(
                f"a tokenizer must belong to its model. {folder / TOKENIZER} has the fingerprint "
                f"{self.tokenizer.fingerprint[:12]}; the model was trained with "
                f"{trained_with[:12]}.",
                "Put back the tokenizer.json of this run.",
            )
        self.task: Task[Any] = make_task(self.recipe, self.tokenizer)
        if BASELINE in self.facts["files"]:
            _verify(folder, BASELINE, self.facts["files"])
            self._load_baseline()

    def _load_baseline(self) -> None:
        tensors = _read_tensors(self.folder / BASELINE)
        try:
            self.task.load_baseline(tensors)
        except (LookupError, ValueError, TypeError, RuntimeError) as error:
            raise _make_unreadable(self.folder / BASELINE, error) from error

    @cached_property
    def model(self) -> nn.Module:
        """The trained model, ready to answer."""
        model = self.task.build()
        load_parameters(model, self.parameters)
        return model.to(choose_device(self.recipe.decoding.device)).eval()

    @property
    def parameters(self) -> dict[str, Tensor]:
        """The trained parameters by name, read from the disk."""
        return _read_tensors(self.folder / MODEL)

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """Scores by split."""
        return _read_table(self.folder / METRICS)

    @cached_property
    def answers(self) -> list[dict[str, Any]]:
        """Every answer on the last split that was evaluated; none in runs of older versions."""
        if ANSWERS not in self.facts["files"]:
            return []
        _verify(self.folder, ANSWERS, self.facts["files"])
        lines = (self.folder / ANSWERS).read_bytes().split(b"\n")
        try:
            return [json.loads(line) for line in lines if line]
        except (ValueError, RecursionError) as error:
            raise _make_unreadable(self.folder / ANSWERS, error) from error

    @property
    def summary(self) -> dict[str, Any]:
        """The outcome of the training, under names that scripts rely on."""
        split, training = self.split, self.metrics["training"]
        return {
            "run": str(self.folder),
            **{name: training[name] for name in ("steps", "seconds", "tokens_per_second")},
            "parameters": training["parameters"],
            "split": split,
            **{name: self.metrics[split][name] for name in ("metrics", "signature", "count")},
        }

    @property
    def evaluation(self) -> dict[str, Any]:
        """Scores and samples on the split that was evaluated last."""
        return self.metrics[self.split]

    @property
    def split(self) -> str:
        """The split that was evaluated last; an imported run has none."""
        if "imported" in self.metrics:
            problem = f"{self.folder} was imported, not trained: it has no scores."
            raise UsageError(problem, "Evaluate it: regard evaluate RUN --data FILE.")
        return "test" if "test" in self.metrics else "valid"

    @property
    def journal(self) -> list[dict[str, Any]]:
        """The events of the training, each step once."""
        _verify(self.folder, JOURNAL, self.facts["files"])
        return read_journal(self.folder / JOURNAL)


def describe_start(began: Mapping[str, Any]) -> str:
    """Say in a sentence what a run carried over from another run, and what it initialized."""
    carried, new = (
        f"{sum(parts.values()):,} ({', '.join(f'{name} {n:,}' for name, n in parts.items())})"
        for parts in (began["carried"], began["new"] or {"nothing": 0})
    )
    return (
        f"Started from the run {began['run']}, model {began['model'][:12]}. Parameters carried "
        f"over: {carried}; initialized at random: {new}."
    )


def read_parts(folder: Path) -> Parts | None:
    """Read recipe and tokenizer of a run that may be unfinished; None where they are missing."""
    if not (folder / RECIPE).is_file() or not (folder / TOKENIZER).is_file():
        return None
    return Parts(load_recipe(folder), Tokenizer.load(folder / TOKENIZER))


def create(folder: Path) -> None:
    """Make an empty run folder; refuse one that exists."""
    try:
        make_folder(folder)
    except FileExistsError:
        raise UsageError(
            f"a run folder must be new, so that no run is overwritten. {folder} exists.",
            "Name another with --run, or continue that run with --resume.",
        ) from None
    except (PermissionError, NotADirectoryError) as error:
        raise UsageError(
            f"the run folder {folder} cannot be created: {error.strerror}.",
            "Name a folder with write permission with --run.",
        ) from error


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Lock a run against a second writing process."""
    with ExitStack() as held:
        try:
            held.enter_context(lock_file(folder / LOCK, wait=False))
        except BlockingIOError:
            raise UsageError(
                f"only one process at a time may write a run. Another process is writing {folder}.",
                "Wait for it to end, or name another folder with --run.",
            ) from None
        yield


def write_recipe(folder: Path, recipe: Recipe) -> None:
    """Write the recipe with every default."""
    write_whole(folder / RECIPE, dump(recipe, folder=folder))


def write_model(folder: Path, model: nn.Module, tokenizer: Tokenizer) -> None:
    """Write the parameters, and the config that ties them to their tokenizer."""
    parameters = collect_parameters(model)
    write_tensors_whole(folder / MODEL, parameters)
    config = {
        "model_type": "regard",
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "vocab_size": tokenizer.size,
        "tokenizer": tokenizer.fingerprint,
    }
    write_whole(folder / CONFIG, json.dumps(config, indent=1))


def write_baseline(folder: Path, parameters: Mapping[str, Tensor]) -> None:
    """Write the baseline's parameters, where it has some."""
    if parameters:
        write_tensors_whole(folder / BASELINE, parameters)


def seal(folder: Path) -> None:
    """Seal a finished run: write the versions and the hash of every file."""
    write_seal(folder / SEAL, _describe_versions(), _list_sealed(folder))


def open_unsealed(folder: Path) -> Run:
    """Open a run whose files are all written, just before it is sealed."""
    hashes = {name: hash_file(folder / name) for name in _list_sealed(folder)}
    return Run(folder, facts={**_describe_versions(), "files": hashes})


def find_damage(folder: Path) -> str:
    """Say what keeps a sealed run from being whole; an empty string if nothing does."""
    try:
        files = _read_facts(folder)["files"]
    except RunError as error:
        return error.problem
    broken = find_broken(folder, {name: files[name] for name in files if name not in FOR_PEOPLE})
    return f"{folder / broken} is not the file that was sealed." if broken else ""


def _describe_versions() -> dict[str, Any]:
    versions = {name: version(name) for name in ("torch", "tokenizers", "safetensors", "numpy")}
    return {"format": FORMAT, "regard": __version__, "versions": versions}


def _list_sealed(folder: Path) -> list[str]:
    return [name for name in SEALED if (folder / name).exists()]


def _read_facts(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a run folder.", "Name one that `regard train` wrote.")
    if not (folder / SEAL).is_file():
        raise RunError(
            f"{folder} is not a finished run: it has no {SEAL}.",
            "Finish it with `regard train RECIPE --run FOLDER --resume`.",
        )
    try:
        facts = read_seal(folder / SEAL, digested=2)
        _check_facts(facts)
    except ValueError as error:
        raise RunError(
            f"{folder / SEAL} cannot be read: {error}.", "Put back the regard.json of this run."
        ) from error
    if facts["format"] not in range(FIRST_FORMAT, FORMAT + 1):
        raise RunError(
            f"{folder} has run format {facts['format']}; this version reads up to {FORMAT}.",
            "Use the version of regard that wrote it.",
        )
    return facts


def _check_facts(facts: Mapping[str, Any]) -> None:
    """Refuse a seal with other names than ours: the first format has no digest of itself."""
    strange = facts.keys() ^ {"format", "regard", "versions", "files"}
    strange |= facts.get("files", {}).keys() - set(SEALED)
    if strange and facts["format"] <= FORMAT:
        raise ValueError(f"missing or unknown: {', '.join(sorted(strange))[:80]}")


def _read_table(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise _make_unreadable(file, error) from error
    if not isinstance(found, dict):
        raise _make_unreadable(file, TypeError("it does not hold a table"))
    return found


def _read_tensors(file: Path) -> dict[str, Tensor]:
    try:
        return load_file(file)
    except SafetensorError as error:
        raise _make_unreadable(file, error) from error


def _make_unreadable(file: Path, error: Exception) -> RunError:
    problem = f"{file} cannot be read: {type(error).__name__}: {error}."
    return RunError(problem, f"Put back the {file.name} of this run.")


def _verify(folder: Path, name: str, files: dict[str, str]) -> None:
    file = folder / name
    if name not in files or not file.is_file():
        raise RunError(f"{file} is missing from the run.", "Put it back, or train again.")
    if hash_file(file) != files[name]:
        raise RunError(
            f"{file} does not belong to this run: its hash is not the one in {SEAL}.",
            "Put back the file that training wrote, or train again.",
        )
