"""Two wheels: the library without a study, and the studies with all that they read."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]


def contents(project, folder):
    pytest.importorskip("hatchling", reason="needs the build backend: pip install hatchling")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=project, check=True)
    (wheel,) = folder.glob("*.whl")
    names = ZipFile(wheel).namelist()
    return [name for name in names if ".dist-info/" not in name], wheel.name, ZipFile(wheel)


def test_the_library_has_no_study(tmp_path):
    files, name, _ = contents(ROOT, tmp_path)
    assert name.startswith("biselect-") and all(file.startswith("biselect/") for file in files)
    assert "biselect/cli/missing.py" in files and not [file for file in files if "stud" in file]


def test_the_studies_have_every_file_of_their_package_and_the_command(tmp_path):
    files, name, wheel = contents(ROOT / "studies", tmp_path)
    package = ROOT / "studies" / "src" / "biselect_studies"
    there = {str(path.relative_to(package.parent)) for path in package.rglob("*") if path.is_file()}
    assert name.startswith("biselect_studies-")
    assert set(files) == {file for file in there if "__pycache__" not in file}
    (points,) = (entry for entry in wheel.namelist() if entry.endswith("entry_points.txt"))
    assert "reproduce = biselect_studies.command:reproduce" in wheel.read(points).decode()
