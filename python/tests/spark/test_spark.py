"""Setveil on a cluster with two workers."""

import os
import random
import re
import shutil
import threading
import time
from pathlib import Path

import pytest
from cluster import executors, jobs_begun, wait

import setveil as sv
from setveil import spark as svs
from setveil.spark._folders import Folders
from setveil.spark._session import Kept


def tree(path):
    return {file.name: file.read_bytes() for file in Path(path).iterdir()}


def clusters(files):
    return b"".join(files[name] for name in sorted(files) if name.startswith("clusters"))


def test_the_workers_are_two_and_have_a_python_of_their_own(spark, cluster):
    def where(_):
        import sys

        import setveil

        yield os.getcwd(), sys.prefix, setveil.__file__

    assert wait(lambda: cluster.workers() == 2)
    assert wait(lambda: executors(spark).count(True) == 2)
    places = set()

    def two():
        # One executor may do all tasks while the other is still busy with the archive.
        places.update(spark.sparkContext.parallelize(range(16), 16).mapPartitions(where).collect())
        return len({place[0] for place in places}) == 2

    assert wait(two), places
    for folder, prefix, file in places:
        assert prefix.startswith(folder) and file.startswith(prefix)


def test_one_part_is_the_release_of_one_machine(frame, quest, tmp_path):
    one = sv.disassociate(quest)
    with svs.anonymize(frame, items="codes", file_size=1000) as release:
        assert release.made.parts == 1 and len(release) == len(quest) and release.labels == quest.labels
        release.write(str(tmp_path / "release"))
    files = tree(tmp_path / "release")
    assert len([name for name in files if name.startswith("clusters")]) > 2
    assert clusters(files) == one.files()["clusters.jsonl"]
    for name in ("README.md", "schema.json"):
        assert files[name] == one.files()[name]
    again = sv.Release.read(tmp_path / "release")
    assert again.parameters == one.parameters and again.verify().holds


def test_several_parts_keep_the_promise(spark, several, quest, tmp_path):
    assert several.made.parts > 3
    assert several.verify().holds
    several.write(str(tmp_path / "release"))
    assert sv.verify(tmp_path / "release").holds
    # The same steps one after the other, without Spark.
    from test_parts import in_parts

    parts, files = in_parts(quest, 900, 3, 1)
    assert parts == several.made.parts
    assert clusters(tree(tmp_path / "release")) == files["clusters-00000.jsonl"]
    release = sv.Release.read(tmp_path / "release")
    # Answers and measures as on one machine.
    sets = [[label] for label in quest.labels[:20]] + [quest.labels[:2], quest.labels[3:6], ["nothing"]]
    here, there = release.supports(sets, prior="worlds").rows(), several.supports(sets).rows()
    assert there == svs.supports(str(tmp_path / "release"), sets).rows()
    for one, other in zip(here, there, strict=True):
        assert other.pop("expected") == pytest.approx(one.pop("expected"))
        assert one == other
    lower, expected, upper = several.support(quest.labels[:1])
    assert lower <= expected <= upper
    found, measured = several.evaluate(), release.evaluate(quest)
    assert (found.tlost, found.pairs_kept) == (measured.tlost, measured.pairs_kept)
    with pytest.raises(sv.ParameterError, match="one text"):
        several.support("bread")
    with pytest.raises(sv.ParameterError, match="itemset"):
        several.supports([[]])


def test_bytes_do_not_depend_on_rows_partitions_or_their_form(spark, several, quest, tmp_path):
    several.write(str(tmp_path / "first"))
    expected = tree(tmp_path / "first")
    rows = [(f" person {at}", item) for at, record in enumerate(quest) for item in record]
    random.Random(3).shuffle(rows)
    # Partitions that are empty, and rows of one person in several.
    long = spark.createDataFrame(rows, "who string, what string").repartition(5).union(
        spark.createDataFrame([], "who string, what string")
    )
    setting = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "7")
    try:
        with svs.anonymize(long, person="who", item="what", part_size=900, file_size=1000) as release:
            release.write(str(tmp_path / "second"))
        assert tree(tmp_path / "second") == expected
        one = spark.createDataFrame([(record,) for record in quest], "codes array<string>").coalesce(1)
        with svs.anonymize(one, items="codes", part_size=900, file_size=1000) as release:
            release.write(str(tmp_path / "third"))
        assert tree(tmp_path / "third") == expected
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", setting)


