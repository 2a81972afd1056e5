"""A program that says where raw data lies while a release is made: `local_files.py FOLDER`, in a session of its own.

Prints one JSON object for a session without and one for a session with encryption of local files.
"""

import json
import os
import sys
from pathlib import Path

from cluster import QUICK

PERSON, ITEM = "person-of-the-raw-data", "item-of-the-raw-data"


def session(encrypted):
    from pyspark.sql import SparkSession

    settings = {
        "spark.master": "local[2]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "700m",
        "spark.driver.extraJavaOptions": QUICK,
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        # So that raw data can be seen as what it is, and until the end.
        "spark.shuffle.compress": "false",
        "spark.cleaner.referenceTracking": "false",
        "spark.io.encryption.enabled": str(encrypted).lower(),
    }
    builder = SparkSession.builder.appName("setveil")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def holding(folder, text):
    """How many files below a folder have this text in them."""
    files = [file for file in Path(folder).rglob("*") if file.is_file()]
    return sum(text.encode() in file.read_bytes() for file in files)


def looked_at(folder, encrypted):
    from setveil import spark as svs

    folder = Path(folder)
    local, path = Path(os.environ["SPARK_LOCAL_DIRS"]), folder / f"release-{encrypted}"
    spark = session(encrypted)
    try:
        rows = [(f"{PERSON}-{at}", f"{ITEM}-{n % 7}") for at in range(400) for n in (at, at + 1, at // 7)]
        df = spark.createDataFrame(rows, "who string, what string").repartition(3)
        with svs.anonymize(df, person="who", item="what", as_baskets=True, k=3, part_size=100, max_cluster_size=6) as release:
            release.write(str(path))
            return {
                "encrypted": spark.sparkContext.getConf().get("spark.io.encryption.enabled"),
                "parts": release.made.parts,
                "holds": release.verify().holds and svs.verify(str(path)).holds,
                "files": sum(file.is_file() for file in local.rglob("*")),
                "persons": holding(local, PERSON),
                "items": holding(local, ITEM),
                "persons in the release": holding(path, PERSON),
                "release": str(path),
            }
    finally:
        spark.stop()


if __name__ == "__main__":
    print(json.dumps([looked_at(sys.argv[1], encrypted) for encrypted in (False, True)]))
