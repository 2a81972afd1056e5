"""The guide and the notebooks run as they stand."""

import re
from pathlib import Path

import pytest
from conftest import library

pytestmark = pytest.mark.libraries
ROOT = Path(__file__).parents[2]


def test_the_guide_runs():
    for name in ("polars", "pandas", "scipy"):
        library(name)
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)


def test_the_guide_names_every_function():
    import setveil as sv

    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for name in sv._setveil.methods():
        function = "disassociate" if name == "disassociation" else name.replace("-", "_")
        assert f"sv.{function}" in text


@pytest.mark.parametrize("notebook", sorted((ROOT / "examples").glob("*.ipynb")), ids=lambda p: p.stem)
def test_the_notebooks_run(notebook, tmp_path):
    nbformat, nbclient = library("nbformat"), library("nbclient")
    for name in ("ipykernel", "mlxtend", "matplotlib", "pandas", "polars"):
        library(name)
    content = nbformat.read(notebook, as_version=4)
    nbformat.validate(content)
    assert not any(cell.get("outputs") for cell in content.cells), "notebooks are kept without output"
    nbclient.NotebookClient(content, timeout=600, kernel_name="python3").execute(cwd=tmp_path)


def test_there_are_two_notebooks():
    assert {p.stem for p in (ROOT / "examples").glob("*.ipynb")} >= {"custodian", "analyst"}
