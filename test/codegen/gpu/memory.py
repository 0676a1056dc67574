"""What the emulated GPU says of memory.

    memory.py DRIVER CASE

`host`: the host reads memory of the device, which ends the process. `device`: a kernel reads memory of the host that is not
pinned. `later`: a copy that the host does not wait for, of such memory. `pinned`, `copied`: the same as they are allowed.
"""

import ctypes
import sys

PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry read(.param .align 8 .b8 list[16], .param .b64 units)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  ld.param.b64 %rd1, [list];
  ld.param.b64 %rd2, [list+8];
  ld.global.b32 %r1, [%rd1];
  st.global.b32 [%rd2], %r1;
  ret;
}
"""


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

    def allocate(self, name, *flags):
        address = ctypes.c_void_p()
        self.call(name, ctypes.byref(address), ctypes.c_size_t(4), *flags)
        return address

    def kernel_reads(self, address):
        """The number there, as a kernel reads it."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), PTX)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"read")
        result, found = self.allocate("cuMemAlloc_v2"), ctypes.c_int()
        numbers, units = (ctypes.c_int64 * 2)(address, result.value), ctypes.c_int64(1)
        parameters = (ctypes.c_void_p * 2)(ctypes.addressof(numbers), ctypes.addressof(units))
        self.call("cuLaunchKernelEx", ctypes.byref(Config(1, 1, 1, 1, 1, 1)), function, parameters, None)
        self.call("cuStreamSynchronize", None)
        self.call("cuMemcpyDtoH_v2", ctypes.byref(found), result, ctypes.c_size_t(4))
        return found.value


def main(path, case):
    driver, plain = Driver(path), ctypes.c_int(7)
    own = driver.allocate("cuMemAlloc_v2")
    if case == "host":
        ctypes.c_int.from_address(own.value).value
    if case == "device":
        driver.kernel_reads(ctypes.addressof(plain))
    if case == "later":
        driver.call("cuMemcpyHtoDAsync_v2", own, ctypes.byref(plain), ctypes.c_size_t(4), None)
    pinned = driver.allocate("cuMemHostAlloc", 2)
    ctypes.c_int.from_address(pinned.value).value = 5
    if case == "pinned":
        print(driver.kernel_reads(pinned.value))
    if case == "copied":
        driver.call("cuMemcpyHtoDAsync_v2", own, pinned, ctypes.c_size_t(4), None)
        print(driver.kernel_reads(own.value))


if __name__ == "__main__":
    main(*sys.argv[1:])
