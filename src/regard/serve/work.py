"""What workers compute: one function per kind of work, over texts that may be of several requests.

    (opened, texts, options) -> one value per text, as JSON has it

While they compute, ``opened.run.task.cancelled`` says which texts are cancelled. Texts of one
batch have the same options. An answer never depends on the other texts of its batch: drawn
answers (``decoding.method = "sample"``) are therefore computed one text at a time.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from regard.errors import UsageError
from regard.explain.explain import ExplainOptions
from regard.explain.explain import explain as explain_run
from regard.inference.predictor import Predictor, load_run
from regard.inference.search.folder import MANIFEST
from regard.inference.search.folder import RUN as INDEXED_RUN
from regard.inference.search.searcher import Searcher
from regard.recipe.data import DataSettings
from regard.run import Run
from regard.run_files import ANSWERS, CARD, MODEL, TOKENIZER
from regard.serve import completions, inspection
from regard.serve.evidence import find_evidence
from regard.serve.predicted import predict_throughput
from regard.serve.protocol import Prompt
from regard.tasks.kinds import KINDS
from regard.tasks.task import Prediction

Options = Mapping[str, Any]
NO_REPEAT = 4
MAX_LENGTH_RATIO = 4.0
CODE = re.compile(r"[a-z]{2}")
"""What is taken for a language in the name of a file or of a column."""
SAMPLES = 32
"""Stored answers that are read as canaries and to measure the throughput."""


class Opened(NamedTuple):
    """A run, or an index with the run that reads its queries, if it has one."""

    run: Run | None
    searcher: Searcher | None = None
    report: Callable[[int, Any], None] = lambda _place, _part: None
    """Takes parts of answers that grow: the place of the text, and the part."""

    @property
    def answering(self) -> Run:
        """The run; an index of words alone has none."""
        if self.run is None:
            raise UsageError("this index has no run: it was made of words alone.", "Search it.")
        return self.run


def open_served(
    folder: Path, decoding: Options, *, ensemble: Sequence[Path] = (), guarded: bool = True
) -> Opened:
    """Open a run folder or an index folder, and load its model."""
    if (folder / MANIFEST).is_file():
        searcher = Searcher(folder)
        run = searcher.model.run if (folder / INDEXED_RUN).is_dir() else None
        opened = Opened(run, searcher)
    else:
        run = load_run(folder, ensemble=ensemble, decoding=decoding)
        if guarded and (guards := _guards(run, decoding)):
            run = load_run(folder, decoding={**decoding, **guards})
            _guards(run, {**decoding, **guards})
        opened = Opened(run)
    if opened.run is not None:
        opened.run.model.eval()
    return opened


def _guards(run: Run, decoding: Options) -> dict[str, Any]:
    """Keep a translator from endless repetition unless its recipe or the caller says how."""
    settings, guards = run.recipe.decoding, dict[str, Any]()
    if run.recipe.task != "translation":
        return guards
    if not settings.no_repeat and "no_repeat" not in decoding:
        translator: Any = run.task
        if translator.engine is None:
            guards["no_repeat"] = NO_REPEAT
        else:  # it blocks no n-grams itself
            translator.repeat_guard = NO_REPEAT
    if settings.max_length_ratio is None and "max_length_ratio" not in decoding:
        guards["max_length_ratio"] = MAX_LENGTH_RATIO
    return guards


def describe(opened: Opened) -> dict[str, Any]:
    """Say what is served, as the front and its clients need it."""
    facts: dict[str, Any] = {"kind": "run" if opened.searcher is None else "index"}
    if opened.searcher is not None:
        facts |= {"documents": opened.searcher.facts["documents"], "by": opened.searcher.usual}
    if opened.run is not None:
        facts |= _describe_run(opened.run)
    return facts


def _describe_run(run: Run) -> dict[str, Any]:
    recipe, card = run.recipe, run.folder / CARD
    training = run.metrics.get("training", {})
    split = next((name for name in ("test", "valid") if name in run.metrics), None)
    measured = run.metrics[split] if split else {}
    kept = (run.folder / ANSWERS).is_file()  # an index takes only what reads queries
    stored = (run.answers if kept else []) or measured.get("samples", [])
    task = KINDS[recipe.task].task
    return {
        "task": recipe.task,
        "fingerprint": run.facts["files"][MODEL],
        "tokenizer": str(run.folder / TOKENIZER),
        "max_length": getattr(run.task, "positions", recipe.text.max_length),
        "labels": list(recipe.data.labels or ()),
        "score_range": recipe.data.score_range,
        "exclusive": not recipe.data.label_separator,
        "languages": find_languages(recipe.data),
        "writes": task.writes,
        "reads_source": task.writes_target,
        "embeds": run.task.embeds(run.model),
        "embedded_tokens": run.task.embedded_tokens,
        "pooling": recipe.model.head.pooling,
        "width": recipe.model.width,
        "parameters": sum(parameter.numel() for parameter in run.model.parameters()),
        "scores": {"split": split, **measured.get("metrics", {})},
        "cost": {
            name: training[name] for name in ("steps", "seconds", "tokens") if name in training
        },
        "card": card.read_text(encoding="utf-8") if card.is_file() else "",
        "decoding": recipe.decoding.model_dump(),
        "samples": [(one["asked"], one["answered"]) for one in stored[:SAMPLES]],
        "predicted": predict_throughput(run, [one["asked"] for one in stored[:SAMPLES]]),
    }


def find_languages(data: DataSettings) -> list[str]:
    """Return source and target language: set in the recipe, or suffixes of files, or columns."""
    if data.languages:
        return list(data.languages)
    suffixes = tuple(Path(file).suffix.removeprefix(".") for file in data.train)
    for pair in (suffixes, data.fields):
        if len(set(pair)) == 2 == len(pair) and all(map(CODE.fullmatch, pair)):
            return list(pair)
    return []


def answer(opened: Opened, texts: Sequence[str], options: Options) -> list[Any]:
    """Answer texts as :meth:`Predictor.answer` does."""
    asked = {name: bool(options.get(name)) for name in ("truncate", "vectors")}
    return list(Predictor(opened.answering).answer(texts, **asked))


def predict(opened: Opened, texts: Sequence[str], options: Options) -> list[Any]:
    """Answer texts as JSON has it; ``truncate`` lets long ones be cut."""
    run = opened.answering
    drawn = run.recipe.decoding.method == "sample" and run.task.writes
    groups = [[text] for text in texts] if drawn else [texts]
    return [_as_json(one) for together in groups for one in answer(opened, together, options)]


def _as_json(answered: Prediction) -> dict[str, Any]:
    """Return what applies to the answer, with its probability; ids are kept for other dialects."""
    plain = answered._field_defaults
    found = {
        name: value
        for name, value in answered._asdict().items()
        if name not in plain or value != plain[name]
    }
    return found | {"probability": math.exp(answered.log_probability)}


def translate(opened: Opened, texts: Sequence[str], options: Options) -> list[Any]:
    """Give the ``best`` translations of each text, best first."""
    run = opened.answering
    if run.recipe.task != "translation":
        raise UsageError(
            f"only a translator translates. The task of this run is {run.recipe.task}.",
            "Serve a run of translation.",
        )
    if run.recipe.decoding.method == "sample":
        return [[one["text"]] for one in predict(opened, texts, {})]
    task: Any = run.task
    found = task.hypotheses(run.model, texts, best=options.get("best", 1))
    return [[answer.text for answer in ranked] for ranked in found]


def embed(opened: Opened, texts: Sequence[str], _options: Options) -> list[Any]:
    """Give a vector for each text."""
    run = opened.answering
    return run.task.vectors(run.model, texts).tolist()


def embed_tokens(opened: Opened, texts: Sequence[str], _options: Options) -> list[Any]:
    """Give a vector for each token of each text, special tokens included."""
    run = opened.answering
    return [states.tolist() for states in run.task.token_states(run.model, texts)]


def explain(opened: Opened, texts: Sequence[str], options: Options) -> list[Any]:
    """Explain the answer to each text; ``options`` are those of ExplainOptions and ``target``."""
    target, chosen = options.get("target"), _explain_options(options)
    return [explain_run(opened.answering, text, target, chosen).as_json() for text in texts]


def evidence(opened: Opened, texts: Sequence[str], options: Options) -> list[Any]:
    """Say which words the answer to each text comes from, and whether that is more than chance."""
    chosen = _explain_options(options)
    return [find_evidence(opened.answering, text, chosen) for text in texts]


def _explain_options(options: Options) -> ExplainOptions:
    known = ExplainOptions.__dataclass_fields__
    return ExplainOptions(**{name: value for name, value in options.items() if name in known})


def search(opened: Opened, texts: Sequence[str], options: Options) -> list[Any]:
    """Find the documents that answer each query; ``options`` are those of Searcher.search."""
    if opened.searcher is None:
        raise UsageError(
            "only an index is searched. This is a run.",
            "Serve an index folder, which `regard index` writes.",
        )
    found = (opened.searcher.search(text, **options) for text in texts)
    return [[hit._asdict() for hit in hits] for hits in found]


def complete(opened: Opened, prompts: Sequence[Prompt], options: Options) -> list[Any]:
    """Continue prompts with the model of a language-modelling run."""
    return completions.complete(opened.answering, prompts, options, opened.report)


def _ask_run(inspect: Callable[[Run, str, Options], Any]) -> "Work":
    """Make work of a function of a run and one text."""
    return lambda opened, texts, options: [
        inspect(opened.answering, text, options) for text in texts
    ]


Work = Callable[[Opened, Sequence[Any], Options], list[Any]]
WORK: dict[str, Work] = {
    "answer": answer,
    "predict": predict,
    "translate": translate,
    "embed": embed,
    "embed_tokens": embed_tokens,
    "explain": explain,
    "evidence": evidence,
    "search": search,
    "complete": complete,
    "rank": _ask_run(inspection.rank_answers),
    "view": _ask_run(inspection.view_attention),
    "attribute": _ask_run(inspection.attribute_answer),
    "erase": _ask_run(inspection.erase_words),
}
ALONE = {"explain", "evidence", "search", "rank", "view", "attribute", "erase"}
"""Kinds that gain nothing from batches: one text at a time, so that none waits for another."""
