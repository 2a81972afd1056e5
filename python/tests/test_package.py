"""The package as it stands, without any other library."""

import doctest
import importlib
import json
import pickle
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import library

import setveil as sv
from setveil import _setveil

RECORDS = [["bread", "milk"], ["milk"], ["bread", "milk", "beer"], ["beer"]]


def test_importing_loads_no_other_library():
    code = "import sys, setveil; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    foreign = {"numpy", "pandas", "polars", "pyarrow", "duckdb", "scipy", "tqdm", "matplotlib", "altair", "pyspark"}
    assert "setveil" in loaded.stdout.split()
    assert not foreign & set(loaded.stdout.split())


MODULES = [m.name for m in pkgutil.iter_modules(sv.__path__) if m.name not in ("_setveil", "__main__")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    result = doctest.testmod(importlib.import_module(f"setveil.{name}"))
    assert result.failed == 0


@pytest.mark.libraries
def test_the_type_hints_fit(tmp_path):
    library("mypy")
    source = Path(__file__).parents[1]
    command = [sys.executable, "-m", "mypy", "--cache-dir", tmp_path, "--python-version", "3.10"]
    command += ["--ignore-missing-imports", "-p", "setveil"]
    checked = subprocess.run(command, capture_output=True, text=True, cwd=source)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_public_function_has_a_docstring_with_an_example():
    classes = (sv.Release, sv.Dataset, sv.Hierarchy)
    methods = [getattr(cls, name) for cls in classes for name in dir(cls) if name[0] != "_"]
    functions = [getattr(sv, name) for name in sv.__all__ if name[0].islower()]
    # These need other libraries, or files that are not ours; the guide and other tests run them.
    elsewhere = {"to_arrow", "to_polars", "to_pandas", "to_csr", "wordnet"}
    for function in functions + [m for m in methods if callable(m) and m.__name__ not in elsewhere]:
        assert ">>>" in (function.__doc__ or ""), function.__qualname__
    for name in sv.__all__:
        assert getattr(sv, name).__doc__, name


def test_records_of_python_objects():
    data = sv.Dataset([["b", " a ", "b"], {"c"}, ("a", 7), [], None, [""]])
    assert data.to_lists() == [["a", "b"], ["c"], ["7", "a"]]
    assert data.left_out == {"duplicates": 1, "blank_items": 1, "empty_records": 3, "skipped_lines": 0}
    assert sv.Dataset(iter([["x"]])).labels == ["x"]
    assert data[-1] == ["7", "a"] and len(data) == 3
    with pytest.raises(IndexError):
        data[3]


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (["bread", "milk"], "one text is not a record"),
        ([["a"], [1.5]], "row 2"),
        ([["a"], 3], "row 2"),
        ("path.csv", "setveil.read"),
        ({"a": ["b"]}, "values()"),
        (object(), "object is no data"),
    ],
)
def test_what_is_no_data_is_refused(wrong, word):
    with pytest.raises(sv.DataError, match=word.replace("(", r"\(").replace(")", r"\)")):
        sv.Dataset(wrong)


def test_left_out_is_a_warning():
    with pytest.warns(sv.SetveilWarning, match="1 empty records"):
        sv.Dataset([["a"], []])


METHODS = {
    "disassociation": lambda d: sv.disassociate(d, k=3, m=2),
    "dls": lambda d: sv.dls(d, k=3, m=2),
    "local-suppression": lambda d: sv.local_suppression(d, k=3, m=2),
    "partition": lambda d: sv.partition(d, k=3, hierarchy=sv.Hierarchy.balanced(d)),
    "apriori": lambda d: sv.apriori(d, k=3, m=2, hierarchy=sv.Hierarchy.balanced(d)),
    "suppress-rare": lambda d: sv.suppress_rare(d, k=3),
    "cahd": lambda d: sv.cahd(d, p=4, sensitive=sv.draw_sensitive(d, 1, p=4), sensitive_only="drop"),
    "perm-mondrian": lambda d: sv.perm_mondrian(d, p=4, sensitive=sv.draw_sensitive(d, 1, p=4), sensitive_only="drop"),
    "diffpart": lambda d: sv.diffpart(d, epsilon=3.0, universe_from_data=True),
}


