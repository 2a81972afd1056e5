#!/usr/bin/env python3
"""Time and memory of what comes after `anonymize`, as ratios to `anonymize disassociation` on the same data.

    cargo build --release
    benchmarks/recipient.py target/release/setveil
    benchmarks/recipient.py OLD NEW --data bms-webview-2,quest-1m --repeats 5 --json figures.json

Data sets come from SETVEIL_DATA (by default ../shared/data) or are made with `generate`; those that are missing are named and left out.
Every command runs --repeats times in turn with the others of its data set and the smallest time counts: a machine that does something
else only ever adds time. Processor time stands beside wall-clock time. Memory is the greatest resident size that the system reports.
A command that takes longer than --limit seconds is ended and said to be `stopped`; one that an older program does not have is `n/a`.
Nothing here is a test.
"""

import argparse
import gzip
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("SETVEIL_DATA") or os.path.join(HERE, "..", "..", "shared", "data")
QUEST = {
    "quest-1m": ["--records", "1000000", "--items", "5000", "--mean-length", "10"],
    "quest-40k-items": ["--records", "131000", "--items", "68000", "--patterns", "27000", "--mean-length", "10"],
    "quest-5k-records": ["--records", "5000", "--items", "1000", "--mean-length", "10"],
}
DEFAULT = "bms-webview-1,bms-webview-2,msnbc,quest-40k-items,quest-1m"

# Command -> what it may cost at most, as a multiple of `anonymize`: time, and memory of `anonymize` where that is asked.
BARS = {
    "reconstruct -n 1": (3, 2),
    "query 1 pair": (1, None),
    "query 10,000 pairs": (5, None),
    "evaluate": (10, None),
    "attack": (20, None),
    "report": (20, None),
}
# No command takes more memory than this times the file. Below the second figure nobody counts: the program itself, its threads and
# their buffers take 17 MB, however small the file is.
MEMORY_TIMES_FILE, SMALL = 8, 64 << 20


# The program does not have this command or option, and how it says so.
UNKNOWN, UNKNOWN_WORDS = "n/a", (b"unrecognized subcommand", b"unexpected argument")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs", nargs="+", metavar="PROGRAM", help="one or more setveil programs, the oldest first")
    parser.add_argument("--data", default=DEFAULT, help=f"names, separated by commas [{DEFAULT}]")
    parser.add_argument("--only", default="", help="only commands that contain one of these words, separated by commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a command is ended")
    parser.add_argument("--threads", default="2")
    parser.add_argument("-k", default="5")
    parser.add_argument("-m", default="2")
    parser.add_argument("--json", help="write every figure to this file")
    options = parser.parse_args()
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.data.split(","):
            file = data_file(name, folder, options.programs[-1])
            if file is None:
                print(f"{name}: not there, left out\n")
                continue
            for program in options.programs:
                found = measure(program, name, file, folder, options)
                figures += found
                table(program, name, file, found)
            os.remove(file)
    together(figures, options.programs)
    if options.json:
        with open(options.json, "w") as out:
            json.dump(figures, out, indent=1)


def data_file(name, folder, program):
    file = os.path.join(folder, name + ".dat")
    if name in QUEST:
        subprocess.run([program, "generate", "quest", *QUEST[name], "-o", file, "-q"], check=True, stdout=subprocess.DEVNULL)
        return file
    packed = os.path.join(DATA, name + ".dat.gz")
    if not os.path.exists(packed):
        return None
    with gzip.open(packed) as source, open(file, "wb") as target:
        shutil.copyfileobj(source, target)
    return file


def commands(program, file, folder, options):
    """What is measured, in order: a name, the arguments, and what to remove beforehand."""
    release = os.path.join(folder, "release")
    out = lambda name: os.path.join(folder, name)
    pair, pairs = questions(file, folder)
    original = ["--original", file]
    return [
        ("anonymize", ["anonymize", "disassociation", file, "-k", options.k, "-m", options.m, "-o", release], release),
        ("verify", ["verify", release], None),
        ("reconstruct -n 1", ["reconstruct", release, "-n", "1", "-o", out("drawn")], out("drawn")),
        ("query 1 pair", ["query", release, pair], None),
        ("query 10,000 pairs", ["query", release, "--file", pairs, "--json"], None),
        ("items", ["items", release, "--json"], None),
        ("itemsets -n 1000", ["itemsets", release, "-n", "1000", "--json"], None),
        ("export", ["export", release, "-o", out("tables")], out("tables")),
        ("evaluate", ["evaluate", release, *original], None),
        ("attack", ["attack", release, *original], None),
        ("report", ["report", release, *original, "-o", out("page.html"), "--date", "none"], out("page.html")),
        ("compare", ["compare", file, "-k", options.k, "-m", options.m, "--repeats", "1"], None),
    ]


def questions(file, folder):
    """A pair, and a file with 10,000 of them. A process of its own makes them: the system counts what this one once took as
    memory of the programs that it starts."""
    path = os.path.join(folder, "pairs.txt")
    child = os.fork()
    if child == 0:
        write_pairs(file, path)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("the pairs could not be written")
    with open(path) as pairs:
        return pairs.readlines()[1].strip(), path


def write_pairs(file, path):
    """10,000 pairs of items that stand in a random line together or in two random lines, half and half."""
    with open(file) as lines:
        records = [line.split() for line in lines]
    draw = random.Random(1)
    long = [record for record in records if len(record) > 1]
    pairs = []
    while len(pairs) < 10_000:
        if len(pairs) % 2 and long:
            pairs.append(tuple(draw.sample(draw.choice(long), 2)))
        else:
            pairs.append((draw.choice(draw.choice(records)), draw.choice(draw.choice(records))))
    with open(path, "w") as out:
        out.writelines(f"{a},{b}\n" for a, b in pairs)


