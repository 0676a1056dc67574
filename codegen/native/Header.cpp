//===- Header.cpp - the C header of a compiled model ----------------------===//

#include "codegen/native/Header.h"
#include "runtime/model/CBatch.h"
#include "runtime/search/SearchSteps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace fovea;
using namespace fovea::codegen;
using llvm::StringRef;
using runtime::BatchField;
using runtime::DataKind;

std::string fovea::codegen::cName(StringRef text) {
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  return name.empty() || llvm::isDigit(name.front()) ? "_" + name : name;
}

std::vector<std::string>
fovea::codegen::headerFunctions(const HeaderOptions &options) {
  std::vector<std::string> names = {
      "message",        "create", "destroy", "parameter", "parameter_size",
      "parameter_name", "save",   "id",      "ids",       "symbol",
      "random"};
  for (const std::string &entry : options.entries) {
    names.push_back(entry);
    if (entry == "grad")
      names.push_back("gradient");
    if (entry == "decode")
      names.insert(names.end(), {"text", "result_size", "result_get",
                                 "result_text", "result_destroy"});
    if ((entry == "decode" || entry == "encode") &&
        !llvm::is_contained(names, "add"))
      names.push_back("add");
    if (entry == "decode" && options.hasShows)
      names.push_back("result_show");
  }
  if (!options.values.empty())
    names.push_back("value");
  return names;
}

namespace {

/// Gives each thing a name that C has not and nothing before it has.
class Names {
public:
  Names() {
    for (StringRef word :
         {"auto", "break", "case", "char", "const", "continue", "default", "do",
          "double", "else", "enum", "extern", "float", "for", "goto", "if",
          "inline", "int", "long", "register", "restrict", "return", "short",
          "signed", "sizeof", "static", "struct", "switch", "typedef", "union",
          "unsigned", "void", "volatile", "while", "examples", "ids",
          // Of C++, where the header may be read too.
          "and", "bool", "class", "delete", "export", "false", "friend", "new",
          "not", "operator", "or", "private", "public", "template", "this",
          "throw", "true", "try", "using", "virtual", "xor"})
      taken.insert(word);
  }
  std::string of(StringRef text) {
    std::string name = cName(text);
    while (!taken.insert(name).second)
      name += "_";
    return name;
  }

private:
  llvm::StringSet<> taken;
};

/// Writes one header.
class HeaderWriter {
public:
  HeaderWriter(const runtime::Description &description,
               const HeaderOptions &options)
      : description(description), options(options), prefix(options.prefix),
        stream(text) {}

  std::string run();

private:
  bool has(StringRef entry) const {
    return llvm::is_contained(options.entries, entry.str());
  }
  void comment(const llvm::Twine &what, unsigned indent = 0);
  void declare(StringRef result, StringRef name, const llvm::Twine &rest);
  std::string batchArguments() const {
    return prefix + "_model *model, const " + prefix + "_batch *batch";
  }
  std::string extentsOf(size_t data) const;

  void writeTop();
  void writeCodes();
  void writeModel();
  void writeParameters();
  void writeBatch();
  void writeField(const BatchField &field, StringRef name);
  void writeValues(const BatchField &field, StringRef name);
  void writeLengths(const BatchField &field, StringRef name);
  void writeLoss();
  void writeGradients();
  void writeEquations();
  void writeTraining();
  void writeDecoding();
  void writeShows();
  void writeSteps();
  void writeSymbols();

  const runtime::Description &description;
  const HeaderOptions &options;
  const std::string &prefix;
  /// Of the struct of a batch, with their names.
  std::vector<BatchField> fields;
  std::vector<std::string> names;
  std::string text;
  llvm::raw_string_ostream stream;
};

} // namespace

/// A comment of lines of 80 columns.
void HeaderWriter::comment(const llvm::Twine &what, unsigned indent) {
  std::string whole = what.str();
  llvm::SmallVector<StringRef> words;
  StringRef(whole).split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::string line = std::string(indent, ' ') + "/*";
  for (StringRef word : words) {
    if (line.size() + 1 + word.size() > 77) {
      stream << line << '\n';
      line = std::string(indent, ' ') + " *";
    }
    line += " " + word.str();
  }
  stream << line << " */\n";
}

