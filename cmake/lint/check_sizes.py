#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names sources that have grown beyond one page: a warning above 400 lines, an error above 600. And classes of
src that have more than one idea: a warning above 25 functions, an error above 30."""
import re

import complaining

LINES, FUNCTIONS = (400, 600), (25, 30)

COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|^\s*#(?:[^\n]*\\\n)*[^\n]*', re.S | re.M)
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\\n])\'')
ATTRIBUTES = r"(?:\[\[.*?\]\]\s*|alignas\([^)]*\)\s*)*"
CLASS = re.compile(rf"\b(?:class|struct)\s+{ATTRIBUTES}(\w+)(?:<[^;{{()]*>)?\s*(?:final\s*)?(?::[^;{{()]*)?\{{")
NESTED = re.compile(r"\b(?:class|struct|union|enum)\b[^(]*\{$")
# What has parentheses, or names of operators, and does not tell whether a declaration is a function.
ASIDE = re.compile(r"\[\[.*?\]\]|\b(?:alignas|noexcept|explicit|decltype|requires)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)"
                   r"|\boperator\s*\W+(?=\()", re.S)
TEMPLATE = re.compile(r"<[^<>]*>")
OTHERS = re.compile(r"\b(?:using|typedef|static_assert|friend|enum)\b")


def declarations(text, at):
    """What a class declares whose body begins at `at`; of what is in braces only that there is something."""
    depth, said = 0, ""
    for c in text[at:]:
        depth += (c == "{") - (c == "}")
        if depth < 0:
            return
        if depth == 0 and (c == ";" or (c == "}" and "(" in said and not NESTED.search(said))):
            yield said
            said = ""
        elif depth == 0 or (depth == 1 and c == "{"):
            said += c


def is_function(said):
    said = ASIDE.sub("", said)
    while (less := TEMPLATE.sub("", said)) != said:
        said = less
    first = re.search(r"[({=]", said)
    return first is not None and first[0] == "(" and not OTHERS.search(said)


def classes(text):
    """(name, number of functions) of each class."""
    text = LITERAL.sub('""', COMMENT.sub("", text))
    for found in CLASS.finditer(text):
        yield found[1], sum(map(is_function, declarations(text, found.end())))


def verdict(size, limits):
    """Nothing, or how bad it is."""
    return "error" if size > limits[1] else "warning" if size > limits[0] else None


def complaints(root):
    for top in ("include", "src", "tools", "examples", "tests", "bench", "emu"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".h", ".c", ".cpp"):
                continue
            file, text = path.relative_to(root), path.read_text()
            lines = len(text.splitlines())
            if word := verdict(lines, LINES):
                yield f"{file}: {word}: {lines} lines, split it by concern"
            if top != "src" or file.name.endswith("_test.cpp"):
                continue
            for name, functions in classes(text):
                if word := verdict(functions, FUNCTIONS):
                    yield f"{file}: {word}: {name} has {functions} functions, find the second idea in it"


if __name__ == "__main__":
    complaining.run(complaints, counts=lambda complaint: ": error: " in complaint)