def test_every_method_has_its_function():
    assert set(METHODS) == set(_setveil.methods())


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_from_data_to_answers(name, data, tmp_path):
    release = METHODS[name](data)
    assert release.method == name == release.made.method
    assert release.verify().holds and release.verify()
    release.write(tmp_path / "release")
    again = sv.Release.read(tmp_path / "release")
    assert again == release and again.made is None
    assert sv.verify(tmp_path / "release").holds
    assert {p.name: p.read_bytes() for p in (tmp_path / "release").iterdir()} == release.files()
    assert pickle.loads(pickle.dumps(release)) == release
    if release.labels:
        answer = release.support(release.labels[:1])
        assert answer.expected >= 0 and answer.itemset == release.labels[:1]
    assert release.attack(data, targets=10, worlds=5, clusters=2).summary
    assert release.report(data).html.startswith("<!DOCTYPE html>")
    worlds = list(release.reconstruct(n=2, seed=5))
    assert worlds[0] == next(release.reconstruct(n=1, seed=5))
    assert "<table>" in release._repr_html_()


def test_the_original_is_between_the_bounds(data, release):
    supports = data.supports()
    for row in release.supports([[label] for label in release.labels]).rows():
        assert row["lower"] <= supports[row["itemset"][0]] <= row["upper"]


def test_a_release_that_was_changed_is_a_violation_and_not_an_error(release, tmp_path):
    release.write(tmp_path / "release")
    file = tmp_path / "release" / "clusters.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:-1]))
    verdict = sv.verify(tmp_path / "release")
    assert not verdict.holds and not verdict and verdict.violation_count >= 1
    assert verdict.rows()[0]["rule"] == "file"
    assert "NOT" in verdict._repr_html_()
    with pytest.raises(sv.DataError):
        sv.Release.read(tmp_path / "release")


def test_what_cannot_be_done_is_an_error_of_its_kind(data, release, tmp_path):
    with pytest.raises(sv.ParameterError, match="k"):
        sv.disassociate(data, k=0)
    with pytest.raises(ValueError, match="no method"):
        sv.anonymize(data, "magic")
    with pytest.raises(sv.ParameterError, match="unknown field"):
        sv.anonymize(data, "disassociation", k=3, m=2, surprise=1)
    with pytest.raises(sv.DataError):
        sv.disassociate(data, k=100_000, m=2)
    with pytest.raises(FileNotFoundError):
        sv.read(tmp_path / "nothing.dat")
    with pytest.raises(sv.FileMissing):
        sv.Release.read(tmp_path / "nothing")
    release.write(tmp_path / "release")
    with pytest.raises(FileExistsError, match="force=True"):
        release.write(tmp_path / "release")
    release.write(tmp_path / "release", force=True)
    release.write(tmp_path / "several", file_size="2K")
    assert len(list((tmp_path / "several").glob("clusters-*.jsonl"))) > 1
    assert sv.verify(tmp_path / "several").holds
    with pytest.raises(sv.TooLarge, match="max_memory="):
        next(release.reconstruct(max_memory=10))
    with pytest.raises(MemoryError):
        next(release.reconstruct(max_memory=10))
    with pytest.raises(sv.ParameterError, match="max_memory"):
        release.verify(max_memory="much")
    with pytest.raises(sv.ParameterError, match="threads"):
        release.verify(threads=0)
    with pytest.raises(sv.ParameterError, match="one text"):
        release.support("bread")
    with pytest.raises(sv.SetveilError, match="not in the original|made from"):
        release.evaluate(sv.Dataset(RECORDS))
    for error in (sv.DataError, sv.ParameterError, sv.TooLarge, sv.FileError):
        assert issubclass(error, sv.SetveilError)


def test_identifiers_are_refused_unless_they_are_meant(tmp_path):
    rows = [[f"patient-{i:05}", "flu" if i % 2 else "cold", "tea"] for i in range(200)]
    with pytest.raises(sv.IdentifierError, match="as_baskets=True"):
        sv.disassociate(sv.Dataset(rows))
    assert sv.disassociate(sv.Dataset(rows), as_baskets=True).verify().holds
    copy = pickle.loads(pickle.dumps(sv.Dataset(rows)))
    with pytest.raises(sv.IdentifierError):
        sv.disassociate(copy)
    file = tmp_path / "table.dat"
    file.write_text("\n".join(" ".join(row) for row in rows))
    with pytest.raises(sv.IdentifierError):
        sv.anonymize_file(file, tmp_path / "release", k=3, m=2)
    assert not (tmp_path / "release").exists()


def test_findings_are_warnings():
    with pytest.warns(sv.SetveilWarning, match="capital letters"):
        sv.disassociate(sv.Dataset([["Tea", "ham"], ["tea", "ham"]] * 20), k=2)


