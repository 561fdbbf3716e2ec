#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The names that libheddle exports: lists beside this file, which the version script is made of.

  exports.py check LIBRARY            the library exports these names, each in its version, and no others
  exports.py called PROGRAM...        every function of public.txt that is for C is called by one of these
  exports.py accounted SOURCE_DIR     docs/design/abi.md says who uses each of private.txt, and of nothing else
  exports.py declared SOURCE_DIR      the lists have what headers declare and do not define (needs clang++)
  exports.py update SOURCE_DIR LIBRARY OBJECT...
        writes the lists anew. LIBRARY exports everything (heddle_internals); OBJECTs are those of the
        program heddle and of the backends that are modules

public.txt   what include/heddle declares: the ABI that docs/design/abi.md is about
backend.txt  what the installed headers for backends declare besides: of one module_abi
private.txt  what the program heddle and our own modules use besides: of one version of Heddle
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LISTS = ("public", "backend", "private")
VERSIONS = {"public": r"HEDDLE_\d+", "backend": r"HEDDLE_BACKEND_\d+", "private": r"HEDDLE_PRIVATE_[\d.]+"}
FUNCTIONS = {"FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXDestructorDecl", "CXXConversionDecl"}
TEMPLATES = {"ClassTemplateDecl", "FunctionTemplateDecl", "VarTemplateDecl", "ClassTemplateSpecializationDecl",
             "ClassTemplatePartialSpecializationDecl", "TypeAliasTemplateDecl"}


