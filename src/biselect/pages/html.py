"""Plain data to one self-contained HTML page: no font, no address, no script but ours; every name escaped."""

import base64
import hashlib
import json
import sys
import tempfile
import webbrowser
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from biselect.core.files import write_file
from biselect.errors import InputError
from biselect.pages.words import number, points, printed_parts, printed_scores, told_parts, words_of
from biselect.progress import in_notebook

FORMAT = "biselect-report-7"  # of the plain data that this version renders


def render_html(view: Mapping[str, Any], language: str = "en") -> str:
    """Render the page of a review.

    Args:
        view: what it shows, as plain data, such as `Review.view` or the content of `report.json`.
        language: of the words, one of the files beside `words/en.toml`.
    """
    return render_page("report.html", view, FORMAT, language=language)


def render_inspection(view: Mapping[str, Any]) -> str:
    """Render the page of an inspection.

    Args:
        view: how a table is written, and what its columns are; from `Inspection.to_dict`.
    """
    return render_page("inspection.html", view, "biselect-inspection-1")


def render_page(
    template: str, view: Mapping[str, Any], format_: str, *, package: str = "", language: str = "en", **more: Any
) -> str:
    """Render plain data as a page.

    Args:
        template: the file's name, in `templates/`.
        view: the plain data.
        format_: the format that the template takes.
        package: whose templates are taken beside ours.
        language: of the words.
        more: further variables and functions of the template.
    """
    if not isinstance(view, Mapping) or view.get("format") != format_:
        raise InputError(f"not a summary of this version ({format_})")
    try:
        json.dumps(view, allow_nan=False)  # a number that is none would draw nonsense
        return _environment(package).get_template(template).render(words=words_of(language), **view, **more)
    except Exception as error:  # whatever the templates run into
        raise InputError(f"the summary is damaged: {error}") from error


@cache
def _environment(package: str) -> Environment:
    """Templates, taken apart once."""
    loader = ChoiceLoader([PackageLoader(name) for name in ("biselect.pages", package) if name])
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=number, percent=_percent, csp_hash=_csp_hash, points=points)
    environment.globals.update(printed_parts=printed_parts, printed_scores=printed_scores, told_parts=told_parts)
    environment.globals.update(spread=_spread, number=number, zip=zip)
    environment.globals["source"] = lambda name: Markup(loader.get_source(environment, name)[0])
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False}  # `tojson` escapes what could end a script
    return environment


def _csp_hash(script: str) -> str:
    """What a Content-Security-Policy calls this script, and so no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _percent(share: float) -> str:
    """A share in percent; small ones keep a digit."""
    percent = 100 * share
    return "< 0.1 %" if 0 < percent < 0.1 else f"{percent:.1f}".removesuffix(".0") + " %"


def _path(counts: Sequence[int], width: float, height: float) -> str:
    """The bars of a histogram as one SVG path, standing on y = 0 and growing upwards."""
    each, most = width / max(1, len(counts)), max(*counts, 1)
    tops = (f"V{-height * count / most:.1f}H{each * (at + 1):.1f}" for at, count in enumerate(counts))
    return f"M0 0{''.join(tops)}V0Z"


WIDTH, TALL, TICK = 100.0, 30.0, 7.0  # of the picture of a column
BEYOND = 2.0  # lengths of the normal range that the picture reaches beyond it, to where the chosen rows are


def _spread(picture: Mapping[str, Any]) -> Markup:
    """How normal rows spread in a column, with the chosen ones marked below."""
    counts, marks = picture["counts"], []
    if "labels" in picture:
        each = WIDTH / max(1, len(counts))
        for at, label in enumerate(picture["labels"]):
            share = sum(value == label for value in picture["chosen"]) / max(1, len(picture["chosen"]))
            if share:
                width = (each - 2) * share
                marks.append(f'<rect x="{each * at:.1f}" y="{TALL + 2}" width="{width:.1f}" height="{TICK - 3}"/>')
        start, width = 0.0, WIDTH
    else:
        length = picture["last"] - picture["first"] or 1.0
        places = [(x - picture["first"]) / length for x in picture["chosen"] if isinstance(x, float)]
        low, high = max(-BEYOND, min([0.0, *places])), min(1 + BEYOND, max([1.0, *places]))
        width = WIDTH / (high - low)
        start = -low * width
        for place in places:
            x = width * (min(high, max(low, place)) - low)
            marks.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TALL + 1}" y2="{TALL + TICK}"/>')
    bars = f'<path transform="translate({start:.1f} {TALL})" d="{_path(counts, width, TALL)}"/>'
    size = f"0 0 {WIDTH:.0f} {TALL + TICK:.0f}"
    picture_start = f'<svg class="spread" viewBox="{size}" preserveAspectRatio="none" aria-hidden="true">'
    return Markup(f"{picture_start}{bars}{''.join(dict.fromkeys(marks))}</svg>")


HEIGHT = 720  # pixels of a page in a notebook


def show_page(page: str) -> None:
    """Show one self-contained page."""
    if in_notebook():
        import_module("IPython.display").display({"text/html": _frame(page), "text/plain": "Report"}, raw=True)
        return
    folder = Path(tempfile.mkdtemp(prefix="biselect-"))  # stays: the browser reads it after we are gone
    file = folder / "report.html"
    write_file(file, page)
    if not webbrowser.open(file.as_uri()):
        print(f"Open {file} in a browser.", file=sys.stderr)


def _frame(page: str) -> str:
    """The page in a frame of its own: its style and script reach nothing outside."""
    look = f'width="100%" height="{HEIGHT}" style="border:0;background:white"'
    return f'<iframe sandbox="allow-scripts allow-downloads" title="Report" {look} srcdoc="{escape(page)}"></iframe>'
