import anyio
import pytest

pytest.importorskip("starlette", reason="needs the app extra")

from biselect.app.folder import bring_demo, named_table, safe_name, tables_in, take_in
from biselect.errors import InputError


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("a.csv", "a.csv"),
        ("../../etc/a.csv", "a.csv"),
        ("C:\\temp\\Größe 1.CSV", "Größe 1.csv"),
        (".hidden.parquet", "hidden.parquet"),
        ("x::select 1.csv", "xselect 1.csv"),
        ("a\0b\u202e.csv", "ab.csv"),
        ("a" * 300 + ".csv.gz", "a" * 100 + ".csv.gz"),
    ],
)
def test_names_are_made_safe(given, safe):
    assert safe_name(given) == safe


@pytest.mark.parametrize("given", ["", "a", ".csv", "a.exe", "review.sqlite", "a.csv/", "...parquet"])
def test_names_that_are_no_table_are_refused(given):
    with pytest.raises(InputError, match="ends in"):
        safe_name(given)


def bring(folder, name, *parts):
    async def content():
        for part in parts:
            yield part

    return anyio.run(take_in, folder, name, content())


def test_a_file_never_replaces_another(tmp_path):
    assert bring(tmp_path, "next.csv", b"a,b\n1,2\n") == "next (2).csv"  # the rows to fill in have that name
    assert [bring(tmp_path, "a.csv", b"x\n", b"1\n") for _ in range(3)] == ["a.csv", "a (2).csv", "a (3).csv"]
    assert (tmp_path / "a.csv").read_bytes() == b"x\n1\n"
    with pytest.raises(InputError, match="empty"):
        bring(tmp_path, "b.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a (2).csv", "a (3).csv", "a.csv", "next (2).csv"]


def test_only_tables_of_the_folder_are_listed(tmp_path):
    bring_demo(tmp_path)
    bring_demo(tmp_path)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "part-0.parquet").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    for name in ("next.csv", ".writing-x.csv", "review.sqlite", "notes.md"):
        (tmp_path / name).write_text("x")
    (tmp_path / "link.csv").symlink_to("/etc/hosts")
    assert sorted(tables_in(tmp_path)) == ["demo-normal.parquet", "demo-transactions.parquet", "parts"]
    with pytest.raises(InputError, match="no such table"):
        named_table(tmp_path, "link.csv")
