"""A suggested recipe fits the data it was made for."""

import pytest

from regard.errors import DataError
from regard.recipe.load import make
from regard.tasks.kinds import KINDS
from regard.tasks.suggest.last_field import detect_last_field
from regard.tasks.suggest.suggestion import suggest
from regard.tasks.transfer import Origin


def files(folder, pairs, words):
    for name in ("a.de", "a.en"):
        (folder / name).write_text(f"{'wort ' * words}\n" * pairs)
    return [str(folder / "a.de"), str(folder / "a.en")]


def test_it_reads_languages_lengths_and_size_from_the_data(tmp_path):
    recipe, reasons, *_ = suggest("translation", files(tmp_path, pairs=31, words=53))
    assert recipe.data.languages == ("de", "en")
    assert recipe.text.max_length >= 4 * 53
    assert "31 pairs" in reasons["model.width"]


def test_every_reason_belongs_to_a_setting(tmp_path):
    recipe, reasons, *_ = suggest("translation", files(tmp_path, pairs=3, words=2))
    for path in reasons:
        found = recipe
        for step in path.split("."):
            found = getattr(found, step)


def test_nothing_to_learn_from_is_refused(tmp_path):
    with pytest.raises(DataError):
        suggest("translation", files(tmp_path, pairs=1, words=0))


def test_a_language_model_of_little_text_reads_characters_and_holds_out_the_end(tmp_path):
    (tmp_path / "play.txt").write_text("Enter two gentlemen.\n\n" * 31)
    recipe, reasons, *_ = suggest("language-modelling", [str(tmp_path / "play.txt")])
    assert recipe.text.tokenizer == "characters"
    assert (recipe.data.format, recipe.data.holdout_from) == ("whole", "end")
    assert recipe.training.label_smoothing == 0.0
    assert "93 words" in reasons["text.tokenizer"]
    for path in reasons:
        found = recipe
        for step in path.split("."):
            found = getattr(found, step)


def test_a_language_model_of_much_text_reads_pieces_of_words(tmp_path):
    (tmp_path / "shelf.txt").write_text(("so on and on " * 50 + "\n\n") * 5000)
    recipe, *_ = suggest("language-modelling", [str(tmp_path / "shelf.txt")])
    assert recipe.text.tokenizer == "bpe" and recipe.model.embedding.ngrams == 3


ORIGINS = {
    "masked-pretraining": {},
    "language-modelling": {"mixer": {"kind": "recurrent"}, "position": {"kind": "none"}},
    "document-pretraining": {"depth": 0, "last_norm": False, "position": {"kind": "none"}},
    "document-vectors": {"depth": 0, "last_norm": False, "position": {"kind": "none"}},
    "summarization": {"copying": True, "decoder_depth": 1},
}


def origin(task):
    """Return a run's recipe with sizes that nobody would choose."""
    return Origin(
        make(
            {
                "task": task,
                "data": {"train": ["plain.txt"]},
                "text": {"tokenizer": "unigram", "vocabulary": 777, "max_length": 71},
                "model": {"width": 44, "depth": 5, "feed_forward": 59, **ORIGINS[task]},
                "training": {"optimizer": {"kind": "sgd", "rate": 1.0}}
                if task == "document-vectors"
                else {},
            }
        ),
        "runs/body",
    )


def write(folder, task):
    """Write data that a task can be suggested for."""
    if task == "translation":
        return files(folder, pairs=31, words=5)
    lines = [f"a text {number}\tanother one\t{number % 2}\n" for number in range(37)]
    cut = 3 if task == "sentence-pair" else 2
    name = "plain.txt" if "pretraining" in task or task == "language-modelling" else "a.tsv"
    rows = ["\t".join(line.split("\t")[-cut:]) for line in lines]
    (folder / name).write_text("".join(rows) if name == "a.tsv" else "so on and on\n\n" * 31)
    return [str(folder / name)]


CARRIES_NONE = ("document-vectors",)  # learns what enters a body
OTHER_DATA = ("retrieval", "denoising")


@pytest.mark.parametrize("task", [t for t in KINDS if t not in (*CARRIES_NONE, *OTHER_DATA)])
@pytest.mark.parametrize("begun", ["masked-pretraining", "language-modelling", "summarization"])
def test_what_begins_from_a_run_takes_its_pieces_and_its_shape(tmp_path, task, begun):
    recipe, reasons, *_ = suggest(task, write(tmp_path, task), origin(begun))
    assert (recipe.text.tokenizer, recipe.text.vocabulary) == ("unigram", 777)
    assert (recipe.model.width, recipe.model.feed_forward) == (44, 59)
    assert recipe.model.mixer.kind == (
        "recurrent" if begun == "language-modelling" else "attention"
    )
    assert recipe.model.start.run == "runs/body" and not recipe.model.start.lexicon
    assert "model.start.lexicon" not in reasons
    assert recipe.task == task and (recipe.model.embedding.segments == 4) == (
        task == "sentence-pair"
    )
    for path in reasons:
        found = recipe
        for step in path.split("."):
            found = getattr(found, step)


