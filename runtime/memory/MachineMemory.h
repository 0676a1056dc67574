//===- MachineMemory.h - what memory the machine has ----------*- C++ -*-===//
//
// The part of memory that a page in a browser has otherwise
// (runtime/web/Machine.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MEMORY_MACHINEMEMORY_H
#define FOVEA_RUNTIME_MEMORY_MACHINEMEMORY_H

#include <cstdint>

namespace fovea::runtime {

/// What this process can have at most: the memory of the machine with its swap
/// space, or what the system leaves of it to this and other processes.
int64_t machineBytes();

/// Asks for large pages. Only a wish: without them everything is as right, and
/// slower.
void wishLargePages(void *memory, int64_t bytes);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MEMORY_MACHINEMEMORY_H
