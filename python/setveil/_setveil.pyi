# Made by `make stubs` from the extension module; a test compares it with what the build gives.
"""
The library's workflows, the command line, and nothing else.
"""

from _typeshed import SupportsGetItem, SupportsLenAndGetItem
from os import PathLike
from typing_extensions import CapsuleType
from typing import Any, SupportsFloat, SupportsIndex, final

__all__ = ["Dataset", "Hierarchy", "Manner", "Plan", "Planner", "Ranks", "Release", "Table", "anonymize", "anonymize_file", "band", "check_parts", "close_clusters", "cluster_file", "command_line", "compare", "definition", "draw_sensitive", "end_of_parts", "evaluate_chunks", "in_chunks", "join_part", "join_rounds", "measures", "methods", "misread", "open_terms", "pharmacy", "profile", "query_log", "quest", "recommend", "split_part", "verify", "verify_file", "verify_files"]

@final
class Dataset:
    """
    Records over a vocabulary, and what was left out when they were read.
    """
    @staticmethod
    def from_arrow(table: Any, layout: str, manner: Manner) -> Dataset:
        """
        Reads anything with Arrow's PyCapsule interface.
        """
    @staticmethod
    def from_csr(starts: bytes, columns: bytes, names: SupportsGetItem[int, str], manner: Manner) -> Dataset:
        """
        Reads a sparse matrix: where rows start, the columns of their ones, and
        the names of the columns. Both arrays are bytes of 64-bit numbers.
        """
    @staticmethod
    def from_parts(names: SupportsGetItem[int, str], starts: bytes, items: bytes, preview: tuple[SupportsGetItem[int, SupportsGetItem[int, str]], SupportsGetItem[int, str]], left_out: SupportsLenAndGetItem[SupportsIndex]) -> Dataset:
        """
        The data set of a pickle; everything that it relies on is checked.
        """
    @staticmethod
    def from_records(records: Any) -> Dataset:
        """
        Reads Python objects: an iterable of iterables of texts or whole numbers.
        """
    def left_out(self, /) -> list[int]:
        """
        Duplicates, blank items, empty records and skipped rows.
        """
    def lengths(self, /) -> tuple[int, int]:
        """
        The longest record, and how many pairs of items all records have.
        """
    def parts(self, /) -> tuple[list[str], bytes, bytes]:
        """
        What a pickle holds: the names, where records start, and their items.
        """
    def preview(self, /) -> tuple[list[list[str]], list[str]]:
        """
        The first rows by position, and the names of the columns with items, for
        the look at identifiers.
        """
    @staticmethod
    def read(path: str | PathLike[str], layout: str, manner: Manner) -> Dataset:
        """
        Reads a file.
        """
    def record(self, /, number: SupportsIndex) -> list[str]:
        """
        The labels of a record.
        """
    def remarks(self, /) -> list[str]:
        """
        What was assumed and left out when it was read, a line each.
        """
    def size(self, /) -> tuple[int, int, int]:
        """
        Records, items and occurrences.
        """
    def stream(self, /) -> CapsuleType:
        """
        The records as a stream of Arrow record batches.
        """
    def supports(self, /) -> tuple[list[str], list[int]]:
        """
        The labels in ascending order, and in how many records each stands.
        """
    def write(self, /, path: str | PathLike[str], format: str, force: bool) -> None:
        """
        Writes one file in a format by its name.
        """

@final
class Hierarchy:
    """
    A tree of names.
    """
    @staticmethod
    def balanced(data: Dataset, fanout: SupportsIndex, alphabetical: bool) -> Hierarchy:
        """
        Groups neighbours, by their natural order or by text.
        """
    def check(self, /, data: Dataset | None = None) -> str:
        """
        Size and shape, and which items of `data` are no leaf, as JSON.
        """
    @staticmethod
    def from_paths(paths: SupportsGetItem[int, SupportsGetItem[int, str]]) -> Hierarchy:
        """
        One path a leaf, from the leaf to the root.
        """
    def paths(self, /) -> list[list[str]]:
        """
        One path a leaf, from the leaf to the root.
        """
    @staticmethod
    def read(path: str | PathLike[str]) -> Hierarchy:
        """
        Reads `leaf;parent;...;*`, one leaf a line.
        """
    @staticmethod
    def wordnet(directory: str | PathLike[str], data: Dataset | None = None) -> Hierarchy:
        """
        The nouns of WordNet below what they are kinds of.
        """
    def write(self, /, path: str | PathLike[str], force: bool) -> None:
        """
        Writes the file.
        """

