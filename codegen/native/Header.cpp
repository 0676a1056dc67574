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
      "message",        "create", "destroy",  "parameter", "parameter_size",
      "parameter_name", "save",   "metadata", "id",        "ids",
      "symbol",         "random"};
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

/// Assigns each object a unique name that is not a C keyword.
class Names {
public:
  Names() {
    for (StringRef word :
         {"auto", "break", "case", "char", "const", "continue", "default", "do",
          "double", "else", "enum", "extern", "float", "for", "goto", "if",
          "inline", "int", "long", "register", "restrict", "return", "short",
          "signed", "sizeof", "static", "struct", "switch", "typedef", "union",
          "unsigned", "void", "volatile", "while", "examples", "ids",
          // Keywords of C++, which may include the header too.
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

/// A function of the header: `rest` is its parameter list.
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
         << "/* The real type of arrays, weights and gradients. */\n"
         << "typedef " << real << " " << prefix << "_real;\n\n";
}

void HeaderWriter::writeCodes() {
  stream << "/* Return codes. */\nenum {\n"
         << "  " << prefix << "_done = 0,\n"
         << "  " << prefix
         << "_bad_input = 1,  /* error in a batch or weights */\n"
         << "  " << prefix
         << "_bad_call = 2,   /* bad argument: null or out of range */\n"
         << "  " << prefix
         << "_bad_machine = 3, /* out of memory, or a file is not writable */\n"
         << "  " << prefix
         << "_busy = 4         /* another thread is using the model */\n"
         << "};\n\n";
  comment("The error of the last function that this thread called; empty on "
          "success. Never null.");
  declare("const char *", "message", "void");
}

void HeaderWriter::writeModel() {
  stream << "typedef struct " << prefix << "_model " << prefix << "_model;\n\n";
  comment("Makes a model. `weights` is the path of a safetensors file" +
          llvm::Twine(options.hasWeights ? ", or null for the built-in weights"
                                         : "") +
          ". `threads` is the number of threads; 0, and any larger number, "
          "means one per CPU. On success the caller destroys *model; otherwise "
          "it is null.");
  declare("int", "create",
          "const char *weights, int threads, " + prefix + "_model **model");
  comment("Null is allowed.");
  declare("void", "destroy", prefix + "_model *model");
  if (has("decode") || has("encode")) {
    comment("Adds the weights in a file as another member of an ensemble. "
            "Decoding and the log p of each symbol use the mean of the "
            "members' probabilities. Everything else uses the first member.");
    declare("int", "add", prefix + "_model *model, const char *weights");
  }
}

void HeaderWriter::writeParameters() {
  Names names;
  size_t count = description.parameters.size();
  stream << "/* The parameters and their shapes. */\nenum {\n";
  for (size_t i = 0; i < count; ++i) {
    const runtime::ParameterDescription &parameter = description.parameters[i];
    stream << "  " << prefix << "_parameter_"
           << StringRef(names.of("p" + parameter.path)).drop_front() << " = "
           << i << ", /* " << parameter.path << " "
           << runtime::shapeText(parameter.shape) << " */\n";
  }
  stream << "  " << prefix << "_num_parameters = " << count << "\n};\n\n";
  comment("The values of a parameter, which the caller may change between "
          "calls; null if there is no such number.");
  declare(prefix + "_real *", "parameter", prefix + "_model *model, int which");
  comment("The number of its values; -1 if there is no such parameter.");
  declare("int64_t", "parameter_size", prefix + "_model *model, int which");
  comment("Its name in weights files.");
  declare("const char *", "parameter_name",
          prefix + "_model *model, int which");
  comment(llvm::Twine("Writes the weights to a safetensors file, atomically.") +
          (has("train_step")
               ? " After an update the file also contains the optimiser state, "
                 "so a model created from it continues."
               : ""));
  declare("int", "save", prefix + "_model *model, const char *path");
  comment("Adds an entry to the metadata of saved files.");
  declare("int", "metadata",
          prefix + "_model *model, const char *key, const char *text");
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
    what += "; a sentence ends with 1, </s>, which its length includes";
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
  what += ", the length " + axis.length + "; null if other data determine it.";
  comment(what, 2);
  stream << "  const int64_t *" << name << ";\n";
}

void HeaderWriter::writeField(const BatchField &field, StringRef name) {
  switch (field.kind) {
  case BatchField::Examples:
    comment("The number of examples, at least 1.", 2);
    stream << "  int64_t examples;\n";
    return;
  case BatchField::Ids:
    comment("[examples], the ids that random numbers depend on; null: 0, 1, ..",
            2);
    stream << "  const int64_t *ids;\n";
    return;
  case BatchField::Values:
    return writeValues(field, name);
  case BatchField::Extent:
    comment("The array's capacity along this axis: at least each length.", 2);
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
  comment("A batch: each array holds the examples consecutively, padded on the "
          "right. Padding is never read. An array that a function does not "
          "need may be null.");
  stream << "typedef struct " << prefix << "_batch {\n";
  for (auto [field, name] : llvm::zip_equal(fields, names))
    writeField(field, name);
  stream << "} " << prefix << "_batch;\n\n";
  comment("Sets dropout and noise of the following calls. The random numbers "
          "depend on the seed, the update and the example ids. A seed below 0, "
          "the default, turns them off.");
  declare("int", "random",
          prefix + "_model *model, int64_t seed, int64_t update");
}

void HeaderWriter::writeLoss() {
  comment("The loss of a batch, to minimise: " +
          llvm::Twine(description.averagesExamples
                          ? "the mean over its examples of -log p"
                          : "the sum of -log p over its choices (its symbols), "
                            "divided by their number") +
          ", plus the other terms of the spec's objective. logp, [examples], "
          "is the sum over the choices of each example. Each may be null.");
  declare("int", "loss", batchArguments() + ", double *loss, double *logp");
}

void HeaderWriter::writeGradients() {
  comment("The same, plus the gradient of the loss with respect to every "
          "parameter.");
  declare("int", "grad", batchArguments() + ", double *loss, double *logp");
  comment("The gradient with respect to a parameter, in its shape, from the "
          "last call that computed one; null before the first. The address "
          "stays the same.");
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
  comment(
      "Search options. A value of 0 means the spec's setting, or the default.");
  stream << "typedef struct " << prefix << "_search {\n"
         << "  int64_t beam;       /* beam size (" << search.beam << ") */\n"
         << "  int64_t nbest;      /* hypotheses or samples to return (1) */\n"
         << "  int64_t max_length; /* maximum number of steps (";
  if (search.longest)
    stream << *search.longest;
  else
    stream << "by the input";
  stream << ") */\n"
         << "  int64_t min_length; /* minimum number of steps ("
         << search.shortest << ") */\n"
         << "  int64_t sample;     /* not 0: sample instead of searching */\n"
         << "  int64_t seed;       /* seed of the samples */\n"
         << "  int64_t top_k;      /* sample from the K most likely (all) */\n"
         << "  double temperature; /* sampling temperature (1) */\n"
         << "  double top_p; /* sample from the most likely with this total "
            "probability (1) */\n"
         << "  const char *const *prefixes; /* fixed beginning of each output: "
            "a line of\n                                  text per example, or "
            "null; null: none */\n"
         << "} " << prefix << "_search;\n\n";
  comment("The output for one example.");
  stream
      << "typedef struct " << prefix << "_hypothesis {\n"
      << "  double logp;   /* the sum over its choices */\n"
      << "  double score;  /* the ranking score */\n"
      << "  int64_t steps; /* of the search */\n"
      << "  int64_t ended; /* 0: truncated at the maximum number of steps */\n";
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
      what += "; the last is 1, </s>, if it ended";
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
  comment("Generates outputs. `search` may be null. Reads only the given data "
          "of the batch. On success the caller destroys *result; otherwise it "
          "is null.");
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
  comment("The number of hypotheses of an example, best first, or of its "
          "samples, in order.");
  declare("int64_t", "result_size",
          "const " + prefix + "_result *result, int64_t example");
  comment("Hypothesis `rank`, from 0. The result owns the arrays.");
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
  comment("The id of a symbol of the data called `data`, or -1. A word outside "
          "the vocabulary is 2, <unk>.");
  declare("int64_t", "id",
          prefix + "_model *model, const char *data, const char *symbol");
  comment("The ids of a line of the data called `data`, in the format of a "
          "file; a sentence ends with </s>. Returns their number and writes as "
          "many as there is room for; -1 on an error in the line.");
  declare("int64_t", "ids",
          prefix + "_model *model, const char *data, const char *line, " +
              "int64_t room, int64_t *ids");
  comment("The symbol of an id, in UTF-8, or null.");
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
