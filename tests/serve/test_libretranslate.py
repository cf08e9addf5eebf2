"""LibreTranslate's API: its own client and error strings, HTML, placeholders, languages."""

import asyncio
import json
import re
import socket
from pathlib import Path
from types import SimpleNamespace
from urllib.error import HTTPError

import pytest
import uvicorn
from hypothesis import given, settings
from hypothesis import strategies as st
from libretranslatepy import LibreTranslateAPI

from regard.inference.predictor import load_run
from regard.serve.app import ServeSettings
from regard.serve.engine import Engine
from regard.serve.keys import Keys
from regard.serve.markup import Document
from regard.serve.protect import protect
from regard.serve.segment import join, split_text
from regard.serve.served import Served
from regard.serve.settings import EngineSettings
from regard.serve.translate import Translator

from .conftest import KEEPSAKES, make_site

KEY = "a-key-of-enough-characters"
SAMPLES = {
    "de": ["Der Hund schläft nicht.", "Zwei Frauen lesen ein Buch."],
    "en": ["The dog does not sleep.", "Two women read a book."],
    "fr": ["Le chien ne dort pas.", "Deux femmes lisent un livre."],
}


class Upper(Engine):
    """An engine without workers whose translators write capitals; ``lossy`` ones lose masks."""

    def __init__(self, *pairs, rewrite=str.upper, beam=4):
        super().__init__([], EngineSettings())
        self.rewrite, self.asked = rewrite, []
        for source, target in pairs:
            facts = {
                "kind": "run",
                "task": "translation",
                "languages": [source, target],
                "max_length": 24,
                "samples": list(zip(SAMPLES[source], SAMPLES[target], strict=True)),
                "decoding": {"method": "beam", "beam": beam},
            }
            self.served[source + target] = Served(source + target, Path(), facts, None)

    async def ask(self, name, kind, texts, options=None, *, deadline=None, urgent=False):
        assert kind == "translate" and len(texts) <= self.settings.request_texts
        self.asked += texts
        ranks = ["", " 2", " 2", " 3"][: options["best"]]
        return [[self.rewrite(text) + rank for rank in ranks] for text in texts]


def lossy(text):
    return re.sub(r"[XQZJ]\d+", "", text).upper()


def backwards(text):
    return " ".join(reversed(text.upper().split()))


@pytest.fixture
def upper(call):
    engine = Upper(("de", "en"), ("fr", "en"))
    return make_site(engine, call, ServeSettings())


@pytest.fixture
def stock(engine, call, monkeypatch):
    """Serve a stored run on a port; return LibreTranslate's own client."""
    monkeypatch.setitem(engine.served["translation"].facts, "languages", ["de", "en"])
    with serve(engine, call, ServeSettings(keys=Keys([KEY]))) as address:
        yield SimpleNamespace(address=address, client=LibreTranslateAPI(address, KEY))


class serve:  # noqa: N801 - a context
    def __init__(self, engine, call, settings):
        app = make_site(engine, call, settings).app
        config = uvicorn.Config(app, lifespan="off", log_config=None, log_level="critical")
        self.server, self.call = uvicorn.Server(config), call
        self.listening = socket.create_server(("127.0.0.1", 0))

    def __enter__(self):
        async def start():
            self.task = asyncio.ensure_future(self.server.serve(sockets=[self.listening]))
            while not self.server.started:
                await asyncio.sleep(0.01)

        self.call(start())
        return "http://127.0.0.1:{1}".format(*self.listening.getsockname())

    def __exit__(self, *_):
        async def stop():
            self.server.should_exit = True
            await self.task

        self.call(stop())


def test_the_stock_client_translates_detects_and_lists(stock, site):
    told = site.post("/api/predict", {"run": "translation", "texts": "a b c"}).json()
    assert stock.client.translate("a b c", "de", "en") == told["answers"][0]["text"]
    assert stock.client.translate("😀 12\r\n.", "de", "en") == "😀 12\n."
    names = [{"code": "de", "name": "German", "targets": ["de", "en"]}]
    assert stock.client.languages() == [
        *names,
        {"code": "en", "name": "English", "targets": ["en"]},
    ]
    found = stock.client.detect("Das ist nicht das Haus von der Frau")
    assert found[0]["language"] == "de" and found[0]["confidence"] > 90
    assert sum(one["confidence"] for one in found) == pytest.approx(100)


