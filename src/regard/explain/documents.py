"""Documents as a model looked at them: HAN's words and sentences, or the hops of a text.

    picture = document_picture(run, text)

The weights are the model's own, heard at its taps. What erasing words does is asked of the model
itself: words are taken out of the text, sentence ends stay.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from regard.errors import UsageError
from regard.explain.draw.document import DocumentPicture, DrawnSentence, View
from regard.explain.erasure import DRAWS, Erasure, Mean, erase, in_words, mean_erasure
from regard.layers.diversity import overlap
from regard.layers.tap import listen
from regard.models.han import Han
from regard.run import Run

READ_AT_ONCE = 64  # variants of a text
SPECIAL = 7  # ids below this are marks, not words


class Looked(NamedTuple):
    """One document, what was answered, and where the model looked."""

    words: tuple[str, ...]
    spans: tuple[slice, ...]
    """Tokens of each word, in the row."""
    row: tuple[int, ...]
    sentence: tuple[int, ...]
    """Which sentence each word stands in."""
    word_weights: NDArray[np.float64]
    """Axes: hop, word. Of HAN there is one, and each sentence sums to one."""
    sentence_weights: NDArray[np.float64] | None
    """None where the text is not read by sentences."""
    answer: str
    label: int
    """The column of the answer."""

    @property
    def scores(self) -> NDArray[np.float64]:
        """How much of the whole look each word had, over all hops."""
        if self.sentence_weights is None:
            return self.word_weights.mean(axis=0)
        return self.word_weights[0] * self.sentence_weights[list(self.sentence)]


def draws_documents(run: Run) -> bool:
    """Whether a run's looks are drawn over its text: HAN's, or those of hops."""
    model = run.recipe.model
    return model.documents.read == "sentences" or model.head.pooling == "hops"


def document_picture(run: Run, text: str, *, draws: int = DRAWS, seed: int = 0) -> DocumentPicture:
    """Answer a document and draw where the model looked, with what erasing those words does."""
    looked = look(run, text)
    erased = erasure(run, looked, draws=draws, seed=seed)
    alike = None
    if looked.sentence_weights is None:
        weights = torch.from_numpy(looked.word_weights)[None]
        shares = weights / weights.sum(dim=2, keepdim=True).clamp(min=1e-12)
        alike = overlap(shares)[0].numpy()
    told = in_words(erased, looked.answer)
    return DocumentPicture(views(looked), looked.answer, told, overlap=alike)


def look(run: Run, text: str) -> Looked:
    """Let the model read a document, and listen."""
    if not draws_documents(run):
        raise UsageError(
            "only a model that reads by sentences or by hops draws a document. This one pools by "
            f"{run.recipe.model.head.pooling}.",
            'Train one with model.documents.read = "sentences" or model.head.pooling = "hops".',
        )
    batch = run.task.asked(text)
    row = batch.fields[1].ids[0].tolist()
    model = run.model.eval()
    with torch.inference_mode(), listen(model) as heard:
        logits = run.task.states(model, batch)[0]
    words = [word for word in run.tokenizer.words(row) if row[word.tokens.start] >= SPECIAL]
    if not any(word.text for word in words):
        raise UsageError(
            f"a document must have at least one sentence. Got {text[:40]!r}.", "Give it a text."
        )
    spans = tuple(word.tokens for word in words)
    sentence = _sentences(row, spans)
    if isinstance(model, Han):
        flat = _flat_weights(heard["word_weights"][0], row)
        among = heard["head.pool.weights"][0][0, 0, 0].double().numpy()
    else:
        flat = heard["head.pool.looks.weights"][0][0, 0].double().numpy()
        among = None
    by_word = np.stack([flat[:, span].sum(axis=1) for span in spans], axis=1)
    names = _task(run).labels.names
    label = int(logits.argmax())
    shown = tuple(word.text for word in words)
    return Looked(shown, spans, tuple(row), sentence, by_word, among, names[label], label)


def views(looked: Looked) -> list[View]:
    """Lay the words out by sentence, once for each look."""
    if looked.sentence_weights is not None:
        return [View("words and sentences", _drawn(looked, looked.word_weights[0]))]
    mean = View("mean over all hops", _drawn(looked, looked.scores))
    each = [
        View(f"hop {number}", _drawn(looked, weights))
        for number, weights in enumerate(looked.word_weights, 1)
    ]
    return [mean, *each]


def erasure(run: Run, looked: Looked, *, draws: int = DRAWS, seed: int = 0) -> Erasure:
    """Erase the words looked at most, and random words."""

    def probabilities(masks: NDArray[np.bool_]) -> NDArray[np.floating]:
        rows = [_without(looked, mask) for mask in masks]
        return _probabilities(run, rows, looked.label)

    generator = np.random.default_rng(seed)
    return erase(probabilities, looked.scores, generator=generator, draws=draws)


def faithfulness(run: Run, texts: Sequence[str], *, draws: int = 20, seed: int = 0) -> Mean:
    """Average what erasing does over many documents, with an interval."""
    found = [
        erasure(run, look(run, text), draws=draws, seed=seed + n) for n, text in enumerate(texts)
    ]
    return mean_erasure(found, generator=np.random.default_rng(seed))


def told_mean(mean: Mean) -> str:
    """Say in one sentence what erasing does on average."""
    return (
        f"Over {mean.texts} held-out documents, erasing the words looked at most costs the answer "
        f"{100 * mean.top:.1f} points of probability, erasing random words "
        f"{100 * mean.chance:.1f}: {100 * mean.advantage:.1f} more (95% interval "
        f"{100 * mean.low:.1f} to {100 * mean.high:.1f})."
    )


def as_json(picture: DocumentPicture) -> dict[str, Any]:
    """Return a picture under the names that scripts rely on."""
    drawn = [
        {
            "name": view.name,
            "sentences": [
                {"words": list(one.words), "weights": list(one.weights), "weight": one.weight}
                for one in view.sentences
            ],
        }
        for view in picture.views
    ]
    alike = {} if picture.overlap is None else {"overlap": np.asarray(picture.overlap).tolist()}
    return {"answer": picture.answer, "views": drawn, **alike, "faithfulness": picture.faithfulness}


def _task(run: Run) -> Any:  # noqa: ANN401 - a labelled task; its room is not open to this one
    return run.task


def _sentences(row: Sequence[int], spans: Sequence[slice]) -> tuple[int, ...]:
    """Say of each word in which sentence it stands: marks end sentences, empty ones are none."""
    found, number, last = [], -1, -2
    for span in spans:
        number += span.start != last
        last = span.stop
        found.append(number)
    return tuple(found)


def _flat_weights(weights: torch.Tensor, row: Sequence[int]) -> NDArray[np.float64]:
    """Put the weights of sentences after one another where their tokens stand in the row."""
    flat = np.zeros((1, len(row)))
    sentence, place, open_ = -1, 0, False
    for at, id in enumerate(row):
        if id < SPECIAL:
            open_ = False
            continue
        if not open_:
            sentence, place, open_ = sentence + 1, 0, True
        flat[0, at] = float(weights[sentence, place])
        place += 1
    return flat


def _drawn(looked: Looked, weights: NDArray[np.float64]) -> list[DrawnSentence]:
    among = looked.sentence_weights
    if among is None:
        return [DrawnSentence(looked.words, weights.tolist())]
    groups: list[list[int]] = [[] for _ in among]
    for place, sentence in enumerate(looked.sentence):
        groups[sentence].append(place)
    return [
        DrawnSentence([looked.words[n] for n in own], weights[own].tolist(), float(share))
        for own, share in zip(groups, among, strict=True)
    ]


def _without(looked: Looked, kept: NDArray[np.bool_]) -> list[int]:
    erased = {
        token
        for span, stays in zip(looked.spans, kept, strict=True)
        if not stays
        for token in range(span.start, span.stop)
    }
    return [id for at, id in enumerate(looked.row) if at not in erased]


@torch.inference_mode()
def _probabilities(run: Run, rows: Sequence[list[int]], label: int) -> NDArray[np.floating]:
    found = []
    exclusive = _task(run).labels.exclusive
    for begin in range(0, len(rows), READ_AT_ONCE):
        batch = run.task.pad([([0], row) for row in rows[begin : begin + READ_AT_ONCE]])
        logits = run.task.states(run.model, batch).double()
        chances = logits.softmax(dim=1) if exclusive else logits.sigmoid()
        found.append(chances[:, label].numpy())
    return np.concatenate(found)
