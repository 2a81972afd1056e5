#!/usr/bin/env python3
"""What every command makes of releases that are made to cost much: an answer or an error, processor time, memory.

    cargo build --release --workspace
    benchmarks/hostile.py target/release/setveil target/release/experiments

`experiments hostile` writes the releases of `testkit::traps`; a release of 5,000 Quest records with k = 3 and m = 2 is added, for
which `attack` once had no end. Where `reconstruct` draws a possible original, `evaluate` and `attack --original` get that one.
A command that takes longer than --limit seconds of the processor is ended and said to be `stopped`. Nothing here is a test.
"""

import argparse
import os
import subprocess
import tempfile

from recipient import QUEST, clear, run

COMMANDS = ["verify", "query", "items", "itemsets", "export", "reconstruct", "evaluate", "attack", "attack, original", "report"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("experiments")
    parser.add_argument("--records", default="1000000", help="records of the releases that have many")
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("--threads", default="2")
    options = parser.parse_args()
    print("| release | " + " | ".join(COMMANDS) + " |")
    print("|---" * (len(COMMANDS) + 1) + "|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        releases = os.path.join(folder, "releases")
        subprocess.run([options.experiments, "hostile", "--records", options.records, "-o", releases], check=True)
        quest(options.program, folder, releases)
        for name in sorted(os.listdir(releases)):
            cells = [cell(options, folder, os.path.join(releases, name), command) for command in COMMANDS]
            clear(os.path.join(folder, "drawn"))
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def quest(program, folder, releases):
    data = os.path.join(folder, "quest.dat")
    quiet = dict(check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "generate", "quest", *QUEST["quest-5k-records"], "-o", data, "-q"], **quiet)
    release = os.path.join(releases, "5,000 Quest records")
    subprocess.run([program, "anonymize", "disassociation", data, "-k", "3", "-m", "2", "-o", release, "-q"], **quiet)


def cell(options, folder, release, command):
    """Exit code if it is not 0, processor seconds and MB."""
    out = lambda name: os.path.join(folder, name)
    drawn = out("drawn/reconstruction-1.dat")
    arguments = {
        "verify": ["verify", release],
        "query": ["query", release, "i000000,i000001", "i000001,i000007"],
        "items": ["items", release, "--json"],
        "itemsets": ["itemsets", release, "-n", "1000", "--json"],
        "export": ["export", release, "-o", out("tables")],
        "reconstruct": ["reconstruct", release, "-n", "1", "-o", out("drawn")],
        "evaluate": ["evaluate", release, "--original", drawn],
        "attack": ["attack", release],
        "attack, original": ["attack", release, "--original", drawn],
        "report": ["report", release, "-o", out("page.html"), "--date", "none"],
    }[command]
    if drawn in arguments and not os.path.exists(drawn):
        return ""
    for name in ("tables", "page.html"):
        clear(out(name))
    _, cpu, memory, code = run([options.program, *arguments, "-q", "--threads", options.threads], 3600, options.limit)
    if code is None:
        return f"stopped, {memory / 1e6:.0f} MB"
    said = f"exit code {code}, " if code else ""
    return f"{said}{cpu:.1f} s, {memory / 1e6:.0f} MB"


if __name__ == "__main__":
    main()