def test_verify_says_what_the_command_line_says(spark, several, tmp_path):
    several.write(str(tmp_path / "release"))
    last = sorted(path.name for path in (tmp_path / "release").glob("clusters-*"))[-1]

    def swap(path):
        one, other = (path / "clusters-00000.jsonl").read_bytes(), (path / last).read_bytes()
        (path / "clusters-00000.jsonl").write_bytes(other)
        (path / last).write_bytes(one)

    def shorten(path):
        (path / last).write_bytes(b"".join((path / last).read_bytes().splitlines(keepends=True)[:-1]))

    acts = [
        lambda path: None,
        swap,
        shorten,
        lambda path: (path / "notes.txt").write_text("a note"),
        lambda path: (path / "README.md").write_text("other words"),
    ]
    for at, act in enumerate(acts):
        path = tmp_path / str(at)
        shutil.copytree(tmp_path / "release", path)
        act(path)
        here, there = sv.verify(path).to_dict(), svs.verify(str(path)).to_dict()
        for verdict in (here, there):
            verdict.pop("cautions"), verdict.pop("cautions_missing", None)
        assert here == there
        assert here["holds"] == (at == 0)
    for ask in (svs.verify, lambda path: svs.supports(path, [["1"]])):
        (path / last).write_bytes(b"")
        if ask is svs.verify:
            assert not ask(str(path)).holds
        else:
            with pytest.raises(sv.DataError, match="empty"):
                ask(str(path))
        (path / last).unlink()
        with pytest.raises(sv.DataError, match=last):
            ask(str(path))
    with pytest.raises(sv.FileMissing):
        svs.verify(str(tmp_path / "nowhere"))
    (path / "manifest.json").unlink()
    with pytest.raises(sv.DataError, match="no manifest"):
        svs.verify(str(path))


def test_labels_come_to_the_driver_once(several, quest, monkeypatch):
    """Every file has nearly all of them."""
    tables = []

    def table(self, frame, ask=Kept.table):
        tables.append(ask(self, frame))
        return tables[-1]

    monkeypatch.setattr(Kept, "table", table)
    assert several.verify().holds
    [found] = tables
    assert sorted(found["label"].drop_null().to_pylist()) == quest.labels
    assert found["name"].drop_null().length() == len(several._names) > 2


def test_what_exists_is_not_replaced_and_a_failed_write_leaves_nothing(several, tmp_path, monkeypatch):
    path = tmp_path / "release"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "data.csv").write_text("a,b")
    for overwrite in (False, True):
        with pytest.raises(sv.FileExists, match="no release"):
            several.write(str(tmp_path / "other"), overwrite=overwrite)

    def fail(self, place, content, write=Folders.write):
        if place.getName() == "manifest.json":
            raise OSError("the disk is full")
        return write(self, place, content)

    with monkeypatch.context() as patch:
        patch.setattr(Folders, "write", fail)
        with pytest.raises(OSError, match="full"):
            several.write(str(path))
    assert [one.name for one in tmp_path.iterdir()] == ["other"]
    several.write(str(path))
    expected = tree(path)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        several.write(str(path))
    with monkeypatch.context() as patch:
        patch.setattr(Folders, "write", fail)
        with pytest.raises(OSError, match="full"):
            several.write(str(path), overwrite=True)
    assert tree(path) == expected
    several.write(f"file://{path}", overwrite=True)
    assert tree(path) == expected
    assert sorted(one.name for one in tmp_path.iterdir()) == ["other", "release"]


