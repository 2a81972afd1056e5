"""A release whose clusters lie on the machines of a cluster, or in files: what can be asked of it there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .. import _setveil
from .._errors import DataError, ParameterError, SetveilError
from .._results import Evaluation, Made, Support, Supports, Verdict
from ._files import ClusterFiles, contents_of, name_of
from ._records import Counts
from ._session import TALLY, Kept, active_session, explained, manner, tallied, tally
from ._replacement import LARGEST, MANIFEST
from ._store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from .._recipient import Terms

LARGEST_FILE = 256 << 20
"""The longest file of clusters that a task takes; those of :func:`anonymize` have a fifth of that, unless told otherwise."""
CHECKED = "name string, checked binary, fault string, label string"
"""What a task found in a file, in one row, and a row for each of its labels."""
Contents = Callable[[Iterator[Any]], Iterator[tuple[str, bytes]]]
_NO_CAUTIONS = "on Spark nobody looks for clusters in which all have the same item: `setveil verify` does"


class _Files:
    """The files of clusters as rows of which `contents` makes names and bytes, and all other files."""

    def __init__(
        self, rows: DataFrame, small: dict[str, bytes], contents: Contents, kept: Kept, empty: Iterable[str] = ()
    ) -> None:
        self.rows, self.small, self.contents, self.kept = rows, small, contents, kept
        try:
            self.manifest: dict[str, Any] = json.loads(small[MANIFEST])
            self.entries = {entry["name"]: entry for entry in self.manifest["files"]}
        except (KeyError, TypeError, ValueError):
            raise DataError("there is no manifest.json of a release here; name the directory of a release") from None
        if not any(name.startswith("clusters") for name in self.entries):
            raise DataError("the release has no clusters: `setveil verify` and Release.read take it on one machine")
        self.listed = [name for name in self.entries if name.startswith("clusters")]
        # Spark does not read files without a byte.
        self.empty = [name for name in self.listed if name in empty]
        missing = sorted(set(self.entries) - set(small))
        if missing:
            raise DataError(f"{missing[0]}: the manifest lists it, and it is not there")

    @classmethod
    def at(cls, spark: SparkSession, path: str) -> _Files:
        """Those of a directory."""
        from pyspark.sql import functions as F

        store = Store(spark, path)
        sizes = store.sizes()
        wanted = (MANIFEST, "README.md", "schema.json")
        # Whoever made the release says how long its files are: nobody takes more than this into memory.
        for name, length in sizes.items():
            most = LARGEST if name in wanted else LARGEST_FILE
            if length > most:
                raise DataError(f"{name}: it has {length:,} bytes, and Spark takes {most:,} at most; `setveil verify` reads it as a stream")
        small = {name: store.read(name) if name in wanted else b"" for name in sizes}
        rows = spark.read.format("binaryFile").option("pathGlobFilter", "clusters*.jsonl").load(store.url())
        name = F.element_at(F.split("path", "/"), -1).alias("name")
        empty = [name for name, length in sizes.items() if length == 0]
        return cls(rows.select(name, "content"), small, _contents, Kept(spark), empty)

    def alone(self) -> dict[str, bytes]:
        """For every file of clusters, the manifest of a release that has no other."""
        manifests = {}
        for name in self.listed:
            files = [{**self.entries[name], "name": name_of(0)}]
            if name in self.empty and files[0]["bytes"]:
                raise DataError(f"{name}: it is empty; the release was changed after it was written: get it again")
            manifests[name] = json.dumps({**self.manifest, "files": files}).encode()
        return manifests


class SparkRelease:
    """A release on the machines of a cluster. ``write`` makes a directory of it.

    Its clusters lie in shuffle files until :meth:`unpersist`, or the end of a ``with`` block.
    """

    made: Made
    """What the method did."""

    def __init__(self, files: ClusterFiles, small: dict[str, bytes], counts: Counts, made: Made) -> None:
        self._clusters, self._frame, self._forgotten = files, files.texts, False
        self._names = {number: entry["name"] for number, entry in files.entries.items()}
        self._small, self._counts, self.made = small, counts, made

    @property
    def manifest(self) -> dict[str, Any]:
        """Method, parameters, guarantee, size and files, as in ``manifest.json``."""
        return json.loads(self._small[MANIFEST])

    @property
    def parameters(self) -> dict[str, Any]:
        """The method's parameters."""
        return self.manifest["parameters"]

    @property
    def labels(self) -> list[str]:
        """The names of all items, ascending."""
        return list(self._counts.labels)

    def __len__(self) -> int:
        return self._counts.records

    def __repr__(self) -> str:
        values = ", ".join(f"{k}={v}" for k, v in self.parameters.items())
        parts = f"{self.made.parts} parts, {len(self._names)} files"
        return f"<SparkRelease disassociation({values}), {len(self):,} records, {len(self.labels):,} items, {parts}>"

    def write(self, path: str, *, overwrite: bool = False) -> None:
        """Writes the directory that can be handed on, on any file system that Hadoop knows.

        A path that exists is refused; with ``overwrite`` an earlier release is
        replaced. A write that fails leaves what was there before, or says where that is.
        """
        self._here()
        for entry in self._clusters.entries.values():
            if entry["bytes"] > LARGEST_FILE:
                raise ParameterError(
                    f"{entry['name']} would have {entry['bytes']:,} bytes, and Spark reads files of {LARGEST_FILE:,} at most: "
                    "make the release with a smaller file_size"
                )
        store = Store(self._frame.sparkSession, str(path))
        with explained():
            store.write(self._frame, self._names, self._small, overwrite)

    def _files(self) -> _Files:
        self._here()
        small = {**dict.fromkeys(self._names.values(), b""), **self._small}
        return _Files(self._clusters.keys, small, contents_of(self._clusters), self._clusters.kept)

    def _here(self) -> None:
        # Spark would make it again, and leave raw data on disks that nobody removes.
        if self._forgotten:
            raise SetveilError("the release was forgotten, by unpersist() or at the end of `with`: write it before, or make it again")

    def verify(self) -> Verdict:
        """Decides the guarantee from the release alone: the verdict of ``setveil verify``."""
        return _verified(self._files())

    def support(self, itemset: Iterable[str], *, terms: Terms = "once") -> Support:
        """In how many records these items stand together: lower bound, expected, upper bound."""
        if isinstance(itemset, str):
            raise ParameterError("itemset is one text: give a list of items")
        return self.supports([itemset], terms=terms)[0]

    def supports(self, itemsets: Iterable[Iterable[str]], *, terms: Terms = "once") -> Supports:
        """The supports of several itemsets in one pass, a row each."""
        return _supports(self._files(), itemsets, terms)

    def evaluate(self) -> Evaluation:
        """``tlost`` and ``pairs_kept``, compared with the data that it was made from."""
        return _evaluated(self._files(), self._counts)

    def unpersist(self) -> None:
        """Lets the machines forget the release, and what they wrote to their disks to make it."""
        if not self._forgotten:
            self._forgotten = True
            self._clusters.kept.end()

    def __enter__(self) -> SparkRelease:
        return self

    def __exit__(self, *_: object) -> None:
        self.unpersist()


