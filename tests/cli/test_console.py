"""Nothing that a file or a command line holds may steer a terminal."""

import json
import re
import warnings

import pytest

from biselect.cli._help import show_warnings_plainly
from biselect.pages.terminal import visible, visible_json

HOSTILE = "\x1b]0;X\x07\x9b31m\u202egnp\u2066\x00\x7f"
STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_letters_of_all_alphabets_stay_and_signs_that_steer_do_not():
    kept = "Größe, 价格, نمی‌دانم, 👩‍💻, ∑λ\n"
    assert visible(kept) == kept
    assert visible_json(kept) == kept
    assert not STEERS.search(visible(HOSTILE))
    assert visible("1\u00a0000\t2") == "1 000 2"
    text = json.dumps({HOSTILE: [HOSTILE, kept]}, ensure_ascii=False, indent=1)
    assert not STEERS.search(visible_json(text))
    assert json.loads(visible_json(text)) == json.loads(text)


@pytest.mark.parametrize(
    ("command", "content"),
    [
        (("solve", "FILE", "-k", "1", "-m", "1"), 'x,y\n1,2\n"BAD",3\n4,5\n'),
        (("solve", "FILE", "-k", "1", "-m", "1"), "BAD,y\n1,2\nz,3\n4,5\n"),
        (("solve", "FILE", "-k", "1", "-m", "1", "--id-column", "nothing"), "BAD,y\n1,2\n"),
        (("solve", "FILE", "-k", "1", "-m", "1", "--id-column", "x"), "x,y\nBAD,2\nBAD,3\n"),
        (("solve", "FILE", "-k", "1", "-m", "1", "--id-column", "x"), "x,y\nBAD,2\nb,3\n"),
        (("solve", "FILE", "-k", "1", "-m", "1", "--id-column", "x", "--json"), "x,y\nBAD,2\nb,3\n"),
        (("solve", "FILE", "-k", "BAD", "-m", "1"), "x\n1\n"),
        (("solve", "FILE", "--BAD"), "x\n1\n"),
        (("BAD",), "x\n1\n"),
        (("solve", "BAD.csv", "-k", "1", "-m", "1"), "x\n1\n"),
    ],
)
def test_no_command_shows_what_steers(run, tmp_path, command, content):
    bad = HOSTILE.replace("\x00", "")  # which no argument can hold
    path = tmp_path / "t.csv"
    path.write_text(content.replace("BAD", bad))
    outcome = run(*(part.replace("FILE", str(path)).replace("BAD", bad) for part in command))
    assert not STEERS.search(outcome.out + outcome.err)
    assert outcome.out + outcome.err


def test_warnings_are_shown_plainly(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        show_warnings_plainly()
        warnings.warn(HOSTILE, UserWarning, stacklevel=1)
    told = capsys.readouterr().err
    assert told.startswith("warning: ")
    assert not STEERS.search(told)
