#!/usr/bin/env python3
"""Setveil on Spark: Quest records on a master and two workers of this machine; time, memory and shuffle.

    cargo build --release --workspace
    make test-spark                                             # makes target/spark and target/spark-worker
    target/spark/bin/maturin build --release -m python/Cargo.toml -o target/wheels-release
    benchmarks/spark-environment.sh target/wheels-release/*.whl # puts that wheel into both
    target/spark/bin/python benchmarks/spark.py --records 20000000

Memory is what the system says about every process of an executor (VmHWM of its JVM and of its Python workers), looked at four times a
second, and the largest sum of what they have at one moment. Shuffle bytes are those of Spark's own REST interface. The release is then
verified by Spark and by `setveil verify`. Nothing here is a test, and everything listens on the loopback address only.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python" / "tests" / "spark"))

from cluster import Cluster, children, free_port, session  # noqa: E402


def main():
    options = arguments()
    folder = Path(tempfile.mkdtemp(prefix="setveil-spark-", dir=options.folder))
    cluster = Cluster(folder, cores=options.cores, memory=options.executor_memory)
    watch = None
    try:
        data = generated(options, folder)
        for name in ("first", "second"):
            cluster.add(name)
        page = free_port()
        spark = session(
            cluster,
            options.archive,
            **{
                "spark.executor.memory": options.executor_memory,
                "spark.driver.memory": options.driver_memory,
                "spark.task.cpus": str(options.cores),
                "spark.sql.shuffle.partitions": str(options.partitions),
                "spark.ui.enabled": "true",
                "spark.ui.port": str(page),
            },
        )
        watch = Watch(cluster)
        figures = measured(spark, data, options, folder / "release", page)
        spark.stop()
        figures["executors"] = watch.stop()
        watch = None
        figures["setveil verify"] = verified(options.program, folder / "release")
    finally:
        if watch is not None:
            watch.stop()
        cluster.stop()
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(figures, indent=2))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=5_000)
    parser.add_argument("--mean-length", type=float, default=10)
    parser.add_argument("--data", help="text, one record a line, in place of Quest records")
    parser.add_argument("--part-size", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=16)
    parser.add_argument("--cores", type=int, default=1, help="of each worker, all for one task")
    parser.add_argument("--executor-memory", default="2g")
    parser.add_argument("--driver-memory", default="2g")
    parser.add_argument("--program", default=str(ROOT / "target" / "release" / "setveil"))
    parser.add_argument("--archive", default=str(ROOT / "target" / "spark-worker.tar.gz"))
    parser.add_argument("--folder", help="where data and release go [the system's temporary folder]")
    parser.add_argument("--keep", action="store_true", help="leave data, release and logs where they are")
    return parser.parse_args()


def generated(options, folder):
    """Records as text, one a line."""
    if options.data:
        return options.data
    file = folder / "quest.dat"
    words = ["--records", options.records, "--items", options.items, "--mean-length", options.mean_length, "-o", file]
    subprocess.run([options.program, "generate", "quest", *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    return str(file)


def measured(spark, data, options, path, page):
    """Seconds and shuffle of every step."""
    from pyspark.sql import functions as F

    from setveil import spark as svs

    lines = spark.read.text(data)
    df = lines.select(F.split(F.trim("value"), " +").alias("items"))
    figures = {"load before": os.getloadavg(), "steps": {}}

    def step(name, work):
        before, began = shuffled(spark, page), time.monotonic()
        result = work()
        after = shuffled(spark, page)
        took = {key: after[key] - before[key] for key in after}
        figures["steps"][name] = {"seconds": round(time.monotonic() - began, 1), **took}
        return result

    release = step("anonymize", lambda: svs.anonymize(df, items="items", part_size=options.part_size))
    step("write", lambda: release.write(str(path)))
    evaluation = step("evaluate", release.evaluate)
    verdict = step("verify on Spark", lambda: svs.verify(str(path)))
    figures |= {"holds": verdict.holds, "tlost": evaluation.tlost, "pairs_kept": evaluation.pairs_kept}
    figures |= {"records": len(release), "items": len(release.labels), "parts": release.made.parts}
    sizes = [file.stat().st_size for file in path.iterdir()]
    figures |= {"release bytes": sum(sizes), "files": len(sizes), "largest file": max(sizes)}
    figures["load after"] = os.getloadavg()
    release.unpersist()
    return figures


def shuffled(spark, page):
    """What Spark says about all executors together."""
    url = f"http://127.0.0.1:{page}/api/v1/applications/{spark.sparkContext.applicationId}/allexecutors"
    with urllib.request.urlopen(url, timeout=30) as answer:
        executors = json.load(answer)
    names = {"shuffle written": "totalShuffleWrite", "shuffle read": "totalShuffleRead", "task milliseconds": "totalDuration"}
    return {name: sum(one[key] for one in executors) for name, key in names.items()}


class Watch(threading.Thread):
    """Looks at the memory of every executor's processes."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.workers = {name: process.pid for name, process in cluster.processes.items() if name != "master"}
        self.peaks = {name: {"JVM": 0, "largest Python worker": 0, "together": 0} for name in self.workers}
        self.processor = dict.fromkeys(self.workers, 0.0)
        self.done = threading.Event()
        self.start()

    def run(self):
        while not self.done.wait(0.25):
            for name, worker in self.workers.items():
                peak = self.peaks[name]
                together = seconds = 0
                for pid in descendants(worker):
                    seconds += processor(pid)
                    kind, most, now = memory(pid)
                    together += now
                    key = "JVM" if kind == "java" else "largest Python worker"
                    peak[key] = max(peak[key], most)
                peak["together"] = max(peak["together"], together)
                self.processor[name] = max(self.processor[name], seconds)

    def stop(self):
        """The peaks in megabytes, and the processor time in seconds."""
        self.done.set()
        self.join()
        found = {name: {key: value >> 10 for key, value in peak.items()} for name, peak in self.peaks.items()}
        return {name: {**peak, "processor seconds": round(self.processor[name])} for name, peak in found.items()}


def descendants(pid):
    found = []
    for child in children(pid):
        found += [child, *descendants(child)]
    return found


def memory(pid):
    """The program, and its greatest and present resident size in kilobytes."""
    try:
        lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        number = [int(lines.get(key, "0").split()[0]) for key in ("VmHWM", "VmRSS")]
        return lines["Name"].strip(), *number
    except (OSError, KeyError):
        return "", 0, 0


def processor(pid):
    """The seconds of a process, and of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0


def verified(program, path):
    """`setveil verify` on one machine."""
    began = time.monotonic()
    process = subprocess.Popen([program, "verify", str(path)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    return {
        "exit code": os.waitstatus_to_exitcode(status),
        "seconds": round(time.monotonic() - began, 1),
        "processor seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak megabytes": used.ru_maxrss >> 10,
    }


if __name__ == "__main__":
    main()