@final
class Manner:
    """
    How work is done: on how many threads, with how much memory, and who watches.
    """
    def __new__(cls, /, threads: SupportsIndex | None = None, max_memory: SupportsIndex | None = None, watch: Any | None = None) -> Manner: ...

@final
class Plan:
    """
    Which records, or clusters, come into which part.
    """
    def equal(self, /, ranks: Ranks) -> list[tuple[list[int], int, int]]:
        """
        Equal records that are divided among parts: items, how many, which part.
        """
    @staticmethod
    def from_bytes(bytes: bytes) -> Plan:
        """
        From another machine.
        """
    def part(self, /, table: Any, ranks: Ranks, only_ranked: bool, manner: Manner) -> Table:
        """
        The part of each list of items; null for one of many equal records, and
        with `only_ranked` for a list without any item that has a rank.
        """
    def sizes(self, /) -> list[int]:
        """
        How much every part has.
        """
    def to_bytes(self, /) -> bytes:
        """
        For another machine.
        """

@final
class Planner:
    """
    A plan of parts on the way.
    """
    def count(self, /, table: Any, ranks: Ranks, manner: Manner) -> Table:
        """
        Counts lists of items, each with its weight (1 if there is no second
        column): a table of beginnings and weights.
        """
    def counts(self, /) -> bool:
        """
        Whether there is something to count.
        """
    def finish(self, /) -> Plan:
        """
        The plan, when there is nothing more to count.
        """
    @staticmethod
    def from_bytes(bytes: bytes) -> Planner:
        """
        From another machine.
        """
    @staticmethod
    def of_clusters(bytes: SupportsIndex, parts: SupportsIndex, fewer: SupportsIndex) -> Planner:
        """
        Parts of a round of joins, of clusters with so many bytes together that
        came from `parts` parts: `fewer` times fewer.
        """
    @staticmethod
    def of_records(max: SupportsIndex, cluster: SupportsIndex) -> Planner:
        """
        Parts of records: at most about `max`, for clusters of at most `cluster`.
        """
    def take(self, /, table: Any) -> None:
        """
        Takes all counts of one pass: split, code and weight.
        """
    def to_bytes(self, /) -> bytes:
        """
        For another machine.
        """

@final
class Ranks:
    """
    The ranks of items, the most frequent first.
    """
    @staticmethod
    def from_bytes(bytes: bytes) -> Ranks:
        """
        From another machine.
        """
    @staticmethod
    def most_frequent_first(counts: SupportsGetItem[int, SupportsIndex], max: SupportsIndex) -> Ranks:
        """
        Of items with these counts, for parts of at most about `max` records. Rare neighbours share one.
        """
    def ranked(self, /, table: Any) -> Table:
        """
        Whether each list has an item with a rank.
        """
    @staticmethod
    def rare_first(clusters: SupportsGetItem[int, SupportsIndex], records: SupportsGetItem[int, SupportsIndex], k: SupportsIndex) -> Ranks:
        """
        Of terms that so many clusters with so many records have not shared.
        """
    def to_bytes(self, /) -> bytes:
        """
        For another machine.
        """

