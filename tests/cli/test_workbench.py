"""`biselect app`: it prints an address that answers, on this machine alone, and ends when it is told to."""

import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest


def test_it_serves_until_it_is_interrupted(tmp_path):
    pytest.importorskip("uvicorn", reason="needs the app extra")
    command = [sys.executable, "-m", "biselect", "app", tmp_path / "new", "--no-open"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = running.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:") and "/?token=" in address
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert "Review rows in rounds" in browser.open(address, timeout=30).read().decode()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address.partition("?")[0], timeout=30)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=30)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 130 and "Traceback" not in said and (tmp_path / "new").is_dir()


def test_without_the_extra_it_says_how_to_get_it(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "biselect.app.server", None)
    outcome = run("app", tmp_path)
    assert outcome.code == 1 and "pip install 'biselect[app]'" in outcome.err
