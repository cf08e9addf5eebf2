"""What is served: runs and indexes by name, and what the front knows of them without torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.errors import UsageError
from regard.serve.protocol import Text
from regard.serve.refusal import Refusal
from regard.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Served:
    """A run or an index that is served.

    ``facts`` is what :func:`regard.serve.work.describe` says: kind ("run" or "index"), task,
    labels, languages, scores, cost, card, decoding, samples, ...
    """

    name: str
    folder: Path
    facts: Mapping[str, Any]
    tokenizer: Tokenizer | None

    def count(self, texts: Sequence[Text]) -> list[int]:
        """Count the tokens of each text."""
        sizes = iter(self._count([text for text in texts if isinstance(text, str)]))
        return [next(sizes) if isinstance(one, str) else max(1, len(one.ids)) for one in texts]

    def _count(self, texts: list[str]) -> list[int]:
        if self.tokenizer is None:
            return [1 + text.count(" ") for text in texts]
        return [max(1, len(ids)) for ids in self.tokenizer.encode_batch(texts)]


def open_served(name: str, folder: Path, facts: Mapping[str, Any]) -> Served:
    """Open what the front needs: the tokenizer, to count tokens."""
    file = facts.get("tokenizer")
    return Served(name, folder, facts, Tokenizer.load(Path(file)) if file else None)


def name_folders(folders: Sequence[Path]) -> dict[str, Path]:
    """Call each folder by its own name; refuse two of the same name."""
    names: dict[str, Path] = {}
    for folder in folders:
        name = folder.resolve().name
        if name in names:
            raise UsageError(
                f"what is served is called by its folder's name, so names must differ. {name} is "
                f"both {names[name]} and {folder}.",
                "Rename one of the folders.",
            )
        names[name] = folder
    return names


def find_served(
    served: Mapping[str, Served], name: str | None, *, task: str | None, kind: str
) -> Served:
    """Find what has a name; without one, the only one of that task or kind."""
    if name is not None:
        if name in served:
            return served[name]
        known = ", ".join(sorted(served))
        message = f"nothing of that name is served. There is {known}."
        raise Refusal(404, "not_found", message, param="run")
    fitting = [
        one
        for one in served.values()
        if one.facts["kind"] == kind and task in (None, one.facts.get("task"))
    ]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        wanted = f"{kind} for {task}" if task else kind
        raise Refusal(404, "not_found", f"no {wanted} is served here.", param="run")
    names = ", ".join(one.name for one in fitting)
    message = f"several are served; name one of them: {names}."
    raise Refusal(422, "invalid", message, param="run")
