# SPDX-License-Identifier: BSD-3-Clause
# How Spack builds Heddle from a checkout:
#   spack repo add CHECKOUT/packaging/spack
#   cd CHECKOUT && spack dev-build heddle@0.1.0
import os

from spack.package import *


class Heddle(CMakePackage):
    """A multithreaded communication engine: a lane to the network for every thread, progress beside
    computation, and one API over shared memory, TCP, Tofu Interconnect D and InfiniBand."""

    license("BSD-3-Clause")

    version("0.1.0")

    variant("shared", default=True, description="Build the library as a shared one")
    # It draws pages by Chart.js 3, which Spack has not: CHART_JS in the environment names its chart.min.js.
    variant("tools", default=False, description="The program heddle: run, linktest, report, info, trace")
    variant("benchmarks", default=False, description="What measures rivals and parts")
    variant("verbs", default=False, description="The backend for InfiniBand and RoCE")
    variant("hwloc", default=True, description="Ask hwloc which cores are near each other")
    variant("python", default=False, description="The Python package")
    variant("fortran", default=False, description="The source of the Fortran module")

    conflicts("+tools", when="~hwloc", msg="the program binds ranks by hwloc")
    conflicts("+benchmarks", when="~tools", msg="`heddle bench` is part of the program")
    conflicts("+python", when="~shared", msg="Python loads a shared library")
    conflicts("%gcc@:11", msg="C++20 as GCC 12 or Clang 14 have it")
    conflicts("%clang@:13", msg="C++20 as GCC 12 or Clang 14 have it")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("libsodium")
    depends_on("hwloc@2:", when="+hwloc")
    depends_on("rdma-core", when="+verbs")
    depends_on("cli11@2.3:", when="+tools")
    depends_on("hdf5~mpi", when="+tools")
    depends_on("zlib-api", when="+tools")
    depends_on("python", type=("build", "run"), when="+python")
    depends_on("python", type="build", when="+fortran")
    depends_on("py-pycparser", type="build", when="+fortran")
    depends_on("py-cffi", type="run", when="+python")
    depends_on("py-numpy", type="run", when="+python")

    def cmake_args(self):
        chart = [self.define("HEDDLE_CHART_JS", os.environ.get("CHART_JS", ""))] if "+tools" in self.spec else []
        return chart + [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("HEDDLE_TOOLS", "tools"),
            self.define_from_variant("HEDDLE_BENCHMARKS", "benchmarks"),
            self.define_from_variant("HEDDLE_VERBS", "verbs"),
            self.define_from_variant("HEDDLE_HWLOC", "hwloc"),
            self.define_from_variant("HEDDLE_PYTHON", "python"),
            self.define_from_variant("HEDDLE_FORTRAN", "fortran"),
            self.define("HEDDLE_EXAMPLES", False),
            self.define("HEDDLE_TESTS", False),
        ]
