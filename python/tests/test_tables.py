"""Tables of other libraries, in and out."""

import itertools

import pytest
from conftest import library

import setveil as sv

pytestmark = pytest.mark.libraries
LISTS = [["J10", "R05"], ["J10"], ["E11", "I10", "J10"], ["I10"]]
LONG = [("ann", "J10"), ("bob", "J10"), ("ann", "R05"), ("cal", "E11"), ("cal", "I10"), ("cal", "J10"), ("dan", "I10")]
EXPECTED = sv.Dataset(LISTS)


def pandas_frame():
    return library("pandas").DataFrame({"id": range(4), "codes": LISTS})


def polars_frame():
    return library("polars").DataFrame({"id": range(4), "codes": LISTS})


def arrow_table():
    return library("pyarrow").table({"id": list(range(4)), "codes": LISTS})


def duckdb_relation():
    duckdb, arrow_data = library("duckdb"), arrow_table()
    return duckdb.sql("select * from arrow_data")


FRAMES = [pandas_frame, polars_frame, arrow_table, duckdb_relation]


@pytest.mark.parametrize("frame", FRAMES)
def test_a_column_of_lists(frame):
    assert sv.Dataset(frame(), items="codes") == EXPECTED


def test_a_series_and_an_array():
    assert sv.Dataset(pandas_frame()["codes"]) == EXPECTED
    assert sv.Dataset(polars_frame()["codes"]) == EXPECTED
    assert sv.Dataset(arrow_table()["codes"]) == EXPECTED
    assert sv.Dataset(library("pyarrow").array(LISTS)) == EXPECTED


def test_a_column_of_python_sets():
    pandas = library("pandas")
    frame = pandas.DataFrame({"id": range(4), "codes": [set(record) for record in LISTS]})
    assert sv.Dataset(frame, items="codes") == sv.Dataset(frame["codes"]) == EXPECTED


def test_a_lazy_table_is_collected_first():
    with pytest.raises(sv.DataError, match="LazyFrame.*collected"):
        sv.Dataset(polars_frame().lazy())


def test_a_reader_is_read_once():
    table = arrow_table()
    reader = table.to_reader(max_chunksize=1)
    assert sv.Dataset(reader, items="codes") == EXPECTED
    assert len(sv.Dataset(reader, items="codes")) == 0


def test_a_reader_from_a_generator_of_python():
    pyarrow, table = library("pyarrow"), arrow_table()
    batches = (batch for batch in table.to_batches(max_chunksize=2))
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, batches)
    assert sv.Dataset(reader, items="codes") == EXPECTED

    def failing():
        yield from table.to_batches()
        raise RuntimeError("the source broke")

    reader = pyarrow.RecordBatchReader.from_batches(table.schema, failing())
    with pytest.raises(sv.DataError, match="the source broke"):
        sv.Dataset(reader, items="codes")


@pytest.mark.parametrize("make", ["pandas", "polars", "pyarrow", "duckdb"])
def test_long_form(make):
    columns = {"patient": [p for p, _ in LONG], "code": [c for _, c in LONG]}
    arrow_data = table = library("pyarrow").table(columns)
    if make == "duckdb":
        frame = library("duckdb").sql("select * from arrow_data")
    else:
        frame = table if make == "pyarrow" else getattr(library(make), "DataFrame")(columns)
    assert sv.Dataset(frame, person="patient", items="code") == EXPECTED


def test_a_wide_table():
    polars = library("polars")
    frame = polars.DataFrame({"who": ["a", "b"], "dx1": ["J10", "I10"], "dx2": ["R05", None]})
    assert sv.Dataset(frame, person="who").to_lists() == [["J10", "R05"], ["I10"]]
    assert sv.Dataset(frame, items=["dx1"]).to_lists() == [["J10"], ["I10"]]


def text_types():
    pyarrow = library("pyarrow")
    texts = [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()]
    keys = [pyarrow.int8(), pyarrow.int32(), pyarrow.uint16()]
    return texts + [pyarrow.dictionary(k, t) for k, t in itertools.product(keys, texts[:2])]


def test_types_of_lists_and_items():
    pyarrow = library("pyarrow")
    flat = [item for record in LISTS for item in record]
    ends = list(itertools.accumulate(map(len, LISTS), initial=0))
    for kind in text_types():
        values = pyarrow.array(flat)
        values = values.dictionary_encode().cast(kind) if isinstance(kind, pyarrow.DictionaryType) else values.cast(kind)
        small = pyarrow.ListArray.from_arrays(pyarrow.array(ends, pyarrow.int32()), values)
        large = pyarrow.LargeListArray.from_arrays(pyarrow.array(ends, pyarrow.int64()), values)
        for lists in (small, large):
            assert sv.Dataset(lists) == EXPECTED, (kind, lists.type)
            # A slice begins in the middle of the values.
            assert sv.Dataset(lists[1:]).to_lists() == LISTS[1:], (kind, lists.type)
    for kind in (pyarrow.int8(), pyarrow.int64(), pyarrow.uint32()):
        numbers = pyarrow.array([[1, 20], [3]], pyarrow.list_(kind))
        assert sv.Dataset(numbers).to_lists() == [["1", "20"], ["3"]]


