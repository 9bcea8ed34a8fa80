"""Who may ask, and what a stranger gets: nothing, with a 4xx, whatever is sent."""

import random
import string

import pytest

from biselect.reviews.session_file import FILE

HOME = "http://127.0.0.1:8123"
PAGES = ["/", "/table?name=pool.csv", "/working", "/job", "/review", "/standing", "/new?name=pool.csv", "/exported"]
DEEDS = ["/files?name=x.csv", "/demo", "/preview", "/choose", "/stop", "/answer", "/undo", "/next", "/back", "/turn"]
DEEDS += ["/export"]


def listing(folder):
    return {path.relative_to(folder): path.stat().st_size for path in folder.rglob("*")}


@pytest.mark.parametrize("headers", [{}, {"Cookie": "biselect-8123=wrong"}, {"Cookie": "\x01;;=;"}])
def test_nothing_is_served_without_the_token(bench, tmp_path, headers):
    client, _ = bench
    before = listing(tmp_path)
    for address in PAGES:
        answer = client.get(address, headers=headers)
        assert answer.status_code == 403 and "token" in answer.text and "pool" not in answer.text
    for address in DEEDS:
        assert client.post(address, headers={**headers, "Origin": HOME}).status_code == 403
    assert client.get("/?token=guess").status_code == 403
    assert listing(tmp_path) == before


def test_the_token_becomes_a_cookie_that_no_script_and_no_other_site_gets(bench):
    client, _ = bench
    answer = client.get("/?token=a-token-of-the-tests")
    cookie = answer.headers["set-cookie"]
    assert answer.headers["location"] == "/" and "HttpOnly" in cookie and "SameSite=strict" in cookie
    page = client.get("/")
    assert page.status_code == 200 and "a-token-of-the-tests" not in page.text
    assert page.headers["cache-control"] == "no-store" and page.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]


@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": HOME, "Sec-Fetch-Site": "cross-site"}],
)
def test_deeds_of_other_origins_are_refused_although_the_cookie_is_there(browser, tmp_path, headers):
    before = listing(tmp_path)
    for address in DEEDS:
        assert browser.client.post(address, headers=headers).status_code == 403
    assert listing(tmp_path) == before
    assert browser.client.get("/", headers={"Origin": "http://evil.example"}).status_code == 403


def test_other_hosts_are_refused(browser):
    for host in ("evil.example", "evil.example:8123", "127.0.0.1:9", "127.0.0.1", "localhost.evil.example:8123"):
        assert browser.get("/", headers={"Host": host}).status_code == 421
    assert browser.get("/", headers={"Host": "localhost:8123"}).status_code in (200, 403)  # the cookie is the other's


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
    names = "table name against until k m row choice verdict note who when seen count role-0 usual-m which".split()
    names += ["duplicates", "part-0-hour"]
    deeds = [deed.partition("?")[0] for deed in DEEDS if not deed.startswith(("/demo", "/stop", "/back", "/export"))]
    for number in range(requests):
        fields = {name: rng.choice(odd) for name in rng.sample(names, rng.randrange(6))}
        fields = {name: value.encode("utf-8", "replace").decode() for name, value in fields.items()}
        if number % 3 == 0:
            path = "/" + "".join(rng.choices(string.printable.replace("\\", ""), k=rng.randrange(12)))
            address = rng.choice([*PAGES, path, "/exported/../review.sqlite", "/exported/%2e%2e%2freview.sqlite"])
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
            assert 400 <= answer.status_code < 500, (deed, fields, answer.status_code, answer.text[:200])
    assert {path: size for path, size in listing(tmp_path).items() if path.name != FILE} == before
    assert (tmp_path / FILE).read_bytes() == choices
