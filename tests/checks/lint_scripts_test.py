# SPDX-License-Identifier: BSD-3-Clause
"""The lint scripts refuse what they are there to refuse, in trees made for the purpose."""
import contextlib
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "lint"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS))
import check_backends  # noqa: E402 (found only now)
import check_includes  # noqa: E402
import check_references  # noqa: E402


@contextlib.contextmanager
def tree(file, text):
    """A temporary folder that holds `file`, as a path."""
    with tempfile.TemporaryDirectory() as root:
        path = pathlib.Path(root) / file
        path.parent.mkdir(parents=True)
        path.write_text(text)
        yield pathlib.Path(root)


def run(script, file, text):
    """Runs `script` on such a folder; returns its exit status and what it said."""
    with tree(file, text) as root:
        done = subprocess.run([sys.executable, SCRIPTS / script, root],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class IncludeDirections(unittest.TestCase):
    def complaints(self, file, line):
        with tree(file, line + "\n") as root:
            return list(check_includes.complaints(root))

    def refuses(self, file, line):
        found = self.complaints(file, line)
        self.assertEqual(len(found), 1, f"{file} was allowed: {line}")
        self.assertTrue(found[0].startswith(f"{file}:1:"), found)

    def allows(self, file, line):
        self.assertEqual(self.complaints(file, line), [])

    def test_the_exit_status_tells(self):
        self.assertEqual(run("check_includes.py", "src/base/a.h", "")[0], 0)
        code, said = run("check_includes.py", "src/base/a.h", '#include "sync/ring.h"')
        self.assertEqual((code, "src/base/a.h:1:" in said), (1, True))

    def test_base_knows_nobody(self):
        self.refuses("src/base/a.h", '#include "sync/ring.h"')
        self.allows("src/base/a.h", '#include "base/b.h"')

    def test_a_backend_knows_the_contract_but_no_other_backend(self):
        self.allows("src/backends/shm/a.cpp", '#include "transport/device.h"')
        self.allows("src/backends/shm/a.cpp", '#include "backends/shm/b.h"')
        self.refuses("src/backends/shm/a.cpp", '#include "backends/tcp/b.h"')
        self.refuses("src/backends/shm/a.cpp", '#include "protocols/port.h"')

    def test_what_measures_has_layers_without_a_circle(self):
        self.allows("bench/kernels/a.h", '#include "harness/spec.h"')
        self.refuses("bench/kernels/a.h", '#include "libraries/station.h"')
        self.refuses("bench/report/a.h", '#include "contenders/session.h"')
        self.refuses("bench/harness/a.h", '#include "bench/commands.h"')
        below = []
        for folder, seen in check_includes.MEASURING.items():
            self.assertLessEqual(set(seen), set(below), folder)
            below.append(folder)

    def test_only_the_registry_names_all_backends(self):
        self.allows("src/backends/registry.cpp", '#include "backends/shm/shm.h"')
        self.refuses("src/backends/region_table.cpp", '#include "backends/shm/shm.h"')
        self.refuses("src/protocols/a.cpp", '#include "backends/shm/shm.h"')

    def test_lower_layers_do_not_look_up(self):
        self.refuses("src/protocols/a.cpp", '#include "engine/lane_core.h"')
        self.allows("src/engine/a.cpp", '#include "protocols/port.h"')

    def test_programs_see_the_public_headers_only(self):
        self.refuses("tools/linktest/a.cpp", '#include "engine/lane_core.h"')
        self.refuses("examples/a.cpp", '  #  include <sync/ring.h>')
        self.refuses("src/collectives/a.cpp", '#include "engine/lane_core.h"')
        self.allows("tools/linktest/a.cpp", "#include <heddle/heddle.h>")
        self.allows("tools/run/a.cpp", '#include "bootstrap/launcher_protocol.h"')

    def test_public_headers_have_the_standard_library_only(self):
        self.refuses("include/heddle/a.h", "#include <fmt/format.h>")
        self.refuses("include/heddle/a.h", '#include "base/b.h"')
        self.refuses("include/heddle/a.h", "#include <unistd.h>")
        self.allows("include/heddle/a.h", "#include <vector>")

    def test_unit_tests_may_include_anything(self):
        self.allows("src/base/a_test.cpp", '#include "engine/lane_core.h"')

    def test_atomics_stay_in_sync(self):
        self.refuses("src/engine/a.h", "std::atomic<int> x;")
        self.refuses("tools/a.h", "std::atomic<int> x;")
        self.allows("tools/a.h", "std::atomic_ref<int> x(y);")
        self.allows("src/sync/a.h", "std::atomic<int> x;")
        self.allows("src/engine/a.h", "// not a std::atomic")


class NamesOfBackends(unittest.TestCase):
    def said(self, file, line):
        with tree("src/backends/x/device.h", "") as root:
            path = root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(line + "\n")
            return "\n".join(check_backends.complaints(root))

    def test_the_exit_status_tells(self):
        with tree("src/backends/x/device.h", "") as root:
            script = [sys.executable, SCRIPTS / "check_backends.py", root]
            self.assertEqual(subprocess.run(script, check=False).returncode, 0)
            (root / "CMakeLists.txt").write_text("if(TARGET heddle_x)\n")
            self.assertEqual(subprocess.run(script, capture_output=True, check=False).returncode, 1)

    def test_a_backend_is_named_in_its_folder_and_in_the_registry_alone(self):
        for line in ('f("x");', 'get("HEDDLE_X_DEPTH");', "x::device d;", "x_factory();"):
            for file in ("src/engine/a.cpp", "include/heddle/a.h", "tools/info/a.cpp",
                         "src/backends/y/a.cpp", "src/backends/all_settings.cpp"):
                self.assertIn(f"{file}:1: names the backend x", self.said(file, line))
            for file in ("src/backends/x/a.cpp", "src/backends/registry.cpp",
                         "src/engine/a_test.cpp", "tests/a.cpp"):
                self.assertEqual(self.said(file, line), "")

    def test_the_build_names_a_backend_in_its_folder_and_in_the_build_lists_alone(self):
        for line in ("if(TARGET heddle_x)", "if(HEDDLE_X)", "option(HEDDLE_X_FAST)", "set(TEST_FILTER -*/x*)",
                     "add_test(NAME a COMMAND b --env HEDDLE_BACKENDS=x)", "include(src/backends/x/needs.cmake)"):
            for file in ("CMakeLists.txt", "cmake/Helpers.cmake", "examples/CMakeLists.txt",
                         "src/engine/CMakeLists.txt", "src/backends/y/needs.cmake"):
                self.assertIn(f"{file}:1: names the backend x", self.said(file, line))
            for file in ("src/backends/x/CMakeLists.txt", "src/backends/x/needs.cmake", "src/backends/CMakeLists.txt",
                         "cmake/Package.cmake", "tests/stress/CMakeLists.txt"):
                self.assertEqual(self.said(file, line), "")
        for line in ("# as x does", "add_library(xy xyz.cpp x_ring.cpp)"):
            self.assertEqual(self.said("src/sync/CMakeLists.txt", line), "")

    def test_a_comment_may_give_an_example(self):
        self.assertEqual(self.said("src/engine/a.h", '/// Like "x".'), "")


class StandardHeaders(unittest.TestCase):
    def test_a_header_includes_what_it_names(self):
        code, said = run("check_standard.py", "src/a.h", "std::vector<int> v;\n")
        self.assertEqual((code, said), (1, "src/a.h:1: std::vector needs #include <vector>\n"))
        self.assertEqual(run("check_standard.py", "src/a.h", "#include <vector>\nstd::vector<int> v;\n"), (0, ""))

    def test_comments_sources_and_names_it_does_not_know_are_nobodys_business(self):
        self.assertEqual(run("check_standard.py", "src/a.h", "// a std::vector\nstd::unheard_of x;\n"), (0, ""))
        self.assertEqual(run("check_standard.py", "src/a.cpp", "std::vector<int> v;\n"), (0, ""))


class FileSizes(unittest.TestCase):
    def test_warns_above_400_lines_and_fails_above_600(self):
        self.assertEqual(run("check_sizes.py", "src/a.cpp", "\n" * 400), (0, ""))
        code, said = run("check_sizes.py", "src/a.cpp", "\n" * 401)
        self.assertEqual((code, "warning: 401" in said), (0, True))
        code, said = run("check_sizes.py", "src/a.cpp", "\n" * 601)
        self.assertEqual((code, "error: 601" in said), (1, True))

    def functions_of(self, body):
        """What is said of a class with 25 functions and `body`."""
        plain = "  void f();\n" * 25
        return run("check_sizes.py", "src/a.h", f"class a final : public b {{\n{plain}  {body}\n}};\n")

    def test_a_class_of_more_than_25_functions_is_named(self):
        for function in ("a() = default;", "~a();", "operator bool() const noexcept { return b(); }",
                         "bool operator==(const a&) const = default;", "a& operator=(a&&) noexcept;",
                         "void operator()(int);", "template <class F> void g(F f) { f(); }",
                         "[[nodiscard]] std::function<void(int)> g() const { if (h()) { return {}; } return {}; }",
                         "a(int i) : i_(i) {}"):
            code, said = self.functions_of(function)
            self.assertEqual((code, "warning: a has 26" in said), (0, True), function)
        self.assertEqual(self.functions_of("void g();\n" * 6)[0], 1)

    def test_what_is_no_function_of_a_class_does_not_count(self):
        for other in ("int i_ = f();", "std::function<void(int)> g_;", "using f_of = void (*)(int);", "// void g();",
                      "enum class e { a, b };", "static_assert(sizeof(int) == 4);", "int j_{f()};",
                      "struct inner { void g(); void h(); };", "friend bool operator<(const a&, const a&);"):
            self.assertEqual(self.functions_of(other), (0, ""), other)


class Licenses(unittest.TestCase):
    def test_asks_for_the_line_in_one_of_the_first_two(self):
        line = "SPDX-License-Identifier: BSD-3-Clause"
        self.assertEqual(run("check_licenses.py", "src/a.cpp", f"// {line}\nint a;\n"), (0, ""))
        self.assertEqual(run("check_licenses.py", "tests/a.sh", f"#!/bin/sh\n# {line}\n"), (0, ""))
        code, said = run("check_licenses.py", "src/a.cpp", f"int a;\nint b;\n// {line}\n")
        self.assertEqual((code, "src/a.cpp" in said), (1, True))


class References(unittest.TestCase):
    def said(self, file, line):
        with tree("docs/design/lane.md", "# Lanes\n") as root:
            path = root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(line + "\n")
            return "\n".join(check_references.complaints(root))

    def test_the_exit_status_tells(self):
        self.assertEqual(run("check_references.py", "src/a.h", "// nothing\n"), (0, ""))
        self.assertEqual(run("check_references.py", "src/a.h", "// see gone.md\n"),
                         (1, "src/a.h:1: there is no page gone.md\n"))

    def test_a_page_is_named_in_full_in_short_or_by_a_link(self):
        for line in ("// docs/design/lane.md says why", "// see lane.md.", "// lane.md: 2 of 3"):
            self.assertEqual(self.said("src/a.h", line), "")
        self.assertEqual(self.said("docs/guide/a.md", "[lanes](../design/lane.md#holds)"), "")

    def test_what_is_not_here_is_refused_in_sources_and_pages(self):
        for file in ("src/a.h", "docs/guide/a.md", "cmake/A.cmake", "README.md"):
            self.assertIn(f"{file}:1: there is no page", self.said(file, "# docs/design/gone.md"))
        self.assertIn("refers to research", self.said("src/a.h", "// (research: lane.md)"))
        self.assertIn("refers to research", self.said("src/a.h", "// otherwise than the research has it"))

    def test_pages_have_no_numbered_sections(self):
        self.assertIn("sections of lane.md have no numbers", self.said("src/a.h", "// lane.md 3.2"))

    def test_the_commands_of_a_shell_script_have_files_of_their_own(self):
        self.assertEqual(self.said("tests/a.sh", 'cat "$work/NEWS.md"'), "")
        self.assertIn("there is no page", self.said("tests/a.sh", "# NEWS.md says why"))


if __name__ == "__main__":
    unittest.main()
