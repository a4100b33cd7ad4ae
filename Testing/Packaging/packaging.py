#!/usr/bin/python3
"""Tests the files that are installed with the plugin, and the recipes of packages.

usage: packaging.py man|completion|recipes|core REPOSITORY BUILD PROGRAM SCRATCH [PREFIX]

core: builds Packaging/Examples against the installation in PREFIX, with CMake and with pkg-config.
"""
import ast
import glob
import os
import re
import shutil
import subprocess
import sys

import h5py

case, repository, build, program, scratch = sys.argv[1:6]
packaging = os.path.join(repository, "Packaging")


def run(*command, code=0, **environment):
    done = subprocess.run(command, env={**os.environ, **environment}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == code, (command, done.stdout)
    return done.stdout


def subcommands():
    listed = re.split("(?i)subcommands:", run(program, "--help"))[1]
    return re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)


def check_man():
    with open(os.path.join(build, "Packaging", "patchio.1"), encoding="utf-8") as file:
        page = file.read()
    for name in subcommands():
        assert f".SS {name}\n" in page, name
        for option in re.findall(r"^ {2,10}(?:-[a-z], *)?(--[a-z-]+)", run(program, name, "--help"), re.MULTILINE):
            assert option == "--help" or option.replace("-", "\\-") in page, (name, option)
    if shutil.which("groff"):
        assert run("groff", "-man", "-ww", "-Tutf8", "-z", os.path.join(build, "Packaging", "patchio.1")) == ""


def check_completion():
    def complete(*words):
        script = (f"source {packaging}/patchio.bash; COMP_WORDS=({program} {' '.join(words)}); COMP_CWORD={len(words)}; "
                  "_patchio 2>/dev/null; printf '%s\\n' \"${COMPREPLY[@]}\"")
        return run("bash", "-c", script).split()
    assert sorted(complete("''")) == sorted(subcommands() + ["--help", "--version"]), complete("''")
    assert complete("in") == ["index", "info"]
    assert complete("info", "--js") == ["--json"]
    os.makedirs(scratch, exist_ok=True)
    with open(os.path.join(scratch, "dumps.visit"), "w", encoding="utf-8"):
        pass
    os.chdir(scratch)
    assert complete("info", "dum") == ["dumps.visit"]


def check_recipes():
    with open(os.path.join(packaging, "spack", "package.py"), encoding="utf-8") as file:
        spack = ast.parse(file.read())
    classes = [node.name for node in spack.body if isinstance(node, ast.ClassDef)]
    assert classes == ["Patchio"], classes
    with open(os.path.join(repository, "CMakeLists.txt"), encoding="utf-8") as file:
        cmake = file.read()
    version = re.search(r"project\(PatchIO VERSION ([0-9.]+)", cmake)[1]
    options = set(re.findall(r"^(?:option|set)\((PATCHIO_\w+)", cmake, re.MULTILINE)) | {"PATCHIO_BUILD_PYTHON", "PATCHIO_PYTHON_DIR"}
    options.add("PATCHIO_BUILD_EXAMPLES")
    for name in ("spack/package.py", "conda/meta.yaml", "../pyproject.toml", "../CITATION.cff", "../CHANGELOG.md"):
        with open(os.path.join(packaging, name), encoding="utf-8") as file:
            text = file.read()
        unknown = set(re.findall(r"PATCHIO_[A-Z_]+", text)) - options
        assert not unknown, (name, unknown)
        assert version in text or name == "../pyproject.toml", (name, "has no version " + version)


def check_core():
    prefix = sys.argv[6]
    summary = os.path.join(repository, "Data", "linadv_3d", "visit_dump.00048", "summary.samrai")
    examples = os.path.join(packaging, "Examples")
    shutil.rmtree(scratch, ignore_errors=True)
    run("cmake", "-G", "Ninja", "-S", examples, "-B", scratch, "-DCMAKE_PREFIX_PATH=" + prefix, CMAKE_CXX_COMPILER_LAUNCHER="")
    run("cmake", "--build", scratch)
    want = 0.0
    for name in glob.glob(os.path.join(os.path.dirname(summary), "processor_cluster.*")):
        with h5py.File(name, "r") as file:
            values = []
            file.visititems(lambda path, item: values.append(item[:].sum(dtype=float)) if path.endswith("/uval") else None)
            want += sum(values)
    pkg_config = os.path.dirname(glob.glob(prefix + "/lib/**/patchio-core.pc", recursive=True)[0])
    flags = run("pkg-config", "--cflags", "--libs", "patchio-core", PKG_CONFIG_PATH=pkg_config).split()
    run("mpicxx", "-std=c++17", os.path.join(examples, "core.cxx"), "-o", os.path.join(scratch, "by_pkg_config"), *flags)
    for name in ("core", "by_pkg_config"):
        said = run(os.path.join(scratch, name), summary, "uval")
        assert abs(float(said.split()[-1]) - want) < 1e-6 * abs(want), (said, want)


{"man": check_man, "completion": check_completion, "recipes": check_recipes, "core": check_core}[case]()
print("passed: " + case)
