"""Write constraints.txt anew: every package that the set-up needs, in the version installed here, and its SHA-256s.

Run it with the Python that has the tested versions: `.venv/bin/python scripts/lock.py`. The hashes of all files that a
supported Python could take come from the index that pip is configured with; no address is written.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import Request, urlopen

from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
from pip._internal.models.index import PyPI  # where pip looks unless it is told otherwise

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "constraints.txt"
PYTHONS = ("3.11", "3.12", "3.13")
HEAD = "# Made by scripts/lock.py: the tested versions, with the SHA-256 of each of their files.\n"


def requirements() -> list[str]:
    """What the set-up installs, from all three pyproject.toml; extras of our own are resolved here."""
    files = (ROOT / folder / "pyproject.toml" for folder in (".", "quantum", "studies"))
    projects = {project["name"]: project for project in (tomllib.loads(file.read_text())["project"] for file in files)}
    waiting = [one for project in projects.values() for one in project["dependencies"]] + ["biselect[dev]"]
    outside = set()
    while waiting:
        one = Requirement(waiting.pop())
        if one.name in projects:
            extras = projects[one.name]["optional-dependencies"]
            waiting += [part for extra in one.extras for part in extras[extra]]
        else:
            outside.add(str(one))
    return sorted(outside)


def installed(wanted: list[str]) -> dict[str, tuple[str, set[str]]]:
    """What the requirements lead to among the installed packages: name, version, and the Pythons that need it."""
    found: dict[str, tuple[str, set[str]]] = {}
    for python in PYTHONS:
        setting = {"python_version": python, "python_full_version": f"{python}.0"}
        waiting, seen = [(Requirement(text), "") for text in wanted], set[tuple[str, str]]()
        while waiting:
            one, asked = waiting.pop()
            if one.marker is not None and not one.marker.evaluate({**setting, "extra": asked}):
                continue
            try:
                package = distribution(one.name)
            except PackageNotFoundError:
                raise SystemExit(
                    f"{one} is needed by Python {python}, but not installed here: install it first"
                ) from None
            if package.version not in one.specifier:
                raise SystemExit(f"{one} is needed, but {package.version} is installed here")
            found.setdefault(package.metadata["Name"], (package.version, set()))[1].add(python)
            for extra in {"", *one.extras}:
                if (one.name, extra) not in seen:
                    seen.add((one.name, extra))
                    waiting += [(Requirement(text), extra) for text in package.requires or ()]
    return found


class Links(HTMLParser):
    """The addresses in the page of an index."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the address of a link."""
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def indexes() -> list[str]:
    """Where pip looks."""
    told = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    settings = dict(line.split("=", 1) for line in told.stdout.splitlines() if "=" in line)
    given = {name.rsplit(".", 1)[-1]: value.strip("'\"") for name, value in settings.items()}
    return [given.get("index-url", PyPI.simple_url), *given.get("extra-index-url", "").replace("\\n", " ").split()]


def hashes(name: str, version: str, places: list[str]) -> set[str]:
    """The SHA-256 of all files of a version that some supported Python could take."""
    found = set()
    for place in places:
        address = f"{place.rstrip('/')}/{canonicalize_name(name)}/"
        if address.startswith("file:"):
            page = Path(unquote(urlsplit(address).path)) / "index.html"
            text = page.read_text() if page.exists() else ""
        else:
            with urlopen(Request(address, headers={"Accept": "text/html"}), timeout=180) as answer:
                text = answer.read().decode()
        links = Links()
        links.feed(text)
        for link in (urlsplit(urljoin(address, link)) for link in links.found):
            digest = re.fullmatch(r"sha256=([0-9a-f]{64})", link.fragment)
            if digest and _is_of(unquote(link.path.rsplit("/", 1)[-1]), version):
                found.add(digest[1])
    if not found:
        raise SystemExit(f"no index gives the SHA-256 of {name} {version}")
    return found


def _is_of(file: str, version: str) -> bool:
    try:
        if file.endswith(".whl"):
            _, of, _, tags = parse_wheel_filename(file)
            return str(of) == version and any(map(_usable, tags))
        return str(parse_sdist_filename(file)[1]) == version
    except ValueError:  # an installer of old, or a name that is none
        return False


def _usable(tag: Tag) -> bool:
    """Whether some supported CPython takes wheels of this tag."""
    return (
        tag.interpreter.startswith("py3")
        or tag.abi == "abi3"
        or tag.interpreter in {f"cp{python.replace('.', '')}" for python in PYTHONS}
    )


def main() -> None:
    """Look what is installed, then ask for the hashes."""
    packages, places = installed(requirements()), indexes()
    names = sorted(packages, key=str.lower)
    with ThreadPoolExecutor(8) as threads:
        digests = threads.map(lambda name: hashes(name, packages[name][0], places), names)
        lines = [HEAD]
        for name, found in zip(names, digests, strict=True):
            version, pythons = packages[name]
            marker = "" if len(pythons) == len(PYTHONS) else f' ; python_version in "{" ".join(sorted(pythons))}"'
            each = [f"    --hash=sha256:{digest}" for digest in sorted(found)]
            lines.append(" \\\n".join([f"{name}=={version}{marker}", *each]) + "\n")
    LOCK.write_text("".join(lines))
    print(f"wrote {len(names)} packages to {LOCK.name}")


if __name__ == "__main__":
    main()
