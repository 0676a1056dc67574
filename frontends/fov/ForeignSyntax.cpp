//===- ForeignSyntax.cpp - the signs of LaTeX and other languages ---------===//
//
// The help for characters that are not in the language. A sign with several
// meanings gets all of them.
//
//===----------------------------------------------------------------------===//

#include "frontends/fov/ForeignWords.h"
#include "frontends/fov/Options.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace fovea;
using llvm::StringRef;

namespace {
struct Sign {
  StringRef text;
  StringRef help;
};
} // namespace

static constexpr StringRef product =
    "write a * b for numbers and elements, dot(a, b) for two vectors, W @ x "
    "for a matrix";
static constexpr StringRef negation = "write not c";
static constexpr StringRef element =
    "state the range of an index on the left: y[i < N] = ...";
static constexpr StringRef norm = "write sqrt(dot(x, x))";
static constexpr StringRef joining =
    "write a ++ b to join two vectors, a + b to add them";
static constexpr StringRef outer = "write a[i] * b[j] with two indices";
static constexpr StringRef lone = "leave it out, and write the name alone";
static constexpr StringRef difference = "write the derivative as an equation; "
                                        "the gradients of training are derived";

StringRef fov::transpositionHelp() {
  return "; help: nothing is transposed; write dot(a, b) for the product of "
         "two vectors, x @ W for the transpose of W times x, or exchange "
         "indices: W[j,i]";
}

static constexpr Sign signs[] = {
    {"·", product},
    {"⋅", product},
    {"⊙", "write a * b"},
    {"∘", "write a * b for elements, f(g(x)) for functions"},
    {"⊕", joining},
    {"⊗", outer},
    {"∑", "write sum[i](x[i])"},
    {"∏", "write prod[i](x[i])"},
    {"√", "write sqrt(x)"},
    {"‖", norm},
    {"∥", norm},
    {"²", "write x^2"},
    {"³", "write x^3"},
    {"½", "write 0.5"},
    {"∞", "write inf"},
    {"∂", difference},
    {"∇", difference},
    {"←", "write y = x"},
    {"≔", "write y = x"},
    {"→", "write an equation from left to right: y = f(x)"},
    {"∈", element},
    {"∀", element},
    {"¬", negation},
    {"∧", "write a and b"},
    {"∨", "write a or b"},
    {"…", "write the elements by an index: y[i] = ..."},
    {"′", "write a name of its own: x_next"},
    {"’", "write a name of its own, or a string in double quotes"},
    {"$", "leave it out: formulas need no marks"},
    {"`", "leave it out: names need no quotes"},
    {"?", "write if c then a else b"},
    {"|", "write abs(x) for |x|, 'or' between conditions"},
};

/// LaTeX commands, without the backslash.
static constexpr Sign commands[] = {
    {"frac", "write (a) / (b)"},
    {"dfrac", "write (a) / (b)"},
    {"cdot", product},
    {"odot", "write a * b"},
    {"circ", "write a * b for elements, f(g(x)) for functions"},
    {"times", product},
    {"otimes", outer},
    {"oplus", joining},
    {"lVert", norm},
    {"Vert", norm},
    {"infty", "write inf"},
    {"le", "write a <= b"},
    {"leq", "write a <= b"},
    {"ge", "write a >= b"},
    {"geq", "write a >= b"},
    {"ne", "write a != b"},
    {"neq", "write a != b"},
    {"sim", "write y ~ categorical(logits)"},
    {"in", element},
    {"forall", element},
    {"neg", negation},
    {"lnot", negation},
    {"land", "write a and b"},
    {"lor", "write a or b"},
    {"partial", difference},
    {"nabla", difference},
    {"ln", "write log(x)"},
    {"mathcal", "write a distribution by its name: normal(mean, deviation)"},
    {"mathbf", lone},
    {"mathrm", lone},
    {"mathit", lone},
    {"mathbb", lone},
    {"text", lone},
    {"textbf", lone},
    {"operatorname", lone},
    {"boldsymbol", lone},
    {"bm", lone},
    {"vec", lone},
    {"hat", lone},
    {"tilde", lone},
    {"bar", lone},
    {"overrightarrow", lone},
    {"overleftarrow", lone},
    {"left", "leave it out, and write the bracket alone"},
    {"right", "leave it out, and write the bracket alone"},
    {"big", "leave it out, and write the bracket alone"},
    {"quad", "leave it out"},
    {"begin", "write one equation in each line"},
    {"end", "write one equation in each line"},
    {"", "end a line with its operator to continue it"},
};

/// In Unicode order, from U+0391 and from U+03B1.
static constexpr StringRef greek[] = {
    "alpha",   "beta", "gamma", "delta",  "epsilon", "zeta", "eta",
    "theta",   "iota", "kappa", "lambda", "mu",      "nu",   "xi",
    "omicron", "pi",   "rho",   "",       "sigma",   "tau",  "upsilon",
    "phi",     "chi",  "psi",   "omega"};

static StringRef helpIn(llvm::ArrayRef<Sign> table, StringRef text) {
  const Sign *found =
      llvm::find_if(table, [&](const Sign &sign) { return sign.text == text; });
  return found == table.end() ? StringRef() : found->help;
}

/// Names are ASCII: `alpha[t,i]`.
static std::string inLetters(StringRef name) {
  std::string plain =
      "write the name in letters, with indices in brackets: " + name.str() +
      "[t,i]";
  return name == "sigma"
             ? "write sigmoid(x) for the function; otherwise " + plain
             : plain;
}

/// Returns the name of the Greek letter that `text` begins with, or nothing.
static std::string greekLetter(StringRef text) {
  if (text.size() < 2)
    return "";
  unsigned code = (text[0] & 0x1f) << 6 | (text[1] & 0x3f);
  for (unsigned first : {0x391u, 0x3b1u})
    if ((text[0] & 0xe0) == 0xc0 && code >= first &&
        code < first + std::size(greek) && !greek[code - first].empty()) {
      std::string name = greek[code - first].str();
      if (first == 0x391)
        name[0] = llvm::toUpper(name[0]);
      return name;
    }
  return "";
}

static std::string helpFor(StringRef text, char before) {
  if (text.consume_front("\\")) {
    StringRef name = text.take_while([](char c) { return llvm::isAlpha(c); });
    if (StringRef known = helpIn(commands, name); !known.empty())
      return known.str();
    if (name == "top" || name == "intercal")
      return "";
    bool binds = name == "sum" || name == "prod";
    if (llvm::is_contained(fov::builtinNames(), name))
      return "write " + name.str() + (binds ? "[i](x[i])" : "(x)");
    return inLetters(name);
  }
  if (StringRef known = helpIn(signs, text); !known.empty())
    return known.str();
  if (std::string letter = greekLetter(text); !letter.empty())
    return inLetters(letter);
  // `x'`: a string begins elsewhere.
  bool isPrime = text == "'" && (llvm::isAlnum(before) || before == '_' ||
                                 before == ']' || before == ')');
  return isPrime ? "write a name of its own: x_next; nothing is transposed: "
                   "write dot(a, b), or exchange indices: W[j,i]"
                 : "";
}

std::string fov::ourSign(StringRef text, char before) {
  for (StringRef sign : {"ᵀ", "⊤", "ᵗ", "\\top", "\\intercal"})
    if (text == sign)
      return transpositionHelp().str();
  std::string help = helpFor(text, before);
  return help.empty() ? help : "; help: " + help;
}
