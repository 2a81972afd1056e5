"""Records and clusters that get lost on the way: nothing is made of the others."""

import json

import pytest
from cluster import jobs_begun, wait

import setveil as sv
from setveil import _setveil
from setveil import spark as svs
from setveil.spark import _files, _parts, _session


def test_a_cluster_that_is_lost_on_the_way_is_an_error(frame, monkeypatch):
    def losing(*words, made=svs._disassociated):
        keys, sizes = made(*words)
        return keys.orderBy("key").offset(1), sizes

    monkeypatch.setattr(svs, "_disassociated", losing)
    with pytest.raises(sv.DataError, match=r"there were 4,000 records, .* have 3,9\d\d"):
        svs.anonymize(frame, items="codes", file_size=1000)


def test_a_cluster_that_is_there_twice_is_an_error(frame, monkeypatch):
    def doubling(*words, made=svs._disassociated):
        keys, sizes = made(*words)
        return keys.unionByName(keys.orderBy("key").limit(1)), sizes

    monkeypatch.setattr(svs, "_disassociated", doubling)
    with pytest.raises(sv.DataError, match=r"there were 4,000 records, .* have 4,0\d\d"):
        svs.anonymize(frame, items="codes")


def test_records_are_counted_in_the_lines_of_a_file(several, quest, tmp_path):
    several.write(str(tmp_path / "release"))
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    found = 0
    for entry in manifest["files"]:
        if entry["name"].startswith("clusters"):
            content = (tmp_path / "release" / entry["name"]).read_bytes()
            found += _files.records_of(content, entry["lines"])
            with pytest.raises(sv.DataError, match="how many records"):
                _files.records_of(content, entry["lines"] + 1)
    assert found == manifest["records"] == len(quest)
    # The size of a cluster in a cluster is in that of the outer one; labels say what they like.
    inner = '{"size":3,"term_chunk":["\\n{\\"size\\":9,"]}'
    assert _files.records_of(f'{{"size":7,"children":[{inner},{inner}]}}\n{inner}\n'.encode(), 2) == 10


