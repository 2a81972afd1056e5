"""What the tests share."""

import importlib
import os

import pytest

import setveil as sv

# These need Java and PySpark: `make test-spark`.
collect_ignore = [] if os.environ.get("SETVEIL_SPARK") else ["spark"]


def library(name):
    """A library that is not required: without it the test says so, and fails where nothing may be skipped."""
    try:
        return importlib.import_module(name)
    except ImportError:
        if os.environ.get("CI") == "true":
            raise
        skip = f"{name} is not installed"
    pytest.skip(skip)


def pytest_terminal_summary(terminalreporter):
    """Whatever was skipped is listed once more at the end of ``make test``."""
    skipped = terminalreporter.stats.get("skipped", [])
    file = os.environ.get("SETVEIL_PYTHON_SKIPPED")
    if skipped and file:
        lines = [f"{report.nodeid}: {report.longrepr[-1]}\n" for report in skipped]
        with open(file, "a", encoding="utf-8") as out:
            out.write(f"NOT EVERYTHING WAS TESTED: {len(lines)} tests of the Python package were skipped:\n")
            out.writelines(lines)


@pytest.fixture
def data():
    return sv.demo_data()


@pytest.fixture
def release(data):
    return sv.disassociate(data, k=3, m=2)


@pytest.fixture
def quest():
    """Some thousand baskets with structure."""
    return sv.generate_quest(records=4000, items=200, patterns=80, seed=7)