@pytest.mark.parametrize(
    ("key", "q", "target", "status", "error"),
    [
        (KEY, "", "en", 400, "Invalid request: missing q parameter"),
        (KEY, "a", "", 400, "Invalid request: missing target parameter"),
        (KEY, "a", "zz", 400, "zz is not supported"),
        ("wrong", "a", "en", 403, "Invalid API key"),
        (None, "a", "en", 403, "Please contact the server operator to get an API key"),
    ],
)
def test_the_stock_client_receives_the_strings_it_knows(stock, key, q, target, status, error):
    with pytest.raises(HTTPError) as caught:
        LibreTranslateAPI(stock.address, key).translate(q, "de", target)
    assert caught.value.code == status
    assert json.load(caught.value) == {"error": error}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"source": "de", "target": "en"}, "Invalid request: missing q parameter"),
        ({"q": "a", "target": "en"}, "Invalid request: missing source parameter"),
        ({"q": "a", "source": "de"}, "Invalid request: missing target parameter"),
        ({"q": "a", "source": "zz", "target": "en"}, "zz is not supported"),
        ({"q": "a", "source": "de", "target": "auto"}, "auto is not supported"),
        (
            {"q": "a", "source": "de", "target": "en", "format": "xml"},
            "xml format is not supported",
        ),
        (
            {"q": "a", "source": "de", "target": "en", "alternatives": 9},
            "Invalid request: alternatives parameter must be <= 3",
        ),
        (
            {"q": "a" * 100_001, "source": "de", "target": "en"},
            "Invalid request: request (100001) exceeds text limit (100000)",
        ),
        (
            {"q": "a", "source": "de", "target": "fr"},
            "French (fr) is not available as a target language from German (de)",
        ),
        ([1], "Invalid request: missing q parameter"),
    ],
)
def test_errors_are_those_of_libretranslate(upper, body, error):
    answer = upper.post("/translate", body)
    assert (answer.status_code, answer.json()) == (400, {"error": error})
    assert answer.headers["access-control-allow-origin"] == "*"


def test_a_text_a_list_a_form_and_a_query_are_answered(upper):
    one = {"q": "ein hund", "source": "de", "target": "en"}
    assert upper.post("/translate", one).json() == {"translatedText": "EIN HUND"}
    many = {**one, "q": ["ein hund", "", " \n"]}
    assert upper.post("/translate", many).json() == {"translatedText": ["EIN HUND", "", " \n"]}
    for how in ({"data": one}, {"params": one}):
        assert upper.send("POST", "/translate", **how).json() == {"translatedText": "EIN HUND"}
    broken = upper.send(
        "POST", "/translate", content=b"{", headers={"content-type": "application/json"}
    )
    assert (broken.status_code, broken.json()) == (400, {"error": "Invalid JSON format"})


def test_auto_says_what_it_found(upper):
    texts = ["Der Hund schläft.", "Le chien dort.", "The dog sleeps.", "🎉"]
    asked = {"q": texts, "source": "auto", "target": "en"}
    found = upper.post("/translate", asked).json()
    assert found["translatedText"] == [*(text.upper() for text in texts[:2]), *texts[2:]]
    detected = found["detectedLanguage"]
    assert [one["language"] for one in detected[:3]] == ["de", "fr", "en"]
    assert all(80 < one["confidence"] <= 100 for one in detected[:3])
    assert detected[3]["confidence"] == 0.0
    single = upper.post("/translate", {**asked, "q": texts[0]}).json()
    assert single["detectedLanguage"] == detected[0]


