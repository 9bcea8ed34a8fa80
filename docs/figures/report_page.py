"""Draws docs/images/report.png: the interactive part of the demo's report, in Chromium."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

IMAGE = Path(__file__).parents[1] / "images" / "report.png"


def main() -> None:
    """Write the demo's report and take a picture of it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("needs Chromium on the PATH")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "biselect", "demo", "--out", folder, "--quiet", "--json"], check=True)
        page = (Path(folder) / "report.html").as_uri()
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += ["--window-size=1100,1460"]
        command += [f"--user-data-dir={folder}/profile", "--disable-background-networking", "--no-first-run"]
        subprocess.run([*command, f"--screenshot={IMAGE}", page], check=True)


if __name__ == "__main__":
    main()
