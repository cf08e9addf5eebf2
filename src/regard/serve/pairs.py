"""The language pairs that are served, and in which of their languages a text is."""

from collections.abc import Mapping

from regard.serve.languages import Detector, find_name
from regard.serve.protect import protect
from regard.serve.refusal import Refusal
from regard.serve.served import Served


class Pairs:
    """The language pairs that are served; of two runs of one pair the first answers.

    Args:
        served: What the engine serves.

    """

    def __init__(self, served: Mapping[str, Served]) -> None:
        self.by_pair: dict[tuple[str, str], Served] = {}
        examples: dict[str, list[str]] = {}
        for one in served.values():
            languages = one.facts.get("languages", ())
            if one.facts.get("task") != "translation" or len(languages) != 2:
                continue
            self.by_pair.setdefault(tuple(languages), one)
            for place, code in enumerate(languages):
                texts = [sample[place] for sample in one.facts["samples"]]
                examples.setdefault(code, []).extend(texts)
        self.languages = list(examples)
        self.detector = Detector(examples)

    def targets(self, source: str) -> list[str]:
        """Return what a language is translated to: itself too, as it is."""
        return [code for code in self.languages if code == source or (source, code) in self.by_pair]

    def detect(self, text: str, target: str | None = None) -> list[tuple[str, float]]:
        """Return languages and their confidence, 0 to 100; with a target those it is made from."""
        found = [
            (code, round(100 * probability, 1))
            for code, probability in self.detector.detect(text)
            if target is None or target in self.targets(code)
        ]
        if not protect(text).translatable:
            return [(code, 0.0) for code, _ in found]
        return found

    def find(self, source: str, target: str, alternatives: int) -> Served:
        """Find the run that translates a pair, and gives so many alternatives."""
        if (source, target) not in self.by_pair:
            message = (
                f"{find_name(target)} ({target}) is not available as a target language from "
                f"{find_name(source)} ({source})"
            )
            raise Refusal(400, "invalid", message, param="target")
        served = self.by_pair[source, target]
        decoding = served.facts["decoding"]
        most = decoding["beam"] - 1 if decoding["method"] == "beam" else 0
        if alternatives > most:
            message = f"Invalid request: alternatives parameter must be <= {most}"
            raise Refusal(400, "invalid", message, param="alternatives")
        return served