def test_files_in_many_pieces_are_the_same_files(spark, frame, several, tmp_path, monkeypatch):
    """Also where a session wants files of few rows."""
    several.write(str(tmp_path / "whole"))
    monkeypatch.setattr(_files, "PIECE", 50)
    monkeypatch.setattr(_files, "RUN", 70)
    sets = [["1", "2"], ["3"]]
    with svs.anonymize(frame, items="codes", part_size=900, file_size=1000) as release:
        assert release._frame.count() > 3 * several._frame.count()
        spark.conf.set("spark.sql.files.maxRecordsPerFile", 1)
        try:
            release.write(str(tmp_path / "pieces"))
        finally:
            spark.conf.unset("spark.sql.files.maxRecordsPerFile")
        assert release.verify().holds
        assert release.supports(sets).rows() == several.supports(sets).rows()
        assert release.evaluate().tlost == several.evaluate().tlost
    whole, pieces = ({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("whole", "pieces"))
    assert whole == pieces


def test_a_release_is_not_in_the_cache_and_leaves_nothing_there(spark, frame):
    """What the cache writes to a disk stays in the heap for a hundred batches, and a text three times."""
    # What was there before may go at any time.
    before = set(spark.sparkContext._jsc.getPersistentRDDs())
    with svs.anonymize(frame, items="codes", part_size=900, file_size=1000) as release:
        assert set(spark.sparkContext._jsc.getPersistentRDDs()) <= before


class Shuffles:
    """Those that the workers have files of, among those that began since."""

    def __init__(self, spark, cluster):
        self.folder, self.first = cluster.folder, spark.sparkContext._jsc.sc().newShuffleId()

    def there(self):
        found = {int(path.name.split("_")[1]) for path in self.folder.glob("*-local/**/shuffle_*.data")}
        return {some for some in found if some > self.first}

    def become(self, wanted):
        """Workers remove files a little after they are told."""
        return wait(lambda: self.there() == wanted)


def written_for(frame):
    """What a frame and all that it was made of have written: the numbers of its shuffles."""
    waiting, found = [frame._jdf.queryExecution().toRdd()], set()
    while waiting:
        parents = waiting.pop().dependencies()
        for parent in (parents.apply(at) for at in range(parents.size())):
            waiting.append(parent.rdd())
            if parent.getClass().getSimpleName() == "ShuffleDependency":
                found.add(parent.shuffleId())
    return found


def test_what_was_written_to_disks_goes_with_the_release(spark, cluster, frame):
    """Records and names of persons are in shuffle files, also in those of what was only counted or looked at."""
    persons = frame.selectExpr("monotonically_increasing_id() as who", "codes")
    rows = persons.selectExpr("who", "explode(codes) as what")
    shuffles = Shuffles(spark, cluster)
    with svs.anonymize(rows, person="who", item="what", part_size=900, file_size=1000) as release:
        during = written_for(release._clusters.keys)
        assert during and shuffles.become(during), (shuffles.there() - during, during - shuffles.there())
        release.verify()
        release.support(["1"])
        release.evaluate()
        assert shuffles.become(during), (shuffles.there() - during, during - shuffles.there())
    assert shuffles.become(set())
    for use in (release.verify, release.evaluate, lambda: release.support(["1"]), lambda: release.write("nowhere")):
        with pytest.raises(sv.SetveilError, match="was forgotten"):
            use()
    svs.profile(rows, person="who", item="what")
    assert shuffles.become(set())


def test_what_was_written_to_disks_goes_with_a_failure(spark, cluster, frame, monkeypatch):
    def failing(*words):
        raise sv.DataError("in the last step")

    shuffles = Shuffles(spark, cluster)
    monkeypatch.setattr(svs._setveil, "end_of_parts", failing)
    with pytest.raises(sv.DataError, match="in the last step"):
        svs.anonymize(frame, items="codes", part_size=900, file_size=1000)
    assert shuffles.become(set())


def test_what_others_wrote_to_disks_stays(spark, cluster, frame):
    shuffles = Shuffles(spark, cluster)
    pairs = frame.rdd.flatMap(lambda row: [(at % 500, code) for at, code in enumerate(row.codes * 10)])
    theirs = spark.createDataFrame(pairs.groupByKey().map(lambda pair: (sorted(pair[1])[:9],)), "codes array<string>")
    theirs.count()
    # What counting left goes when Spark likes to.
    grouped = written_for(theirs)
    assert grouped and grouped <= shuffles.there()
    with svs.anonymize(theirs, items="codes", max_cluster_size=10, part_size=200) as release:
        ours = written_for(release._clusters.keys) - grouped
        assert ours and ours <= shuffles.there()
    assert wait(lambda: not shuffles.there() & ours), shuffles.there() & ours
    assert grouped <= shuffles.there()


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("step", ["_splitting", "_joining"])
def test_what_was_written_to_disks_goes_with_a_task_that_fails(spark, cluster, frame, monkeypatch, step, adaptive):
    """A task has too little memory, say: then there are files of all records or clusters, and no rows made of them."""

    def failing(*words):
        def fail(table):
            raise RuntimeError("out of memory")

        return fail

    persons = frame.selectExpr("monotonically_increasing_id() as who", "codes")
    rows = persons.selectExpr("who", "explode(codes) as what")
    shuffles = Shuffles(spark, cluster)
    before = set(spark.sparkContext._jsc.getPersistentRDDs())
    seen = set()

    def looked(self, end=_session.Kept.end):
        seen.update(shuffles.there())
        end(self)

    monkeypatch.setattr(_session.Kept, "end", looked)
    monkeypatch.setattr(_parts, step, failing)
    name = "spark.sql.adaptive.enabled"
    setting = spark.conf.get(name)
    spark.conf.set(name, str(adaptive).lower())
    try:
        with pytest.raises(Exception, match="out of memory"):
            svs.anonymize(rows, person="who", item="what", part_size=900, file_size=1000)
    finally:
        spark.conf.set(name, setting)
    assert seen and shuffles.become(set()), shuffles.there()
    assert set(spark.sparkContext._jsc.getPersistentRDDs()) <= before


def test_no_more_than_the_beginning_of_a_cluster_comes_to_the_driver(frame, monkeypatch):
    """Spark takes a sample of what it sorts by to the driver, and of few clusters takes all."""
    from pyspark.sql import functions as F
    from pyspark.sql.classic.dataframe import DataFrame

    lengths = []

    def measured(keys, *by, made=DataFrame.repartitionByRange):
        longest = keys.select(F.max(F.octet_length(by[0])), F.max(F.octet_length("key"))).collect()[0]
        lengths.append(tuple(longest))
        return made(keys, *by)

    monkeypatch.setattr(DataFrame, "repartitionByRange", measured)
    with svs.anonymize(frame, items="codes", part_size=900, file_size=1000):
        pass
    [(sampled, whole)] = lengths
    assert sampled <= 64 < whole


def test_batches_of_the_cache_are_small_while_a_release_is_made(spark):
    name = "spark.sql.inMemoryColumnarStorage.batchSize"
    before = spark.conf.get(name)
    with pytest.raises(KeyError), _session.small_batches(spark):
        assert int(spark.conf.get(name)) < int(before)
        raise KeyError
    assert spark.conf.get(name) == before
    # Two releases are made at once, and the first is ready before the second.
    first, second = _session.small_batches(spark), _session.small_batches(spark)
    first.__enter__(), second.__enter__()
    first.__exit__(None, None, None)
    assert int(spark.conf.get(name)) < int(before)
    second.__exit__(None, None, None)
    assert spark.conf.get(name) == before


def test_keys_of_a_file_come_in_runs():
    pyarrow = pytest.importorskip("pyarrow")
    rows = [(0, b"a" * 3), (0, b"b" * 3), (0, b"c"), (2, b"d" * 20), (2, b"e"), (5, b"f")]
    for size in (1, 2, 6):
        pieces = [rows[at : at + size] for at in range(0, len(rows), size)]
        batches = [
            pyarrow.RecordBatch.from_arrays(
                [pyarrow.array([f for f, _ in piece], pyarrow.int64()), pyarrow.array([k for _, k in piece], pyarrow.binary())],
                ["file", "key"],
            )
            for piece in pieces
        ]
        found = [(file, run["key"].to_pylist()) for file, run in _files._runs(iter(batches), 5)]
        assert found == [(0, [b"aaa", b"bbb"]), (0, [b"c"]), (2, [b"d" * 20]), (2, [b"e"]), (5, [b"f"])]


def test_text_that_is_not_that_of_the_manifest_is_an_error(several, monkeypatch, tmp_path):
    sums = {file: "0" for file in several._names}
    keys, making = several._clusters.keys, several._clusters.making
    monkeypatch.setattr(several, "_frame", keys.mapInArrow(_files._texting(making, sums, 50), _files.TEXTS))
    with pytest.raises(sv.DataError, match="not the one that was described"):
        several.write(str(tmp_path / "release"))
    assert not list(tmp_path.iterdir())


def test_pieces_are_whole_lines():
    text = b"\n".join(b"x" * length for length in range(1, 60))
    for length in (1, 7, 100, 10_000):
        pieces = list(_files.pieces_of(text, length))
        assert b"\n".join(pieces) == text and (len(pieces) == 1) == (length == 10_000)


def test_a_cluster_without_a_part_is_an_error(spark, frame, monkeypatch):
    """As it is on one machine; a cluster whose terms have no rank shares nothing more, and needs none."""
    pyarrow = pytest.importorskip("pyarrow")
    lists = pyarrow.array([[0, 1], [0, 1], [1], [], [3]], pyarrow.list_(pyarrow.int32()))
    ranks = _setveil.Ranks.most_frequent_first([2, 3, 1, 0], 4)
    planner = _setveil.Planner.of_clusters(4, 1, 1)
    while planner.counts():
        planner.take(planner.count(pyarrow.table({"terms": lists}).slice(0, 2), ranks, _setveil.Manner()))
    placing = _parts._placing(planner.finish().to_bytes(), ranks.to_bytes(), True)
    batch = pyarrow.RecordBatch.from_arrays([lists, pyarrow.array(range(5))], ["terms", "cluster"])
    parts = [row["part"] for piece in placing(iter([batch.take([0, 1, 3, 4])])) for row in piece.to_pylist()]
    assert parts == [0, 0, -1, -1]
    other = pyarrow.RecordBatch.from_arrays(
        [pyarrow.array([[2]], pyarrow.list_(pyarrow.int32())), pyarrow.array([0])], ["terms", "cluster"]
    )
    with pytest.raises(sv.DataError, match="a cluster without a part"):
        list(placing(iter([other])))

    def too_little(rows, *words, planned=_parts._planned):
        return planned(rows.limit(0) if "weight" in rows.columns else rows, *words)

    monkeypatch.setattr(_parts, "_planned", too_little)
    with pytest.raises(sv.DataError, match="a cluster without a part: the data changed"):
        svs.anonymize(frame, items="codes", part_size=900)


def test_rounds_make_no_longer_plans_and_few_jobs(several):
    """A plan that has the one before it twice was sixty times as long after six rounds, and a heavy cluster took 500 jobs."""
    assert len(several._frame._jdf.queryExecution().toString()) < 10_000
    assert 50 < several.jobs < 100


def test_levels_that_are_counted_in_one_place_give_the_same_plan(spark):
    """A cluster that weighs more than a part is followed to its last term, and there are two jobs for each."""
    rows = [([*range(30)], 5000), ([*range(20)], 20), ([0, 1, 7], 10), ([3, 4], 30), ([], 9), ([5], 40), ([3, 9], 50)]
    frame = spark.createDataFrame(rows, "terms array<int>, weight long").repartition(3)
    ranks = _setveil.Ranks.most_frequent_first([99 - at for at in range(30)], 4)

    def planned(few):
        begun = jobs_begun(spark)
        plan = _parts._planned(frame, _setveil.Planner.of_clusters(150, 1, 1), ranks, _session.Kept(spark), few)
        return plan.to_bytes(), jobs_begun(spark) - begun

    fast, jobs = planned(10_000)
    slow, many = planned(0)
    assert fast == slow and jobs < 8 and many > 50
    assert len(json.loads(fast)["sizes"]) > 1


def test_rows_that_are_gone_in_the_middle_of_a_plan_are_an_error(spark):
    frame = spark.createDataFrame([([0, 1], 500)], "terms array<int>, weight long")
    ranks = _setveil.Ranks.most_frequent_first([3, 2], 4)

    class Leaving:
        def mapInArrow(self, *words, left=[frame, frame.limit(0)]):
            return left.pop(0).mapInArrow(*words)

    with pytest.raises(sv.DataError, match="the data changed"):
        _parts._planned(Leaving(), _setveil.Planner.of_clusters(100, 1, 1), ranks, _session.Kept(spark))
