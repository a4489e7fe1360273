"""Plays the locks of Redis clients with every Python on PATH, and writes what ran into README.md: `python versions.py`.

In each combination a world without faults must keep its promises, and a client that is paused for longer than its lease must lose its
lock. `npm run build` comes first. pip fetches the clients into a temporary folder.
"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINE = ["node", os.path.join(HERE, "..", "..", "dist", "cli.js")]
PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
CLIENTS = [("redis", "5"), ("redis", "6"), ("redis", "7"), ("redis", "8"), ("valkey", "6")]
LEASE = 900
#: A plan, and the status that the engine must end with.
PLANS = [("", 0), ("client-pause@A.enters.stock.1/A/1800", 1)]
TRIALS = 3


def runs(python, module, major, folder):
    """The version that ran, or why it did not, in a few words."""
    target = os.path.join(folder, f"{python}-{module}-{major}")
    pip = [f"python{python}", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", target, f"{module}=={major}.*"]
    fetched = subprocess.run(pip, capture_output=True, text=True)
    if fetched.returncode != 0:
        return "cannot be installed"
    [version] = [found[1] for name in os.listdir(target) if (found := re.fullmatch(rf"{module}-(.*)\.dist-info", name))]
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([target, HERE]))
    program = [f"python{python}", os.path.join(HERE, "tests", "lock_of_client.py"), module]
    for plan, status in PLANS:
        text = f"2:1:0:A,B:{plan}:000000000000"
        flags = ["--clients", "2", "--lease", str(LEASE), "--promises", "mutual-exclusion", "--replay", text]
        for _ in range(TRIALS):
            played = subprocess.run([*ENGINE, "explore", *flags, "--", *program], capture_output=True, text=True, env=env)
            # A world in which the machine stood still does not tell.
            if "stood still" not in played.stdout and "too busy" not in played.stderr:
                break
        else:
            return "this machine was too busy"
        if played.returncode != status:
            print(played.stdout, played.stderr, file=sys.stderr)
            return "fails"
    return version


def main():
    wanted = sys.argv[1:] or PYTHONS
    rows = []
    with tempfile.TemporaryDirectory(prefix="lostlock-versions-") as folder:
        for python in wanted:
            try:
                full = subprocess.run([f"python{python}", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
            except (OSError, subprocess.CalledProcessError):
                rows.append([python, *["not run" for _ in CLIENTS]])
                continue
            rows.append([full, *[runs(python, module, major, folder) for module, major in CLIENTS]])
            print(*rows[-1], file=sys.stderr)
    head = ["Python", *[f"{module}-py {major}" for module, major in CLIENTS]]
    lines = [head, ["---"] * len(head), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    path = os.path.join(HERE, "README.md")
    with open(path, encoding="utf8") as file:
        text = file.read()
    marks = re.compile(r"(<!-- versions -->\n).*(\n<!-- end -->)", re.S)
    with open(path, "w", encoding="utf8") as file:
        file.write(marks.sub(lambda found: found[1] + table + found[2], text))


if __name__ == "__main__":
    main()
