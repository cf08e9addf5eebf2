"""Files: nothing outside of the runs is ever sent (P26); the page's own are as the policy wants."""

import json
import re
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.studio.conftest import HOST, ask

from regard.studio.assets import FOLDER, read_assets
from regard.studio.token import read_token

SECRET = "a file that nobody may see"
UP = [
    "..",
    "%2e%2e",
    "..%2f..",
    "....//..",
    "..\\..",
    "%252e%252e",
    "\u2025",
    ".%00.",
    "./..",
    "classification/..",
]
TARGETS = ["secret.txt", "runs/../secret.txt", "etc/passwd", "secret.txt%00.js", "run.py"]
SCRIPTS = {name: asset for name, asset in read_assets().items() if name.endswith(".js")}


def test_no_path_leads_out_of_the_runs(studio, call):
    (studio.root.parent / "secret.txt").write_text(SECRET)
    (studio.root / "link").symlink_to(studio.root.parent)
    (studio.root / "classification" / "linked").symlink_to(studio.root.parent)
    absolute = [str(studio.root.parent / "secret.txt"), "/etc/passwd", "file:///etc/passwd", "link"]
    names = [
        f"{'/'.join([up] * deep)}/{target}"
        for up, deep, target in product(UP, range(1, 8), TARGETS)
    ]
    names += [
        *absolute,
        *(quote(name) for name in absolute),
        "link/secret.txt",
        "link/runs/classification",
    ]
    names += [
        f"classification/{name}"
        for name in ("linked/secret.txt", "../../secret.txt", "recipe.toml")
    ]
    paths = [(path, f"run={quote(name)}") for path in ("/api/report", "/api/run") for name in names]
    paths += [(f"/static/{name}", "") for name in names]

    async def ask_all():
        own = [("host", HOST)]
        return [await ask(studio.app, "GET", path, own, query) for path, query in paths]

    answers = zip(paths, call(ask_all()), strict=True)
    sent = [path for path, found in answers if found.status != 404 or SECRET.encode() in found.body]
    assert sent == [] and len(paths) >= 1000


def test_a_report_that_is_a_link_is_not_followed(studio):
    (studio.root.parent / "secret.txt").write_text(SECRET)
    report = studio.root / "ensemble" / "report.html"
    report.symlink_to(studio.root.parent / "secret.txt")
    try:
        assert studio.get("/api/report", run="ensemble").status == 404
    finally:
        report.unlink()


def test_a_report_may_neither_run_scripts_nor_ask_for_anything(studio):
    report = studio.root / "translation" / "report.html"
    report.write_text("<script>alert(1)</script>")
    found = studio.get("/api/report", run="translation")
    policy = found.headers["content-security-policy"]
    assert found.status == 200 and policy.startswith("sandbox; default-src 'none'")
    assert "script" not in policy
    report.unlink()


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_set_words_as_text_and_ask_only_the_studio(name):
    source = SCRIPTS[name].body.decode()
    sinks = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc|\.cssText"
    assert re.findall(sinks, source) == []
    assert set(re.findall(r"https?://[\w./]+", source)) <= {"http://www.w3.org/2000/svg"}
    assert re.findall(r"setAttribute\(.style", source) == []


def test_the_page_has_no_script_or_style_of_its_own(studio):
    found = studio.get("/explain")
    page = found.body.decode()
    assert re.findall(r"<script(?![^>]* src=)", page) == [] and "<style" not in page
    assert re.findall(r"\s(on\w+|style)=", page) == []
    addresses = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert all(studio.get(address).status == 200 for address in addresses) and addresses


def test_a_page_that_is_not_there_says_so_in_the_page(studio):
    found = studio.get("/nothing/here")
    assert found.status == 404 and b"<title>regard studio" in found.body
    assert json.loads(studio.get("/api/nothing").body)["error"]["kind"] == "not_found"


def test_all_scripts_together_are_small():
    size = sum(len(asset.body) for asset in SCRIPTS.values())
    assert size < 200_000


def test_a_file_that_the_browser_has_is_not_sent_again(studio, call):
    first = studio.get("/static/app.js")
    headers = [("host", HOST), ("if-none-match", first.headers["etag"])]
    again = call(ask(studio.app, "GET", "/static/app.js", headers))
    assert first.status == 200 and (again.status, again.body) == (304, b"")


def test_every_module_that_is_imported_is_there():
    for name, asset in SCRIPTS.items():
        for wanted in re.findall(r'from "(\.[^"]+)"', asset.body.decode()):
            place = (FOLDER / name).parent / wanted
            assert Path(place).resolve().relative_to(FOLDER).as_posix() in SCRIPTS, (name, wanted)


def test_the_token_is_kept_for_its_owner_alone_and_survives(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    token = read_token(tmp_path / "runs")
    (file,) = (tmp_path / "cache" / "studio").iterdir()
    assert len(token) >= 43 and file.stat().st_mode & 0o777 == 0o600
    assert read_token(tmp_path / "runs") == token != read_token(tmp_path / "others")
    file.chmod(0o644)
    assert read_token(tmp_path / "runs") != token


def test_refusals_say_what_to_do(studio):
    found = studio.get("/api/curves", run="no such run")
    error = json.loads(found.body)["error"]
    assert (found.status, error["kind"], error["param"]) == (404, "not_found", "run")