@final
class Release:
    """
    What is published.
    """
    def attack(self, /, original: Dataset | None, options: str, kept: SupportsGetItem[int, tuple[SupportsGetItem[int, str], SupportsIndex]], manner: Manner) -> str:
        """
        What an attacker learns.
        """
    def evaluate(self, /, original: Dataset, options: str, hierarchy: Hierarchy | None, kept: SupportsGetItem[int, tuple[SupportsGetItem[int, str], SupportsIndex]], manner: Manner) -> str:
        """
        What it is still good for.
        """
    def export(self, /, path: str | PathLike[str], parquet: bool, force: bool, manner: Manner) -> str:
        """
        Writes flat tables, CSV or Parquet.
        """
    def files(self, /, manner: Manner) -> dict:
        """
        Names and bytes of the files.
        """
    @staticmethod
    def from_files(files: dict, manner: Manner) -> Release:
        """
        A release from names and bytes of its files.
        """
    def items(self, /, options: str, manner: Manner) -> str:
        """
        Every item with its bounds.
        """
    def itemsets(self, /, options: str, manner: Manner) -> str:
        """
        The most frequent itemsets with bounds, and rules between them.
        """
    def labels(self, /) -> list[str]:
        """
        The names of all items.
        """
    def manifest(self, /) -> str:
        """
        The manifest as JSON; it lists files only if the release was read.
        """
    def query(self, /, itemsets: SupportsGetItem[int, SupportsGetItem[int, str]], options: str, manner: Manner) -> str:
        """
        In how many records items stand together.
        """
    @staticmethod
    def read(path: str | PathLike[str], manner: Manner) -> Release:
        """
        Reads a directory; one whose files differ from its manifest is refused.
        """
    def reconstruct(self, /, number: SupportsIndex, options: str, manner: Manner) -> Dataset:
        """
        Draws possible data set number `number`, the same for any number of them.
        """
    def report(self, /, original: Dataset | None, about: SupportsLenAndGetItem[str | None], no_sensitive: bool, options: str, hierarchy: Hierarchy | None, kept: SupportsGetItem[int, tuple[SupportsGetItem[int, str], SupportsIndex]], manner: Manner) -> tuple[str, str]:
        """
        The page about the release, and what it says first.
        """
    def stream(self, /) -> CapsuleType:
        """
        The rows as a stream of Arrow record batches.
        """
    def verify(self, /, manner: Manner) -> str:
        """
        Decides the guarantee.
        """
    def write(self, /, path: str | PathLike[str], force: bool, file_size: SupportsIndex | None, manner: Manner) -> str:
        """
        Writes the directory, and gives the manifest as JSON.
        """

@final
class Table:
    """
    A table for Python.
    """
    def __arrow_c_stream__(self, /, requested_schema: Any | None = None) -> CapsuleType:
        """
        The rows, for any library that knows Arrow.
        """

def anonymize(data: Dataset, method: str, parameters: str, hierarchy: Hierarchy | None, universe_from_data: bool, kept: SupportsGetItem[int, tuple[SupportsGetItem[int, str], SupportsIndex]], as_baskets: bool, manner: Manner) -> tuple[Release, str]:
    """
    Makes a release in memory. Data that looks like identifiers is refused
    unless it is meant as it is.
    """

def anonymize_file(source: str | PathLike[str], layout: str, method: str, parameters: str, hierarchy: Hierarchy | None, universe_from_data: bool, kept: SupportsGetItem[int, tuple[SupportsGetItem[int, str], SupportsIndex]], output: str | PathLike[str], force: bool, receipt: str | PathLike[str] | None, again: bool, file_size: SupportsIndex | None, as_baskets: bool, manner: Manner) -> str:
    """
    Makes a release of a file in a directory, as the command line does.
    """

def band(data: Dataset, sensitive: SupportsGetItem[int, str], side: SupportsIndex, manner: Manner) -> tuple[tuple[int, int, bytes, float], tuple[int, int, bytes, float]]:
    """
    The matrix of records and items before and after it is made a band.
    """

def check_parts(parameters: str) -> None:
    """
    Refuses parameters for which data cannot come in parts.
    """

def close_clusters(table: Any, items: SupportsIndex) -> Table:
    """
    What is published of each open cluster, as a key that sorts canonically.
    """

def cluster_file(table: Any, labels: SupportsGetItem[int, str], number: SupportsIndex, parameters: str, manner: Manner) -> tuple[bytes, str]:
    """
    One file of a release in several, of sorted keys: its bytes, and its entry
    in the manifest as JSON.
    """

