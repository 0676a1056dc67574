"""How the tests run: what they are, what they may call, what they may need.

A test is a file with RUN lines. What a test only reads lies in a folder
`Inputs`; any other file without a RUN line makes the run fail.

The feature `shared` holds where reference material lies beside the repository
(../shared, or $FOVEA_SHARED); `%shared` is its path. The feature `slow` holds
with `--param slow=1`: tests that take more than a few seconds require it.
`nightly` holds with `--param nightly=1`: tests that take minutes, and find
little that the others do not find.
`transformers` holds where Python has this package and PyTorch, `jinja2` where it has that one.
`onnxruntime` holds where it has this package and `onnx`. `pygls` holds where it has that one,
version 2.
`pytest`, `mypy` and `scikit_build_core` hold where scripts/setup could get them.
`cargo`, `chromium`, `go`, `npm` and `patchelf` hold where these programs are installed.
`node` holds where Node.js is. `node-headers` holds where its headers are, %{node-headers}.
`fuzz` holds where fovea-fuzz-parse is built, `tsan` where fovea-tsan is.
`openmpi` and `mpich` hold where the plug-in of that library is built and its
mpirun is installed; %{openmpi} and %{mpich} start processes by it.
`strace` holds where it can put errors into the system calls of a program.
`full-device` holds where /dev/full is a device, which no space is left on.
`avx512` holds where this machine runs code for x86-64-v4, and FOVEA_CPU_FEATURES
does not hide it. `aarch64` holds where
the runtime for 64-bit ARM is built and qemu-aarch64 runs its programs, by
%{aarch64}.
`wasm32` holds where the runtime for WebAssembly is built.
`emulator` holds where the emulator of a GPU is built; %{emulator} runs a command
with it. `mmasim` holds where Python has this package, a model of tensor cores.
`cuda-driver` holds where there is a driver of CUDA itself. `ptxas` holds where CUDA's assembler is installed, %{ptxas},
in the toolkit %{toolkit}; %{without-toolkit} hides it from a command. `nvdisasm` holds where its disassembler is, %{nvdisasm}.
`qemu` holds where QEMU runs this machine's programs and takes plugins.
`sanitizer` holds where everything is built with one (scripts/test --sanitize).
"""

import ctypes
import glob
import importlib.util
import os
import platform
import shutil
import signal
import stat
import subprocess
import sys

import lit.formats

# FOVEA_CPU_FEATURES=avx2 hides AVX-512 from everything, these tests included.
allowed_features = os.environ.get("FOVEA_CPU_FEATURES")

config.name = "-".join(["fovea", *filter(None, [config.fovea_sanitize, allowed_features])])
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".fov", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.join(config.fovea_source, "test")
config.test_exec_root = os.path.join(config.fovea_build, "test")

# Tests start with the default actions of signals. The caller may ignore some,
# as nohup does, and programs inherit that.
for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"):
    if signal.getsignal(getattr(signal, name)) == signal.SIG_IGN:
        signal.signal(getattr(signal, name), signal.SIG_DFL)

config.environment["PATH"] = os.pathsep.join(
    [
        # scripts/mutate tests programs with a planted mistake.
        *filter(None, [lit_config.params.get("tools")]),
        config.fovea_tools,
        config.llvm_tools,
        os.environ.get("PATH", ""),
    ]
)
config.environment["LC_ALL"] = "C.UTF-8"
# Compiled objects stay with the build; those of another build are not used.
config.environment["FOVEA_CACHE"] = os.path.join(config.test_exec_root, "cache")
config.environment["WNSEARCHDIR"] = "/nonexistent"  # METEOR has no WordNet unless a test names it

config.substitutions += [
    ("%fovea-source", config.fovea_source),
    ("%fovea-build", config.fovea_build),
    ("%python", sys.executable),
    ("%models", os.path.join(config.fovea_source, "models")),
]

shared = os.environ.get(
    "FOVEA_SHARED", os.path.join(os.path.dirname(config.fovea_source), "shared")
)
if os.path.isdir(shared):
    config.available_features.add("shared")
    config.substitutions.append(("%shared", os.path.realpath(shared)))

for name in ("slow", "nightly"):
    if lit_config.params.get(name, "0") != "0":
        config.available_features.add(name)

# A minimal root has no such device.
if os.path.exists("/dev/full") and stat.S_ISCHR(os.stat("/dev/full").st_mode):
    config.available_features.add("full-device")

if allowed_features:
    config.environment["FOVEA_CPU_FEATURES"] = allowed_features