def test_categories():
    polars, pandas = library("polars"), library("pandas")
    frame = polars.DataFrame({"codes": LISTS}, schema={"codes": polars.List(polars.Categorical)})
    assert sv.Dataset(frame) == EXPECTED
    long = pandas.DataFrame(LONG, columns=["patient", "code"]).astype("category")
    assert sv.Dataset(long, person="patient", items="code") == EXPECTED


def test_nulls_are_refused_or_left_out():
    polars = library("polars")
    frame = polars.DataFrame({"codes": [["a", None], None, ["b"]]})
    with pytest.raises(sv.DataError, match="row 1.*skip_bad_lines="):
        sv.Dataset(frame)
    assert sv.Dataset(frame, drop_nulls=True).to_lists() == [["a"], ["b"]]
    assert sv.Dataset(frame, skip_bad_lines=True).left_out["skipped_lines"] == 1


def test_errors_name_the_keywords():
    frame = polars_frame()
    with pytest.raises(sv.DataError, match="there is no column `code`.*`codes`"):
        sv.Dataset(frame, items="code")
    with pytest.raises(sv.DataError, match="`person=` and `items=`"):
        sv.Dataset(frame, items="id")
    with pytest.raises(sv.ParameterError, match="has none"):
        sv.Dataset(LISTS, items="codes")
    with pytest.raises(sv.DataError, match="f64|Float64"):
        sv.Dataset(library("polars").DataFrame({"x": [[1.5]]}), items="x")


def test_a_sparse_matrix_and_back():
    sparse, numpy = library("scipy.sparse"), library("numpy")
    matrix, names = EXPECTED.to_csr()
    assert matrix.shape == (4, 4) and names == EXPECTED.labels
    assert sv.Dataset(matrix, names=names) == EXPECTED
    dense = numpy.array([[1, 0, 2], [0, 0, 0]])
    data = sv.Dataset(sparse.csc_matrix(dense), names=["x", "y", "a"])
    assert data.to_lists() == [["a", "x"]] and data.left_out["empty_records"] == 1
    with pytest.raises(sv.ParameterError, match="names="):
        sv.Dataset(matrix)
    with pytest.raises(sv.ParameterError, match="2 names"):
        sv.Dataset(matrix, names=["a", "b"])


def test_data_goes_out_as_it_came():
    assert EXPECTED.to_polars()["items"].to_list() == LISTS
    assert EXPECTED.to_pandas()["items"].tolist() == LISTS
    assert EXPECTED.to_arrow()["items"].to_pylist() == LISTS
    polars, duckdb = library("polars"), library("duckdb")
    assert polars.DataFrame(EXPECTED).height == 4
    assert duckdb.sql("select count(*) from EXPECTED").fetchall() == [(4,)]
    assert sv.Dataset(EXPECTED) == EXPECTED
    assert sv.Dataset(EXPECTED.to_polars()) == sv.Dataset(EXPECTED.to_pandas(), items="items") == EXPECTED


def test_many_batches_go_out():
    data = sv.generate_quest(records=150_000, items=50, patterns=20)
    assert sv.Dataset(library("pyarrow").table(data)) == data


@pytest.mark.parametrize(
    "make",
    [
        lambda d: sv.disassociate(d, k=3),
        lambda d: sv.local_suppression(d, k=3),
        lambda d: sv.partition(d, k=3, hierarchy=sv.Hierarchy.balanced(d)),
        lambda d: sv.perm_mondrian(d, p=4, sensitive=sv.draw_sensitive(d, 1, p=4), sensitive_only="drop"),
    ],
)
def test_a_release_is_a_table(make, data):
    release = make(data)
    polars, pyarrow, duckdb = library("polars"), library("pyarrow"), library("duckdb")
    frame = polars.DataFrame(release)
    assert {"items", "count"} <= set(frame.columns) and frame.height > 0
    assert release.to_pandas().shape == frame.shape == release.to_polars().shape
    arrow_data = table = pyarrow.table(release)
    assert table.num_rows == frame.height
    assert duckdb.sql("select count(*) from arrow_data").fetchall() == [(frame.height,)]
    assert set(frame["items"].explode().drop_nulls().cast(polars.String)) <= set(release.labels)


def test_identifiers_in_a_table_are_refused():
    polars = library("polars")
    rows = [[f"patient-{i:05}", "flu" if i % 2 else "cold", "tea"] for i in range(200)]
    data = sv.Dataset(polars.DataFrame({"codes": rows}))
    with pytest.raises(sv.IdentifierError, match="as_baskets=True"):
        sv.disassociate(data)
    assert sv.disassociate(data, as_baskets=True).verify().holds


def test_results_are_tables(data, release):
    for result in (data.profile(), release.evaluate(data), release.attack(data, targets=20, worlds=5)):
        assert len(result.to_pandas()) == result.to_polars().height == len(result.rows()) > 0
    assert list(release.supports([["x"], ["y"]]).to_pandas()["lower"]) == [0, 0]


def test_plots(data):
    library("matplotlib").use("Agg")
    table = sv.compare(data, k=[2, 3])
    assert table.plot().axes
    assert len(sv.band(data, side=32).plot().axes) == 2


def test_a_plot_without_matplotlib(data, monkeypatch):
    import sys

    library("altair")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "vega-lite" in sv.compare(data, k=[2]).plot().to_json()
