"""Runs lit's tests against programs with a planted mistake, one test at a time.

Each test runs in a process of its own, below limits of time and memory: a mistake may
loop. lit's modules read the tests once, because starting lit takes longer than most tests.
"""

import contextlib
import mmap
import os
import resource
import shutil
import signal
import sys
import time

LIT = "/usr/lib/llvm-22/utils/lit"
# A process of a test may use ten times the CPU that the test takes without a mistake, and
# at least 20 seconds; and so many bytes of memory.
SLOWER, LEAST_SECONDS, MOST_BYTES = 10, 20, 6 << 30
# A test that waits for ever does not use the CPU: seconds on the clock, wide because other
# work may slow the machine down.
LEAST_WAIT, WAITS = 600, 40
PASSES, FAILS, SKIPPED, ENDLESS = range(4)


class Judge:
    """`tests` has the quick tests by name, as passes/order-sums.mlir."""

    def __init__(self, build, folder):
        sys.path.insert(1, LIT)
        import lit.discovery
        import lit.LitConfig
        import lit.worker

        self.folder = folder
        self.config = lit.LitConfig.LitConfig(
            progname="lit", path=[], diagnostic_level="error", useValgrind=False, valgrindLeakCheck=False,
            valgrindArgs=[], noExecute=False, debug=False, isWindows=False, order="smart",
            params={"tools": str(folder / "bin")})
        found = lit.discovery.find_tests_for_inputs(self.config, [str(build / "test")])
        self.execute = lit.worker._execute
        self.tests = {"/".join(test.path_in_suite): test for test in found}
        for test in found:
            test.suite.exec_root = str(folder / "test")

    def run(self, name, environment, seconds=0):
        """One of PASSES, FAILS, SKIPPED and ENDLESS, and the seconds of the CPU that it took.

        `seconds` is what it takes without a mistake, or 0 if nobody knows.
        """
        before, pid = resource.getrusage(resource.RUSAGE_CHILDREN), os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                os._exit(self.child(name, environment, seconds))
            os._exit(FAILS)
        ended = self.wait(pid, LEAST_WAIT + WAITS * seconds)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return ended, spent

    def child(self, name, environment, seconds):
        os.setsid()
        most = int(LEAST_SECONDS + SLOWER * seconds) if seconds else 600
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        test = self.tests[name]
        test.config.environment.update(environment)
        result = self.execute(test, self.config)
        if result.code.name in ("UNSUPPORTED", "SKIPPED"):
            return SKIPPED
        return FAILS if result.code.isFailure else PASSES

    def wait(self, pid, seconds):
        end = time.monotonic() + seconds
        pause = 0.002
        while time.monotonic() < end:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else FAILS
            time.sleep(pause)
            pause = min(0.05, pause * 1.5)
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return ENDLESS

    def cache(self, isolated):
        """The folder for compiled kernels. They are kept by the IR before LLVM's passes, so
        code that runs later needs an empty one."""
        folder = self.folder / ("cache-of-one" if isolated else "cache")
        if isolated:
            shutil.rmtree(folder, ignore_errors=True)
        return str(folder)

    def reach(self, name, count):
        """Runs a test without a mistake: how it ends, its seconds, and the mistakes it reaches.

        What it compiles is kept for later runs.
        """
        file, own = self.folder / "reached", self.folder / "cache-of-one"
        file.write_bytes(bytes(1 << 16))
        ended, seconds = self.run(name, {"FOVEA_REACHED": str(file), "FOVEA_CACHE": self.cache(True)})
        with open(file, "rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as bytes_of:
            reached = [number for number in range(1, count + 1) if bytes_of[number]]
        (self.folder / "cache").mkdir(exist_ok=True)
        for entry in own.glob("*") if own.exists() else []:
            os.replace(entry, self.folder / "cache" / entry.name)
        return ended, seconds, reached