def test_alternatives_are_further_hypotheses_each_once(upper):
    asked = {"q": ["Ja. Nein.", "1"], "source": "de", "target": "en", "alternatives": 3}
    found = upper.post("/translate", asked).json()
    assert found["translatedText"] == ["JA. NEIN.", "1"]
    assert found["alternatives"] == [["JA. 2 NEIN. 2", "JA. 3 NEIN. 3"], []]
    html = upper.post("/translate", {**asked, "q": "a", "format": "html"}).json()
    assert html == {"translatedText": "A", "alternatives": []}


def test_hypotheses_of_a_run_are_those_of_its_beam(engine, call):
    run = load_run(KEEPSAKES / "translation", decoding={"beam": 3, "no_repeat": 4})
    (ranked,) = run.task.hypotheses(run.model, ["a b c"], best=9)
    assert len({one.ids for one in ranked}) == 3
    assert ranked[:1] == run.task.answer(run.model, ["a b c"])
    assert [[ranked[0]]] == run.task.hypotheses(run.model, ["a b c"])
    (found,) = call(engine.ask("translation", "translate", ["a b c"], {"best": 2}))
    assert len(found) == 2


TEXTS = st.lists(
    st.sampled_from(
        [
            "Hund",
            "läuft",
            "a.b",
            "Wort,",
            "Ende.",
            "Ja!",
            "{name}",
            "%s",
            "%(x)d",
            "{{ x y }}",
            "https://a.org/b?c=d&e=f.g",
            "😀",
            "X1",
            "100%",
            "\n",
            "  ",
            "\ue000",
            "me@here.org",
        ]
    ),
    max_size=30,
).map(" ".join)
KEPT = re.compile(r"\{name\}|%s|%\(x\)d|\{\{ x y \}\}|https://\S+[fF]\.[gG]|😀|\ue000|me@here\.org")


@given(TEXTS)
def test_splitting_loses_nothing(text):
    parts = split_text(protect(text), lambda unit: len(unit.text) < 9)
    assert join(parts, str) == text
    assert all(isinstance(part, str) or len(part.text) < 9 for part in parts)


@pytest.mark.parametrize("rewrite", [str.upper, lossy, backwards])
@settings(max_examples=60)
@given(text=TEXTS)
def test_placeholders_are_kept_whatever_the_model_does(call, rewrite, text):
    engine = Upper(("de", "en"), rewrite=rewrite)
    ((found,),) = call(Translator(engine, engine.served["deen"]).translate([text]))
    assert KEPT.findall(found) == KEPT.findall(text)
    if rewrite is str.upper:
        plain = " ".join(KEPT.sub(" ", text).upper().split())
        assert " ".join(KEPT.sub(" ", found).split()) == plain
    assert not any("{" in asked or "%s" in asked or "://" in asked for asked in engine.asked)


def test_a_long_text_is_asked_in_parts_that_fit(call):
    engine = Upper(("de", "en"))
    text = "wort " * 200 + "ende. " + "x" * 50 + "\n\nneue zeile"
    ((found,),) = call(Translator(engine, engine.served["deen"]).translate([text]))
    assert found == text.upper()
    assert max(1 + asked.count(" ") for asked in engine.asked) <= 23


