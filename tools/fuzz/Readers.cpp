//===- Readers.cpp - readers of foreign files, for fuzzing ----------------===//
//
// Beyond the absence of crashes, this checks what readers promise: an error has
// a text, and what is written again is the same.
//
//===----------------------------------------------------------------------===//

#include "tools/fuzz/Readers.h"
#include "app/Arguments.h"
#include "app/data/Npy.h"
#include "app/data/Pixels.h"
#include "app/data/Rows.h"
#include "app/data/Sound.h"
#include "app/data/TarMembers.h"
#include "app/data/TextData.h"
#include "app/open/Session.h"
#include "app/watch/HttpRequest.h"
#include "runtime/data/ArkFile.h"
#include "runtime/data/FlacFile.h"
#include "runtime/data/Inflate.h"
#include "runtime/data/OpenFile.h"
#include "runtime/data/PngFile.h"
#include "runtime/data/Resample.h"
#include "runtime/data/SentencePieces.h"
#include "runtime/data/Tokeniser.h"
#include "runtime/data/WaveFile.h"
#include "server/Messages.h"
#include "server/Server.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>

using namespace fovea;
using namespace fovea::fuzz;
using runtime::Status;

/// Larger pictures are refused, as a command refuses what its model does not
/// expect.
static constexpr int64_t mostRows = 4096;

/// Returns whether a file was accepted.
static bool isGood(const Status &status) {
  if (!status.failed())
    return true;
  if (status.text().empty())
    llvm::report_fatal_error("a file is refused without an error");
  return false;
}

static void demand(bool holds, const char *what) {
  if (!holds)
    llvm::report_fatal_error(what);
}

namespace {

/// A file in memory with a path, for readers that open files.
class MemoryFile {
public:
  MemoryFile(const std::string &bytes, const char *name)
      : descriptor(memfd_create(name, MFD_CLOEXEC)) {
    demand(descriptor >= 0 && runtime::writeAll(descriptor, bytes) &&
               lseek(descriptor, 0, SEEK_SET) == 0,
           "no file in memory");
  }
  ~MemoryFile() { close(descriptor); }

  int number() const { return descriptor; }
  std::string path() const {
    return fmt::format("/proc/self/fd/{}", descriptor);
  }

private:
  int descriptor;
};

} // namespace

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

static void checkTensor(const runtime::Tensor &tensor) {
  int64_t count = 1;
  for (int64_t extent : tensor.shape) {
    demand(extent >= 0, "an array has a negative extent");
    count *= extent;
  }
  demand(tensor.bytes.size() == count * sizeOf(tensor.type),
         "an array has other bytes than its shape");
}

static void readSafeTensors(const std::string &bytes) {
  runtime::TensorFile file, again;
  if (!isGood(runtime::parseSafeTensors(bytes, "fuzz", file)))
    return;
  for (const auto &[name, tensor] : file.tensors)
    checkTensor(tensor);
  std::string text = runtime::formatSafeTensors(file);
  demand(isGood(runtime::parseSafeTensors(text, "again", again)) &&
             runtime::formatSafeTensors(again) == text,
         "tensors differ after they were written");
}

static void readNpy(const std::string &bytes) {
  runtime::Tensor tensor;
  if (isGood(cli::parseNpy(bytes, "fuzz", tensor)))
    checkTensor(tensor);
}

static void readNpz(const std::string &bytes) {
  MemoryFile file(bytes, "fuzz.npz");
  std::vector<std::string> names;
  if (!isGood(cli::listNpz(file.path(), names)))
    return;
  for (const std::string &name : names) {
    runtime::Tensor tensor;
    if (isGood(cli::readNpz(file.path(), name, tensor)))
      checkTensor(tensor);
  }
}

//===----------------------------------------------------------------------===//
// Pictures and sounds
//===----------------------------------------------------------------------===//

static Status takeSize(int64_t rows, int64_t columns) {
  return rows <= mostRows && columns <= mostRows
             ? Status()
             : Status::error("the picture is too large");
}

static void checkPicture(const runtime::Picture &picture) {
  demand(int64_t(picture.bytes.size()) ==
             picture.rows * picture.columns * picture.channels,
         "a picture has other bytes than its size");
}

/// By the library, as commands do.
static void readPicture(const std::string &bytes) {
  for (int64_t channels : {1, 3}) {
    runtime::Picture picture;
    if (!isGood(cli::readPicture(bytes, "fuzz", channels, takeSize, picture)))
      continue;
    checkPicture(picture);
    picture.resizeTo(7, 5);
    checkPicture(picture);
  }
}

/// As programs do.
static void readPng(const std::string &bytes) {
  runtime::Picture picture;
  if (isGood(runtime::readPng(bytes, "fuzz", takeSize, picture)))
    checkPicture(picture);
}

static void readSound(const std::string &bytes) {
  int64_t rate = 0;
  std::vector<double> samples;
  if (!isGood(cli::readSound(bytes, "fuzz.wav", rate, samples)))
    return;
  runtime::SoundOptions options;
  options.rate = 1200;
  options.resample = true;
  if (isGood(runtime::resample("fuzz", rate, options, samples)))
    demand(!samples.empty(), "a sound has no samples at another rate");
}

static void readWave(const std::string &bytes) {
  int64_t rate = 0;
  std::vector<double> samples;
  isGood(runtime::readWave(bytes, "fuzz", rate, samples));
}

