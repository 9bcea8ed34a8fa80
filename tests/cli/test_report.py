def test_report_needs_a_folder_we_wrote(run, tmp_path):
    assert run("report", tmp_path).code == 2
    (tmp_path / "report.json").write_text("{}")
    assert "not a summary of this version" in run("report", tmp_path).err
    (tmp_path / "report.json").write_text("[")
    assert "cannot be read as JSON" in run("report", tmp_path).err