def test_holes_mean_what_they_mean_on_one_machine(spark, tmp_path):
    rows = [["a", "b "], ["b", "a", "a"], [" ", "a"], [], None, ["c\u2003", "a"], ["a", "b"]] * 20
    data = sv.Dataset(rows)
    df = spark.createDataFrame([(row,) for row in rows], "codes array<string>").repartition(4)
    profile = svs.profile(df, items="codes")
    assert profile.left_out == data.left_out
    assert (profile.records, profile.items, profile.occurrences) == data._inner.size()
    assert profile.max_length == 2
    with pytest.warns(sv.SetveilWarning, match="40 empty records"), svs.anonymize(df, items="codes", k=3) as release:
        assert release.made.left_out == data.left_out
        release.write(str(tmp_path / "release"))
    assert clusters(tree(tmp_path / "release")) == sv.disassociate(data, k=3).files()["clusters.jsonl"]
    holes = spark.createDataFrame([(["a", None],), (["a", "b"],)] * 10, "codes array<string>")
    with pytest.raises(sv.DataError, match="null"):
        svs.profile(holes, items="codes")
    assert svs.profile(holes, items="codes", drop_nulls=True).left_out["blank_items"] == 10
    long = spark.createDataFrame([(7, 1), (7, 1), (8, None), (9, 2)], "who int, what long")
    with pytest.raises(sv.DataError, match="null"):
        svs.profile(long, person="who", item="what")
    found = svs.profile(long, person="who", item="what", drop_nulls=True)
    assert found.records == 2 and found.left_out == {
        "duplicates": 1, "blank_items": 1, "empty_records": 1, "skipped_lines": 0
    }
    nobody = spark.createDataFrame([(" ", "a"), ("b", "a")], "who string, what string")
    with pytest.raises(sv.DataError, match="id is empty"):
        svs.profile(nobody, person="who", item="what")


def test_what_is_no_data_is_refused(spark, frame):
    for columns in ({}, {"items": "codes", "person": "codes"}, {"person": "codes"}, {"item": "codes"}):
        with pytest.raises(sv.ParameterError, match="which columns"):
            svs.anonymize(frame, **columns)
    with pytest.raises(sv.ParameterError, match="same column"):
        svs.anonymize(frame, person="codes", item="codes")
    with pytest.raises(sv.DataError, match="no column `nothing`"):
        svs.anonymize(frame, items="nothing")
    with pytest.raises(sv.DataError, match="type"):
        svs.anonymize(spark.createDataFrame([(1.5,)], "x double"), items="x")
    with pytest.raises(sv.DataError, match="no DataFrame of Spark"):
        svs.anonymize([["a"]], items="x")
    with pytest.raises(sv.SetveilError, match="4 records|records"):
        svs.anonymize(spark.createDataFrame([(["a"],)] * 4, "x array<string>"), items="x")


def test_what_needs_all_records_at_once_is_refused_with_what_to_do(frame):
    for method in sv._setveil.methods():
        if method != "disassociation":
            with pytest.raises(sv.ParameterError, match="one machine"):
                svs.anonymize(frame, items="codes", method=method)
    with pytest.raises(sv.ParameterError, match="privacy that nobody counts"):
        svs.anonymize(frame, items="codes", method="diffpart")
    with pytest.raises(sv.ParameterError, match="no method"):
        svs.anonymize(frame, items="codes", method="magic")
    refused = ({"sensitive": ["1"], "l": 2}, {"safe": True, "eta": 0.05}, {"clustering": "whole"}, {"keep": [["1", "2"]]})
    for parameters in refused:
        with pytest.raises(sv.ParameterError, match="one machine"):
            svs.anonymize(frame, items="codes", **parameters)
    with pytest.raises(sv.ParameterError, match="part-size"):
        svs.anonymize(frame, items="codes", part_size=10)
    with pytest.raises(sv.ParameterError, match="at most"):
        svs.anonymize(frame, items="codes", file_size="1G")


def test_data_that_changes_between_two_passes_is_refused(spark):
    def other(batches):
        import uuid

        import pyarrow

        for batch in batches:
            rows = [[uuid.uuid4().hex] for _ in range(len(batch))]
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array(rows)], ["codes"])

    df = spark.range(200).mapInArrow(other, "codes array<string>")
    with pytest.raises(sv.DataError, match="written to files or tables first"):
        svs.anonymize(df, items="codes", as_baskets=True)