def command_line(words: SupportsGetItem[int, str]) -> int:
    """
    Runs the command line `words`, the program's name first; gives the exit code.
    """

def compare(data: Dataset, options: str, hierarchy: Hierarchy | None, store: Any | None, manner: Manner) -> tuple[str, str, str]:
    """
    Methods and parameters side by side: JSON, CSV and a picture.
    """

def definition() -> str:
    """
    Every command with its flags and their defaults, as JSON: what the tests
    compare the functions of the package with.
    """

def draw_sensitive(data: Dataset, count: SupportsIndex, p: SupportsIndex, seed: SupportsIndex) -> list[str]:
    """
    Draws sensitive items among those rare enough for `p`.
    """

def end_of_parts(parameters: str, records: SupportsIndex, items: SupportsIndex, entries: SupportsGetItem[int, str]) -> dict:
    """
    The other files of a release in several, the manifest among them: it is
    written last.
    """

def evaluate_chunks(pairs: SupportsIndex, items: SupportsGetItem[int, str], supports: dict[str, SupportsIndex], original_pairs: SupportsIndex, k: SupportsIndex) -> str:
    """
    `tlost` and `pairs_kept` of what stands in chunks, as JSON, for an original
    with these supports and so many pairs in its records.
    """

def in_chunks(release: Release) -> tuple[int, list[str]]:
    """
    What stands in the chunks of a release: how many pairs, and which items.
    """

def join_part(table: Any, ranks: Ranks, parameters: str, manner: Manner) -> Table:
    """
    Lets open clusters share terms that have a rank: open clusters.
    """

def join_rounds() -> list[int]:
    """
    How many rounds of joins there are, and how many times fewer parts each has.
    """

def measures() -> list[tuple[str, str, str]]:
    """
    Every measure: its key, which way is better, and what it says.
    """

def methods() -> list[str]:
    """
    The names of all methods.
    """

def misread(data: Dataset, manner: Manner) -> str | None:
    """
    Why `anonymize` refuses the data, if it does: figures about it mean little.
    """

def open_terms(table: Any) -> Table:
    """
    The terms that each open cluster has not shared, each with its number of records.
    """

def pharmacy() -> Dataset:
    """
    The sample of `setveil demo`.
    """

def profile(data: Dataset, options: str, manner: Manner) -> str:
    """
    Size, shape and risk of raw data.
    """

def query_log(users: SupportsIndex, mean_queries: SupportsFloat | SupportsIndex, distinct_queries: SupportsIndex, skew: SupportsFloat | SupportsIndex, seed: SupportsIndex, manner: Manner) -> Dataset:
    """
    The queries of made-up users, one record a user.
    """

def quest(records: SupportsIndex, items: SupportsIndex, mean_length: SupportsFloat | SupportsIndex, patterns: SupportsIndex, pattern_length: SupportsFloat | SupportsIndex, correlation: SupportsFloat | SupportsIndex, seed: SupportsIndex, manner: Manner) -> Dataset:
    """
    Baskets with patterns.
    """

def recommend(data: Dataset, options: str, hierarchy: Hierarchy | None, manner: Manner) -> str:
    """
    Searches for the setting that keeps a given risk and loses least.
    """

def split_part(table: Any, equal: SupportsGetItem[int, tuple[SupportsGetItem[int, SupportsIndex], SupportsIndex]], parameters: str, manner: Manner) -> Table:
    """
    The three steps for the records of one part, and `equal` ones with their
    number: open clusters.
    """

def verify(path: str | PathLike[str], manner: Manner) -> str:
    """
    Decides the guarantee of a release directory, its files included.
    """

def verify_file(files: dict, name: str, manner: Manner) -> tuple[bytes, list[str]]:
    """
    Checks one file of clusters: `files` has it and the manifest. What was found and the labels, for `verify_files`.
    """

def verify_files(files: dict, checked: dict[str, SupportsGetItem[int, SupportsIndex]], labels: SupportsGetItem[int, str], manner: Manner) -> str:
    """
    The verdict about a release whose files of clusters were checked one by one.
    `files` has all names, and the bytes of the manifest and of what explains it; `labels` are those of all files.
    """