def test_data_can_be_pickled(data):
    again = pickle.loads(pickle.dumps(data))
    assert again == data and again.left_out == data.left_out
    assert sv.disassociate(again, k=3, m=2) == sv.disassociate(data, k=3, m=2)
    tree = sv.Hierarchy.balanced(data)
    assert pickle.loads(pickle.dumps(tree)) == tree
    profile = data.profile()
    assert pickle.loads(pickle.dumps(profile)) == profile


def test_a_damaged_pickle_is_refused():
    with pytest.raises(sv.DataError):
        _setveil.Dataset.from_parts(["a", "b"], (9).to_bytes(8, "little") * 2, b"", ([], []), [0] * 4)


def test_results_are_values(data):
    profile = data.profile(known=2)
    assert profile.records == len(data) == profile.to_dict()["records"]
    json.dumps(profile.to_dict())
    assert len(profile.rows()) == 2 and profile.rows()[0]["known"] == 1
    with pytest.raises(AttributeError, match="records"):
        profile.nothing
    with pytest.raises(AttributeError):
        profile.records = 3
    with pytest.raises(sv.ParameterError):
        data.profile(known=99)
    assert "records" in dir(profile) and "Profile" in repr(profile)
    evaluation = sv.disassociate(data, k=3, m=2).evaluate(data)
    assert {"measure", "value", "better", "meaning"} == set(evaluation.rows()[0])


def test_nothing_shown_in_a_notebook_holds_a_record(data):
    text = data._repr_html_() + repr(data)
    assert f"{len(data):,}" in text
    assert not any(label in text for label in data.labels)


def test_names_cannot_steer_a_notebook():
    data = sv.Dataset([["<script>", "b"], ["<script>", "b"], ["<script>", "b"]])
    release = sv.disassociate(data, k=2, m=2)
    answer = release.supports([["<script>"]])
    assert "<script>" not in answer._repr_html_() + release.attack()._repr_html_()


def test_hierarchies(data, tmp_path):
    tree = sv.Hierarchy.balanced(data, fanout=3)
    tree.write(tmp_path / "tree.csv")
    assert sv.Hierarchy.read(tmp_path / "tree.csv") == tree
    with pytest.raises(FileExistsError):
        tree.write(tmp_path / "tree.csv")
    assert sv.Hierarchy([["a", "*"]]).check(data).missing == data.labels
    assert sv.Hierarchy.alphabetical(data).check(data).missing == []
    with pytest.raises(sv.DataError):
        sv.Hierarchy([["a", "b", "*"], ["a", "c", "*"]])


def test_a_comparison_goes_on_where_it_stopped(data):
    store = {}
    first = sv.compare(data, k=[3, 5], store=store)
    assert len(store) == 2
    assert sv.compare(data, k=[3, 5], store=store) == first
    assert first.svg.startswith("<svg") and first.csv.startswith("method,")
    assert sv.compare(data, k=3, max_risk=1.0).recommendation["reason"]


def test_a_comparison_is_a_flat_table(data):
    rows = sv.compare(data, k=[3, 5], seed=1).rows()
    assert [(row["method"], row["k"], row["holds"]) for row in rows] == [("disassociation", k, True) for k in (3, 5)]
    assert all(0 < row["linking"] < row["raw"] <= 1 for row in rows)
    assert not any(isinstance(value, (dict, list)) for row in rows for value in row.values())


def test_a_recommendation_can_be_followed(data):
    found = sv.recommend(data, max_risk=0.3, known=2, k=[3, 10], m=[2], max_cluster_size=[50])
    best = found.rows()[0]
    assert best["linking"] <= 0.3 and best["command"].startswith("setveil anonymize ")
    assert sv.anonymize(data, best["method"], **best["parameters"]).verify().holds
    assert len(found.tried) >= len(found.choices)


def test_what_to_know_although_the_guarantee_holds(data, release, tmp_path):
    verdict = release.verify()
    assert verdict.holds and {caution["severity"] for caution in verdict.cautions} == {"amber"}
    assert verdict.cautions[0]["what"].partition("(")[0] in verdict._repr_html_()
    assert release.report().colour == "amber"
    release.write(tmp_path / "release")
    assert sv.verify(tmp_path / "release") == verdict


def test_another_original_is_refused(data, release):
    others = [record for record in data][1:] + [["tea"]]
    for ask in (release.evaluate, release.attack, release.report):
        with pytest.raises(sv.DataError, match="not made from this original"):
            ask(sv.Dataset(others))