/// A function of the header: `rest` is what stands in its parentheses.
void HeaderWriter::declare(StringRef result, StringRef name,
                           const llvm::Twine &rest) {
  std::string line = (result + (result.ends_with("*") ? "" : " ") + prefix +
                      "_" + name + "(" + rest + ");")
                         .str();
  if (size_t comma = line.rfind(", ", 78);
      line.size() > 80 && comma != line.npos)
    line.replace(comma, 2, ",\n    ");
  stream << line << "\n\n";
}

void HeaderWriter::writeTop() {
  StringRef real = description.isDouble ? "double" : "float";
  std::string guard = StringRef(prefix).upper() + "_H";
  stream << "/* The model '" << description.model << "', compiled by fovea "
         << description.compiler << " for " << description.cpu << ".\n"
         << R"( *
 * - Log p and losses are natural logarithms, given as double; what they are
 *   computed in is )"
         << prefix << R"(_real.
 * - Arrays are dense and row-major: the last index changes fastest.
 * - What the caller gives stays the caller's, and is only read, during the
 *   call. What a function gives an address of is the model's, until it is
 *   destroyed.
 * - A model serves one thread at a time, and tells any other that it is busy;
 *   several models, also of one file, serve several threads at once. A model
 *   has threads of its own: results do not depend on how many, nor do those of
 *   an example on the others of its batch.
 * - A thread that computes needs 1 MB of stack, and is told where it has less.
 * - Functions that fail return a code, or null or -1, and leave one sentence
 *   for )"
         << prefix << R"(_message. The model can be used as before.
 *   Nothing here prints, ends the process or throws.
 */
)";
  stream << "#ifndef " << guard << "\n#define " << guard << "\n\n"
         << "#include <stdint.h>\n\n"
         << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
         << "/* Real numbers: of arrays, weights and gradients. */\n"
         << "typedef " << real << " " << prefix << "_real;\n\n";
}

void HeaderWriter::writeCodes() {
  stream << "/* What functions return. */\nenum {\n"
         << "  " << prefix << "_done = 0,\n"
         << "  " << prefix
         << "_bad_input = 1,  /* a batch or weights are at fault */\n"
         << "  " << prefix
         << "_bad_call = 2,   /* an argument is: null, out of range */\n"
         << "  " << prefix
         << "_bad_machine = 3, /* no memory; a file cannot be written */\n"
         << "  " << prefix
         << "_busy = 4         /* another thread is using the model */\n"
         << "};\n\n";
  comment("Why the last function that this thread called has failed; empty "
          "where it has not. Never null.");
  declare("const char *", "message", "void");
}

void HeaderWriter::writeModel() {
  stream << "typedef struct " << prefix << "_model " << prefix << "_model;\n\n";
  comment("Makes a model. `weights` is the path of a safetensors file" +
          llvm::Twine(options.hasWeights
                          ? ", or null for the weights that are inside"
                          : "") +
          ". `threads` is how many work, 0 for one per CPU, which is the most. "
          "On success the "
          "caller destroys *model; otherwise it is null.");
  declare("int", "create",
          "const char *weights, int threads, " + prefix + "_model **model");
  comment("Null is allowed.");
  declare("void", "destroy", prefix + "_model *model");
  if (has("decode") || has("encode")) {
    comment(
        "Makes the weights in a file another member of an ensemble: what is "
        "generated, and log p of each symbol, is chosen from the mean of "
        "the members' probabilities. What else there is, is of the first.");
    declare("int", "add", prefix + "_model *model, const char *weights");
  }
}

void HeaderWriter::writeParameters() {
  Names names;
  size_t count = description.parameters.size();
  stream << "/* The parameters, with their extents. */\nenum {\n";
  for (size_t i = 0; i < count; ++i) {
    const runtime::ParameterDescription &parameter = description.parameters[i];
    stream << "  " << prefix << "_parameter_"
           << StringRef(names.of("p" + parameter.path)).drop_front() << " = "
           << i << ", /* " << parameter.path << " "
           << runtime::shapeText(parameter.shape) << " */\n";
  }
  stream << "  " << prefix << "_num_parameters = " << count << "\n};\n\n";
  comment("The values of a parameter, which may be changed between calls; null "
          "when there is none of this number.");
  declare(prefix + "_real *", "parameter", prefix + "_model *model, int which");
  comment("How many values it has; -1 when there is none.");
  declare("int64_t", "parameter_size", prefix + "_model *model, int which");
  comment("Its name in files of weights.");
  declare("const char *", "parameter_name",
          prefix + "_model *model, int which");
  comment("Writes the weights, as they are now, to a safetensors file, which "
          "is there whole or not at all.");
  declare("int", "save", prefix + "_model *model, const char *path");
}

