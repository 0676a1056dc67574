//===- ArchiveData.cpp - examples in archives -----------------------------===//
//
// Pictures, sounds and arrays in WebDataset's archives, and Kaldi's features.
//
//===----------------------------------------------------------------------===//

#include "app/data/Column.h"
#include "app/data/FileData.h"
#include "app/data/TarMembers.h"
#include "runtime/data/ArkFile.h"

using namespace fovea;
using namespace fovea::cli;
using llvm::StringRef;
using runtime::Status;

namespace {

/// Reads example after example, and stops at the first mistake.
class ArchiveColumn : public Column {
public:
  ArchiveColumn(Session &session, const std::string &path, const DataInfo &data,
                const runtime::DataSpec &spec)
      : Column(path), data(data), spec(spec), session(session) {}

  TextLines::Kind next(LoadedValues &values,
                       std::vector<std::string> *) override {
    bool isEnd = false;
    Status status = load(values, isEnd);
    if (status.succeeded())
      return isEnd ? TextLines::End : TextLines::Good;
    session.error(status.text());
    return TextLines::Failed;
  }
  int64_t countRest() override {
    int64_t count = 0;
    for (bool isEnd = false; !isEnd; count += !isEnd)
      if (Status status = skip(isEnd); status.failed()) {
        session.error(status.text());
        return count;
      }
    return count;
  }

protected:
  virtual Status load(LoadedValues &values, bool &isEnd) = 0;
  virtual Status skip(bool &isEnd) = 0;

  const DataInfo &data;
  const runtime::DataSpec &spec;

private:
  Session &session;
};

class TarColumn : public ArchiveColumn {
public:
  TarColumn(Session &session, const std::string &path, const DataInfo &data,
            const runtime::DataSpec &spec)
      : ArchiveColumn(session, path, data, spec), members(splitTar(path)) {}

private:
  Status load(LoadedValues &values, bool &isEnd) override {
    Status status = skip(isEnd);
    return status.failed() || isEnd
               ? status
               : loadBytes(name, bytes, data, spec, values);
  }
  Status skip(bool &isEnd) override {
    TarMembers::Found found = members.next(name, bytes);
    isEnd = found == TarMembers::End;
    return found == TarMembers::Failed ? Status::error(members.problem())
                                       : Status::success();
  }

  TarMembers members;
  std::string name, bytes;
};

class ArkColumn : public ArchiveColumn {
public:
  using ArchiveColumn::ArchiveColumn;

private:
  Status load(LoadedValues &values, bool &isEnd) override {
    Status status = skip(isEnd);
    return status.failed() || isEnd
               ? status
               : loadFeatures(path + ":" + key, shape, std::move(numbers), data,
                              spec, values);
  }
  Status skip(bool &isEnd) override {
    Status status =
        file ? Status::success() : runtime::ArkFile::open(path, file);
    if (status.succeeded())
      status = file->nextKey(key);
    isEnd = key.empty();
    return status.failed() || isEnd ? status : file->read(shape, numbers);
  }

  std::unique_ptr<runtime::ArkFile> file;
  std::string key;
  std::vector<int64_t> shape;
  std::vector<double> numbers;
};

} // namespace

std::unique_ptr<Column> fovea::cli::openArchive(Session &session,
                                                const TextSource &source,
                                                const DataInfo &data,
                                                const runtime::DataSpec &spec) {
  if (StringRef(source.path).ends_with(".ark"))
    return std::make_unique<ArkColumn>(session, source.path, data, spec);
  if (source.kind != RowKind::Tar)
    return nullptr;
  // The first of `jpg;png` tells what all of them are.
  std::string first =
      "." + StringRef(splitTar(source.path).ending).split(';').first.str();
  if (!isDataFile(first))
    return nullptr;
  return std::make_unique<TarColumn>(session, source.path, data, spec);
}