if os.path.exists("/proc/cpuinfo") and not allowed_features:
    with open("/proc/cpuinfo") as file:
        flags = next((line.split() for line in file if line.startswith("flags")), [])
    if {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"} <= set(flags):
        config.available_features.add("avx512")

counter = shutil.which(f"qemu-{platform.machine()}")
if counter and "QEMU_PLUGIN" in subprocess.run([counter, "-h"], capture_output=True, text=True).stdout:
    config.available_features.add("qemu")

# Where Debian's packages of a cross compiler put its libraries.
emulator, libraries = shutil.which("qemu-aarch64"), "/usr/aarch64-linux-gnu"
if (
    os.path.exists(os.path.join(config.fovea_build, "lib", "aarch64", "libfovea_rt.a"))
    and os.path.isdir(libraries)
    and emulator
):
    config.available_features.add("aarch64")
    config.substitutions.append(("%{aarch64}", f"{emulator} -L {libraries}"))

if os.path.exists(os.path.join(config.fovea_build, "lib", "wasm32", "libfovea_rt.a")):
    config.available_features.add("wasm32")

# CUDA's driver by an emulator, which programs find in its place.
emulated = os.path.join(config.fovea_build, "lib", "emulator")
if os.path.exists(os.path.join(emulated, "libcuda.so.1")):
    config.available_features.add("emulator")
    config.substitutions.append(("%{emulator}", f"env LD_LIBRARY_PATH={emulated}"))

if importlib.util.find_spec("jinja2"):
    config.available_features.add("jinja2")
if importlib.util.find_spec("transformers") and importlib.util.find_spec("torch"):
    config.available_features.add("transformers")

if importlib.util.find_spec("onnx") and importlib.util.find_spec("onnxruntime"):
    config.available_features.add("onnxruntime")

if importlib.util.find_spec("pygls"):
    config.available_features.add("pygls")

if importlib.util.find_spec("numpy"):
    config.available_features.add("numpy")

if importlib.util.find_spec("mmasim"):
    config.available_features.add("mmasim")

try:
    ctypes.CDLL("libcuda.so.1")
    config.available_features.add("cuda-driver")
except OSError:
    pass

assembler = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
if assembler:
    config.available_features.add("ptxas")
    config.substitutions.append(("%{ptxas}", assembler))
    config.substitutions.append(("%{toolkit}", os.path.dirname(os.path.dirname(assembler))))

# Programs for a GPU then have machine code as well; the emulator reads one that has PTX alone.
folders = config.environment["PATH"].split(os.pathsep)
bare = os.pathsep.join(each for each in folders if not os.path.exists(os.path.join(each, "ptxas")))
config.substitutions.append(("%{without-toolkit}", f"env CUDA_PATH=/nonexistent PATH={bare}"))

# Of the toolkit, or of PyPI (scripts/setup).
disassemblers = glob.glob(os.path.join(config.fovea_build, "python-packages/nvidia/*/bin"))
disassembler = shutil.which("nvdisasm") or shutil.which("nvdisasm", path=os.pathsep.join(disassemblers))
if disassembler:
    config.available_features.add("nvdisasm")
    config.substitutions.append(("%{nvdisasm}", disassembler))

# Built where the compiler has libFuzzer.
if os.path.exists(os.path.join(config.fovea_tools, "fovea-fuzz-parse")):
    config.available_features.add("fuzz")

# Built where the compiler has the thread sanitizer.
if os.path.exists(os.path.join(config.fovea_tools, "fovea-tsan")):
    config.available_features.add("tsan")

for name in ("cargo", "chromium", "gdb", "go", "node", "npm", "patchelf"):
    if shutil.which(name):
        config.available_features.add(name)

# The headers of Node-API lie beside Node itself.
headers = os.path.join(os.path.dirname(shutil.which("node") or "/nonexistent"), "../include/node")
if os.path.exists(os.path.join(headers, "node_api.h")):
    config.available_features.add("node-headers")
    config.substitutions.append(("%{node-headers}", os.path.realpath(headers)))

# Where there are pseudo terminals: not in a container without /dev/pts.
try:
    for terminal in os.openpty():
        os.close(terminal)
    config.available_features.add("terminal")
except OSError:
    pass

# What scripts/setup takes from PyPI, for the tests of the Python package.
packages = os.path.join(config.fovea_build, "python-packages")
config.substitutions.append(("%{python-packages}", packages))
for name in ("mkdocs", "mypy", "pytest", "scikit_build_core"):
    if os.path.isdir(os.path.join(packages, name)):
        config.available_features.add(name)

# More processes than CPUs; tests may run as root, as in a container.
for name, starts in (
    ("openmpi", "mpirun.openmpi --oversubscribe"),
    ("mpich", "mpirun.mpich"),
):
    plugin = os.path.join(config.fovea_build, "lib", f"libfovea_{name}.so")
    if os.path.exists(plugin) and shutil.which(starts.split()[0]):
        config.available_features.add(name)
        config.substitutions.append((f"%{{{name}}}", f"timeout 300 {starts}"))
for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
    config.environment[name] = "1"

# Present, and allowed to look into other processes. The leak sanitizer, which
# looks into its own, fails below it.
if not config.fovea_sanitize and shutil.which("strace") and subprocess.run(
        ["strace", "-qq", "-o", os.devnull, "true"], stderr=subprocess.DEVNULL
).returncode == 0:
    config.available_features.add("strace")

# LLVM and MLIR are not instrumented. The address sanitizer cannot know what
# they do with containers, and with arenas that both of us fill; the thread
# sanitizer, what they do with atomics. A report ends a program by a signal:
# a test that expects it to fail does not take that for the failure it meant.
if config.fovea_sanitize:
    config.available_features.add("sanitizer")
    config.environment["ASAN_OPTIONS"] = ":".join(
        [
            "detect_container_overflow=0",
            "allow_user_poisoning=0",
            "abort_on_error=1",
            "allocator_may_return_null=1",
            "detect_stack_use_after_return=0",
        ]
    )
    config.environment["TSAN_OPTIONS"] = ":".join(
        [
            "ignore_noninstrumented_modules=1",
            "halt_on_error=1",
            "abort_on_error=1",
        ]
    )
    config.environment["LSAN_OPTIONS"] = ":".join(
        [
            "suppressions=" + os.path.join(config.test_source_root, "leaks.txt"),
            "print_suppressions=0",
        ]
    )
    config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1"

# Every run of fovea-opt also prints what it read and reads it again.
if lit_config.params.get("roundtrip", "1") != "0":
    config.substitutions.append(
        (r"\bfovea-opt\b", "fovea-opt --verify-roundtrip")
    )
