# SPDX-License-Identifier: BSD-3-Clause
"""What packaging/ says fits what it packages: Spack's recipe and the container file.

Neither Spack nor a builder of containers is needed: the recipe runs against a stand-in for the part
of Spack that it uses."""
import pathlib
import re
import shutil
import subprocess
import sys
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIONS = "".join(
    file.read_text()
    for file in (
        ROOT / "cmake/Options.cmake",
        ROOT / "tools/report/CMakeLists.txt",
        *ROOT.glob("src/backends/*/needs.cmake"),
    )
)


class Recipe:
    """packaging/spack/.../package.py, as Spack reads it."""

    def __init__(self):
        self.variants, self.versions, self.conditions = set(), [], []
        stand_in = types.ModuleType("spack.package")

        class CMakePackage:
            """What the recipe's class inherits."""
            spec = ("+tools",)

            @staticmethod
            def define(option, _):
                return option

            def define_from_variant(self, option, variant):
                if variant not in recipe.variants:
                    raise AssertionError(f"{option} follows {variant}, which is no variant")
                return option

        recipe = self
        stand_in.CMakePackage = CMakePackage
        stand_in.license = lambda *_: None
        stand_in.version = self.versions.append
        stand_in.variant = lambda name, **_: self.variants.add(name)
        stand_in.conflicts = lambda what, when="", msg="": self.conditions.extend([what, when])
        stand_in.depends_on = lambda what, when="", type=None: self.conditions.append(when)
        sys.modules["spack"] = types.ModuleType("spack")
        sys.modules["spack.package"] = stand_in
        scope = {}
        file = ROOT / "packaging/spack/packages/heddle/package.py"
        exec(compile(file.read_text(), file, "exec"), scope)  # pylint: disable=exec-used
        self.options = scope["Heddle"]().cmake_args()


class Spack(unittest.TestCase):
    recipe = Recipe()

    def test_every_option_is_one_of_the_build(self):
        for option in self.recipe.options:
            self.assertRegex(OPTIONS, rf"(option|heddle_part|find_file)\({option}\b", option)

    def test_every_part_of_the_build_is_chosen(self):
        for part in re.findall(r"^heddle_part\((\w+)", OPTIONS, re.MULTILINE):
            self.assertIn(part, self.recipe.options)

    def test_conditions_name_variants_that_there_are(self):
        for condition in self.recipe.conditions:
            for name in re.findall(r"[+~](\w+)", condition if condition[:1] in "+~" else ""):
                self.assertIn(name, self.recipe.variants, condition)

    def test_the_version_is_the_projects(self):
        header = (ROOT / "include" / "heddle" / "version.h").read_text()
        self.assertEqual(self.recipe.versions, re.findall(r'HEDDLE_VERSION_STRING "(.*)"', header))


class Container(unittest.TestCase):
    file = ROOT / "packaging" / "Containerfile"

    def test_it_is_made_of_instructions(self):
        text = self.file.read_text().replace("\\\n", " ")
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        known = ("FROM ", "ARG ", "COPY ", "RUN ", "USER ", "WORKDIR ", "CMD ")
        self.assertEqual([line for line in lines if not line.startswith(known)], [])
        self.assertTrue(lines[0].startswith("FROM "))

    def test_it_calls_commands_that_there_are(self):
        for command in re.findall(r"\./dev (\w+)", self.file.read_text()):
            self.assertIn(f"./dev {command}", (ROOT / "dev").read_text())

    def test_it_takes_packages_from_where_they_are_made(self):
        self.assertIn("/heddle/build/package/packages ", self.file.read_text())
        self.assertIn("build/package/packages", (ROOT / "dev").read_text())

    @unittest.skipUnless(shutil.which("podman"), "no podman here: only the text was checked")
    def test_podman_takes_it(self):
        subprocess.run(["podman", "build", "-f", self.file, "--target", "build", ROOT], check=True)


if __name__ == "__main__":
    unittest.main()