def test_records_left_out_are_no_other_original():
    """Who has sensitive items only is not in the release, and its original still fits."""
    records = [["flu", "tea"], ["flu", "hiv"], ["cold", "tea"], ["cold", "flu"]] * 10 + [["hiv"]] * 2
    release = sv.cahd(sv.Dataset(records), p=3, sensitive=["hiv"], sensitive_only="drop")
    assert len(release) == 40
    assert release.attack(sv.Dataset(records), targets=10, worlds=2).rows()
    lower, _, upper = release.support(["hiv"])
    assert lower == 10 and upper is None


@pytest.mark.parametrize("name", ["records.dat", "records.jsonl", "records.csv", "records.parquet"])
def test_data_is_written_and_read(name, quest, tmp_path):
    quest.write(tmp_path / name)
    assert sv.read(tmp_path / name) == quest
    with pytest.raises(sv.FileExists):
        quest.write(tmp_path / name)
    quest.write(tmp_path / name, force=True)


def test_data_is_written_in_a_format_that_can_hold_it(tmp_path):
    data = sv.Dataset([["a b", "c"], ["c"]])
    with pytest.raises(sv.SetveilError, match="blank"):
        data.write(tmp_path / "records.dat")
    assert not list(tmp_path.iterdir())
    data.write(tmp_path / "long.csv", format="long-csv")
    assert sv.read(tmp_path / "long.csv", person="record", items="item") == data
    with pytest.raises(sv.ParameterError, match="format="):
        data.write(tmp_path / "records")
    with pytest.raises(sv.ParameterError, match="xlsx"):
        data.write(tmp_path / "records", format="xlsx")


def test_sensitive_items_are_spread(data):
    rare = sv.draw_sensitive(data, 1, p=4)
    release = sv.disassociate(data, k=2, m=2, sensitive=rare)
    assert release.guarantee["l"] == 2 and release.verify().holds


@pytest.mark.parametrize("method", [sv.disassociate, sv.dls, sv.local_suppression])
def test_sets_of_items_are_kept_together(method, quest):
    pairs = [row["itemset"] for row in sv.disassociate(quest).itemsets(5, at_least=2).rows()]
    keep = [pairs[0], {"items": pairs[1], "weight": 5}]
    release = method(quest, keep=keep)
    assert release.verify().holds and "keep" not in release.parameters
    kept = {tuple(one["items"]): one for one in release.made.kept}
    assert kept[tuple(sorted(pairs[1]))]["weight"] == 5 and len(kept) == 2
    assert release.evaluate(quest, keep=keep) and release.attack(quest, keep=keep, targets=5, worlds=2)
    for wrong in ("ab", ["ab"], [["a"]], [{"items": pairs[0], "weight": 0}]):
        with pytest.raises(sv.ParameterError, match="keep"):
            method(quest, keep=wrong)


def test_figures_about_misread_data_come_with_a_warning():
    rows = [[f"patient-{i:05}", "flu" if i % 2 else "cold", "tea"] for i in range(200)]
    with pytest.warns(sv.SetveilWarning, match="does not look like"):
        sv.compare(sv.Dataset(rows), k=[3])


def test_the_custodian_may_say_that_nothing_is_sensitive(release):
    assert release.report().colour == "amber"
    assert "by decision of the custodian" in release.report(no_sensitive=True).html


def test_what_the_program_does_can_be_hidden_too(data):
    assert sv.disassociate(data, k=3, safe=True).verify().holds
    with pytest.raises(sv.ParameterError, match="safe"):
        sv.disassociate(data, k=3, eta=0.1)


def test_the_report_has_the_title_that_was_given(release):
    assert "Ward 7" in release.report(title="Ward 7").html


def test_the_report_is_written_once(release, tmp_path):
    release.report().save(tmp_path / "report.html")
    with pytest.raises(FileExistsError):
        release.report().save(tmp_path / "report.html")
    assert "does NOT" not in repr(release.report())


def test_without_other_libraries_the_error_says_what_to_install(data, monkeypatch):
    for name in ("pandas", "polars", "pyarrow", "matplotlib", "altair"):
        monkeypatch.setitem(sys.modules, name, None)
    for call in (data.to_polars, data.to_arrow, data.profile().to_pandas):
        with pytest.raises(ImportError, match="pip install"):
            call()
    with pytest.raises(ImportError, match="pip install"):
        sv.compare(data, k=[3]).plot()