def measure(program, name, file, folder, options):
    wanted = [word for word in options.only.split(",") if word]
    keep = lambda title: title == "anonymize" or not wanted or any(word in title for word in wanted)
    todo = [c for c in commands(program, file, folder, options) if keep(c[0])]
    best, given_up = {}, set()
    for _ in range(options.repeats):
        for title, arguments, remove in todo:
            if title in given_up:
                continue
            clear(remove)
            for arguments in spellings(arguments, out=os.path.join(folder, "compared")):
                wall, cpu, memory, code = run([program, *arguments, "-q", "--threads", options.threads], options.limit)
                if code != UNKNOWN:
                    break
            if code != 0:
                given_up.add(title)
                best[title] = {"wall": None, "cpu": None, "memory": memory, "code": code}
            elif title not in best or wall < best[title]["wall"]:
                best[title] = {"wall": wall, "cpu": cpu, "memory": memory, "code": code}
    for title, arguments, remove in todo:
        clear(remove)
    size = os.path.getsize(file)
    return [dict(program=program, data=name, bytes=size, command=title, **best[title]) for title, _, _ in todo]


def spellings(arguments, out):
    """The arguments, and how programs before them were told the same."""
    yield arguments
    if "--date" in arguments:
        at = arguments.index("--date")
        yield arguments[:at] + arguments[at + 2 :]
    if "--repeats" in arguments:
        at = arguments.index("--repeats")
        clear(out)
        yield arguments[:at] + arguments[at + 2 :] + ["-o", out]


def clear(path):
    if path and os.path.isdir(path):
        shutil.rmtree(path)
    elif path and os.path.exists(path):
        os.remove(path)


def run(command, limit, cpu_limit=None):
    """Wall-clock and processor seconds, peak memory in bytes, exit code (None: ended after `limit` seconds, or `cpu_limit` of the
    processor)."""
    start = time.perf_counter()
    limited = cpu_limit and (lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu_limit, cpu_limit)))
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limited)
    ended = []

    def too_long(*_):
        ended.append(True)
        child.kill()

    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, limit)
    message = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if cpu_limit and child.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        ended.append(True)
    if child.returncode == 2 and any(words in message for words in UNKNOWN_WORDS):
        return wall, 0, 0, UNKNOWN
    if child.returncode not in (0, 1) and not ended:
        sys.stderr.write(f"{' '.join(command)}: exit code {child.returncode}: {message.decode(errors='replace')[:300]}\n")
    code = None if ended else child.returncode
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, code


def table(program, name, file, found):
    base, size = found[0], os.path.getsize(file)
    print(f"**{name}** ({size / 1e6:.1f} MB), {os.path.basename(program)}\n")
    print("| command | seconds | CPU | x anonymize | bar | MB | x file | bars missed |")
    print("|---|---|---|---|---|---|---|---|")
    for figure in found:
        bar, memory_bar = BARS.get(figure["command"], (None, None))
        if figure["wall"] is None:
            what = {None: "stopped", UNKNOWN: UNKNOWN}.get(figure["code"], f"exit code {figure['code']}")
            missed = "" if what == UNKNOWN else "time"
            print(f"| {figure['command']} | {what} | | | {bar or ''} | {figure['memory'] / 1e6:.0f} | | {missed} |")
            continue
        ratio = figure["wall"] / base["wall"]
        missed = ["time"] if bar and ratio > bar else []
        memory = figure["memory"]
        if memory > max(MEMORY_TIMES_FILE * size, SMALL) or (memory_bar and memory > max(memory_bar * base["memory"], SMALL)):
            missed.append("memory")
        print(
            f"| {figure['command']} | {figure['wall']:.2f} | {figure['cpu']:.2f} | {ratio:.1f} | {bar or ''} | {memory / 1e6:.0f} "
            f"| {memory / size:.1f} | {', '.join(missed)} |"
        )
    print(flush=True)


def together(figures, programs):
    """One table of all data sets: processor seconds, their multiple of `anonymize`, memory as a multiple of the file, program by program."""
    found = {(f["data"], f["command"], f["program"]): f for f in figures}
    data, titles = (list(dict.fromkeys(f[key] for f in figures)) for key in ("data", "command"))
    print("| | " + " | ".join(f"{name} ({size_of(figures, name) / 1e6:.1f} MB)" for name in data) + " |")
    print("|---" * (len(data) + 1) + "|")
    for title in titles:
        cells = [" -> ".join(cell(found, name, title, program) for program in programs) for name in data]
        print(f"| `{title}` | " + " | ".join(cells) + " |")


def size_of(figures, name):
    return next(f["bytes"] for f in figures if f["data"] == name)


def cell(found, name, title, program):
    figure, base = found[name, title, program], found[name, "anonymize", program]
    if figure["wall"] is None:
        return {None: "stopped", UNKNOWN: "-"}.get(figure["code"], f"exit code {figure['code']}")
    ratio, memory = figure["cpu"] / base["cpu"], figure["memory"] / figure["bytes"]
    bar, _ = BARS.get(title, (None, None))
    time = f"{ratio:.1f}x" if ratio < 10 else f"{ratio:.0f}x"
    space = f"{memory:.1f}x" if memory < 10 else f"{memory:.0f}x"
    much = figure["memory"] > SMALL and memory > MEMORY_TIMES_FILE
    return f"{figure['cpu']:.2f} s, {bold(time, bar and ratio > bar)}, {bold(space, much)}"


def bold(text, missed):
    return f"**{text}**" if missed else text


if __name__ == "__main__":
    main()
