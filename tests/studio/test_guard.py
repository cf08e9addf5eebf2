"""The guard: only the user, and only our own pages, are let in (P25)."""

from itertools import product

import pytest
from tests.studio.conftest import GUARD, HOST, TOKEN, ask

from regard.studio.guard import HEADERS, Guard

JSON = ("content-type", "application/json")
HOSTS = {
    "ours": ([HOST], True),
    "localhost": (["localhost:8010"], True),
    "another name": (["rebound.example:8010"], False),
    "another port": (["127.0.0.1:8011"], False),
    "no port": (["127.0.0.1"], False),
    "longer": ([f"{HOST}.example"], False),
    "in capitals": (["LOCALHOST:8010"], False),
    "twice": ([HOST, HOST], False),
    "missing": ([], False),
}
ORIGINS = {
    "none": ([], True),
    "ours": ([f"http://{HOST}"], True),
    "secure": ([f"https://{HOST}"], False),
    "null": (["null"], False),
    "another port": (["http://127.0.0.1:9999"], False),
    "another": (["http://example.org"], False),
}
SITES = {
    "unsaid": ([], True),
    "same-origin": (["same-origin"], True),
    "same-site": (["same-site"], False),
    "cross-site": (["cross-site"], False),
}
CALLS = {
    "GET": ("GET", [], True),
    "HEAD": ("HEAD", [], True),
    "POST with the token": ("POST", [("x-studio-token", TOKEN), JSON], True),
    "POST without": ("POST", [JSON], False),
    "POST with another": ("POST", [("x-studio-token", TOKEN[:-1] + "t"), JSON], False),
    "POST of a form": ("POST", [("x-studio-token", TOKEN), ("content-type", "text/plain")], False),
    "PUT": ("PUT", [("x-studio-token", TOKEN), JSON], False),
    "DELETE": ("DELETE", [("x-studio-token", TOKEN), JSON], False),
    "OPTIONS": ("OPTIONS", [], False),
}


async def answer(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


GUARDED = Guard(answer, GUARD)


def test_no_combination_of_host_origin_site_and_method_is_wrongly_accepted(call):
    wrong, tried, accepted = [], 0, 0
    for host, origin, site, made in product(HOSTS, ORIGINS, SITES, CALLS):
        method, more, permitted = CALLS[made]
        headers = [
            *(("host", value) for value in HOSTS[host][0]),
            *(("origin", value) for value in ORIGINS[origin][0]),
            *(("sec-fetch-site", value) for value in SITES[site][0]),
            *more,
        ]
        expected = HOSTS[host][1] and ORIGINS[origin][1] and SITES[site][1] and permitted
        found = call(ask(GUARDED, method, "/api/anything", headers))
        tried, accepted = tried + 1, accepted + (found.body == b"inside")
        if (found.body == b"inside") != expected or (found.status == 200) != expected:
            wrong.append((host, origin, site, made, found.status))
    assert wrong == [] and tried > 200 and accepted == 2 * 2 * 2 * 3


@pytest.mark.parametrize(
    ("path", "more", "status"),
    [
        ("/explain", {}, 200),
        ("/explain", {"sec-fetch-mode": "cors"}, 403),
        ("/explain", {"sec-fetch-dest": "iframe"}, 403),
        ("/api/runs", {}, 403),
        ("/static/app.js", {}, 403),
    ],
)
def test_a_link_from_elsewhere_opens_a_page_and_nothing_else(call, path, more, status):
    site = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    headers = {"host": HOST, **site, "sec-fetch-dest": "document", **more}
    assert call(ask(GUARDED, "GET", path, list(headers.items()))).status == status


def test_every_answer_forbids_foreign_scripts_frames_and_guessing(call):
    refused = call(ask(GUARDED, "GET", "/", []))
    served = call(ask(GUARDED, "GET", "/", [("host", HOST)]))
    for found in (refused, served):
        assert HEADERS.items() <= found.headers.items()
    policy = dict(part.split(" ", 1) for part in HEADERS["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'" and policy["script-src"] == "'self'"
    assert "unsafe" not in HEADERS["content-security-policy"]
    assert not any(name.startswith("access-control") for name in served.headers)


def test_a_body_beyond_the_limit_is_refused(call):
    headers = [("host", HOST), ("x-studio-token", TOKEN), JSON]
    assert call(ask(GUARDED, "POST", "/api/x", headers, body=b"a" * 100_001)).status == 413
    assert call(ask(GUARDED, "POST", "/api/x", headers, body=b"a" * 100_000)).status == 200


def test_an_error_of_ours_is_logged_by_its_place_and_told_without_it(call):
    async def fail(scope, receive, send):
        raise ValueError("a secret text")

    log = []
    found = call(ask(Guard(fail, GUARD, log.append), "GET", "/", [("host", HOST)]))
    assert found.status == 500 and b"secret" not in found.body
    assert "ValueError" in log[0] and "test_guard.py" in log[0] and "secret" not in log[0]