static void readFlac(const std::string &bytes) {
  int64_t rate = 0;
  std::vector<double> samples;
  isGood(runtime::readFlac(bytes, "fuzz", rate, samples));
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// The first two bytes are the size that the stream must have.
static void readInflate(const std::string &bytes) {
  if (bytes.size() < 2)
    return;
  size_t size = uint8_t(bytes[0]) | size_t(uint8_t(bytes[1])) << 8;
  std::vector<uint8_t> result;
  if (runtime::inflate(std::string_view(bytes).substr(2), size, result))
    demand(result.size() == size, "a stream has another size");
}

static void cutLines(const runtime::Segmenter &segmenter) {
  for (const char *line : {"", "a", "Hello, world! 123", " \t ",
                           "\xC3\xBC\xE2\x96\x81x", "<s></s>"}) {
    std::vector<std::string> pieces;
    for (const auto &piece : segmenter.cut(line))
      pieces.push_back(piece.text);
    segmenter.join(pieces);
  }
  segmenter.symbols();
}

static void readPieces(const std::string &bytes) {
  std::shared_ptr<const runtime::SentencePieces> pieces;
  if (isGood(runtime::SentencePieces::read(bytes, pieces)))
    cutLines(*pieces);
}

static void readTokeniser(const std::string &bytes) {
  for (bool hasSentences : {false, true}) {
    std::shared_ptr<const runtime::Tokeniser> tokeniser;
    if (isGood(runtime::Tokeniser::read(bytes, hasSentences, tokeniser)))
      cutLines(*tokeniser);
  }
  std::string text;
  isGood(runtime::Tokeniser::shorten(bytes, text));
}

static void readRows(const std::string &bytes) {
  std::string text;
  isGood(cli::readJsonValue(bytes, "text", text));
  std::vector<std::string> values;
  isGood(cli::readTableRow(bytes, values));
}

/// Features of Kaldi, after their keys.
static void readArk(const std::string &bytes) {
  MemoryFile file(bytes, "fuzz.ark");
  std::unique_ptr<runtime::ArkFile> archive;
  if (!isGood(runtime::ArkFile::open(file.path(), archive)))
    return;
  std::string key;
  std::vector<int64_t> shape;
  std::vector<double> values;
  while (isGood(archive->nextKey(key)) && !key.empty() &&
         isGood(archive->read(shape, values)))
    demand(std::accumulate(shape.begin(), shape.end(), int64_t(1),
                           std::multiplies<>()) == int64_t(values.size()),
           "features have other extents than values");
}

/// Examples in an archive, packed or not.
static void readTar(const std::string &bytes) {
  MemoryFile file(bytes, "fuzz.tar");
  for (const char *ending : {"txt", "jpg;png"}) {
    cli::TarMembers members({file.path(), ending, ""});
    std::string name, content;
    cli::TarMembers::Found found;
    while ((found = members.next(name, content)) == cli::TarMembers::Good)
      demand(!name.empty(), "a file of an archive has no name");
    demand(found == cli::TarMembers::End || !members.problem().empty(),
           "an archive is refused without a reason");
  }
}

/// Text with one example per line, compressed or not.
static void readLines(const std::string &bytes) {
  MemoryFile file(bytes, "fuzz.txt");
  cli::Arguments arguments;
  std::string errors;
  llvm::raw_string_ostream out(errors);
  cli::Session session(arguments, out);
  bool isRead = cli::forLines(session, {file.path(), 0, nullptr, false},
                              [](llvm::StringRef) { return true; });
  demand(isRead == (session.finish() == cli::done),
         "a text is refused without an error, or accepted with one");
}

/// What an editor sends.
static void readMessages(const std::string &bytes) {
  MemoryFile file(bytes, "fuzz.lsp");
  editors::Messages messages(file.number());
  while (std::optional<editors::Message> message = messages.next())
    demand(message->mistake ? !message->why.empty() : !message->method.empty(),
           "a message is refused without a reason");
}

/// A whole conversation, with what the server says of each file and question.
static void readEditor(const std::string &bytes) {
  MemoryFile file(bytes, "fuzz.lsp");
  editors::serve(file.number(), llvm::nulls());
}

/// What a browser sends to the live page, up to the first empty line.
static void readRequest(const std::string &bytes) {
  constexpr int port = 8000;
  cli::HttpRequest request;
  auto refused = cli::parseHead(bytes, request);
  if (!refused)
    refused = cli::checkHead(request, port);
  if (!refused) {
    std::string host = request.header("host");
    demand(host == "127.0.0.1:8000" || host == "localhost:8000",
           "a request for another host is answered");
    demand(llvm::StringRef(request.path).starts_with("/"),
           "a path has no beginning");
    return;
  }
  demand(refused->status >= 400 && !refused->body.empty(),
         "a request is refused without a reason");
  std::string answer = cli::textOf(*refused, /*isHead=*/false);
  demand(llvm::StringRef(answer).ends_with("\r\n\r\n" + refused->body),
         "an answer has another body");
}

static constexpr Reader all[] = {
    {"ark", readArk},
    {"editor", readEditor},
    {"flac", readFlac},
    {"inflate", readInflate},
    {"lines", readLines},
    {"messages", readMessages},
    {"npy", readNpy},
    {"npz", readNpz},
    {"picture", readPicture},
    {"pieces", readPieces},
    {"png", readPng},
    {"request", readRequest},
    {"rows", readRows},
    {"safetensors", readSafeTensors},
    {"sound", readSound},
    {"tar", readTar},
    {"tokeniser", readTokeniser},
    {"wave", readWave},
};

llvm::ArrayRef<Reader> fovea::fuzz::readers() { return all; }

const Reader *fovea::fuzz::readerNamed(llvm::StringRef name) {
  for (const Reader &reader : all)
    if (name == reader.name)
      return &reader;
  return nullptr;
}
