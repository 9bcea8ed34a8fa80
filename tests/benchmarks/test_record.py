"""The page of the solver benchmarks can always be written from the results that are kept."""

from pathlib import Path

from benchmarks import record


def test_the_page_is_what_the_kept_results_say(tmp_path):
    """Results of other shapes lie in the same folder; they neither break the page nor enter it."""
    record.write_page(tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == record.PAGE.read_text(encoding="utf-8")


def test_a_saved_line_reaches_the_page(tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "other.json").write_text("[1, 2]")
    monkeypatch.setattr(record, "ROOT", tmp_path)
    line = record.Line(what="ours against theirs", case="(1, 2, 1, 1)", ours="1 ms", met=False, seeds=3, detail=[])
    record.save("exact-vs-peers", [line])
    record.write_page(tmp_path / "page.md")
    assert Path(tmp_path / "page.md").read_text(encoding="utf-8").splitlines()[-1].endswith("| no | 3 |")
