"""CUDA's driver, called as the runtime calls it."""

import ctypes
import sys


class Config(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint) for name in ("x", "y", "z", "threads", "ty", "tz", "shared")] + \
        [("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]


class Driver:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.call("cuInit", 0)

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments):
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(0, ctypes.byref(text))
            sys.exit(f"{name}: {text.value.decode()}")

    def load(self, ptx, name):
        """A kernel of this text."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ptx)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name)
        return function

    def allocate(self, name, size, *flags):
        address = ctypes.c_void_p()
        self.call(name, ctypes.byref(address), ctypes.c_size_t(size), *flags)
        return address

    def run(self, function, units, threads, *addresses):
        """Launches a block per unit, on a list of addresses and the number of units, and waits."""
        given, count = (ctypes.c_int64 * len(addresses))(*addresses), ctypes.c_int64(units)
        parameters = (ctypes.c_void_p * 2)(ctypes.addressof(given), ctypes.addressof(count))
        self.call("cuLaunchKernelEx", ctypes.byref(Config(units, 1, 1, threads, 1, 1)), function, parameters, None)
        self.call("cuStreamSynchronize", None)
