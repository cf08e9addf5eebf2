"""Every command of docs/serving.md is run, against a server that its first command starts."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from regard.cli.main import main

from .conftest import KEEPSAKES

TEXT = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
HERE = "localhost:8000"
NODE = shutil.which("node")


def commands():
    """Give language and code of each command; curl calls one by one."""
    for language, code in BLOCKS:
        if language in ("python", "js", "javascript"):
            yield language, code
        elif code.startswith("curl"):
            yield from (("curl", call) for call in re.split(r"^(?=curl)", code, flags=re.M) if call)


COMMANDS = list(commands())


@pytest.fixture(scope="module")
def address(trained, tmp_path_factory):
    """Run the first command of the guide on runs of these names; return host and port."""
    (command,) = [code for _, code in BLOCKS if code.startswith("pip install")]
    folder = tmp_path_factory.mktemp("guide")
    shutil.copytree(trained / "runs" / "scenes", folder / "runs" / "scenes")
    shutil.copytree(trained / "indexes" / "indexed", folder / "indexes" / "cranfield")
    for name, kept in (("reviews", "classification"), ("tales", "language-modelling")):
        shutil.copytree(KEEPSAKES / kept, folder / "runs" / name)
    install, call = command.splitlines()
    assert install == 'pip install "regard[serve]"'
    _, *given = shlex.split(call.replace("--port 8000", "--port 0"))
    process = subprocess.Popen(
        [sys.executable, "-m", "regard", *given, "--json", "--workers", "1", "--quiet"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    line = json.loads(process.stdout.readline())
    yield line["address"].removeprefix("http://")
    process.terminate()
    assert process.wait(20) == 0
    process.stdout.close()


def run(command, folder):
    environment = {**os.environ, "HF_HUB_OFFLINE": "0"}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)


def test_every_block_is_run_here_or_elsewhere():
    left = [
        code
        for language, code in BLOCKS
        if language not in ("python", "js", "javascript", "json") and not code.startswith("curl")
    ]
    elsewhere = ("pip install", "task: mine", "lm_eval", "FROM", "[Unit]")  # below, and lm_eval
    assert all(code.startswith(elsewhere) for code in left), left
    assert len(COMMANDS) >= 14


@pytest.mark.parametrize("code", [code for name, code in COMMANDS if name == "curl"])
def test_curl(address, code, tmp_path):
    done = run(
        ["bash", "-c", code.replace(HERE, address).rstrip() + " -w ' %{http_code}'"], tmp_path
    )
    body, _, status = done.stdout.rpartition(" ")
    assert status == "200", done.stdout
    found = json.loads(body)
    if "/api/predict" in code:
        (shown,) = [json.loads(block) for name, block in BLOCKS if name == "json"]
        assert shown.keys() == found.keys() and shown["usage"].keys() == found["usage"].keys()
        assert shown["answers"][0].keys() == found["answers"][0].keys()


@pytest.mark.parametrize("code", [code for name, code in COMMANDS if name == "python"])
def test_python(address, code, tmp_path):
    done = run([sys.executable, "-c", code.replace(HERE, address)], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("code", [code for name, code in COMMANDS if name in ("js", "javascript")])
def test_javascript(address, code, tmp_path):
    modules = run(["npm", "root", "-g"], tmp_path).stdout.strip()
    (tmp_path / "node_modules").symlink_to(modules)
    for package in re.findall(r'from "(\w+)"', code):
        if not (Path(modules) / package).is_dir():
            pytest.skip(f"npm install -g {package}")
    file = tmp_path / "block.mjs"
    file.write_text(code.replace(HERE, address))
    done = run([NODE, "--preserve-symlinks-main", str(file)], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() and "undefined" not in done.stdout


def _find(start, pattern):
    (block,) = [code for _, code in BLOCKS if code.startswith(start)]
    return re.search(pattern, block, re.M)[1]


@pytest.mark.parametrize("kind", ["container", "unit"])
def test_the_commands_of_container_and_unit_are_understood(kind, monkeypatch, tmp_path, capsys):
    if kind == "container":
        command = json.loads(_find("FROM", r"^ENTRYPOINT (.*)$"))
    else:
        command = shlex.split(_find("[Unit]", r"^ExecStart=(.*)$"))
    keys = tmp_path / "keys"
    keys.write_text("a-key-of-enough-characters\n")
    real = {"/etc/regard/keys": str(keys)}
    given = [
        str(KEEPSAKES / "classification") if one.endswith("runs/reviews") else real.get(one, one)
        for one in command[1:]
    ]

    async def stop_at_once(_app, _engine, listening, **_more):
        listening.close()

    monkeypatch.setattr("regard.serve.server.run_server", stop_at_once)
    assert Path(command[0]).name == "regard"
    assert main([*given, "--port", "0", "--workers", "1"]) == 0
    shown = capsys.readouterr()
    assert "classification" in shown.out
    assert ("other machines" in shown.err) == (kind == "container")


def test_the_health_check_of_the_container_works(address, tmp_path):
    (script,) = shlex.split(_find("FROM", r"^HEALTHCHECK CMD python -c (.*)$"))
    assert run([sys.executable, "-c", script.replace(HERE, address)], tmp_path).returncode == 0
    gone = run([sys.executable, "-c", script.replace(HERE, "localhost:9")], tmp_path)
    assert gone.returncode != 0