def output(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def lines_of(name):
    return [line for line in (HERE / f"{name}.txt").read_text().splitlines() if line and not line.startswith("#")]


def read_list(name):
    """The mangled names of a list."""
    return [line.split()[0] for line in lines_of(name)]


def read_plain(name):
    """The same as people write them, without `heddle::` and parameters."""
    return [re.search(r"heddle::([\w:~]+)", line)[1] for line in lines_of(name)]


# --- what headers declare ----------------------------------------------------------------------------
def has_body(decl):
    return any(child.get("kind") in ("CompoundStmt", "CXXTryStmt") for child in decl.get("inner", []))


def names_of(decl):
    """The names under which clang or g++ may emit this function or variable."""
    name, kind = decl["mangledName"], decl["kind"]
    if kind == "CXXConstructorDecl":
        return [re.sub(r"C[12]E", f"C{i}E", name, count=1) for i in (1, 2)]
    if kind == "CXXDestructorDecl":
        return [re.sub(r"D[012]E", f"D{i}E", name, count=1) for i in (0, 1, 2)]
    return [name]


def is_ours_to_define(decl):
    """A function that is declared only, or a variable that library and program share."""
    if "mangledName" not in decl or decl.get("isImplicit"):
        return False
    if decl["kind"] == "VarDecl":
        shared = decl.get("storageClass") in ("static", "extern") or decl.get("inline")
        return bool(shared) and not decl.get("constexpr") and "const " not in decl["type"]["qualType"]
    return (decl["kind"] in FUNCTIONS and not has_body(decl) and not decl.get("explicitlyDefaulted")
            and not decl.get("explicitlyDeleted") and not decl.get("pure") and not decl.get("inline"))


def walk(decl, found, optional, at_top):
    """Adds the names of what `decl` declares: `found` has a tuple of names for each, one of which
    there must be; `optional` what a class may bring besides, its type and table."""
    kind = decl.get("kind")
    if kind in TEMPLATES or decl.get("isImplicit"):
        return
    if kind in FUNCTIONS or (kind == "VarDecl" and not at_top):
        if is_ours_to_define(decl):
            found.add(tuple(names_of(decl)))
        return
    if kind == "CXXRecordDecl" and decl.get("definitionData", {}).get("isPolymorphic"):
        optional.add(decl["name"])
    for child in decl.get("inner", []):
        if child.get("kind") in FUNCTIONS | {"VarDecl", "CXXRecordDecl", "NamespaceDecl", "LinkageSpecDecl"}:
            walk(child, found, optional, False)


def parse(headers, folders):
    """(found, optional) of these headers, as walk() fills them."""
    with tempfile.TemporaryDirectory() as work:
        source = pathlib.Path(work) / "all.cpp"
        source.write_text("".join(f'#include "{h}"\n' for h in headers))
        text = output("clang++", "-std=c++20", *[f"-I{f}" for f in folders], "-DHEDDLE_CACHE_LINE=64",
                      "-fsyntax-only", "-Xclang", "-ast-dump=json", "-Xclang", "-ast-dump-filter=heddle", source)
    found, optional, decoder, at = set(), set(), json.JSONDecoder(), 0
    while at < len(text):
        decl, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
        walk(decl, found, optional, False)
    return found, optional


def installed_backend_headers(source):
    listed = re.search(r"foreach\(header ([^)]*)\)", (source / "cmake/Install.cmake").read_text())[1]
    return [source / "src" / name for name in listed.split()]


def declared(source):
    """{"public": (found, optional), "backend": ...}; the second without the first."""
    public = parse(sorted(source.glob("include/heddle/**/*.h")), [source / "include"])
    both = parse(installed_backend_headers(source), [source / "include", source / "src"])
    return {"public": public, "backend": (both[0] - public[0], both[1] - public[1])}


# --- what binaries have ------------------------------------------------------------------------------
def exported(library):
    """{name: version} of what a shared library defines for others."""
    names = {}
    for line in output("nm", "-D", "--defined-only", "--with-symbol-versions", library).splitlines():
        name = line.split()[-1]
        base, _, version = name.partition("@")
        names[base] = version.lstrip("@")
    return {n: v for n, v in names.items() if not n.startswith(("HEDDLE_", "libheddle"))}


def wanted(objects):
    """What these objects use and do not define, of Heddle's."""
    used, defined = set(), set()
    for line in output("gcc-nm", *[o for o in objects if o.endswith(".o")]).splitlines():
        parts = line.split()
        if len(parts) >= 2 and parts[-2] == "U":
            used.add(parts[-1])
        elif len(parts) == 3:
            defined.add(parts[-1])
    return {name for name in used - defined if "6heddle" in name}


# --- commands ----------------------------------------------------------------------------------------
def check(library):
    problems, expected = [], {}
    for name in LISTS:
        expected.update({symbol: name for symbol in read_list(name)})
    there = exported(library)
    for symbol in sorted(expected.keys() - there.keys()):
        problems.append(f"not exported, but in {expected[symbol]}.txt: {symbol}")
    for symbol in sorted(there.keys() - expected.keys()):
        problems.append(f"exported, but in no list: {symbol}")
    for symbol, name in sorted(expected.items()):
        if symbol in there and not re.fullmatch(VERSIONS[name], there[symbol]):
            problems.append(f"{symbol} of {name}.txt has the version {there[symbol]}")
    return problems


def check_declared(source):
    problems = []
    for name, (found, _) in declared(source).items():
        listed = set(read_list(name))
        for names in sorted(found):
            if not listed.intersection(names):
                problems.append(f"declared, but not in {name}.txt: {names[0]}")
        known = {n for names in found for n in names}
        for symbol in sorted(listed - known):
            if not symbol.startswith("_ZT"):
                problems.append(f"in {name}.txt, but no header declares it: {symbol}")
    return problems


def check_called(programs):
    """Of what C has, some program asks the loader for each."""
    asked = "\n".join(output("nm", "-D", "--undefined-only", program) for program in programs)
    called = set(re.findall(r"\bU (heddle_\w+)", asked))
    return [f"no test in C calls {name}: give it one in tests/c"
            for name in read_list("public") if name.startswith("heddle_") and name not in called]


def accounted_names(page):
    """What the second column of the table of HEDDLE_PRIVATE names."""
    table = page[page.index("`HEDDLE_PRIVATE` has"):].split("\n\n")[1]
    rows = [line.split("|")[2] for line in table.splitlines()[2:]]
    return {name for row in rows for name in re.findall(r"`([\w:]+)`", row)}


def check_accounted(page):
    def is_of(row, name):
        return name == row or name.startswith(row + "::")
    rows, names = accounted_names(page), read_plain("private")
    problems = [f"in private.txt, but in no row of docs/design/abi.md: {n}"
                for n in names if not any(is_of(r, n) for r in rows)]
    return problems + [f"in docs/design/abi.md, but not in private.txt: {r}"
                       for r in sorted(rows) if not any(is_of(r, n) for n in names)]


def write_list(name, symbols):
    head = [line for line in (HERE / f"{name}.txt").read_text().splitlines() if line.startswith("#")]
    plain = output("c++filt", *sorted(symbols)).splitlines() if symbols else []
    lines = [f"{symbol}  {text}" for symbol, text in zip(sorted(symbols), plain)]
    (HERE / f"{name}.txt").write_text("\n".join(head + lines) + "\n")


def update(source, library, objects):
    there, lists = exported(library).keys(), {}
    for name, (found, optional) in declared(source).items():
        lists[name] = {n for names in found for n in names if n in there}
        classes = "|".join(f"{len(c)}{c}" for c in optional) or "$^"
        lists[name] |= {n for n in there if re.fullmatch(rf"_ZT[ISV]N6heddle(\d+[a-z_]+)?({classes})E", n)}
    lists["backend"] -= lists["public"]
    lists["private"] = (wanted(objects) & there) - lists["public"] - lists["backend"]
    for name in LISTS:
        write_list(name, lists[name])
        print(f"{name}.txt: {len(lists[name])} names")


def main(arguments):
    match arguments:
        case ["check", library]:
            problems = check(library)
        case ["called", *programs]:
            sys.exit("\n".join(check_called(programs)) or 0)
        case ["accounted", source]:
            problems = check_accounted((pathlib.Path(source) / "docs/design/abi.md").read_text())
        case ["declared", _] if shutil.which("clang++") is None:
            print("skipped: no clang++")
            sys.exit(77)
        case ["declared", source]:
            problems = check_declared(pathlib.Path(source).resolve())
        case ["update", source, library, *objects]:
            problems = update(pathlib.Path(source).resolve(), library, objects) or []
        case _:
            sys.exit(__doc__)
    for problem in problems:
        print(problem)
    if problems:
        sys.exit("if that is wanted: ninja -C build/release update-exports, and read docs/design/abi.md")


if __name__ == "__main__":
    main(sys.argv[1:])