def test_identifiers_are_refused_unless_they_are_meant(spark):
    rows = [([f"patient-{i:05}", "flu" if i % 2 else "cold", "tea"],) for i in range(200)]
    df = spark.createDataFrame(rows, "codes array<string>")
    with pytest.raises(sv.IdentifierError, match="as_baskets=True"):
        svs.anonymize(df, items="codes")
    visits = spark.createDataFrame([("flu", f"{i:04}") for i in range(100)], "code string, patient_id string")
    with pytest.raises(sv.IdentifierError):
        svs.anonymize(visits, person="code", item="patient_id")
    with svs.anonymize(df, items="codes", as_baskets=True) as release:
        assert release.verify().holds


def test_spark_connect_is_refused_with_what_to_do():
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.session import SparkSession

    for made, ask in ((DataFrame, lambda one: svs.anonymize(one, items="x")), (SparkSession, lambda one: svs.verify("x", spark=one))):
        with pytest.raises(sv.SetveilError, match="spark-submit"):
            ask(made.__new__(made))


def test_the_guide_runs(spark, tmp_path):
    text = (Path(__file__).parents[3] / "docs" / "spark.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    rows = [["J10", "R05"], ["J10", "R05", "E11"], ["I10", "E11"], ["I10", "J10"]] * 10
    names = {"df": spark.createDataFrame([(row,) for row in rows], "codes array<string>"), "folder": str(tmp_path)}
    for block in blocks:
        exec(compile(block, "docs/spark.md", "exec"), names)
    assert sv.verify(tmp_path / "release").holds


def test_data_that_is_all_in_one_place(spark, tmp_path):
    """One item in nine tenths of the records, most of which are equal; and one person with a million items."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random.seed(5)
    skewed = [["bread"] + (["milk"] if at % 3 else [str(random.randrange(40))]) for at in range(5400)]
    skewed += [[str(random.randrange(40)), str(random.randrange(40))] for _ in range(600)]
    df = spark.createDataFrame([(row,) for row in skewed], "codes array<string>")
    with svs.anonymize(df, items="codes", part_size=900) as release:
        assert release.made.parts > 3
        release.write(str(tmp_path / "skewed"))
    assert sv.verify(tmp_path / "skewed").holds
    who = [*("one" for _ in range(1_000_000)), *(str(at // 2) for at in range(4000))]
    what = [*(f"item {at:07}" for at in range(1_000_000)), *(f"item {at % 2:07}" for at in range(4000))]
    pq.write_table(pa.table({"who": who, "what": what}), tmp_path / "long.parquet")
    long = spark.read.parquet(str(tmp_path / "long.parquet")).repartition(4)
    with svs.anonymize(long, person="who", item="what", as_baskets=True) as release:
        assert (len(release), len(release.labels)) == (2001, 1_000_000)
        release.write(str(tmp_path / "long"))
    assert sv.verify(tmp_path / "long").holds


def test_a_worker_that_is_killed_changes_no_byte(spark, cluster, frame, several, tmp_path):
    """The last test: one worker is gone after it."""
    several.write(str(tmp_path / "first"))
    tracker = spark.sparkContext.statusTracker()
    killed, over, alive = [], threading.Event(), executors(spark).count(True)
    begun = jobs_begun(spark)

    def kill():
        # In the middle: counts are taken, parts are being split.
        while not over.is_set():
            if jobs_begun(spark) > begun + 8 and tracker.getActiveStageIds():
                cluster.kill("second")
                killed.append(True)
                return
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        release = svs.anonymize(frame, items="codes", part_size=900, file_size=1000)
    finally:
        over.set()
        killer.join()
    with release:
        assert killed, "nothing was killed"
        release.write(str(tmp_path / "second"))
        assert release.verify().holds
    assert tree(tmp_path / "second") == tree(tmp_path / "first")
    assert wait(lambda: cluster.workers() == 1)
    assert wait(lambda: executors(spark).count(True) == alive - 1), "no executor was lost"
