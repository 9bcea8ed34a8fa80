"""The page in a real browser."""

import html
import json
import re
import subprocess

import pytest

pytestmark = pytest.mark.browser

PROBE = """
<iframe id="page" style="width: {width}px; height: 2000px; border: 0" srcdoc="{page}"></iframe>
<pre id="found"></pre>
<script>
document.getElementById("page").onload = () => {{
  const inside = document.getElementById("page").contentDocument;
  const root = inside.documentElement;
  document.getElementById("found").textContent = JSON.stringify({{
    title: inside.title,
    width: root.clientWidth,
    scroll: root.scrollWidth,
    records: inside.querySelectorAll(".record").length,
    framed: inside.querySelectorAll("td.in").length,
    scripts: inside.scripts.length,
    heading: inside.querySelector("h1").getBoundingClientRect().height,
  }});
}};
</script>
"""


def look(chromium, tmp_path, page, width):
    probe = tmp_path / "probe.html"
    probe.write_text(PROBE.format(width=width, page=html.escape(page)))
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", probe.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    return json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', dom).group(1)))


@pytest.mark.parametrize("width", [390, 1200])
def test_the_demo_report_fits_phone_and_desk(chromium, tmp_path, run, width):
    assert run("demo", "--out", tmp_path / "out", "-q").code == 0
    found = look(chromium, tmp_path, (tmp_path / "out" / "report.html").read_text(), width)
    assert found["title"].startswith("Ten card transactions")
    assert (found["records"], found["framed"], found["scripts"]) == (10, 40, 0)
    assert found["scroll"] <= found["width"] <= width  # nothing sticks out to the side
    assert found["heading"] > 0
