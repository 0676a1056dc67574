//===- Module.cpp - the kernels of a module -------------------------------===//

#include "tools/emulator/Module.h"
#include "tools/emulator/Machine.h"

#include <cstdlib>
#include <fmt/format.h>

using namespace fovea::emulator;

/// A planted fault: the first `before` of the text becomes `after`, as
/// FOVEA_EMULATOR_EDIT says in the form `before=>after`. Returns an error;
/// empty: none.
static std::string plantFault(std::string &text) {
  const char *variable = std::getenv("FOVEA_EMULATOR_EDIT");
  if (!variable)
    return "";
  constexpr std::string_view arrow = "=>";
  std::string_view edit = variable;
  size_t middle = std::min(edit.find(arrow), edit.size());
  std::string_view before = edit.substr(0, middle),
                   after = edit.substr(
                       std::min(middle + arrow.size(), edit.size()));
  size_t at = text.find(before);
  if (at == text.npos)
    return fmt::format("the PTX has no '{}'", before);
  text.replace(at, before.size(), after);
  return "";
}

std::unique_ptr<DeviceModule> DeviceModule::load(const char *text,
                                                 std::string &wrong) {
  auto result = std::make_unique<DeviceModule>();
  std::string edited = text;
  if (wrong = plantFault(edited); !wrong.empty())
    return nullptr;
  if (wrong = ptx::parse(edited, result->code); !wrong.empty())
    return nullptr;
  for (auto &[name, memory] : result->code.globals)
    machine().memory.add(memory.data(), memory.size() * sizeof(uint64_t));
  for (const auto &[name, entry] : result->code.entries)
    result->kernels[name].entry = entry.get();
  return result;
}

Kernel *DeviceModule::find(const std::string &name) {
  auto found = kernels.find(name);
  return found == kernels.end() ? nullptr : &found->second;
}
