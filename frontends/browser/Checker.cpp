//===- Checker.cpp - the front end as a module of a page ------------------===//
//
// A page writes a request and reads the answer, both in JSON:
//
//   {"name": "my.fov", "text": "model ..", "files": {"soft.fov": ".."}}
//   {"errors": 1, "warnings": 0, "printed": "my.fov:3:1: error: ..",
//    "messages": [{"kind": "error", "code": "E0301", "file": "my.fov",
//                  "line": 3, "column": 1, "text": ".."}],
//    "arrays": [{"name": "h", "line": 9, "shape": "[S, 512]", "kind": "real"}]}
//
// `files` has what `use` may read.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/CheckSpec.h"
#include "llvm/Support/MemoryBuffer.h"

#include <nlohmann/json.hpp>

using namespace fovea;
using nlohmann::json;

static const char *nameOf(llvm::SourceMgr::DiagKind kind) {
  switch (kind) {
  case llvm::SourceMgr::DK_Error:
    return "error";
  case llvm::SourceMgr::DK_Warning:
    return "warning";
  default:
    return "note";
  }
}

/// Adds the file, line and column of a place, if it has one.
static void addPlace(json &to, llvm::SourceMgr &sources, llvm::SMLoc loc) {
  unsigned id = loc.isValid() ? sources.FindBufferContainingLoc(loc) : 0;
  if (!id)
    return;
  auto [line, column] = sources.getLineAndColumn(loc, id);
  to["file"] = sources.getMemoryBuffer(id)->getBufferIdentifier().str();
  to["line"] = line;
  to["column"] = column;
}

static json check(const json &request) {
  std::string printed;
  llvm::raw_string_ostream out(printed);
  Diagnostics diagnostics(out);
  json messages = json::array();
  diagnostics.listen([&](llvm::SourceMgr::DiagKind kind, Code code,
                         llvm::SMLoc loc, const std::string &text) {
    json &message = messages.emplace_back();
    message = {{"kind", nameOf(kind)}, {"text", text}};
    if (code != Code::none)
      message["code"] = idOf(code).str();
    addPlace(message, diagnostics.sources(), loc);
  });
  SpecFacts facts;
  FrontendOptions options;
  options.facts = &facts;
  options.includeDir = ".";
  options.readUsed =
      [&](const std::string &path) -> std::optional<std::string> {
    auto files = request.find("files");
    if (files == request.end() || !files->is_object())
      return std::nullopt;
    auto file = files->find(path.substr(path.find_last_of('/') + 1));
    if (file == files->end() || !file->is_string())
      return std::nullopt;
    return file->get<std::string>();
  };
  Description description;
  fov::checkSpec(request.value("text", ""), request.value("name", "spec.fov"),
                 options, diagnostics, description);
  diagnostics.finish();

  json arrays = json::array();
  for (const SpecFacts::ArrayFact &fact : facts.arrays) {
    json &array = arrays.emplace_back();
    array = {{"name", fact.name}, {"shape", fact.shape}, {"kind", fact.kind}};
    addPlace(array, diagnostics.sources(), fact.loc);
  }
  return {{"errors", diagnostics.numErrors()},
          {"warnings", diagnostics.numWarnings()},
          {"printed", printed},
          {"messages", messages},
          {"arrays", arrays}};
}

static std::string request, answer;

/// Returns memory for a request of this many bytes.
extern "C" char *fovea_check_room(size_t bytes) {
  request.assign(bytes, '\0');
  return request.data();
}

/// Checks the request. The answer ends with a zero byte, and is valid until the
/// next call; null for a malformed request.
extern "C" const char *fovea_check(void) {
  json parsed = json::parse(request, nullptr, /*allow_exceptions=*/false);
  bool isValid = parsed.is_object();
  for (const char *name : {"name", "text"})
    isValid = isValid && (!parsed.contains(name) || parsed[name].is_string());
  if (!isValid)
    return nullptr;
  answer = check(parsed).dump(-1, ' ', false, json::error_handler_t::replace);
  return answer.c_str();
}
