"""The steps of data in parts, one after the other as machines of a cluster would run them."""

import json
import random

import pytest
from conftest import library

import setveil as sv
from setveil import _setveil

pytestmark = pytest.mark.libraries
HOW = _setveil.Manner()


def parameters(**changed):
    return json.dumps({"k": 5, "m": 2, "max_cluster_size": 50, "refine": True, **changed})


def lists(rows):
    pyarrow = library("pyarrow")
    return pyarrow.table({"items": pyarrow.array(rows, pyarrow.list_(pyarrow.int32()))})


def binary(name, rows):
    pyarrow = library("pyarrow")
    return pyarrow.table({name: pyarrow.array(rows, pyarrow.binary())})


def column(table):
    return library("pyarrow").table(table).column(0).to_pylist()


def pieces(rows, number):
    return [rows[start::number] for start in range(number)]


def sent(value):
    """What arrives at another machine."""
    return type(value).from_bytes(value.to_bytes())


def planned(planner, ranks, tables):
    """Every machine counts its own, and the counts come together."""
    pyarrow = library("pyarrow")
    while planner.counts():
        counted = [pyarrow.table(sent(planner).count(table, sent(ranks), HOW)) for table in tables]
        planner.take(pyarrow.concat_tables(reversed(counted)))
    return planner.finish()


def joined(clusters, fewer, parts, items, machines):
    """One round of joins: what can share nothing more, and the others."""
    pyarrow, counts = library("pyarrow"), ([0] * items, [0] * items)
    terms = pyarrow.table(_setveil.open_terms(binary("cluster", clusters))).to_pydict()
    for of_cluster, records in zip(terms["items"], terms["records"], strict=True):
        for item, number in zip(of_cluster, records, strict=True):
            counts[0][item] += 1
            counts[1][item] += number
    ranks = _setveil.Ranks.rare_first(*counts, json.loads(parameters())["k"])
    ranked = pyarrow.table({
        "items": pyarrow.array(terms["items"], pyarrow.list_(pyarrow.uint32())),
        "weight": pyarrow.array([len(cluster) for cluster in clusters], pyarrow.int64()),
    })
    shares = column(ranks.ranked(ranked))
    total = sum(len(cluster) for cluster, some in zip(clusters, shares, strict=True) if some)
    tables = [ranked.take(list(range(start, len(clusters), machines))) for start in range(machines)]
    plan = planned(_setveil.Planner.of_clusters(total, parts, fewer), ranks, tables)
    places = column(sent(plan).part(ranked, ranks, True, HOW))
    closed = [cluster for cluster, place in zip(clusters, places, strict=True) if place is None]
    open_ones = []
    for part in sorted({place for place in places if place is not None}):
        members = [cluster for cluster, place in zip(clusters, places, strict=True) if place == part]
        random.Random(part).shuffle(members)
        open_ones += column(_setveil.join_part(binary("cluster", members), ranks, parameters(), HOW))
    return closed, open_ones


def in_parts(data, size, machines, files):
    """The files of a release that was made in parts."""
    labels = data.labels
    number = {label: at for at, label in enumerate(labels)}
    rows = [[number[item] for item in record] for record in data]
    random.Random(machines).shuffle(rows)
    ranks = _setveil.Ranks.most_frequent_first(list(data.supports().values()), size)
    plan = planned(_setveil.Planner.of_records(size, 50), ranks, [lists(piece) for piece in pieces(rows, machines)])
    parts = column(sent(plan).part(lists(rows), ranks, False, HOW))
    open_ones = []
    for part in range(len(plan.sizes())):
        equal = [(items, count) for items, count, place in plan.equal(ranks) if place == part]
        members = [row for row, place in zip(rows, parts, strict=True) if place == part]
        open_ones += column(_setveil.split_part(lists(members), equal, parameters(), HOW))
    closed = []
    if len(plan.sizes()) > 1:
        for fewer in _setveil.join_rounds():
            done, open_ones = joined(open_ones, fewer, len(plan.sizes()), len(labels), machines)
            closed += done
    keys = sorted(column(_setveil.close_clusters(binary("cluster", closed + open_ones), len(labels))))
    length = -(-len(keys) // files)
    made = [
        _setveil.cluster_file(binary("key", keys[start : start + length]), labels, at, parameters(), HOW)
        for at, start in enumerate(range(0, len(keys), length))
    ]
    entries = [entry for _, entry in made]
    release = {json.loads(entry)["name"]: content for content, entry in made}
    release |= _setveil.end_of_parts(parameters(), len(rows), len(labels), entries)
    return len(plan.sizes()), release


def test_one_part_is_the_release_of_one_machine(quest):
    parts, files = in_parts(quest, 10_000, 2, 1)
    release = sv.Release.from_files(files)
    assert parts == 1 and release.verify().holds
    one = sv.disassociate(quest)
    assert files["clusters-00000.jsonl"] == one.files()["clusters.jsonl"]
    assert release.manifest["parameters"] == one.manifest["parameters"]
    assert files["README.md"] == one.files()["README.md"]


def test_several_parts_keep_the_promise_whoever_counts(quest, tmp_path):
    parts, files = in_parts(quest, 900, 3, 4)
    assert parts > 3
    release = sv.Release.from_files(files)
    assert release.verify().holds and len(release) == len(quest)
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert sv.verify(tmp_path).holds
    assert release.evaluate(quest).tlost is not None
    # Other machines, other order: the same bytes.
    assert in_parts(quest, 900, 7, 4) == (parts, files)


def test_what_needs_all_data_at_once_is_refused():
    _setveil.check_parts(parameters())
    for changed in ({"sensitive": ["a"], "l": 2}, {"safe": True, "eta": 0.05}, {"clustering": "whole"}):
        with pytest.raises(sv.ParameterError):
            _setveil.check_parts(parameters(**changed))


def test_what_is_no_step_is_an_error():
    with pytest.raises(sv.SetveilError):
        _setveil.close_clusters(binary("cluster", [b"nonsense"]), 3)
    with pytest.raises(sv.DataError, match="bytes"):
        _setveil.close_clusters(lists([[1]]), 3)
    with pytest.raises(sv.DataError, match="lists"):
        _setveil.split_part(binary("items", [b"x"]), [], parameters(), HOW)
    with pytest.raises(sv.DataError, match="below 0"):
        _setveil.split_part(lists([[-1]]), [], parameters(), HOW)
