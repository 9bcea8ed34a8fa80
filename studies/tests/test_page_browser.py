"""The reproduction page in a real browser, with names and tables that would stick out if they could."""

import html
import json
import re
import subprocess
from dataclasses import replace

import pytest

from biselect.plot.style import panels
from biselect_studies import Results, load, study_names
from biselect_studies.page import write_reproduction
from biselect_studies.render import write
from biselect_studies.results import entry

pytestmark = pytest.mark.browser

NAME = "joint-vs-sequential-practical"
PROBE = """
<iframe id="page" style="width: {width}px; height: 2000px; border: 0" srcdoc="{page}"></iframe>
<pre id="found"></pre>
<script>
document.getElementById("page").onload = () => {{
  const inside = document.getElementById("page").contentDocument;
  const picture = inside.querySelector("figure img");
  document.getElementById("found").textContent = JSON.stringify({{
    width: inside.documentElement.clientWidth,
    scroll: inside.documentElement.scrollWidth,
    sections: inside.querySelectorAll("section").length,
    cells: inside.querySelectorAll(".cells tbody tr").length,
    picture: picture.naturalWidth,
    border: inside.defaultView.getComputedStyle(inside.querySelector("figure")).borderTopStyle,
  }});
}};
</script>
"""


@pytest.fixture
def page(tmp_path):
    study = load(NAME)
    cells = tuple(
        entry(f"{'LongRowName' * 6} {row}", f"{'column' * 5}-{column}", [0.5, 0.6])
        for row in range(4)
        for column in range(12)
    )
    named = {"study": NAME, "title": study.title, "label": study.label}
    results = Results(**named, quick=True, seeds=2, cells=cells, notes=("x" * 400,))
    write(replace(study, draw=lambda found: panels(1, 4)[0]), results, tmp_path / NAME)
    return write_reproduction(tmp_path).read_text()


@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_fits_phone_and_desk(chromium, tmp_path, page, width):
    probe = tmp_path / "probe.html"
    probe.write_text(PROBE.format(width=width, page=html.escape(page)))
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", probe.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    found = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', dom).group(1)))
    assert found["scroll"] <= found["width"] <= width  # nothing sticks out to the side
    assert found["sections"] >= len(study_names()) and found["cells"] > 0
    assert found["picture"] > 500 and found["border"] == "solid"  # the policy lets pictures and styles in
