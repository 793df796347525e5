"""The package, built and installed, works on every supported version of Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import attncert

ROOT = Path(attncert.__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def run(*words: str | Path, cwd: Path | None = None, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        capture_output=True, text=True, cwd=cwd, env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_checkout_without_links_says_so(tmp_path: Path) -> None:
    """On systems without symbolic links, Git writes a small file for each link."""
    shutil.copytree(ROOT / "attncert", tmp_path / "attncert", symlinks=True)
    for name in ("constructions", "verify", "reports"):
        (tmp_path / "attncert" / name).unlink()
        (tmp_path / "attncert" / name).write_text(f"../{name}")
    command = [sys.executable, "-c", "import attncert"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("ImportError: attncert: this checkout has files where symbolic links")


def interpreter(version: str) -> str | None:
    """This machine's Python of this version, if it can create virtual environments."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}")]
    found += [str(path) for path in sorted(pyenv.glob(f"{version}.*/bin/python{version}"))]
    for python in filter(None, found):
        probe = [python, "-c", "import sys, ensurepip; print(sys.version_info[:2])"]
        done = subprocess.run(probe, capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.strip() == str(tuple(map(int, version.split(".")))):
            return python
    return None


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel made from it, built from a copy so that the checkout stays clean."""
    folder = tmp_path_factory.mktemp("distributions")
    source = folder / "source"
    keep = shutil.ignore_patterns(".venv", ".git", "build", "*.egg-info", ".*_cache", "docs")
    shutil.copytree(ROOT, source, symlinks=True, ignore=keep)
    run(sys.executable, "-m", "build", "--outdir", folder, source)
    (sdist,) = folder.glob("attncert-*.tar.gz")
    (wheel,) = folder.glob("attncert-*.whl")
    return sdist, wheel


@pytest.mark.slow
def test_a_wheel_holds_one_package(distributions: tuple[Path, Path]) -> None:
    names = zipfile.ZipFile(distributions[1]).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"attncert"}
    needed = (
        "py.typed",
        "constructions/data/digits.json",
        "verify/checker/__main__.py",
        "verify/schema/attncert-3.schema.json",
        "reports/templates/proof.md.j2",
    )
    assert {f"attncert/{name}" for name in needed} <= set(names)


@pytest.mark.slow
@pytest.mark.parametrize("version", PYTHONS)
def test_both_work_on_this_python(
    version: str, distributions: tuple[Path, Path], tmp_path: Path
) -> None:
    """The sdist is installed with all its dependencies, then replaced by the wheel."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    run(python, "-m", "venv", tmp_path / "venv")
    own = tmp_path / "venv" / "bin" / "python"
    for distribution, others in zip(
        distributions, ([], ["--no-deps", "--force-reinstall"]), strict=True
    ):
        name = distribution.suffix.removeprefix(".")
        install = ("-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", *others)
        run(own, *install, distribution)
        words = ("prove", "digits", "--examples", "9", "--out", name, "--json")
        answer = json.loads(run(own, "-m", "attncert", *words, cwd=tmp_path, PYTHONPATH=""))
        assert answer["standing"] == "proved"
        certificate = f"{name}/certificate.json"
        run(own, "-m", "attncert", "check", certificate, cwd=tmp_path, PYTHONPATH="")
