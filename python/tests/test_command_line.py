"""The command line in the package, and that both give the same."""

import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import library

import setveil as sv
from setveil import _setveil


def run(*words, **options):
    command = [sys.executable, "-m", "setveil", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, **options)


def tree(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


@pytest.fixture
def file(quest, tmp_path):
    path = tmp_path / "baskets.dat"
    path.write_text("".join(" ".join(record) + "\n" for record in quest))
    return path


def test_the_program_is_on_the_path():
    program = shutil.which("setveil", path=os.path.dirname(sys.executable))
    assert program is not None
    assert "setveil" in subprocess.run([program, "--version"], capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    ("method", "flags", "make"),
    [
        ("disassociation", ["-k", 4, "-m", 3], lambda d, _: sv.disassociate(d, k=4, m=3)),
        ("disassociation", ["--no-refine"], lambda d, _: sv.disassociate(d, refine=False)),
        ("dls", [], lambda d, _: sv.dls(d)),
        ("local-suppression", [], lambda d, _: sv.local_suppression(d)),
        ("suppress-rare", [], lambda d, _: sv.suppress_rare(d)),
        ("partition", ["--hierarchy", "T"], lambda d, t: sv.partition(d, hierarchy=t)),
        ("apriori", ["--hierarchy", "T"], lambda d, t: sv.apriori(d, hierarchy=t)),
        (
            "perm-mondrian",
            ["--random-sensitive", 3, "-p", 5],
            lambda d, _: sv.perm_mondrian(d, p=5, sensitive=sv.draw_sensitive(d, 3, p=5)),
        ),
    ],
)
def test_releases_are_the_same_byte_for_byte(method, flags, make, quest, file, tmp_path):
    hierarchy = sv.Hierarchy.balanced(quest)
    hierarchy.write(tmp_path / "tree.csv")
    flags = [tmp_path / "tree.csv" if flag == "T" else flag for flag in flags]
    made = run("anonymize", method, file, *flags, "-o", tmp_path / "release")
    assert made.returncode == 0, made.stderr
    assert tree(tmp_path / "release") == make(quest, hierarchy).files()


def test_a_file_is_published_as_the_command_line_does(file, tmp_path):
    made = sv.anonymize_file(file, tmp_path / "one", k=4, m=2, receipt=tmp_path / "receipt.json")
    assert made.records == 4000
    run("anonymize", "disassociation", file, "-k", 4, "-o", tmp_path / "two", check=True)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert json.loads((tmp_path / "receipt.json").read_text())


@pytest.mark.libraries
def test_a_table_gives_the_release_of_its_file(quest, tmp_path):
    """A column of polars and the same in Parquet, byte for byte."""
    frame = library("polars").DataFrame({"codes": quest.to_lists()})
    frame.write_parquet(tmp_path / "baskets.parquet")
    made = run("anonymize", "disassociation", tmp_path / "baskets.parquet", "--item", "codes", "-o", tmp_path / "release")
    assert made.returncode == 0, made.stderr
    assert tree(tmp_path / "release") == sv.disassociate(sv.Dataset(frame, items="codes")).files()


@pytest.mark.parametrize(
    ("command", "ask"),
    [
        (["verify", "R"], lambda r, d: r.verify()),
        (["evaluate", "R", "--original", "D"], lambda r, d: r.evaluate(d)),
        (["attack", "R", "--original", "D"], lambda r, d: r.attack(d)),
        (["query", "R", "3,4", "5"], lambda r, d: r.supports([["3", "4"], ["5"]])),
        (["profile", "D"], lambda r, d: d.profile()),
        (["items", "R"], lambda r, d: r.items()),
        (["itemsets", "R", "-n", "20", "--rules", "0.3"], lambda r, d: r.itemsets(20, rules=0.3)),
    ],
)
def test_answers_are_the_same(command, ask, quest, file, tmp_path):
    release = sv.disassociate(quest)
    release.write(tmp_path / "release")
    words = [{"R": tmp_path / "release", "D": file}.get(word, word) for word in command]
    said = json.loads(run(*words, "--json", check=True).stdout)
    assert ask(release, sv.read(file)).to_dict() == said


def test_exit_codes_and_streams(tmp_path):
    assert run("--help").returncode == 0
    assert run("verify", tmp_path).returncode == 2
    nonsense = run("nonsense")
    assert nonsense.returncode == 2 and "nonsense" in nonsense.stderr and not nonsense.stdout


def test_the_suggested_command_is_what_was_typed(tmp_path):
    rows = "".join(f"patient-{i:05};flu;tea\n" for i in range(100))
    (tmp_path / "t.csv").write_text(rows)
    said = run("anonymize", "disassociation", tmp_path / "t.csv", "-o", tmp_path / "r").stderr
    assert "probably meant: setveil anonymize disassociation" in said


def test_ctrl_c_ends_the_program_with_130(tmp_path):
    words = [sys.executable, "-m", "setveil", "generate", "quest", "--records", "100000000"]
    process = subprocess.Popen([*words, "-o", tmp_path / "big.dat"], stderr=subprocess.PIPE, text=True)
    while not os.listdir(tmp_path) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said and os.listdir(tmp_path) == []


def definition():
    commands = {}

    def walk(command, name):
        commands[name] = {flag["name"]: flag for flag in command["flags"]}
        for sub in command["commands"]:
            walk(sub, f"{name} {sub['name']}".strip())

    walk(json.loads(_setveil.definition()), "")
    return commands


# What a command is called in Python. Those without a function are for shells.
FUNCTIONS = {
    "anonymize disassociation": sv.disassociate,
    "anonymize dls": sv.dls,
    "anonymize local-suppression": sv.local_suppression,
    "anonymize partition": sv.partition,
    "anonymize apriori": sv.apriori,
    "anonymize suppress-rare": sv.suppress_rare,
    "anonymize cahd": sv.cahd,
    "anonymize perm-mondrian": sv.perm_mondrian,
    "anonymize diffpart": sv.diffpart,
    "profile": sv.Dataset.profile,
    "verify": sv.Release.verify,
    "attack": sv.Release.attack,
    "evaluate": sv.Release.evaluate,
    "reconstruct": sv.Release.reconstruct,
    "query": sv.Release.support,
    "items": sv.Release.items,
    "itemsets": sv.Release.itemsets,
    "export": sv.Release.export,
    "compare": sv.compare,
    "recommend": sv.recommend,
    "report": sv.Release.report,
    "band": sv.band,
    "hierarchy balanced": sv.Hierarchy.balanced,
    "hierarchy alphabetical": sv.Hierarchy.alphabetical,
    "hierarchy wordnet": sv.Hierarchy.wordnet,
    "hierarchy check": sv.Hierarchy.check,
    "generate quest": sv.generate_quest,
    "generate query-log": sv.generate_query_log,
}
FOR_SHELLS = {"", "demo", "completions", "man", "anonymize", "generate", "hierarchy", "serve"}
# Flags that are elsewhere in Python: in `read`, in `write`, in the object itself.
READ = set(inspect.signature(sv.read).parameters) | {"id", "item", "data", "original", "layout"}
ELSEWHERE = READ | {"json", "quiet", "help", "version", "output", "force", "receipt", "release", "format", "rules_output", "file_size", "again"}
# Data that does not fit into memory is for the command line, which the package has too.
ELSEWHERE |= {"memory", "temporary"}
# Words for people: the objects of Python say everything.
ELSEWHERE |= {"verbose"}
RENAMED = {"no_refine": "refine", "itemsets": "itemset", "file": "itemset", "wordnet": "directory"}
# Lists that are read from files there, and drawn by a function of its own here.
DRAWN = {("anonymize cahd", "seed"), ("anonymize perm-mondrian", "seed"), ("anonymize cahd", "random_sensitive"),
         ("anonymize perm-mondrian", "random_sensitive"), ("hierarchy check", "hierarchy")}


def test_every_command_has_its_function():
    assert set(definition()) - FOR_SHELLS == set(FUNCTIONS)


@pytest.mark.parametrize("command", sorted(FUNCTIONS))
def test_every_flag_has_its_keyword_with_the_same_default(command):
    keywords = inspect.signature(FUNCTIONS[command]).parameters
    for name, flag in definition()[command].items():
        keyword = RENAMED.get(name, name)
        if name in ELSEWHERE or (command, name) in DRAWN:
            continue
        assert keyword in keywords, f"{command}: --{name}"
        default = keywords[keyword].default
        if name == "no_refine":
            assert default is True
        elif flag["default"] and default is not inspect.Parameter.empty:
            assert spelled(default) == flag["default"], f"{command}: --{name}"


def spelled(default):
    """A default of Python as the command line writes it."""
    if isinstance(default, tuple) and len(default) == 2 and default == (200, 220):
        return ["200..220"]
    if isinstance(default, tuple):
        return [",".join(spelled(value)[0] for value in default)]
    if isinstance(default, bool):
        return [str(default).lower()]
    return [f"{default:g}" if isinstance(default, float) else str(default)]


def test_python_and_the_program_name_the_same_methods():
    names = {name.removeprefix("anonymize ") for name in definition() if name.startswith("anonymize ")}
    assert names == set(_setveil.methods())
