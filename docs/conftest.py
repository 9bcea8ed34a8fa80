"""Pages that mix Python and shell are left to tests/docs, which runs them in order, in a folder of their own."""

from pathlib import Path

HERE = Path(__file__).parent
collect_ignore = [page.relative_to(HERE).as_posix() for page in HERE.rglob("*.md") if "```console" in page.read_text()]
collect_ignore_glob = ["conf.py", "extensions/*", "figures/*", "_build/*"]
