"""What stands at a place after a write that failed, whatever failed."""

import contextlib
import json
import os
import re
import shutil
import signal
import threading
import time
import warnings
from pathlib import Path

import pytest
from cluster import running, wait
from test_spark import tree

import setveil as sv
from setveil import spark as svs
from setveil.spark import _release, _session, _store
from setveil.spark._folders import Folders
from setveil.spark._replacement import Replacement

OPERATIONS = ("is_file", "listed", "read", "make", "rename", "write", "delete")
# Those that change something.
ACTS = OPERATIONS[3:]
LOST = re.compile(r"(?:kept|or) in file:(\S+?);")


@pytest.fixture(scope="module")
def few(spark):
    """A release in few files."""
    rows = [["J10", "R05"], ["J10", "R05", "E11"], ["I10", "E11"], ["I10", "J10"]] * 60
    frame = spark.createDataFrame([(row,) for row in rows], "codes array<string>")
    with svs.anonymize(frame, items="codes", file_size=40) as made:
        yield made


@pytest.fixture(scope="module")
def written(few, tmp_path_factory):
    """The files of that release."""
    path = tmp_path_factory.mktemp("written") / "release"
    few.write(str(path))
    assert 4 < len(tree(path)) < 9
    return tree(path)


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    """A release that was there before."""
    path = tmp_path_factory.mktemp("earlier") / "release"
    sv.disassociate(sv.Dataset([["tea", "bread"]] * 20), k=3).write(path)
    return path


@pytest.fixture
def quick(spark, few, tmp_path_factory, monkeypatch):
    """The machines have written the clusters once; from then on these files are copied."""
    folder = tmp_path_factory.mktemp("texts") / "clusters"
    store = _store.Store(spark, str(folder))
    store._texts(few._frame, store._folders.root)

    def copied(self, files, place):
        shutil.copytree(folder, place.toUri().getPath())

    monkeypatch.setattr(_store.Store, "_texts", copied)


class Broken(OSError):
    """What a disk says."""


def half(self, old, new, rename=Folders.rename):
    """A rename of a file system that copies, which fails in the middle: some files have gone, one has two places."""
    source, target = (Path(place.toUri().getPath()) for place in (old, new))
    names = sorted(source.iterdir()) if source.is_dir() else []
    if names:
        target.mkdir()
        shutil.copy(names[0], target)
        names[1].rename(target / names[1].name)
    raise Broken("the connection was lost")


def faults(patch, at, how):
    """The `at`-th operation fails in this way; the list has all that were asked for."""
    calls = []

    def broken(name, act):
        def call(self, *words):
            calls.append(name)
            if how == "for ever" and len(calls) >= at:
                raise Broken(f"{name} failed")
            if how == "half for ever" and len(calls) >= at:
                return half(self, *words) if name == "rename" else act(self, *words)
            if len(calls) != at:
                return act(self, *words)
            if how == "half" and name == "rename":
                return half(self, *words)
            if how in ("after", "interrupt"):
                act(self, *words)
            raise KeyboardInterrupt if how == "interrupt" else Broken(f"{name} failed")

        return call

    for name in OPERATIONS:
        patch.setattr(Folders, name, broken(name, getattr(Folders, name)))
    return calls


@pytest.mark.parametrize("how", ["before", "after", "interrupt", "half", "half for ever", "for ever"])
@pytest.mark.parametrize("replace", [True, False])
def test_an_old_or_a_new_release_is_there_whatever_fails(few, written, earlier, quick, tmp_path, monkeypatch, how, replace):
    old = tree(earlier)
    failed, seen = set(), set()
    for at in range(1, 1000):
        folder = tmp_path / str(at)
        folder.mkdir()
        path = folder / "release"
        if replace:
            shutil.copytree(earlier, path)
        said = ""
        with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            calls = faults(patch, at, how)
            try:
                few.write(str(path), overwrite=replace)
            except (Broken, sv.DataError, KeyboardInterrupt) as error:
                said = str(error)
                failed.add(calls[at - 1])
        if len(calls) < at:
            break
        found = tree(path) if path.is_dir() else None
        seen.add("nothing" if found is None else "old" if found == old else "new")
        lost = LOST.search(said)
        if lost and found not in (old, written):
            assert {**tree(lost[1]), **(found or {})} == old, (at, calls, said)
        else:
            assert found in (old if replace else None, written), (at, calls, said)
        if "for ever" not in how:
            left = [str(one.message) for one in warned if "could not be removed" in str(one.message)]
            assert not lost and not left
            assert [one.name for one in folder.iterdir()] == (["release"] if found else []), (at, calls)
        shutil.rmtree(folder)
    assert found is None or tree(path) == written
    assert len(calls) < at and at > 15
    # A directory that cannot be removed is no failure.
    assert failed >= ({"rename"} if how == "half for ever" else set(ACTS) - {"delete"})
    assert seen >= {"old" if replace else "nothing"}