@pytest.mark.parametrize(("labels", "kept"), [(41, True), (6_000, False)])
def test_what_documents_taught_is_kept_where_labels_are_few(tmp_path, labels, kept):
    (tmp_path / "a.tsv").write_text("".join(f"text {n}\t{n % 2}\n" for n in range(labels)))
    recipe, reasons, *_ = suggest(
        "classification", [str(tmp_path / "a.tsv")], origin("document-pretraining")
    )
    assert recipe.model.start.freeze is kept and recipe.model.depth == 0
    assert f"{labels:,} labels are {'few' if kept else 'many'}" in reasons["model.start.freeze"]
    assert recipe.model.head.pooling == "mean" and recipe.model.head.norm
    assert recipe.text.max_length == 32  # and not 71: a mean is of any length


def test_vectors_of_documents_enter_blocks_of_the_recipes_own(tmp_path):
    (tmp_path / "a.tsv").write_text("".join(f"text {n}\t{n % 2}\n" for n in range(41)))
    recipe, *_ = suggest("classification", [str(tmp_path / "a.tsv")], origin("document-vectors"))
    assert recipe.model.start.carry == "embedding"
    assert recipe.model.width == 44 and recipe.model.depth == 1
    assert recipe.model.position.kind == "rotary"
    assert recipe.training.adversarial > 0


def test_a_recurrent_body_reads_texts_of_any_length_and_attention_what_it_knows(tmp_path):
    (tmp_path / "a.tsv").write_text("".join(f"{'so ' * 53}{n}\t{n % 2}\n" for n in range(41)))
    longest = {}
    for begun in ("masked-pretraining", "language-modelling"):
        recipe, *_ = suggest("classification", [str(tmp_path / "a.tsv")], origin(begun))
        longest[begun] = recipe.text.max_length
        assert recipe.model.causal is (begun == "language-modelling" or None)
    assert longest == {"masked-pretraining": 71, "language-modelling": 2 * 54 + 2}


@pytest.mark.parametrize(("labels", "epochs"), [(1_999, "25"), (19_999, "25"), (20_000, "3")])
def test_few_labels_are_read_more_often_and_answered_with_the_bag(tmp_path, labels, epochs):
    (tmp_path / "a.tsv").write_text("".join(f"text {n}\t{n % 2}\n" for n in range(labels)))
    recipe, reasons, *_ = suggest("classification", [str(tmp_path / "a.tsv")])
    assert recipe.training.budget == f"{epochs} epochs"
    assert recipe.training.label_smoothing == 0.1
    assert recipe.decoding.baseline_weight == "fitted"
    assert "held-out texts" in reasons["decoding.baseline_weight"]


def test_what_others_trained_for_long_is_moved_slowly(tmp_path):
    (tmp_path / "a.tsv").write_text("".join(f"text {n}\t{n % 2}\n" for n in range(41)))
    rates = []
    for imported in (None, "folder"):
        body = origin("masked-pretraining")
        start = body.recipe.model.start.model_copy(update={"imported": imported})
        model = body.recipe.model.model_copy(update={"start": start})
        body = body._replace(recipe=body.recipe.model_copy(update={"model": model}))
        recipe, *_ = suggest("classification", [str(tmp_path / "a.tsv")], body)
        rates.append(recipe.training.optimizer.rate)
    assert rates == [1e-3, 5e-5]


LAST_FIELDS = {
    "one label": (["a", "b", "a, b or c"], {}),
    "a comma in a name": (["Business, Finance", "Sports", "World"], {}),
    "bars": (["a|b", "a", "c|b"], {"label_separator": "|"}),
    "semicolons": (["a;b", "a", "b", "b;a"], {"label_separator": ";"}),
    "commas": (["a, b", "a", "b", "c", "c, a"], {"label_separator": ","}),
    "lists of one label or none": (["a", "b", ""], {"label_separator": "|"}),
    "numbers": ([str(number / 7) for number in range(23)], {"scores": True}),
    "decimal commas": ([f"{number},5" for number in range(23)], {"scores": True}),
}


@pytest.mark.parametrize("case", LAST_FIELDS)
def test_labels_and_scores_are_told_apart_by_the_values_there_are(case):
    different, settings = LAST_FIELDS[case]
    found, reasons = detect_last_field(frozenset(different))
    assert found == settings
    assert set(reasons) == {f"data.{name}" for name in settings}


def test_what_no_line_gives_is_refused_with_the_reason_of_the_first(tmp_path):
    (tmp_path / "a.jsonl").write_text('\n{"text": {"x": 1}, "label": "y"}\n')
    with pytest.raises(DataError, match=r"a\.jsonl:2: The field 'text' is a dict"):
        suggest("classification", [str(tmp_path / "a.jsonl")], fields=["text", "label"])
