//===- RuntimePch.h - headers that the runtime's files need ---------------===//
//
// Precompiled for each machine that the runtime is built for. Only libraries,
// as in Pch.h.
//
//===----------------------------------------------------------------------===//

#ifndef FOVEA_CMAKE_RUNTIMEPCH_H
#define FOVEA_CMAKE_RUNTIMEPCH_H

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#endif // FOVEA_CMAKE_RUNTIMEPCH_H