/// `[examples][src_extent][40]`.
std::string HeaderWriter::extentsOf(size_t data) const {
  std::string result = "[examples]";
  const std::vector<runtime::DataAxis> &axes = description.data[data].spec.axes;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    std::string extent = std::to_string(axes[axis].size);
    for (auto [field, name] : llvm::zip_equal(fields, names))
      if (field.kind == BatchField::Extent && field.data == data &&
          field.axis == axis)
        extent = name;
    result += "[" + extent + "]";
  }
  return result;
}

void HeaderWriter::writeValues(const BatchField &field, StringRef name) {
  const runtime::DataDescription &data = description.data[field.data];
  std::string what = extentsOf(field.data);
  if (data.spec.kind == DataKind::Bit)
    what += ", 0 or 1";
  else if (data.spec.kind == DataKind::Whole && data.text.size > 0)
    what += ", ids 0 .. " + std::to_string(data.text.size - 1);
  if (data.text.isSentence)
    what += "; a sentence ends with 1, </s>, which counts in its length";
  stream << '\n';
  comment(what, 2);
  stream << "  const "
         << (data.spec.kind == DataKind::Real  ? prefix + "_real"
             : data.spec.kind == DataKind::Bit ? "uint8_t"
                                               : "int64_t")
         << " *" << name << ";\n";
}

void HeaderWriter::writeLengths(const BatchField &field, StringRef name) {
  const runtime::DataSpec &spec = description.data[field.data].spec;
  const runtime::DataAxis &axis = spec.axes[field.axis];
  std::string what = "[examples]";
  for (auto [other, otherName] : llvm::zip_equal(fields, names))
    if (!axis.parent.empty() && other.kind == BatchField::Extent &&
        other.data == field.data && other.axis < field.axis &&
        spec.axes[other.axis].length == axis.parent)
      what += "[" + otherName + "]";
  what += ", the length " + axis.length + "; null where other data gives it.";
  comment(what, 2);
  stream << "  const int64_t *" << name << ";\n";
}

void HeaderWriter::writeField(const BatchField &field, StringRef name) {
  switch (field.kind) {
  case BatchField::Examples:
    comment("How many, at least 1.", 2);
    stream << "  int64_t examples;\n";
    return;
  case BatchField::Ids:
    comment("[examples], what random numbers are counted by; null: 0, 1, ..",
            2);
    stream << "  const int64_t *ids;\n";
    return;
  case BatchField::Values:
    return writeValues(field, name);
  case BatchField::Extent:
    comment("What the array has room for: at least each length.", 2);
    stream << "  int64_t " << name << ";\n";
    return;
  case BatchField::Lengths:
    return writeLengths(field, name);
  }
}

void HeaderWriter::writeBatch() {
  Names unique;
  fields = runtime::batchFields(description);
  for (const BatchField &field : fields) {
    std::string number =
        field.number > 1 ? "_" + std::to_string(field.number) : "";
    const std::string &data =
        field.kind == BatchField::Examples || field.kind == BatchField::Ids
            ? prefix
            : description.data[field.data].spec.name;
    names.push_back(unique.of(
        field.kind == BatchField::Extent    ? data + "_extent" + number
        : field.kind == BatchField::Lengths ? data + "_length" + number
                                            : data));
  }
  comment("A batch: in each array the examples lie one after the other, "
          "padded on the right. What lies past a length is never looked at. "
          "An array that a function does not need may be null.");
  stream << "typedef struct " << prefix << "_batch {\n";
  for (auto [field, name] : llvm::zip_equal(fields, names))
    writeField(field, name);
  stream << "} " << prefix << "_batch;\n\n";
  comment("Dropout and noise of the calls that follow: numbers depend on the "
          "seed, the update and the ids of the examples. Below 0, as at first, "
          "there is none.");
  declare("int", "random",
          prefix + "_model *model, int64_t seed, int64_t update");
}

void HeaderWriter::writeLoss() {
  comment("The loss of a batch, to minimise: " +
          llvm::Twine(description.averagesExamples
                          ? "the mean over its examples of -log p"
                          : "the sum of -log p over its choices (its symbols), "
                            "divided by their number") +
          ", and what else the spec's objective adds. log p, [examples]: of "
          "each example the sum over its choices. Each may be null.");
  declare("int", "loss", batchArguments() + ", double *loss, double *logp");
}

