import sys
from html.parser import HTMLParser
from types import SimpleNamespace

from biselect.pages.html import show_page

PAGE = '<!doctype html><title>"&amp;</title><p>é'


def test_a_script_opens_the_browser(monkeypatch, tmp_path, capsys):
    opened = []
    monkeypatch.setattr("tempfile.mkdtemp", lambda prefix: str(tmp_path))
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    show_page(PAGE)
    assert opened == [(tmp_path / "report.html").as_uri()]
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == PAGE
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    show_page(PAGE)
    assert capsys.readouterr().err == f"Open {tmp_path / 'report.html'} in a browser.\n"


def test_a_notebook_shows_it_below_the_cell_in_a_frame_of_its_own(monkeypatch):
    shown = []
    display = SimpleNamespace(display=lambda content, raw: shown.append(content))
    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()), display=display)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    show_page(PAGE)
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, dict(attributes)))
    parser.feed(shown[0]["text/html"])
    [(tag, attributes)] = found
    assert tag == "iframe" and attributes["srcdoc"] == PAGE and "allow-same-origin" not in attributes["sandbox"]
