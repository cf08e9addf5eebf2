"""A suggested recipe fits the data it was made for."""

import pytest

from regard.errors import DataError
from regard.tasks.suggest.suggestion import suggest


def files(folder, pairs, words):
    for name in ("a.de", "a.en"):
        (folder / name).write_text(f"{'wort ' * words}\n" * pairs)
    return [str(folder / "a.de"), str(folder / "a.en")]


def test_it_reads_languages_lengths_and_size_from_the_data(tmp_path):
    recipe, reasons = suggest("translation", files(tmp_path, pairs=31, words=53))
    assert recipe.data.languages == ("de", "en")
    assert recipe.text.longest >= 4 * 53
    assert "31 pairs" in reasons["model.width"]


def test_every_reason_belongs_to_a_setting(tmp_path):
    recipe, reasons = suggest("translation", files(tmp_path, pairs=3, words=2))
    for path in reasons:
        found = recipe
        for step in path.split("."):
            found = getattr(found, step)


def test_nothing_to_learn_from_is_refused(tmp_path):
    with pytest.raises(DataError):
        suggest("translation", files(tmp_path, pairs=1, words=0))


def test_a_language_model_of_little_text_reads_characters_and_holds_out_the_end(tmp_path):
    (tmp_path / "play.txt").write_text("Enter two gentlemen.\n\n" * 31)
    recipe, reasons = suggest("language-modelling", [str(tmp_path / "play.txt")])
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
    recipe, _ = suggest("language-modelling", [str(tmp_path / "shelf.txt")])
    assert recipe.text.tokenizer == "bpe" and recipe.model.embedding.ngrams == 3
