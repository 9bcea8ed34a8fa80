"""Draws docs/images/report.png: the first screen of the demo's report, in Chromium."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

IMAGES = Path(__file__).parents[1] / "images"


def photograph(page: Path, image: Path, width: int, height: int) -> None:
    """A picture of the top of a page."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("needs Chromium on the PATH")
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--window-size={width},{height}", f"--user-data-dir={profile}"]
        command += ["--disable-background-networking", "--no-first-run", f"--screenshot={image}", page.as_uri()]
        subprocess.run(command, check=True)


def main() -> None:
    """Write the demo's report and take a picture of it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "biselect", "demo", "--out", folder, "--quiet", "--json"], check=True)
        photograph(Path(folder) / "report.html", IMAGES / "report.png", 1440, 1100)


if __name__ == "__main__":
    main()