void HeaderWriter::writeGradients() {
  comment("The same, and the gradient of the loss by every parameter.");
  declare("int", "grad", batchArguments() + ", double *loss, double *logp");
  comment("The gradient by a parameter, with its extents, of the last call "
          "that made one; null before the first. The address stays the same.");
  declare(prefix + "_real *", "gradient", prefix + "_model *model, int which");
}

void HeaderWriter::writeEquations() {
  if (has("get")) {
    comment("The equations of a batch, for " + llvm::Twine(prefix) + "_value.");
    declare("int", "get", batchArguments());
  }
  comment("One example of what the last call gave: " +
          llvm::Twine(llvm::join(options.values, ", ")) +
          ". Gives how many axes it has, its values, row by row, and its "
          "extents, which stay until the next call with this model; -1 when "
          "there is none of this name, or no such example. 'adjoint/x' is the "
          "gradient of the loss by the data x, which " +
          prefix + "_grad gives.");
  declare("int64_t", "value",
          prefix + "_model *model, int64_t example, const char *equation, " +
              "const double **values, const int64_t **shape");
}

void HeaderWriter::writeTraining() {
  comment("One update of the weights by the optimiser of the spec's train "
          "block. The loss is the one before it, and may be null. `seed` is "
          "that of dropout and noise. Where the loss or a gradient is not "
          "finite the weights stay, and the code is bad_input.");
  declare("int", "train_step",
          batchArguments() + ", int64_t seed, double *loss");
}

void HeaderWriter::writeDecoding() {
  const runtime::SearchOptions &search = description.search;
  comment("How to generate. What is 0 is as the spec says, or as nothing was "
          "asked for.");
  stream << "typedef struct " << prefix << "_search {\n"
         << "  int64_t beam;       /* hypotheses that are kept (" << search.beam
         << ") */\n"
         << "  int64_t nbest;      /* that are returned, or draws (1) */\n"
         << "  int64_t max_length; /* steps at most (";
  if (search.longest)
    stream << *search.longest;
  else
    stream << "by the input";
  stream
      << ") */\n"
      << "  int64_t min_length; /* steps before which nothing ends ("
      << search.shortest << ") */\n"
      << "  int64_t sample;     /* not 0: draw instead of search */\n"
      << "  int64_t seed;       /* of the draws */\n"
      << "  int64_t top_k;      /* draw among so many (all) */\n"
      << "  double temperature; /* divides the logits of a draw (1) */\n"
      << "  double top_p; /* draw among those that have this probability "
         "(1) */\n"
      << "  const char *const *prefixes; /* what is generated begins so: a "
         "line of text\n"
         "                                  for each example, or null; null: "
         "none */\n"
      << "} " << prefix << "_search;\n\n";
  comment("What was generated for one example.");
  stream << "typedef struct " << prefix << "_hypothesis {\n"
         << "  double logp;   /* the sum over its choices */\n"
         << "  double score;  /* what it is ranked by */\n"
         << "  int64_t steps; /* of the search */\n"
         << "  int64_t ended; /* 0: cut at the largest number of steps */\n";
  Names unique;
  for (StringRef own : {"logp", "score", "steps", "ended"})
    unique.of(own);
  for (const runtime::DataDescription &data : description.data) {
    if (!data.isChosen)
      continue;
    std::string name = unique.of(data.spec.name);
    bool isReal = data.spec.kind == DataKind::Real;
    std::string what = "All values, " + name + "_size of them";
    if (data.text.isSentence)
      what += "; 1, </s>, is the last where it has ended";
    if (llvm::any_of(data.spec.axes,
                     [](const auto &axis) { return !axis.parent.empty(); }))
      what += "; shorter rows are padded with zeros";
    comment(what + ".", 2);
    stream << "  const " << (isReal ? "double" : "int64_t") << " *" << name
           << ";\n  int64_t " << unique.of(data.spec.name + "_size") << ";\n";
  }
  stream << "} " << prefix << "_hypothesis;\n\n"
         << "typedef struct " << prefix << "_result " << prefix
         << "_result;\n\n";
  comment("Generates. `search` may be null. Of the batch only what is given is "
          "read. On success the caller destroys *result; otherwise it is "
          "null.");
  declare("int", "decode",
          batchArguments() + ", const " + prefix + "_search *search, " +
              prefix + "_result **result");
  comment("The same for lines of text, one for each example, as a program of "
          "the model reads them: symbols with spaces between them, characters "
          "or SentencePiece's text, as the vocabulary is, and tabs between the "
          "names that are given. UTF-8 with a zero at the end.");
  declare("int", "text",
          prefix + "_model *model, int64_t examples, " +
              "const char *const *lines, const " + prefix +
              "_search *search, " + prefix + "_result **result");
  comment("How many hypotheses there are of an example, best first, or draws, "
          "in order.");
  declare("int64_t", "result_size",
          "const " + prefix + "_result *result, int64_t example");
  comment("One of them, from 0. The arrays are the result's.");
  declare("int", "result_get",
          "const " + prefix + "_result *result, int64_t example, " +
              "int64_t rank, " + prefix + "_hypothesis *hypothesis");
  comment("What one of them generated, as text: of the data called `data`, or, "
          "null, of all that is generated, with tabs between them. It is the "
          "result's; null when there is none.");
  declare("const char *", "result_text",
          "const " + prefix + "_result *result, int64_t example, " +
              "int64_t rank, const char *data");
  if (options.hasShows)
    writeShows();
  comment("Null is allowed.");
  declare("void", "result_destroy", prefix + "_result *result");
}