def files_of(release: str | SparkRelease, spark: Any) -> _Files:
    """The files of a release, wherever it is."""
    if isinstance(release, SparkRelease):
        return release._files()
    return _Files.at(active_session(spark), str(release))


def _verified(files: _Files) -> Verdict:
    manifest = files.small[MANIFEST]
    rows = files.rows.mapInArrow(_checking(files.contents, manifest, files.listed), CHECKED)
    # Every file has nearly all labels, and the driver wants each of them once.
    found = files.kept.table(rows.distinct())
    table = found.filter(found["label"].is_null()).sort_by("name").to_pylist()
    labels = found["label"].drop_null().to_pylist()
    del found
    fault = next((row["fault"] for row in table if row["fault"] is not None), None)
    if fault is not None:
        raise DataError(fault)
    checked = {row["name"]: row["checked"] for row in table}
    for name in files.empty:
        checked[name], _ = _setveil.verify_file({MANIFEST: manifest, name: b""}, name, _setveil.Manner())
    verdict = json.loads(_setveil.verify_files(files.small, checked, labels, _setveil.Manner()))
    verdict["cautions"] = []
    if verdict["holds"]:
        verdict["cautions_missing"] = _NO_CAUTIONS
    return Verdict(verdict)


def _checking(contents: Contents, manifest: bytes, listed: list[str]) -> Callable:
    def check(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for name, content in contents(batches):
            if name not in listed:
                continue
            labels: list[str] = []
            checked = fault = None
            try:
                checked, labels = _setveil.verify_file({MANIFEST: manifest, name: content}, name, manner())
            except SetveilError as error:
                fault = str(error)
            none = [None] * len(labels)
            columns = [
                pa.array([name, *none], pa.string()),
                pa.array([checked, *none], pa.binary()),
                pa.array([fault, *none], pa.string()),
                pa.array([None, *labels], pa.string()),
            ]
            table = pa.RecordBatch.from_arrays(columns, ["name", "checked", "fault", "label"])
            yield from pa.Table.from_batches([table]).to_batches(max_chunksize=10_000)

    return check


def _contents(batches: Iterator[Any]) -> Iterator[tuple[str, bytes]]:
    """Names and whole files, of rows that are such."""
    for batch in batches:
        for name, content in zip(*batch.columns, strict=True):
            yield name.as_py(), content.as_py()


def _single(manifests: dict[str, bytes], name: str, content: bytes) -> _setveil.Release:
    """One file of clusters, as a release of its own."""
    return _setveil.Release.from_files({MANIFEST: manifests[name], name_of(0): content}, manner())


def _supports(files: _Files, itemsets: Iterable[Iterable[str]], terms: str) -> Supports:
    from pyspark.sql import functions as F

    if files.manifest["guarantee"].get("supports") != "exact":
        raise DataError("supports of this release are no exact counts: setveil.Release.read(...) answers on one machine")
    sets = [[str(item) for item in itemset] for itemset in itemsets]
    # The library refuses what is no question.
    nothing = _setveil.Release.from_files(_empty(files), _setveil.Manner())
    # Every file is asked by itself, and expectations add up: the measured prior looks at all of a release.
    options = json.dumps({"terms": terms, "prior": "worlds"})
    answers = json.loads(nothing.query(sets, options, _setveil.Manner()))
    schema = "question long, lower long, expected decimal(38, 15), upper long, known string"
    rows = files.rows.mapInArrow(_asking(files.contents, files.alone(), sets, options), schema).groupBy("question")
    sums = [F.sum(name).alias(name) for name in ("lower", "expected", "upper")]
    found = files.kept.table(rows.agg(*sums, F.collect_set("known").alias("known"))).to_pylist()
    for row in found:
        answer = answers[row["question"]]
        known = {label for some in row["known"] for label in json.loads(some)}
        answer |= {"lower": row["lower"], "expected": float(row["expected"]), "upper": row["upper"]}
        unknown = [label for label in answer["itemset"] if label not in known]
        answer.pop("unknown", None)
        if unknown:
            answer["unknown"] = unknown
    return Supports({"answers": answers})


def _empty(files: _Files) -> dict[str, bytes]:
    """The same release without any cluster."""
    import hashlib

    entry = {"name": name_of(0), "bytes": 0, "lines": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    manifest = {**files.manifest, "files": [entry], "records": 0, "items": 0}
    return {MANIFEST: json.dumps(manifest).encode(), name_of(0): b""}


def _asking(contents: Contents, manifests: dict[str, bytes], sets: list[list[str]], options: str) -> Callable:
    def ask(batches: Iterator[Any]) -> Iterator[Any]:
        from decimal import Decimal

        import pyarrow as pa

        for name, content in contents(batches):
            if name not in manifests:
                continue
            answers = json.loads(_single(manifests, name, content).query(sets, options, manner()))
            known = [[i for i in a["itemset"] if i not in a.get("unknown", [])] for a in answers]
            expected = [Decimal(f"{a['expected']:.15f}") for a in answers]
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array(range(len(answers)), pa.int64()),
                    pa.array([a["lower"] for a in answers], pa.int64()),
                    pa.array(expected, pa.decimal128(38, 15)),
                    pa.array([a["upper"] for a in answers], pa.int64()),
                    pa.array([json.dumps(labels) for labels in known], pa.string()),
                ],
                ["question", "lower", "expected", "upper", "known"],
            )

    return ask


