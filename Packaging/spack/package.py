"""Recipe for Spack: put it into a repository's packages/patchio/package.py."""
from spack.package import *


class Patchio(CMakePackage):
    """Opens patch-based simulation output (SAMRAI, AMReX, k-Wave, GrADS, VTKHDF) in ParaView with two-level parallel reading,
    and writes such data so that it is fast to read."""

    license("BSD-3-Clause")

    version("1.0.0")

    variant("paraview", default=True, description="Build the ParaView plugin")
    variant("python", default=True, description="Build the Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("mpi")
    depends_on("hdf5@1.10:1.14 +mpi")
    depends_on("intel-oneapi-tbb")
    depends_on("boost")
    depends_on("eigen")
    depends_on("fmt@8:")
    depends_on("cli11@2:")
    depends_on("nlohmann-json@3:")
    depends_on("libdeflate")
    depends_on("xxhash")
    depends_on("zstd")

    # The classes behind ParaView's own filters are those of these versions.
    depends_on("paraview@5.11:5.13 +mpi +shared", when="+paraview")
    extends("python", when="+python")
    depends_on("py-pybind11", when="+python", type="build")
    depends_on("py-numpy", when="+python", type=("build", "run"))

    def cmake_args(self):
        args = [
            self.define("PATCHIO_BUILD_TESTING", self.run_tests),
            self.define_from_variant("PATCHIO_BUILD_PLUGIN", "paraview"),
            self.define_from_variant("PATCHIO_BUILD_PYTHON", "python"),
        ]
        if self.spec.satisfies("+python"):
            args += [self.define("PATCHIO_PYTHON", python.path), self.define("PATCHIO_PYTHON_DIR", python_platlib)]
        return args

    def setup_run_environment(self, env):
        if self.spec.satisfies("+paraview"):
            version = self.spec["paraview"].version.up_to(2)
            env.prepend_path("PV_PLUGIN_PATH", join_path(self.prefix.lib, f"paraview-{version}", "plugins"))
