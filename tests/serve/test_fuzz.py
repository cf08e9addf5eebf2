"""Whatever is sent, no answer is a failure of the server (P20): requests made from the schema."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import schemathesis
from hypothesis import given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode

ENTIRE = ["not_a_server_error", "status_code_conformance", "content_type_conformance"]
ENTIRE += ["response_schema_conformance", "unsupported_method"]


def make_requests(app):
    """Return a strategy of requests, those that fit the schema and those that do not."""
    schema = schemathesis.openapi.from_dict(app.openapi())
    operations = [found.ok() for found in schema.get_all_operations()]
    return st.one_of(
        operation.as_strategy(generation_mode=mode)
        for operation in operations
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        if mode == GenerationMode.POSITIVE or operation.body or operation.path_parameters
    )


def test_no_generated_request_makes_the_server_fail(site):
    statuses = Counter()

    @settings(max_examples=60, database=None, derandomize=True)
    @given(make_requests(site.app.app))
    def send(case):
        sent = case.as_transport_kwargs(base_url="http://here")
        sent = {name: sent[name] for name in ("method", "url", "json", "headers") if name in sent}
        answer = site.send(sent.pop("method"), sent.pop("url"), **sent)
        statuses[answer.status_code] += 1

    send()
    assert statuses[200] and statuses[422], statuses
    assert max(statuses) < 500, statuses


@pytest.mark.slow
def test_the_stock_tool_finds_no_failure_of_the_server(program):
    _, line = program
    tool = Path(sys.executable).with_name("schemathesis")
    asked = [str(tool), "run", line["address"] + "/openapi.json", "--no-color"]
    done = subprocess.run(
        [*asked, "--max-examples", "400", "--checks", ",".join(ENTIRE)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"([\d,]+) generated", done.stdout)[1].replace(",", "")) > 2000
