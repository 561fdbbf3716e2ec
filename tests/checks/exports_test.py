# SPDX-License-Identifier: BSD-3-Clause
"""The script that keeps the lists of exported names sees what it is there to see.

exports_test.py COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake" / "exports"))
import exports  # noqa: E402 (found only now)

COMPILER = sys.argv.pop()
SCRIPT = "HEDDLE_0 { global: _ZN6heddle5firstEv; local: *; };\n"
SOURCE = "namespace heddle { void first() {} void second() {} }\n"


def library(work, script):
    """A shared library of SOURCE, linked by this version script."""
    work = pathlib.Path(work)
    (work / "a.cpp").write_text(SOURCE)
    (work / "a.map").write_text(script)
    subprocess.run([COMPILER, "-shared", "-fPIC", work / "a.cpp", "-o", work / "a.so",
                    f"-Wl,--version-script={work}/a.map"], check=True)
    return work / "a.so"


class Exports(unittest.TestCase):
    def problems(self, script, public=(), private=()):
        lists = {"public": public, "backend": (), "private": private}
        with tempfile.TemporaryDirectory() as work, mock.patch.object(exports, "read_list", lists.get):
            return exports.check(library(work, script))

    def test_a_library_with_the_listed_names_has_no_problem(self):
        self.assertEqual(self.problems(SCRIPT, ["_ZN6heddle5firstEv"]), [])

    def test_a_name_in_no_list_is_one(self):
        problems = self.problems(SCRIPT.replace("local: *;", ""), ["_ZN6heddle5firstEv"])
        self.assertEqual(problems, ["exported, but in no list: _ZN6heddle6secondEv"])

    def test_a_listed_name_that_the_library_has_not_is_one(self):
        problems = self.problems(SCRIPT, ["_ZN6heddle5firstEv", "_ZN6heddle5thirdEv"])
        self.assertEqual(problems, ["not exported, but in public.txt: _ZN6heddle5thirdEv"])

    def test_a_name_in_the_version_of_another_list_is_one(self):
        problems = self.problems(SCRIPT, [], ["_ZN6heddle5firstEv"])
        self.assertEqual(problems, ["_ZN6heddle5firstEv of private.txt has the version HEDDLE_0"])

    def test_a_function_for_c_that_no_program_calls_is_one(self):
        listed = ["heddle_get", "heddle_put", "_ZN6heddle5firstEv"]
        with tempfile.TemporaryDirectory() as work, \
                mock.patch.object(exports, "read_list", {"public": listed}.get):
            work = pathlib.Path(work)
            (work / "a.cpp").write_text('extern "C" void heddle_put(); void call() { heddle_put(); }\n')
            subprocess.run([COMPILER, "-shared", "-fPIC", work / "a.cpp", "-o", work / "a.so"], check=True)
            problems = exports.check_called([work / "a.so"])
        self.assertEqual(problems, ["no test in C calls heddle_get: give it one in tests/c"])

    def test_a_private_name_is_of_a_row_and_a_row_has_a_name(self):
        page = "`HEDDLE_PRIVATE` has:\n\n| who | names | why |\n|---|---|---|\n| a | `log`, `old::thing` | `why` |\n\n"
        names = ["log::write", "logs", "log"]
        with mock.patch.object(exports, "read_plain", lambda _: names):
            self.assertEqual(exports.check_accounted(page),
                             ["in private.txt, but in no row of docs/design/abi.md: logs",
                              "in docs/design/abi.md, but not in private.txt: old::thing"])

    @unittest.skipUnless(exports.shutil.which("clang++"), "no clang++")
    def test_a_header_declares_what_it_does_not_define(self):
        with tempfile.TemporaryDirectory() as work:
            header = pathlib.Path(work) / "a.h"
            header.write_text("""namespace heddle {
                void declared(); inline void defined() {} template <class T> void made(T);
                class thing { public: thing(); ~thing(); int read() const; void here() {}
                              static int shared; static constexpr int fixed = 1; }; }""")
            found, _ = exports.parse([header], [])
        self.assertEqual({names[0] for names in found},
                         {"_ZN6heddle8declaredEv", "_ZN6heddle5thingC1Ev", "_ZN6heddle5thingD0Ev",
                          "_ZNK6heddle5thing4readEv", "_ZN6heddle5thing6sharedE"})


if __name__ == "__main__":
    unittest.main()
