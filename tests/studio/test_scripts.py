"""No text runs as a script, wherever it comes from: names, recipes, journals, questions (P24)."""

import json
from itertools import product
from urllib.parse import urlencode

import pytest
from tests.studio.conftest import copy_runs, start_program, stop_program

MARKS = [
    "'",
    '"',
    "`",
    "</script>",
    "</textarea>",
    "</title>",
    "-->",
    "]]>",
    "\\u003c",
    "&lt;",
    "%3c",
    "\u2028",
]
PAYLOADS = [
    "<script>window.ran=1</script>",
    "<img src=x onerror=window.ran=1>",
    "<svg onload=window.ran=1>",
    "<iframe srcdoc='<script>parent.ran=1</script>'></iframe>",
    "<a href=javascript:window.ran=1>x</a>",
    "<details open ontoggle=window.ran=1>",
    "<style>@import 'javascript:window.ran=1'</style>",
    "<math><mi xlink:href='javascript:window.ran=1'>x</mi></math>",
    "javascript:window.ran=1",
    "{{constructor.constructor('window.ran=1')()}}",
    "${window.ran=1}",
    "<body onload=window.ran=1>",
    "<input autofocus onfocus=window.ran=1>",
    "<object data=javascript:window.ran=1>",
    "<template><script>window.ran=1</script></template>",
    "<form action=javascript:window.ran=1><button>x</button></form>",
    "onmouseover=window.ran=1 x=",
    "<base href=//example.org/>",
    "<meta http-equiv=refresh content='0;url=javascript:window.ran=1'>",
    "<link rel=stylesheet href=data:text/css,x>",
    "<video><source onerror=window.ran=1></video>",
    "<marquee onstart=window.ran=1>",
    "<portal src=javascript:window.ran=1>",
    "<embed src=javascript:window.ran=1>",
    "<scr<script>ipt>window.ran=1</scr</script>ipt>",
]
STRINGS = [mark + payload for mark, payload in product(MARKS, PAYLOADS)]
FOREIGN = "script:not([src]), iframe, object, embed, base, img, video, math, form, details, marquee, style, [onerror], [onload], [onclick]"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Start a studio whose runs have scripts for names, samples and settings."""
    root = tmp_path_factory.mktemp("hostile") / "runs"
    copy_runs(root, "classification")
    (root / "classification").rename(root / "asked")
    for number, payload in enumerate(PAYLOADS):
        name = f"{number}{payload.replace('/', '∕')}"[:120]
        copy_runs(root.parent / "copies", "classification")
        run = (root.parent / "copies" / "classification").rename(root / name)
        (run / "regard.json").unlink()
        texts = dict.fromkeys(("asked", "expected", "answered"), payload)
        events = [
            {"event": "step", "step": 20, "loss": 1.0},
            {"event": "evaluation", "step": 20, "metrics": {payload: 0.5}, "samples": [texts]},
        ]
        (run / "journal.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    process, line = start_program(root)
    yield line
    stop_program(process)


def watch(page, hostile):
    page.set_default_timeout(30_000)
    dialogs, asked = [], []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(hostile["open"])
    return dialogs, asked


def check(page, place):
    assert page.evaluate("window.ran") is None, place
    assert page.evaluate(f"document.querySelectorAll({json.dumps(FOREIGN)}).length") == 0, place


def test_no_name_sample_or_metric_of_a_run_is_ever_a_script(chromium, hostile):
    page = chromium.new_page()
    dialogs, asked = watch(page, hostile)
    page.wait_for_selector("table.runs tbody tr >> nth=20")
    names = page.locator("table.runs td:nth-child(2)").all_inner_texts()
    assert any("<script>window.ran=1<" in name for name in names)
    check(page, "runs")
    for link in page.locator("table.runs td:nth-child(2) a").all():
        address = link.get_attribute("href")
        assert address.startswith(("/run?run=", "/ask?run="))
    addresses = [
        link.get_attribute("href") for link in page.locator("table.runs td:nth-child(2) a").all()
    ]
    for address in addresses:
        page.goto(hostile["address"].rstrip("/") + address)
        page.wait_for_selector(".chart canvas")
        page.wait_for_timeout(50)
        check(page, address)
    page.goto(
        hostile["address"].rstrip("/")
        + "/compare?"
        + "&".join(one.split("?")[1] for one in addresses[:12])
    )
    page.wait_for_selector(".chart canvas")
    check(page, "compare")
    assert dialogs == [] and all(url.startswith(hostile["address"]) for url in asked)
    page.close()


def ask_all(chromium, hostile, strings):
    page = chromium.new_page()
    dialogs, asked = watch(page, hostile)
    page.goto(hostile["address"] + "ask?run=asked")
    text = page.get_by_label("Text")
    text.wait_for()
    for string in strings:
        text.fill(string)
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".answers h2")
        check(page, string)
    for view, string in product(("explain", "ask"), strings[::8]):
        query = urlencode({"run": "asked", "text": string, "label": string})
        page.goto(f"{hostile['address']}{view}?{query}")
        page.get_by_label("Text").wait_for()
        page.wait_for_timeout(150)
        check(page, string)
    assert dialogs == []
    assert all(url.startswith(("http://127.0.0.1", "blob:")) for url in asked)
    page.close()


def test_no_question_is_ever_a_script(chromium, hostile):
    ask_all(chromium, hostile, STRINGS[:: len(PAYLOADS) + 1])


@pytest.mark.slow
def test_none_of_300_questions_is_ever_a_script(chromium, hostile):
    assert len(STRINGS) == 300
    ask_all(chromium, hostile, STRINGS)


def test_the_yardstick_sees_a_script_that_runs(chromium):
    page = chromium.new_page()
    page.set_content(f"<p>{PAYLOADS[0]}{PAYLOADS[1]}</p>")
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran") == 1
    assert page.evaluate(f"document.querySelectorAll({json.dumps(FOREIGN)}).length") > 0
    page.close()
