"""An index, and an imported run, are whole or begun anew, whatever fails while they are written."""

import json
import random

import pytest

from regard.errors import RegardError, RunError, UsageError
from regard.files import new_folder
from regard.inference.search.build import build
from regard.inference.search.searcher import Searcher

from .faults import FAULTS, KILLED, attempt, every_fault, flip


@pytest.fixture
def corpus(tmp_path):
    lines = [{"_id": str(n), "title": f"t{n}", "text": f"word{n} is here"} for n in range(9)]
    file = tmp_path / "corpus.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


def hits(index):
    return sorted(hit.id for hit in Searcher(index).search("word3 word5"))


@pytest.mark.parametrize("most", [5, pytest.param(0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_operation_of_an_index_leaves_none_or_a_whole_one(
    tmp_path, corpus, fault, most, figure
):
    number, place = 0, tmp_path

    def prepare():
        nonlocal number, place
        number += 1
        place = tmp_path / f"disk{number}"
        place.mkdir()
        return place

    def work():
        build(None, corpus, place / "index")

    for at, died in every_fault(work, prepare, fault=fault, most=most):
        where = f"{at}: {died.operations[-1]}"
        assert died.code in (0, KILLED) or "OSError" in died.said, where
        if not (place / "index" / "index.json").exists():
            again = attempt(work, place)
            folder = sorted(path.name for path in (place / "index").iterdir())
            assert again.code == 0, f"{where}: {again.said} {folder}"
        assert hits(place / "index") == ["3", "5"], where
        figure("index", 1)


def test_a_folder_that_a_killed_process_left_is_made_anew_and_no_other(tmp_path):
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "mine").write_text("dear")
    with pytest.raises(FileExistsError), new_folder(folder, "seal"):
        pass
    (folder / ".lock").touch()
    with new_folder(folder, "seal"):
        assert not (folder / "mine").exists()
        with pytest.raises(FileExistsError), new_folder(folder, "seal"):
            pass
        (folder / "seal").touch()
    (folder / ".lock").touch()
    with pytest.raises(FileExistsError), new_folder(folder, "seal"):
        pass


def test_a_failure_leaves_no_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "new", "seal"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_every_flipped_bit_of_an_index_is_found_or_changes_nothing(tmp_path, corpus, figure):
    build(None, corpus, tmp_path / "index")
    facts, rng, found = Searcher(tmp_path / "index").facts, random.Random(2), 0
    for file in sorted((tmp_path / "index").iterdir()):
        whole = file.read_bytes()
        for _ in range(60):
            flip(file, rng)
            try:
                assert Searcher(tmp_path / "index").facts == facts
            except RegardError:
                found += 1
            file.write_bytes(whole)
            figure("corruption", 1)
        file.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(RunError):
            Searcher(tmp_path / "index")
        file.write_bytes(whole)
    assert found > 200


def test_a_file_that_was_added_or_taken_away_is_found(tmp_path, corpus):
    build(None, corpus, tmp_path / "index")
    (tmp_path / "index" / "vectors-00000.safetensors").write_bytes(b"x")
    with pytest.raises(RunError, match="vectors-00000"):
        Searcher(tmp_path / "index")
    (tmp_path / "index" / "vectors-00000.safetensors").unlink()
    (tmp_path / "index" / "documents.jsonl").unlink()
    with pytest.raises(RunError, match="documents"):
        Searcher(tmp_path / "index")


def test_an_index_of_the_first_format_is_read(tmp_path, corpus):
    build(None, corpus, tmp_path / "index")
    facts = json.loads((tmp_path / "index" / "index.json").read_text())
    del facts["digest"]
    (tmp_path / "index" / "index.json").write_text(json.dumps({**facts, "format": 1}))
    assert hits(tmp_path / "index") == ["3", "5"]
    with pytest.raises(UsageError):
        build(None, corpus, tmp_path / "index")
