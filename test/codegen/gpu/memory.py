"""What the emulated GPU says of memory.

    memory.py DRIVER CASE

`host`: the host reads memory of the device, which ends the process. `device`: a kernel reads memory of the host that is not
pinned. `later`: a copy that the host does not wait for, of such memory. `pinned`, `copied`: the same as they are allowed.
"""

import ctypes
import sys

from driver import Driver

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


def kernel_reads(driver, address):
    """The number there, as a kernel reads it."""
    result, found = driver.allocate("cuMemAlloc_v2", 4), ctypes.c_int()
    driver.run(driver.load(PTX, b"read"), 1, 1, address, result.value)
    driver.call("cuMemcpyDtoH_v2", ctypes.byref(found), result, ctypes.c_size_t(4))
    return found.value


def main(path, case):
    driver, plain = Driver(path), ctypes.c_int(7)
    own = driver.allocate("cuMemAlloc_v2", 4)
    if case == "host":
        ctypes.c_int.from_address(own.value).value
    if case == "device":
        kernel_reads(driver, ctypes.addressof(plain))
    if case == "later":
        driver.call("cuMemcpyHtoDAsync_v2", own, ctypes.byref(plain), ctypes.c_size_t(4), None)
    pinned = driver.allocate("cuMemHostAlloc", 4, 2)
    ctypes.c_int.from_address(pinned.value).value = 5
    if case == "pinned":
        print(kernel_reads(driver, pinned.value))
    if case == "copied":
        driver.call("cuMemcpyHtoDAsync_v2", own, pinned, ctypes.c_size_t(4), None)
        print(kernel_reads(driver, own.value))


if __name__ == "__main__":
    main(*sys.argv[1:])
