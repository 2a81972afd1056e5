"""A cluster with two workers and a session, for all tests."""

import importlib
import os

import pytest
from cluster import QUICK, Cluster, jobs_begun, session

import setveil as sv


def library(name):
    """Whatever the other tests ask for is here."""
    return importlib.import_module(name)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        made.add("first")
        made.add("second")
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="session")
def spark(cluster):
    quick = {
        "spark.driver.extraJavaOptions": QUICK,
        "spark.executor.extraJavaOptions": QUICK,
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    made = session(cluster, os.environ["SETVEIL_SPARK"], **quick)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def quest():
    """Some thousand baskets with structure."""
    return sv.generate_quest(records=4000, items=1000, patterns=400, seed=7)


@pytest.fixture(scope="session")
def frame(spark, quest, tmp_path_factory):
    """The same baskets in several files of Parquet, in another order."""
    path = str(tmp_path_factory.mktemp("data") / "quest.parquet")
    rows = [(record[::-1],) for record in reversed(quest.to_lists())]
    spark.createDataFrame(rows, "codes array<string>").repartition(3).write.parquet(path)
    return spark.read.parquet(path)


@pytest.fixture(scope="session")
def several(spark, frame):
    """A release in several parts and files, with the number of jobs that made it."""
    from setveil import spark as svs

    begun = jobs_begun(spark)
    with svs.anonymize(frame, items="codes", part_size=900, file_size=1000) as made:
        made.jobs = jobs_begun(spark) - begun
        yield made
