"""Who may ask, and what a stranger gets: nothing, with a 4xx, whatever is sent."""

import os
import random
import re
import string
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from biselect.sessions.store import FILE

HOME = "http://127.0.0.1:8123"
PAGES = ["/", "/table?name=pool.csv", "/working", "/job", "/review", "/beside", "/new?name=pool.csv", "/exported"]
DEEDS = ["/files?name=x.csv", "/demo", "/look", "/link", "/choose", "/stop", "/answer", "/undo", "/next", "/open"]
DEEDS += ["/back", "/turn", "/export"]
TOKEN = "a-token-of-the-tests"


def listing(folder):
    return {path.relative_to(folder): path.stat().st_size for path in folder.rglob("*")}


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "headers",
    [{}, {"X-Biselect-Token": "wrong"}, {"Cookie": f"biselect-8123={TOKEN}"}, {"Authorization": f"Bearer {TOKEN}"}],
)
def test_nothing_is_served_without_the_token_in_its_header(bench, tmp_path, headers):
    client, _ = bench
    before = listing(tmp_path)
    for address in PAGES:
        for query in ("", f"{'&' if '?' in address else '?'}token={TOKEN}"):
            answer = client.get(address + query, headers=headers)
            assert answer.status_code == 403 and "pool" not in answer.text
    for address in DEEDS:
        assert client.post(address, headers={**headers, "Origin": HOME}).status_code == 403
    assert client.get("/once/guess/answers.csv", headers=headers).status_code == 404
    assert listing(tmp_path) == before


def test_a_browser_that_goes_to_an_address_gets_the_same_empty_page_everywhere(bench, tmp_path):
    client, behind = bench
    pages = [client.get(address, headers={"Accept": "text/html"}) for address in [*PAGES, "/no", "/enter"]]
    assert {page.status_code for page in pages} == {200} and len({page.text for page in pages}) == 1
    assert "pool.csv" not in pages[0].text and tmp_path.name not in pages[0].text and TOKEN not in pages[0].text
    assert pages[0].headers["cache-control"] == "no-store" and pages[0].headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in pages[0].headers["content-security-policy"]
    assert client.post("/enter", headers={"Origin": HOME}).status_code == 403 and behind.worker.job is None


def test_what_is_asked_for_by_get_changes_nothing(browser, bench, tmp_path):
    """Not even with the token: whatever takes work, or writes, begins by a POST."""
    behind = bench[1]
    browser.begin()
    browser.done(browser.post("/export"))
    job, before = behind.worker.job, contents(tmp_path)
    for deed in DEEDS:
        assert browser.get(deed).status_code == 405
    for page in [*PAGES, "/table?name=tuesday.csv", "/new?name=tuesday.csv", "/once/guess/x"]:
        assert browser.get(page).status_code in (200, 303, 404)
    assert behind.worker.job is job and contents(tmp_path) == before


def test_no_answer_sets_a_cookie(browser, bench):
    browser.begin()
    answers = [browser.get(page) for page in PAGES]
    answers.append(bench[0].post("/enter", data={"code": bench[0].entrance.code()}, headers={"Origin": HOME}))
    assert not any("set-cookie" in answer.headers for answer in answers) and not bench[0].cookies


def enter(client, code, origin="null"):
    return client.post("/enter", data={"code": code}, headers={"Origin": origin, "Sec-Fetch-Site": "cross-site"})


def test_a_code_lets_one_browser_in_once_and_not_for_long(bench, monkeypatch):
    client, _ = bench
    first, second = client.entrance.code(), client.entrance.code()
    assert TOKEN in enter(client, first).text
    assert TOKEN in enter(client, f" {second.upper()} ", HOME).text  # typed
    late = client.entrance.code()
    clock = time.monotonic()
    monkeypatch.setattr("biselect.app.guard.time.monotonic", lambda: clock + 3600)
    for used in (first, second, late, "", "guess"):
        answer = enter(client, used)
        assert answer.status_code == 403 and TOKEN not in answer.text and "too old" in answer.text
    assert enter(client, client.entrance.code(), "http://evil.example").status_code == 403


def test_one_of_many_who_send_a_code_at_once_gets_in(bench):
    client, _ = bench
    with ThreadPoolExecutor(8) as together:
        for _ in range(20):
            code = client.entrance.code()
            taken = together.map(client.entrance._codes.take, [code] * 8)
            assert sum(text is not None for text in taken) == 1


def test_the_page_that_hands_a_code_over_is_its_owner_s_and_goes_when_it_is_used(bench, tmp_path):
    client, _ = bench
    before = os.umask(0)  # whatever a user has set
    try:
        pages = [client.entrance.file(tmp_path) for _ in range(2)]
    finally:
        os.umask(before)
    codes = [re.search(r'name="code" value="([^"]+)"', page.read_text())[1] for page in pages]
    assert [page.stat().st_mode & 0o777 for page in pages] == [0o600, 0o600] and codes[0] != codes[1]
    assert TOKEN not in pages[0].read_text() and f'action="{HOME}/enter"' in pages[0].read_text()
    assert TOKEN in enter(client, codes[0]).text and [page.exists() for page in pages] == [False, True]