WORDS = st.lists(st.sampled_from(["ein", "hund", "läuft", "ein.", "ja!", "&amp;", "&lt;b&gt;"]))
LEAVES = WORDS.map(" ".join) | st.sampled_from(
    [
        "<br>",
        "<img alt='ein <b>'/>",
        "<!-- ein -->",
        "<code>ein</code>",
        " ",
        "<script>a<b</script>",
        "<pre>\n ein </pre>",
        '<span translate="no">ein <b>x</b></span>',
        "a < b",
        "{name}",
        "<a>",
    ]
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda tag, children: f"<{tag}>{' '.join(children)}</{tag.split()[0]}>",
        st.sampled_from(["p", "b", "i class='ein x'", "a href=ein", "div", "li", "span"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=8,
)
KEPT_HTML = re.compile(
    r"<code>.*?</code>|<script>.*?</script>|<pre>.*?</pre>|<span translate.*?</span>|<!--.*?-->"
    r"|<img[^/]*/>|</?[a-z][^>]*>|&\w+;|\{name\}",
    re.DOTALL,
)


@pytest.mark.parametrize("rewrite", [str.upper, lossy, backwards])
@settings(max_examples=100)
@given(html=TREES)
def test_html_comes_back_with_its_tags_and_translated_text(call, rewrite, html):
    engine = Upper(("de", "en"), rewrite=rewrite)
    (found,) = call(Translator(engine, engine.served["deen"]).translate_html([html]))
    assert KEPT_HTML.findall(found) == KEPT_HTML.findall(html)
    words = KEPT_HTML.sub(" ", html).upper().replace(".", "").split()
    assert sorted(KEPT_HTML.sub(" ", found).replace(".", "").split()) == sorted(words)
    if rewrite is str.upper:
        plain = KEPT_HTML.sub("\0", html).upper().replace("\0", "{}")
        expected = plain.format(*KEPT_HTML.findall(html))
        assert "".join(found.split()) == "".join(expected.split())


@pytest.mark.parametrize(
    ("html", "answers", "expected"),
    [
        (
            "<p>Ein <b>Hund</b> läuft.</p>",
            {"Ein Hund läuft.": "A dog runs.", "Ein": "A.", "Hund": "Dog."},
            "<p>A <b>dog</b> runs.</p>",
        ),
        (
            "<p>Heute <b>läuft</b> ein <i>Hund</i></p>",
            {"Heute läuft ein Hund": "A dog runs today", "läuft": "runs", "Hund": "dog"},
            "<p>HEUTE <b>runs</b> EIN <i>dog</i></p>",
        ),
        ("Fran&ccedil;ois &quot;l&auml;uft&quot;", {}, "FRANÇOIS &quot;LÄUFT&quot;"),
        ("<td>&nbsp;</td>5 &euro; f&uuml;r", {}, "<td>&nbsp;</td>5 &euro; FÜR"),
        ("ein <b", {}, "EIN <b"),
        ("<B>ein</B><x-y>zwei</x-y>", {}, "<B>EIN</B><x-y>ZWEI</x-y>"),
        ("<p class='notranslate big'>ein</p> zwei", {}, "<p class='notranslate big'>ein</p> ZWEI"),
    ],
)
def test_tags_go_where_their_words_are(call, html, answers, expected):
    engine = Upper(("de", "en"), rewrite=lambda text: answers.get(text, text.upper()))
    (found,) = call(Translator(engine, engine.served["deen"]).translate_html([html]))
    assert found == expected


@pytest.mark.parametrize("bad", ["<a", "<a b='", "<!--", "<code>", "&amp;", "{", ". ", "<b>x</b>"])
def test_no_markup_takes_more_than_linear_time(bad):
    document = Document(bad * (10_000 // len(bad)), lambda unit: True)
    assert document.render(str) == bad * (10_000 // len(bad))


def test_without_a_translator_nothing_is_supported(call):
    empty = make_site(Upper(), call, ServeSettings())
    assert empty.get("/languages").json() == empty.post("/detect", {"q": "a"}).json() == []
    assert empty.get("/frontend/settings").status_code == 200
    answer = empty.post("/translate", {"q": "a", "source": "auto", "target": "en"})
    assert (answer.status_code, answer.json()) == (400, {"error": "en is not supported"})


def test_settings_health_preflight_and_what_is_refused(upper):
    settings_ = upper.get("/frontend/settings").json()
    assert settings_["language"]["source"] == {"code": "de", "name": "German"}
    assert (settings_["keyRequired"], settings_["charLimit"]) == (False, 100_000)
    assert upper.get("/health").json() == {"status": "ok"}
    assert "/translate" in upper.get("/spec").json()["paths"]
    preflight = upper.send("OPTIONS", "/translate")
    assert preflight.status_code == 204
    assert "Content-Type" in preflight.headers["access-control-allow-headers"]
    assert "access-control-allow-origin" not in upper.get("/api/runs").headers
    for path in ("/suggest", "/translate_file"):
        assert upper.post(path, {}).status_code == 403