def _evaluated(files: _Files, counts: Counts) -> Evaluation:
    about = files.manifest
    if (about["records"], about["items"]) != (counts.records, len(counts.labels)):
        raise DataError(
            f"the release was not made from this original: it has {about['records']} records and {about['items']} items, "
            f"the original {counts.records} and {len(counts.labels)}"
        )
    found = tallied(files.rows.mapInArrow(_measuring(files.contents, files.alone()), TALLY), files.kept)
    pairs = found.get("pairs", {}).get("", (0, 0))[0]
    supports: dict[str, Any] = dict(zip(counts.labels, counts.supports, strict=True))
    items = sorted(found.get("item", {}))
    foreign = [item for item in items if item not in supports]
    if foreign:
        raise DataError(f"the release was not made from this original, which has no item {foreign[0]!r}")
    values = _setveil.evaluate_chunks(pairs, items, supports, counts.pairs, about["guarantee"]["k"])
    return Evaluation(json.loads(values))


def _measuring(contents: Contents, manifests: dict[str, bytes]) -> Callable:
    def measure(batches: Iterator[Any]) -> Iterator[Any]:
        for name, content in contents(batches):
            if name in manifests:
                pairs, items = _setveil.in_chunks(_single(manifests, name, content))
                yield tally([("pairs", "", pairs), *(("item", item, 1) for item in items)])

    return measure
