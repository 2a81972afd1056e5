"""Threads, signals, progress, forks: how work is done."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import setveil as sv

INTERRUPTED = """
import os, signal, sys
import setveil as sv

# Whoever runs this in the background may have told it to ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

data = sv.generate_quest(records=400_000, items=2_000, seed=3)
stages = []

def watch(stage, done, total):
    stages.append(stage)
    if stage == sys.argv[1] and not watch.sent:
        watch.sent = True
        os.kill(os.getpid(), signal.SIGINT)

watch.sent = False
try:
    work = {
        "clustering": lambda: sv.disassociate(data, progress=watch),
        "guessing": lambda: data.profile(samples=100_000_000, progress=watch),
    }[sys.argv[1]]
    work()
except KeyboardInterrupt:
    print("stopped in", stages[-1])
    # The process goes on, and so does the package.
    print(sv.disassociate(sv.demo_data(), k=3).verify().holds)
else:
    print("done")
"""


@pytest.mark.parametrize("stage", ["clustering", "guessing"])
def test_ctrl_c_stops_the_work_and_not_the_process(stage):
    command = [sys.executable, "-c", INTERRUPTED, stage]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    said = run.stdout.splitlines()
    assert len(said) == 2 and said[0].startswith("stopped in "), run.stdout + run.stderr
    assert said[1] == "True"


WRITING = """
import os, signal, sys, threading
import setveil as sv

signal.signal(signal.SIGINT, signal.default_int_handler)

release = sv.disassociate(sv.generate_quest(records=100_000, items=2_000, seed=3))
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    for number in range(1_000):
        release.write(os.path.join(sys.argv[1], str(number)))
except KeyboardInterrupt:
    print("stopped")
"""


def test_ctrl_c_leaves_nothing_half_written(tmp_path):
    run = subprocess.run([sys.executable, "-c", WRITING, tmp_path], capture_output=True, text=True, timeout=300)
    assert run.stdout == "stopped\n", run.stderr
    left = sorted(os.listdir(tmp_path), key=lambda name: (len(name), name))
    assert left == [str(number) for number in range(len(left))]
    for name in left[-1:]:
        assert sv.verify(tmp_path / name).holds


def test_an_error_of_the_watcher_stops_the_work():
    def watch(stage, done, total):
        raise RuntimeError("I have seen enough")

    with pytest.raises(RuntimeError, match="seen enough"):
        sv.generate_quest(records=3_000_000, progress=watch)


def test_progress_is_told(quest):
    seen = []
    data = sv.generate_quest(records=300_000, progress=lambda *told: seen.append(told))
    assert seen and {stage for stage, _, _ in seen} == {"generating"}
    assert all(0 <= done <= total for _, done, total in seen)
    assert len(data) == 300_000


def test_a_bar_without_tqdm(monkeypatch, capsys, quest):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    sv.generate_quest(records=300_000, progress=True)
    assert "generating" in capsys.readouterr().err


@pytest.mark.libraries
def test_a_bar_with_tqdm(capsys):
    sv.generate_quest(records=300_000, progress=True)
    assert "generating" in capsys.readouterr().err


def test_threads_do_not_change_the_result(quest):
    one = sv.disassociate(quest, threads=1).files()
    assert all(sv.disassociate(quest, threads=n).files() == one for n in (2, 3, None))


def test_the_interpreter_is_free_meanwhile():
    """Another thread of Python runs while the work does."""
    running, ticks = threading.Event(), []

    def tick():
        while running.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    running.set()
    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    sv.generate_quest(records=300_000)
    during = len(ticks) - before
    running.clear()
    thread.join()
    assert during > 10


def test_several_threads_at_once(quest):
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda k: sv.disassociate(quest, k=k).files(), [3, 5, 3, 5]))
    assert made[0] == made[2] and made[1] == made[3]


def _holds(release):
    return release.verify().holds


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_other_processes(start, quest):
    release = sv.disassociate(quest)  # The threads of this process are running.
    with multiprocessing.get_context(start).Pool(2) as pool:
        assert pool.map_async(_holds, [release] * 3).get(120) == [True] * 3
        worlds = list(release.reconstruct(2))
        assert pool.map_async(len, worlds).get(120) == [len(quest)] * 2


def test_fork_while_another_thread_works():
    stop = threading.Event()

    def work():
        while not stop.is_set():
            sv.generate_quest(records=20_000)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(3):
            child = os.fork()
            if child == 0:
                os._exit(0 if sv.disassociate(sv.demo_data(), k=3).verify().holds else 1)
            deadline = time.monotonic() + 120
            while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
                time.sleep(0.05)
            if ended[0] == 0:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            assert ended == (child, 0)
    finally:
        stop.set()
        thread.join()
