"""The examples of docs/analyst.md run as they stand, and give what their comments say."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import library

pytestmark = pytest.mark.libraries
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "analyst.md").read_text(encoding="utf-8")
DATA = Path(os.environ.get("SETVEIL_DATA") or ROOT.parent / "shared" / "data") / "bms-webview-1.dat.gz"
# What the first example says in its comment, and the page of all of them.
TOP = re.search(r"^# (\d+: \d+(?:, \d+: \d+)*)$", PAGE, re.MULTILINE)


def lacking(what):
    """Skips the test; where nothing may be skipped it fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def block(language, mark):
    """The example with these words."""
    (found,) = [text for text in blocks(language) if mark in text]
    return found


def value(code):
    """What the last line of an example is."""
    *lines, last = code.strip().splitlines()
    while last.startswith("#"):
        last = lines.pop()
    names = {}
    exec(compile("\n".join(lines), "docs/analyst.md", "exec"), names)
    return eval(compile(last, "docs/analyst.md", "eval"), names)


def said():
    return [tuple(map(int, pair.split(": "))) for pair in TOP[1].split(", ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which the commands of the page were run."""
    if not DATA.exists():
        lacking(f"{DATA} is absent (SETVEIL_DATA names the folder)")
    folder = tmp_path_factory.mktemp("analyst")
    shutil.copy(DATA, folder)
    commands = re.findall(r"^ {4}setveil (anonymize|export) (.*?)(?: +#.*)?$", PAGE, re.MULTILINE)
    commands += re.findall(r"`setveil (reconstruct) (.*?)`", PAGE)
    assert len(commands) >= 4
    for command, words in commands:
        subprocess.run([sys.executable, "-m", "setveil", command, *words.split()], cwd=folder, check=True)
    return folder


@pytest.fixture(autouse=True)
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)


def test_pandas():
    library("pandas")
    found = value(block("python", "tables/rows.csv"))
    assert [(int(item), int(count)) for item, count in found.items()] == said()


def test_polars():
    library("polars")
    found = value(block("python", "import polars"))
    assert [(int(item), count) for item, count in found.rows()] == said()


def test_duckdb():
    duckdb = library("duckdb")
    (code,) = blocks("sql")
    assert [(int(item), int(count)) for item, count in duckdb.sql(code).fetchall()] == said()


def test_mlxtend():
    library("mlxtend")
    code = block("python", "mlxtend")
    (itemsets,) = re.findall(r"# (\d+) itemsets", code)
    assert len(value(code)) == int(itemsets)


@pytest.mark.parametrize("code", blocks("r"), ids=lambda code: re.search(r"library\((.*?)\)", code)[1])
def test_r(code):
    packages = re.findall(r"^library\((.*?)\)", code, re.MULTILINE)
    needed = "; ".join(f"library({package})" for package in packages)
    program = shutil.which("Rscript")
    if not program or subprocess.run([program, "-e", needed], capture_output=True).returncode:
        lacking(f"R with {' and '.join(packages)} is not installed")
    out = subprocess.run([program, "-e", code], capture_output=True, text=True, check=True).stdout
    comments = re.findall(r"^# (.*)$", code, re.MULTILINE)
    if comments:
        assert [line.split() for line in out.strip().splitlines()] == [line.split() for line in comments]
    else:
        assert [tuple(map(int, row)) for row in re.findall(r"^\d+: +(\d+) +(\d+)$", out, re.MULTILINE)] == said()