def test_machines_that_fail_leave_what_was_there(spark, few, earlier, tmp_path, monkeypatch):
    def fail(batches):
        from pyspark import TaskContext

        yield from batches
        if TaskContext.get().partitionId() == 0:
            raise RuntimeError("the disk is full")
        # Another task still runs when Spark says that the job has failed.
        time.sleep(60)

    def late(context, tag):
        _session.ended(context, tag)
        said.append(running(spark))
        # The last that it did was to make its directory again.
        (tmp_path / f".release.{tag}" / "clusters" / "_temporary").mkdir(parents=True, exist_ok=True)

    frame = few._frame.repartition(2, "piece", "file").mapInArrow(fail, few._frame.schema)
    path = tmp_path / "release"
    for there in (False, True):
        if there:
            shutil.copytree(earlier, path)
        said = []
        with monkeypatch.context() as patch:
            patch.setattr(few, "_frame", frame)
            patch.setattr(_store, "ended", late)
            with pytest.raises(Exception, match="the disk is full"):
                few.write(str(path), overwrite=True)
        assert said == [0]
        assert [one.name for one in tmp_path.iterdir()] == ["release"] * there
    assert tree(path) == tree(earlier)


def test_files_that_are_not_those_of_the_manifest_replace_nothing(few, earlier, quick, tmp_path, monkeypatch):
    def cut(self, files, place, texts=_store.Store._texts):
        texts(self, files, place)
        file = next(Path(place.toUri().getPath()).glob("*/part-*"))
        file.write_bytes(file.read_bytes()[:-1])

    path = tmp_path / "release"
    shutil.copytree(earlier, path)
    monkeypatch.setattr(_store.Store, "_texts", cut)
    with pytest.raises(sv.DataError, match="not those of the manifest"):
        few.write(str(path), overwrite=True)
    assert tree(path) == tree(earlier)
    assert [one.name for one in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize(("target", "expected"), [("clusters-00000.jsonl", "old"), ("before", "new"), ("release", "new")])
def test_ctrl_c_ends_no_rename_in_its_middle(few, written, earlier, quick, tmp_path, monkeypatch, target, expected):
    path = tmp_path / "release"
    shutil.copytree(earlier, path)
    pressed, heard = [], threading.Event()

    def slow(self, old, new, rename=Folders.rename):
        if new.getName() == target:
            pressed.append(os.kill(os.getpid(), signal.SIGINT))
            assert heard.wait(60)
        rename(self, old, new)

    def stop(self, stop=Replacement.stop):
        stop(self)
        heard.set()

    with monkeypatch.context() as patch:
        patch.setattr(Folders, "rename", slow)
        patch.setattr(Replacement, "stop", stop)
        with pytest.raises(KeyboardInterrupt):
            few.write(str(path), overwrite=True)
    assert len(pressed) == 1
    assert tree(path) == (written if expected == "new" else tree(earlier))
    assert [one.name for one in tmp_path.iterdir()] == ["release"]
    # The connection to Java still gives each question its own answer.
    few.write(str(path), overwrite=True)
    assert tree(path) == written and few.verify().holds


def test_ctrl_c_ends_the_work_of_the_machines(spark, few, earlier, tmp_path, monkeypatch):
    def slow(batches):
        for _ in range(600):
            time.sleep(1)
        yield from batches

    path = tmp_path / "release"
    shutil.copytree(earlier, path)
    monkeypatch.setattr(few, "_frame", few._frame.mapInArrow(slow, few._frame.schema))
    over = threading.Event()

    def press():
        # The job has begun, and made a directory. If it never does, nobody is interrupted.
        while not over.wait(0.1):
            if len(list(tmp_path.iterdir())) > 1 and running(spark):
                os.kill(os.getpid(), signal.SIGINT)
                return

    presser = threading.Thread(target=press)
    with own_interrupts():
        presser.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                few.write(str(path), overwrite=True)
        finally:
            over.set()
            presser.join()
    # Nobody waits for what would sleep for ten minutes.
    assert wait(lambda: not running(spark))
    assert tree(path) == tree(earlier)
    assert [one.name for one in tmp_path.iterdir()] == ["release"]


@contextlib.contextmanager
def own_interrupts():
    """PySpark ends all jobs at Ctrl-C; here nobody but this package does anything."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_again_and_again_waits_too(spark):
    told, done = threading.Event(), []

    def act():
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
            assert told.wait(60)
            time.sleep(0.4)
        done.append(True)

    with own_interrupts(), pytest.raises(KeyboardInterrupt):
        _session.undisturbed(act, told.set)
    assert done == [True]


def arrives(few, earlier, path, when):
    """Somebody else's release comes to the place in the last moment."""

    def go_on(self, go_on=Replacement._go_on):
        go_on(self)
        if (Path(self._made.toUri().getPath()) / "manifest.json").exists():
            shutil.copytree(earlier, path)

    def rename(self, old, new, rename=Folders.rename):
        if new == self.root and old.getName() == "release":
            shutil.copytree(earlier, path)
            if when == "in the rename":
                # Java's goes into a directory that is there, as that of HDFS does.
                assert self._files.rename(old, new)
                return
        rename(self, old, new)

    return (Replacement, "_go_on", go_on) if when == "after the check" else (Folders, "rename", rename)


@pytest.mark.parametrize("when", ["after the check", "before the rename", "in the rename"])
def test_a_release_that_comes_in_the_last_moment_stays(few, earlier, quick, tmp_path, monkeypatch, when):
    path = tmp_path / "release"
    monkeypatch.setattr(*arrives(few, earlier, path, when))
    with pytest.raises(sv.FileExists, match="meanwhile"):
        few.write(str(path))
    assert tree(path) == tree(earlier)
    assert [one.name for one in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("when", ["before the rename", "in the rename"])
def test_nor_is_it_lost_where_another_one_was_to_be_replaced(few, written, earlier, quick, tmp_path, monkeypatch, when):
    """Then there are three: the one that came stays, and the earlier one is kept."""
    path = tmp_path / "release"
    few.write(str(path))
    other = tmp_path / "other"
    sv.disassociate(sv.Dataset([["tea", "milk"]] * 30), k=4).write(other)
    monkeypatch.setattr(*arrives(few, other, path, when))
    with pytest.raises(sv.DataError, match="something else is at its place") as error:
        few.write(str(path), overwrite=True)
    assert tree(path) == tree(other)
    assert tree(LOST.search(str(error.value))[1]) == written


@pytest.mark.parametrize("full", [True, False])
def test_what_comes_into_an_empty_directory_stays(few, earlier, quick, tmp_path, monkeypatch, full):
    path = tmp_path / "release"
    path.mkdir()

    def rename(self, old, new, rename=Folders.rename):
        if new.getName() == "before" and full:
            shutil.copytree(earlier, path, dirs_exist_ok=True)
        rename(self, old, new)

    monkeypatch.setattr(Folders, "rename", rename)
    if full:
        with pytest.raises(sv.FileExists, match="meanwhile"):
            few.write(str(path))
        assert tree(path) == tree(earlier)
    else:
        few.write(str(path))
        assert svs.verify(str(path)).holds
    assert [one.name for one in tmp_path.iterdir()] == ["release"]


def test_a_release_with_our_names_and_other_bytes_is_not_ours(few, written, quick, tmp_path, monkeypatch):
    """Somebody else's release of the same data may have the same names, and files no longer than ours."""
    path = tmp_path / "release"
    theirs = {**written, "manifest.json": json.dumps(json.loads(written["manifest.json"])).encode()}
    assert len(theirs["manifest.json"]) < len(written["manifest.json"])

    def rename(self, old, new, rename=Folders.rename):
        if new == self.root and old.getName() == "release":
            path.mkdir()
            for name, content in theirs.items():
                (path / name).write_bytes(content)
            raise Broken("the connection was lost")
        rename(self, old, new)

    monkeypatch.setattr(Folders, "rename", rename)
    with pytest.raises((Broken, sv.DataError)):
        few.write(str(path))
    assert tree(path) == theirs


def test_what_somebody_else_puts_there_meanwhile_is_not_touched(few, earlier, quick, tmp_path, monkeypatch):
    path = tmp_path / "release"
    shutil.copytree(earlier, path)

    def meanwhile(self, old, new, rename=Folders.rename):
        rename(self, old, new)
        if new.getName() == "before":
            path.mkdir()
            (path / "notes.txt").write_text("mine")

    monkeypatch.setattr(Folders, "rename", meanwhile)
    with pytest.raises(sv.DataError, match="something else is at its place") as error:
        few.write(str(path), overwrite=True)
    assert tree(path) == {"notes.txt": b"mine"}
    kept = Path(LOST.search(str(error.value))[1])
    assert tree(kept) == tree(earlier)
    assert [one.name for one in kept.parent.iterdir() if one.name == "release"] == ["release"]


def other_tool(path):
    (path / "manifest.json").write_text('{"name": "a page", "files": []}')
    (path / "src").mkdir()
    (path / "src" / "only_copy.js").write_text("mine")


@pytest.mark.parametrize(
    "add",
    [
        other_tool,
        lambda path: (path / "manifest.json").write_text("no JSON"),
        lambda path: (path / "manifest.json").write_text('{"format": "setveil-release", "files": 5}'),
        lambda path: (path / "notes.txt").write_text("mine"),
        lambda path: (path / "clusters").mkdir(),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_only_a_release_is_replaced(few, earlier, quick, tmp_path, monkeypatch, add, late):
    """Before the work, or in the last moment."""
    path = tmp_path / "release"
    shutil.copytree(earlier, path)
    (path / "schema.json").unlink()
    if late:

        def meanwhile(self, old, new, rename=Folders.rename):
            if new.getName() == "before":
                add(path)
            rename(self, old, new)

        monkeypatch.setattr(Folders, "rename", meanwhile)
    else:
        add(path)
    before = everything(path)
    with pytest.raises((sv.FileExists, sv.DataError)) as error:
        few.write(str(path), overwrite=True)
    if late:
        # What came in the last moment is not what was listed: where both are is said, and nothing is removed.
        kept = LOST.search(str(error.value))
        found = everything(Path(kept[1]) if kept else path)
        assert before.keys() <= found.keys() and len(found) >= len(before)
    else:
        assert everything(path) == before and [one.name for one in tmp_path.iterdir()] == ["release"]


def everything(path):
    return {str(file.relative_to(path)): file.read_bytes() if file.is_file() else None for file in sorted(path.rglob("*"))}


@pytest.mark.parametrize("name", ["run[1]", "v?", "{a,b}", "100*", "a^b"])
def test_names_that_are_patterns_to_spark_are_names(few, written, tmp_path, name):
    path = tmp_path / name
    other = tmp_path / "v1"
    shutil.copytree(few_elsewhere(few, tmp_path), other)
    few.write(str(path))
    assert tree(path) == written
    assert svs.verify(str(path)).holds
    assert svs.supports(str(path), [["J10"]]).rows() == few.supports([["J10"]]).rows()


def few_elsewhere(few, folder):
    """Another release that a pattern would find too."""
    path = folder / "elsewhere"
    few.write(str(path))
    return path


def test_files_that_are_too_long_are_not_taken_into_memory(few, tmp_path, monkeypatch):
    path = tmp_path / "release"
    few.write(str(path))
    monkeypatch.setattr(_release, "LARGEST_FILE", 10)
    with pytest.raises(sv.DataError, match="as a stream"):
        svs.verify(str(path))
    # Nor are they written.
    with pytest.raises(sv.ParameterError, match="smaller file_size"):
        few.write(str(tmp_path / "other"))
    assert [one.name for one in tmp_path.iterdir()] == ["release"]
    monkeypatch.setattr(_release, "LARGEST_FILE", 1 << 20)
    monkeypatch.setattr(_release, "LARGEST", 10)
    with pytest.raises(sv.DataError, match="10 at most"):
        svs.verify(str(path))


def test_what_java_refuses_with_a_word_is_an_error(spark, tmp_path):
    class Refusing:
        def __getattr__(self, name):
            return lambda *words: name == "exists" and words[0].getName() == "there"

    folders = Folders(spark, str(tmp_path / "root"))
    folders._files = Refusing()
    here, there = folders.beside("here"), folders.beside("there")
    for act in (lambda: folders.make(here), lambda: folders.rename(there, here), lambda: folders.delete(there)):
        with pytest.raises(sv.DataError, match="could not"):
            act()
    with pytest.raises(sv.FileExists):
        folders.rename(here, there)
    folders.delete(here)


def test_file_systems_without_checksums_of_their_own(spark, few, written, tmp_path):
    """As HDFS and object stores are: there is nothing below them that could be asked for."""
    settings = {"fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem", "fs.file.impl.disable.cache": "true"}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        path = str(tmp_path / "release")
        few.write(path)
        few.write(path, overwrite=True)
        assert svs.verify(path).holds
    finally:
        for name in settings:
            spark.conf.unset(name)
    assert tree(tmp_path / "release") == written