void HeaderWriter::writeShows() {
  std::string names;
  for (const runtime::ShownEquation &equation : description.shows) {
    names += (names.empty() ? "" : ", ") + equation.name + "[";
    for (const std::string &extent : equation.extents)
      names += (names.back() == '[' ? "" : ", ") + extent;
    names += "]";
  }
  comment("An equation of one of them: " + llvm::Twine(names) +
          ". Gives how many axes it has, its values, row by row, and its "
          "extents, which are the result's; -1 when there is none of this "
          "name.");
  declare("int64_t", "result_show",
          "const " + prefix + "_result *result, int64_t example, " +
              "int64_t rank, const char *equation, const double **values, " +
              "const int64_t **shape");
}

void HeaderWriter::writeSteps() {
  int64_t count = runtime::SearchSteps::numSymbols(description.decoder);
  comment("A search of one's own. `encode` begins with a row for each example "
          "of the batch, and gives log p of what each symbol would be first: "
          "logp is [examples][num_symbols]. In `step`, row i goes on from row "
          "parents[i] of the call before, with symbols[i]; logp is "
          "[rows][num_symbols]. Rows may be left out, repeated and reordered. "
          "The steps end with the next call of another function that "
          "computes.");
  stream << "enum { " << prefix << "_num_symbols = " << count << " };\n";
  declare("int", "encode", batchArguments() + ", double *logp");
  declare("int", "step",
          prefix + "_model *model, int64_t rows, const int64_t *parents, " +
              "const int64_t *symbols, double *logp");
}

void HeaderWriter::writeSymbols() {
  comment("The id of a symbol of the data called `data`, -1 when it has none. "
          "A word that a vocabulary does not know is 2, <unk>.");
  declare("int64_t", "id",
          prefix + "_model *model, const char *data, const char *symbol");
  comment("The ids of a line of the data called `data`, as a file has it; of a "
          "sentence with </s> at its end. Gives how many there are, of which "
          "it writes as many as there is room for; -1 where the line is at "
          "fault.");
  declare("int64_t", "ids",
          prefix + "_model *model, const char *data, const char *line, " +
              "int64_t room, int64_t *ids");
  comment("The symbol of an id, as UTF-8; null when there is none.");
  declare("const char *", "symbol",
          prefix + "_model *model, const char *data, int64_t id");
}

std::string HeaderWriter::run() {
  writeTop();
  writeCodes();
  writeModel();
  writeParameters();
  writeBatch();
  if (has("loss"))
    writeLoss();
  if (has("grad"))
    writeGradients();
  if (!options.values.empty())
    writeEquations();
  if (has("train_step"))
    writeTraining();
  if (has("decode"))
    writeDecoding();
  if (has("encode"))
    writeSteps();
  writeSymbols();
  stream << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}

std::string fovea::codegen::writeHeader(const runtime::Description &description,
                                        const HeaderOptions &options) {
  return HeaderWriter(description, options).run();
}
