"""A real cluster on this machine: a master and workers of Spark, each a process of its own, on the loopback address."""

import os
import re
import signal
import subprocess
import time
import urllib.request
from pathlib import Path


# Work of seconds is not worth to be compiled well.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


# A machine that has much else to do starts a process in minutes.
LONG = 300


def wait(done, seconds=LONG):
    """Asks until something is so; whether it is at the end."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


class Cluster:
    """A standalone master; workers come and go."""

    def __init__(self, folder, cores=1, memory="1g"):
        import pyspark

        self.home = Path(pyspark.__file__).parent
        self.folder, self.cores, self.memory = Path(folder), cores, memory
        self.port = self.page = None
        self.processes = {}
        self.master = self._start("master", "Master", "--port", 0, "--webui-port", 0)
        self._wait(self._listens, "the master did not start")
        self._wait(lambda: "ALIVE" in self._status(), "the master did not start")

    @property
    def url(self):
        return f"spark://127.0.0.1:{self.port}"

    def _start(self, name, kind, *words):
        log = open(self.folder / f"{name}.log", "w")
        environment = {
            **os.environ,
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / f"{name}-local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK,
        }
        command = [self.home / "bin" / "spark-class", f"org.apache.spark.deploy.{kind.lower()}.{kind}", "--host", "127.0.0.1"]
        command = [str(word) for word in (*command, *words)]
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=self.folder)
        log.close()
        self.processes[name] = process
        return process

    def _listens(self):
        """Reads at which ports the master listens. Spark chooses them: one that was free may be taken before it comes,
        and then it silently takes the next one."""
        log = (self.folder / "master.log").read_text()
        port = re.search(r"Starting Spark master at spark://127\.0\.0\.1:(\d+)", log)
        page = re.search(r"Bound MasterWebUI to .* started at http://[^:]+:(\d+)", log)
        if port and page:
            self.port, self.page = int(port[1]), int(page[1])
        return port and page

    def _status(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.page}/json/", timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            return ""

    def _wait(self, done, why):
        def ended():
            return any(process.poll() is not None for process in self.processes.values())

        if not wait(lambda: done() or ended()) or not done():
            raise RuntimeError(f"{why}: see {self.folder}")

    def workers(self):
        """How many workers the master knows to be alive; 0 where it gives no answer."""
        import json

        return json.loads(self._status() or "{}").get("aliveworkers", 0)

    def add(self, name):
        """Starts a worker and waits until the master knows it."""
        words = ["--cores", self.cores, "--memory", self.memory, "--port", 0, "--webui-port", 0]
        self._start(name, "Worker", *words, "--work-dir", self.folder / f"{name}-work", self.url)
        others = len(self.processes) - 1
        self._wait(lambda: self.workers() == others, f"{name} did not start")

    def executors(self, name):
        """The process ids of a worker's executors."""
        return children(self.processes[name].pid)

    def kill(self, name):
        """Ends a worker and its executors as a power cut would: SIGKILL."""
        executors = self.executors(name)
        process = self.processes.pop(name)
        for pid in (process.pid, *executors):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.wait()

    def stop(self):
        """Ends every process that was started here, by its id."""
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = {}


def jobs_begun(spark):
    """How many jobs a session has begun: what Spark lists comes later, and is no more than the last thousand."""
    return spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs()


def running(spark):
    """How many tasks run now."""
    return sum(one.numRunningTasks() for one in spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos())


def executors(spark):
    """Whether each executor that has ever been is still there."""
    found = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    every = [found.apply(at) for at in range(found.size())]
    return [one.isActive() for one in every if one.id() != "driver"]


def children(pid):
    """The processes that `pid` has started."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()] + [
            int(child)
            for thread in Path(f"/proc/{pid}/task").iterdir()
            if thread.name != str(pid)
            for child in (thread / "children").read_text().split()
        ]
    except (FileNotFoundError, ProcessLookupError):
        return []


def session(cluster, archive=None, **settings):
    """A Spark session of this cluster; its workers' Python is that of the archive."""
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master(cluster.url).appName("setveil")
    every = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "700m",
        "spark.sql.shuffle.partitions": "3",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        **settings,
    }
    if archive is not None:
        every["spark.archives"] = f"{archive}#environment"
        os.environ["PYSPARK_PYTHON"] = "./environment/bin/python"
    for name, value in every.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
