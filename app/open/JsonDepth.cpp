//===- JsonDepth.cpp - how deep a JSON text nests -------------------------===//

#include "app/open/JsonDepth.h"

bool fovea::cli::nestsDeeper(llvm::StringRef json, unsigned deepest) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (inString) {
      i += c == '\\';
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest)
        return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}
