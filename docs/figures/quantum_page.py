"""Draws docs/images/quantum.png: the first screen of `biselect quantum --demo`, in Chromium."""

import subprocess
import sys
import tempfile
from pathlib import Path

from report_page import IMAGES, photograph


def main() -> None:
    """Run the demo and take a picture of its page."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "biselect", "quantum", "--demo", "--preset", "paper", "--shots", "4096"]
        subprocess.run([*command, "--out", folder, "--quiet"], check=True)
        photograph(Path(folder) / "index.html", IMAGES / "quantum.png", 1280, 1130)


if __name__ == "__main__":
    main()
