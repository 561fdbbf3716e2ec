# SPDX-License-Identifier: BSD-3-Clause
"""The table of LinkTest's features and the link tester's names nothing that is not there.

    linktest_coverage_test.py HEDDLE CTEST BUILD_FOLDER
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = ["LinkTest", "Heddle", "Shown by", "Differs"]  # behind the one that names the feature


def rows_of(text):
    """The cells of each row of each table; the first names the feature."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 5 and cells[1:] != COLUMNS and set(line) - set("|- "):
            yield cells


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def problems_of(text, options, members, tests):
    """What the table names that is not in `options`, `members` or `tests`, and rows that say too little."""
    found = []
    for feature, _, here, shown, differs in rows_of(text):
        for name in quoted(here):
            if name.startswith("-") and name not in options:
                found.append(f"{feature}: heddle linktest has no option {name}")
            if not name.startswith("-") and name not in members:
                found.append(f"{feature}: neither a file nor a command has {name}")
        found += [f"{feature}: ctest knows no test {name}" for name in quoted(shown) if name not in tests]
        found += [f"{feature}: it differs by {name}, which is no option"
                  for name in quoted(differs) if name.startswith("--") and name not in options]
        if here == "none" and not differs:
            found.append(f"{feature}: it is left out, and nothing says why")
        if here != "none" and not quoted(shown):
            found.append(f"{feature}: no test shows it")
    return found


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=240).stdout


def options_of(heddle):
    """Each name of each option, as the help lists them in its first columns."""
    listed = re.findall(r"(?m)^  (-[-\w,]+)", output_of(heddle, "linktest", "--help"))
    return {name for group in listed for name in group.split(",")}


def tests_of(ctest, build):
    """What ctest knows, and the cases of the programs that it may run several of at once."""
    listed = output_of(ctest, "--test-dir", build, "-N")
    found = set(re.findall(r"(?m)^ +Test +#\d+: (.+?)(?:  # GetParam.*| \(Disabled\))?$", listed))
    for program in pathlib.Path(build, "bin").glob("*_test"):
        found |= cases_of(output_of(program, "--gtest_list_tests"))
    return found


def cases_of(listed):
    """Suite.Case of each line of GoogleTest's list."""
    found, suite = set(), ""
    for line in listed.splitlines():
        name = line.split("#")[0].strip()
        if line.startswith("  "):
            found.add(suite + name)
        else:
            suite = name
    return found


def names_in(value):
    """The names of all members of a JSON value, however deep."""
    if isinstance(value, dict):
        return set(value).union(*map(names_in, value.values()))
    return set().union(*map(names_in, value)) if isinstance(value, list) else set()


def members_of(heddle):
    """What a real result has, of a run between two pretended hosts, and the commands that read it."""
    with tempfile.TemporaryDirectory() as folder:
        output_of(heddle, "run", "-n", "2", "--", "sh", "-c", 'HEDDLE_HOST=h$HEDDLE_RANK exec "$0" linktest "$@"',
                  heddle, "--sizes", "8", "--messages", "2", "--all-to-all", "--diagnosis", "always", "--slow", "1000",
                  "--quiet", "--output", folder + "/results")
        result = json.loads(pathlib.Path(folder, "results", "linktest.json").read_text())
    return names_in(result) | {"heddle report", "heddle_results"}


class Checking(unittest.TestCase):
    """The check itself."""

    def test_a_row_is_refused_that_names_what_is_not_there_or_says_too_little(self):
        row = "| F | `-x` | {} | {} | {} |"
        for here, shown, differs, problem in (
                ("`--gone`", "`A.B`", "", "no option --gone"), ("`--old`", "`A.C`", "", "no test A.C"),
                ("`nothing`", "`A.B`", "", "has nothing"), ("`--old`", "", "", "no test shows it"),
                ("`--old`", "`A.B`", "`--gone` does it", "by --gone"), ("none", "", "", "nothing says why")):
            found = problems_of(row.format(here, shown, differs), {"--old"}, {"member"}, {"A.B"})
            self.assertEqual(len(found), 1, found)
            self.assertIn(problem, found[0])

    def test_a_row_is_accepted_whose_option_member_and_test_are_there(self):
        text = "| Feature | LinkTest | Heddle | Shown by | Differs |\n|---|---|---|---|---|\n" \
               "| F | `-x` | `--old`, `member` | `A.B` | |\n| G | `-y` | none | | Not wanted |"
        self.assertEqual(len(list(rows_of(text))), 2)
        self.assertEqual(problems_of(text, {"--old"}, {"member"}, {"A.B"}), [])


class Coverage(unittest.TestCase):
    def test_every_row_names_options_members_and_tests_that_are_there(self):
        text = (ROOT / "docs/design/linktest-coverage.md").read_text()
        self.assertGreater(len(list(rows_of(text))), 50)
        found = problems_of(text, options_of(HEDDLE), members_of(HEDDLE), tests_of(CTEST, BUILD))
        self.assertEqual(found, [], "\n".join(found))


if __name__ == "__main__":
    HEDDLE, CTEST, BUILD = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
