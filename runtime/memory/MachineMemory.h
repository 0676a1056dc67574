//===- MachineMemory.h - what memory the machine has ----------*- C++ -*-===//
//
// The part of memory management that differs in a browser
// (runtime/web/Machine.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_RUNTIME_MEMORY_MACHINEMEMORY_H
#define FOVEA_RUNTIME_MEMORY_MACHINEMEMORY_H

#include <cstdint>

namespace fovea::runtime {

/// Returns the most memory that this process can get: the machine's memory and
/// swap space, or the system's limit for this process.
int64_t machineBytes();

/// Requests large pages. Only a hint: without them, code is slower but
/// correct.
void wishLargePages(void *memory, int64_t bytes);

} // namespace fovea::runtime

#endif // FOVEA_RUNTIME_MEMORY_MACHINEMEMORY_H
