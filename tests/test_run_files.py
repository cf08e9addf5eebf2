"""The journal read back: each step once, whatever its texts hold."""

import json

from regard.run_files import extend_journal, read_journal
from regard.training.journal import Journal


def test_a_text_with_a_line_separator_does_not_cut_its_line(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write("evaluation", step=1, samples=[{"asked": "one\u2028two\x85three"}])
    (event,) = read_journal(journal.file)
    assert event["samples"][0]["asked"] == "one\u2028two\x85three"


def test_what_a_resumed_run_repeats_is_discarded():
    lines = [json.dumps({"event": "step", "step": step}) for step in (20, 40, 60)]
    events = extend_journal([], lines)
    later = [json.dumps({"event": "resumed", "step": 30}), '{"event": "st']
    events = extend_journal(events, later)
    assert [(event["event"], event["step"]) for event in events] == [("step", 20), ("resumed", 30)]