def test_a_link_to_a_file_works_once_and_not_for_long(browser, bench, tmp_path, monkeypatch):
    client, _ = bench
    (tmp_path / "export" / "report").mkdir(parents=True)
    (tmp_path / "export" / "report" / "report.html").write_text("<p>pool</p>")
    links = [browser.post("/link", {"name": "report/report.html"}).json()["address"] for _ in range(2)]
    assert client.head(links[0]).status_code == 403
    assert client.get(links[0]).text == "<p>pool</p>"
    assert client.get(links[0]).status_code == 404
    clock = time.monotonic()
    monkeypatch.setattr("biselect.app.guard.time.monotonic", lambda: clock + 3600)
    assert client.get(links[1]).status_code == 404
    for name in ("../review.sqlite", "../pool.csv", "", "report"):
        assert browser.post("/link", {"name": name}).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": HOME, "Sec-Fetch-Site": "cross-site"}],
)
def test_deeds_of_other_origins_are_refused_although_the_token_is_there(browser, tmp_path, headers):
    before = listing(tmp_path)
    for address in DEEDS:
        assert browser.client.post(address, headers={**browser.token, **headers}).status_code == 403
    assert listing(tmp_path) == before
    assert browser.get("/", headers={"Origin": "http://evil.example"}).status_code == 403
    assert browser.get("/", headers={"Origin": "null"}).status_code == 403


def test_other_hosts_are_refused(browser):
    for host in ("evil.example", "evil.example:8123", "127.0.0.1:9", "127.0.0.1", "localhost.evil.example:8123"):
        assert browser.get("/", headers={"Host": host}).status_code == 421
    assert browser.get("/", headers={"Host": "localhost:8123"}).status_code == 200


def test_other_methods_and_too_much_are_refused(browser, tmp_path):
    before = listing(tmp_path)
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
        assert browser.client.request(method, "/files", headers={"Origin": HOME}).status_code == 405
    assert browser.post("/files?name=x.csv", content=b"x" * 300_000).status_code == 413

    def endless():  # without a length
        for _ in range(400):
            yield b"a,b\n" * 1000

    assert browser.post("/files?name=x.csv", content=endless()).status_code == 413
    assert browser.post("/answer", content=b"x" * (2 << 20)).status_code == 413
    assert browser.post("/enter", content=b"code=" + b"x" * 2000).status_code == 413
    assert browser.get("/?" + "x" * 9000).status_code == 414
    assert browser.post("/answer", content=b"", headers={"Content-Length": "1e9"}).status_code == 400
    assert listing(tmp_path) == before


@pytest.mark.parametrize("requests", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_odd_requests_change_nothing(browser, tmp_path, requests):
    """With the token and from our own origin: the worst that a page of ours could be made to send."""
    browser.begin()
    before = {path: size for path, size in listing(tmp_path).items() if path.name != FILE}
    choices = (tmp_path / FILE).read_bytes()
    rng = random.Random(0)
    odd = ["", "0", "-1", "1e9", "9" * 400, "../../etc/passwd", "pool.csv\0", "file:../x", "<script>", "%00", "é\ud800"]
    odd += ["pool.csv::select 1", "/etc/passwd", "..", "last", "earlier", "not fine'; DROP TABLE answers; --", "{}"]
    names = (
        "table name against until m row choice verdict note who when after window unlike role-0 usual-m which".split()
    )
    names += ["duplicates", "part-0-hour", "then", "code"]
    deeds = [deed.partition("?")[0] for deed in DEEDS if not deed.startswith(("/demo", "/stop", "/back", "/export"))]
    for number in range(requests):
        fields = {name: rng.choice(odd) for name in rng.sample(names, rng.randrange(6))}
        fields = {name: value.encode("utf-8", "replace").decode() for name, value in fields.items()}
        if number % 3 == 0:
            path = "/" + "".join(rng.choices(string.printable.replace("\\", ""), k=rng.randrange(12)))
            address = rng.choice([*PAGES, path, "/once/../review.sqlite", "/once/x/%2e%2e%2freview.sqlite"])
            try:
                answer = browser.get(address, params=fields)
            except Exception as error:  # what cannot even be an address is refused by the one who asks
                assert type(error).__name__ in ("InvalidURL", "UnsupportedProtocol", "LocalProtocolError"), error
                continue
            assert answer.status_code < 500 and b"SQLite format" not in answer.content
        else:
            deed = rng.choice(deeds)
            if rng.random() < 0.5:
                answer = browser.post(deed, content=rng.randbytes(rng.randrange(200)), params=fields)
            else:
                answer = browser.post(deed, fields)
            nothing = deed == "/undo" and answer.status_code == 200 and answer.json()["back"] is None
            assert nothing or 400 <= answer.status_code < 500, (deed, fields, answer.status_code, answer.text[:200])
    assert {path: size for path, size in listing(tmp_path).items() if path.name != FILE} == before
    assert (tmp_path / FILE).read_bytes() == choices
