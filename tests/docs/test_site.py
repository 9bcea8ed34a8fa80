"""The site builds without a warning, knows every public name and command, and needs nothing from elsewhere."""

import importlib
import pkgutil
import re
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

import biselect

pytest.importorskip("sphinx", reason="needs the docs extra")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The built pages. Broken links, unknown anchors, pages in no menu and unreadable docstrings are warnings."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "sphinx", "-q", "-E", "-W", "--keep-going"]
    done = subprocess.run([*build, str(ROOT / "docs"), str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def described(site):
    """Full names of everything in the reference, from the inventory."""
    content = (site / "objects.inv").read_bytes()
    lines = zlib.decompress(content.split(b"zlib.\n", 1)[1]).decode().splitlines()
    return {line.split()[0] for line in lines if " py:" in line}


def packages() -> list[str]:
    """Every package and module of ours that lists its public names."""
    found = [name for _, name, _ in pkgutil.walk_packages(biselect.__path__, "biselect.") if "cuda" not in name]
    listing = [name for name in found if "\n__all__" in Path(importlib.util.find_spec(name).origin).read_text()]
    return ["biselect", *listing]


def names_of(package: str) -> list[str]:
    return [name for name in importlib.import_module(package).__all__ if not name.startswith("_")]


def test_every_public_name_is_described(described):
    homes = {}
    for full_name in sorted(described, key=len, reverse=True):  # the shortest name is the one offered to users
        module, _, name = full_name.rpartition(".")
        try:
            homes[id(getattr(importlib.import_module(module), name))] = full_name
        except (ImportError, AttributeError, ValueError):
            continue  # a method, whose class is described, or a module
    for package in packages():
        for name in names_of(package):
            assert id(getattr(importlib.import_module(package), name)) in homes, f"{package}.{name}"
    assert {
        "biselect.SelectionProblem",
        "biselect_quantum.devices.Patch",
        "biselect_quantum.circuits.STRATEGIES",
    } <= described


def test_every_command_is_described_with_its_options(site):
    from typer.main import get_command

    from biselect.cli import app

    page = (site / "reference" / "command-line.html").read_text()
    commands = get_command(app).commands
    assert len(commands) >= 11
    for name, command in commands.items():
        section = re.search(rf'<section id="{name}">(.*?)</section>', page, re.DOTALL)
        assert section, name
        for parameter in command.params:
            spelled = parameter.name.upper() if parameter.param_type_name == "argument" else parameter.opts[0]
            assert f">{spelled}<" in section[1], f"{name} {spelled}"


class Fetched(HTMLParser):
    """What a browser would load to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        loads = tag in ("script", "img", "iframe") or (tag == "link" and given.get("rel") in ("stylesheet", "icon"))
        self.addresses += [given[name] for name in ("src", "href") if loads and given.get(name)]


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        reader = Fetched()
        reader.feed(page.read_text())
        assert reader.addresses
        for address in reader.addresses:
            assert not re.match(r"(https?:)?//", address), f"{page.name}: {address}"
            assert (page.parent / address.split("?")[0]).exists(), f"{page.name}: {address}"
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", sheet.read_text()), sheet


@pytest.mark.browser
def test_the_search_box_finds_a_page_from_disk(site, chromium, tmp_path):
    found = shown(chromium, tmp_path, f"{(site / 'search.html').as_uri()}?q=neighbouring+budgets")
    assert re.search(r'<ul [^>]*class="search".*?href="[^"]*how-to/report\.html', found, re.DOTALL)


@pytest.mark.browser
@pytest.mark.parametrize("page", ["index", "tutorials/analyst", "how-to/circuits", "reference/command-line"])
def test_no_page_is_wider_than_a_phone(site, chromium, tmp_path, page):
    probe = tmp_path / "probe.html"  # Chromium has no window this narrow, but a frame may be
    address = (site / f"{page}.html").as_uri()
    probe.write_text(
        f"""<iframe id=f src="{address}" width=390 height=800></iframe><script>
        f.onload = () => {{ const whole = f.contentDocument.documentElement;
                            document.title = `${{whole.scrollWidth}} of ${{whole.clientWidth}}`; }}</script>"""
    )
    measured = shown(chromium, tmp_path, probe.as_uri(), "--allow-file-access-from-files")
    needed, room = re.search(r"<title>(\d+) of (\d+)</title>", measured).groups()
    assert int(needed) <= int(room) <= 390


def shown(chromium: str, folder: Path, address: str, *more: str) -> str:
    """A page after its scripts have run."""
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", *more]
    command += ["--disable-background-networking", f"--user-data-dir={folder / 'profile'}"]
    command += ["--virtual-time-budget=8000", "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
