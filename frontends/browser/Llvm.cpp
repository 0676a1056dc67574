//===- Llvm.cpp - the part of LLVM that the front end calls ---------------===//
//
// Debian has LLVM's library for its own machines only. The front end uses
// LLVM's headers and a few functions behind them. This file defines these
// functions for WebAssembly: containers that grow, streams into strings, text
// and paths.
//
//===----------------------------------------------------------------------===//

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/edit_distance.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemAlloc.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <wchar.h>

using namespace llvm;

int llvm::DisableABIBreakingChecks;

// compiler-rt's functions of 128 bits check their stack.
extern "C" uintptr_t __stack_chk_guard = 0x5bd1e995;
extern "C" void __stack_chk_fail() { std::abort(); }

// Memory. Without any, the module ends; the page starts another one.

static void *allocate(size_t bytes) {
  void *memory = std::malloc(std::max<size_t>(bytes, 1));
  if (!memory)
    std::abort();
  return memory;
}

void *llvm::allocate_buffer(size_t Size, size_t) { return allocate(Size); }
void llvm::deallocate_buffer(void *Ptr, size_t, size_t) { std::free(Ptr); }

static size_t grownCapacity(size_t least, size_t capacity) {
  return std::max(least, 2 * capacity + 1);
}

template <class Size_T>
void *SmallVectorBase<Size_T>::mallocForGrow(void *, size_t MinSize,
                                             size_t TSize,
                                             size_t &NewCapacity) {
  NewCapacity = grownCapacity(MinSize, capacity());
  return allocate(NewCapacity * TSize);
}

template <class Size_T>
void SmallVectorBase<Size_T>::grow_pod(void *FirstEl, size_t MinSize,
                                       size_t TSize) {
  size_t newCapacity = grownCapacity(MinSize, capacity());
  void *memory = allocate(newCapacity * TSize);
  std::memcpy(memory, BeginX, size() * TSize);
  if (BeginX != FirstEl)
    std::free(BeginX);
  set_allocation_range(memory, newCapacity);
}

template class llvm::SmallVectorBase<uint32_t>;

/// Pointers are probed from their hash on; a set is at most 3/4 full.
const void *const *SmallPtrSetImplBase::FindBucketFor(const void *Ptr) const {
  unsigned bucket = DenseMapInfo<void *>::getHashValue(Ptr);
  const void *const *tombstone = nullptr;
  for (unsigned probe = 1;; bucket += probe++) {
    const void *const *slot = CurArray + (bucket & (CurArraySize - 1));
    if (*slot == Ptr)
      return slot;
    if (*slot == getEmptyMarker())
      return tombstone ? tombstone : slot;
    if (*slot == getTombstoneMarker() && !tombstone)
      tombstone = slot;
  }
}

const void *const *SmallPtrSetImplBase::doFind(const void *Ptr) const {
  const void *const *slot = FindBucketFor(Ptr);
  return *slot == Ptr ? slot : nullptr;
}

void SmallPtrSetImplBase::Grow(unsigned NewSize) {
  const void **old = CurArray, **end = const_cast<const void **>(EndPointer());
  bool wasSmall = isSmall();
  CurArray = static_cast<const void **>(allocate(NewSize * sizeof(void *)));
  CurArraySize = NewSize;
  std::fill(CurArray, CurArray + NewSize, getEmptyMarker());
  IsSmall = false;
  for (const void **at = old; at != end; ++at)
    if (*at != getEmptyMarker() && *at != getTombstoneMarker())
      *const_cast<const void **>(FindBucketFor(*at)) = *at;
  if (!wasSmall)
    std::free(old);
  NumTombstones = 0;
}

std::pair<const void *const *, bool>
SmallPtrSetImplBase::insert_imp_big(const void *Ptr) {
  if (isSmall() || (NumEntries + NumTombstones) * 4 >= CurArraySize * 3)
    Grow(std::max(128u, CurArraySize * 2));
  auto *slot = const_cast<const void **>(FindBucketFor(Ptr));
  if (*slot == Ptr)
    return {slot, false};
  if (*slot == getTombstoneMarker())
    --NumTombstones;
  *slot = Ptr;
  ++NumEntries;
  incrementEpoch();
  return {slot, true};
}

static uint64_t hashOf(StringRef bytes) { // FNV-1a
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

uint64_t llvm::xxh3_64bits(ArrayRef<uint8_t> data) {
  return hashOf({reinterpret_cast<const char *>(data.data()), data.size()});
}

uint32_t StringMapImpl::hash(StringRef Key) {
  uint64_t hash = hashOf(Key);
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

/// The entries, a sentinel that ends iteration, and a hash for each entry.
static StringMapEntryBase **newTable(unsigned buckets) {
  size_t bytes =
      (buckets + 1) * (sizeof(StringMapEntryBase *) + sizeof(unsigned));
  auto *table = static_cast<StringMapEntryBase **>(allocate(bytes));
  std::memset(table, 0, bytes);
  table[buckets] = reinterpret_cast<StringMapEntryBase *>(2);
  return table;
}

static unsigned *hashesOf(StringMapEntryBase **table, unsigned buckets) {
  return reinterpret_cast<unsigned *>(table + buckets + 1);
}

void StringMapImpl::init(unsigned Size) {
  NumBuckets = Size ? Size : 16;
  NumItems = NumTombstones = 0;
  TheTable = newTable(NumBuckets);
}

int StringMapImpl::FindKey(StringRef Key, uint32_t FullHashValue) const {
  if (NumBuckets == 0)
    return -1;
  unsigned *hashes = hashesOf(TheTable, NumBuckets);
  unsigned bucket = FullHashValue & (NumBuckets - 1);
  for (unsigned probe = 1; TheTable[bucket]; ++probe) {
    StringMapEntryBase *entry = TheTable[bucket];
    if (entry != getTombstoneVal() && hashes[bucket] == FullHashValue) {
      const char *key = reinterpret_cast<const char *>(entry) + ItemSize;
      if (StringRef(key, entry->getKeyLength()) == Key)
        return bucket;
    }
    bucket = (bucket + probe) & (NumBuckets - 1);
  }
  return -1;
}

unsigned StringMapImpl::LookupBucketFor(StringRef Key, uint32_t FullHashValue) {
  if (NumBuckets == 0)
    init(16);
  if (int known = FindKey(Key, FullHashValue); known >= 0)
    return known;
  unsigned bucket = FullHashValue & (NumBuckets - 1);
  for (unsigned probe = 1;
       TheTable[bucket] && TheTable[bucket] != getTombstoneVal(); ++probe)
    bucket = (bucket + probe) & (NumBuckets - 1);
  hashesOf(TheTable, NumBuckets)[bucket] = FullHashValue;
  return bucket;
}

unsigned StringMapImpl::RehashTable(unsigned BucketNo) {
  unsigned size = NumBuckets;
  if (NumItems * 4 > NumBuckets * 3)
    size = NumBuckets * 2;
  else if (NumBuckets - (NumItems + NumTombstones) > NumBuckets / 8)
    return BucketNo;
  StringMapEntryBase **table = newTable(size);
  unsigned *oldHashes = hashesOf(TheTable, NumBuckets),
           *hashes = hashesOf(table, size), result = BucketNo;
  for (unsigned old = 0; old < NumBuckets; ++old) {
    StringMapEntryBase *entry = TheTable[old];
    if (!entry || entry == getTombstoneVal())
      continue;
    unsigned bucket = oldHashes[old] & (size - 1);
    for (unsigned probe = 1; table[bucket]; ++probe)
      bucket = (bucket + probe) & (size - 1);
    table[bucket] = entry;
    hashes[bucket] = oldHashes[old];
    if (old == BucketNo)
      result = bucket;
  }
  std::free(TheTable);
  TheTable = table;
  NumBuckets = size;
  NumTombstones = 0;
  return result;
}

// Streams. Those of the front end write to a string, unbuffered.

raw_ostream::~raw_ostream() = default;
void raw_ostream::anchor() {}
void raw_ostream::SetBufferAndMode(char *, size_t, BufferKind) {
  OutBufStart = OutBufEnd = OutBufCur = nullptr;
  BufferMode = BufferKind::Unbuffered;
}
size_t raw_ostream::preferred_buffer_size() const { return 0; }
void raw_ostream::flush_nonempty() {}
raw_ostream &raw_ostream::changeColor(enum Colors, bool, bool) { return *this; }
raw_ostream &raw_ostream::resetColor() { return *this; }
raw_ostream &raw_ostream::reverseColor() { return *this; }

raw_ostream &raw_ostream::write(const char *Ptr, size_t Size) {
  write_impl(Ptr, Size);
  return *this;
}
raw_ostream &raw_ostream::write(unsigned char C) {
  return write(reinterpret_cast<const char *>(&C), 1);
}
raw_ostream &raw_ostream::indent(unsigned NumSpaces) {
  return *this << std::string(NumSpaces, ' ');
}
raw_ostream &raw_ostream::operator<<(unsigned long N) {
  return *this << std::to_string(N);
}
raw_ostream &raw_ostream::operator<<(long N) {
  return *this << std::to_string(N);
}
raw_ostream &raw_ostream::operator<<(unsigned long long N) {
  return *this << std::to_string(N);
}
raw_ostream &raw_ostream::operator<<(long long N) {
  return *this << std::to_string(N);
}

void format_object_base::home() {}
raw_ostream &raw_ostream::operator<<(const format_object_base &Fmt) {
  std::string text(64, '\0');
  for (;;) {
    unsigned size = Fmt.print(text.data(), text.size());
    if (size <= text.size())
      return write(text.data(), size);
    text.resize(size);
  }
}

void raw_string_ostream::write_impl(const char *Ptr, size_t Size) {
  OS.append(Ptr, Size);
}

std::string Twine::str() const {
  std::string result;
  raw_string_ostream out(result);
  print(out);
  return result;
}

void Twine::print(raw_ostream &OS) const {
  printOneChild(OS, LHS, getLHSKind());
  printOneChild(OS, RHS, getRHSKind());
}

void Twine::printOneChild(raw_ostream &OS, Child Ptr, NodeKind Kind) const {
  switch (Kind) {
  case NullKind:
  case EmptyKind:
    break;
  case TwineKind:
    Ptr.twine->print(OS);
    break;
  case CStringKind:
    OS << Ptr.cString;
    break;
  case StdStringKind:
    OS << *Ptr.stdString;
    break;
  case PtrAndLengthKind:
  case StringLiteralKind:
    OS << StringRef(Ptr.ptrAndLength.ptr, Ptr.ptrAndLength.length);
    break;
  case CharKind:
    OS << Ptr.character;
    break;
  case DecUIKind:
    OS << Ptr.decUI;
    break;
  case DecIKind:
    OS << Ptr.decI;
    break;
  case DecULKind:
    OS << Ptr.decUL;
    break;
  case DecLKind:
    OS << Ptr.decL;
    break;
  case DecULLKind:
    OS << Ptr.decULL;
    break;
  case DecLLKind:
    OS << Ptr.decLL;
    break;
  case FormatvObjectKind:
  case UHexKind:
    std::abort(); // the front end has none
  }
}

// Text.

static std::string_view view(StringRef text) {
  return {text.data(), text.size()};
}

size_t StringRef::find(StringRef Str, size_t From) const {
  return view(*this).find(view(Str), From);
}
size_t StringRef::rfind(StringRef Str) const {
  return view(*this).rfind(view(Str));
}
size_t StringRef::find_first_of(StringRef Chars, size_t From) const {
  return view(*this).find_first_of(view(Chars), From);
}
size_t StringRef::find_first_not_of(char C, size_t From) const {
  return view(*this).find_first_not_of(C, From);
}
size_t StringRef::find_first_not_of(StringRef Chars, size_t From) const {
  return view(*this).find_first_not_of(view(Chars), From);
}
size_t StringRef::find_last_of(StringRef Chars, size_t From) const {
  return view(*this).find_last_of(view(Chars), From);
}
size_t StringRef::find_last_not_of(char C, size_t From) const {
  return view(*this).find_last_not_of(C, From);
}
size_t StringRef::find_last_not_of(StringRef Chars, size_t From) const {
  return view(*this).find_last_not_of(view(Chars), From);
}

std::string StringRef::lower() const {
  std::string result = str();
  llvm::transform(result, result.begin(), toLower);
  return result;
}

int StringRef::compare_insensitive(StringRef RHS) const {
  std::string mine = lower(), other = RHS.lower();
  return mine < other ? -1 : mine > other;
}

unsigned StringRef::edit_distance(StringRef Other, bool AllowReplacements,
                                  unsigned MaxEditDistance) const {
  return ComputeEditDistance(ArrayRef(data(), size()),
                             ArrayRef(Other.data(), Other.size()),
                             AllowReplacements, MaxEditDistance);
}

/// Returns true on an error, as LLVM's function.
template <typename Number, typename Parse>
static bool readNumber(StringRef text, Number &result, Parse parse) {
  std::string copy = text.str();
  char *end = nullptr;
  errno = 0;
  result = parse(copy.c_str(), &end);
  return copy.empty() || isSpace(copy.front()) || errno == ERANGE ||
         end != copy.c_str() + copy.size();
}

bool StringRef::getAsDouble(double &Result, bool) const {
  return readNumber(*this, Result, std::strtod);
}

bool llvm::getAsSignedInteger(StringRef Str, unsigned Radix,
                              long long &Result) {
  return readNumber(Str, Result, [&](const char *text, char **end) {
    return std::strtoll(text, end, static_cast<int>(Radix));
  });
}

/// Decodes the first character of `text`; its length is 0 if it is malformed.
static std::pair<UTF32, unsigned> decode(StringRef text) {
  auto byte = [&](size_t at) { return static_cast<UTF8>(text[at]); };
  if (text.empty())
    return {0, 0};
  unsigned length = getNumBytesForUTF8(byte(0));
  if (length > 4 || length > text.size() || (byte(0) & 0xc0) == 0x80)
    return {0, 0};
  UTF32 code = length == 1 ? byte(0) : byte(0) & (0x7f >> length);
  for (unsigned at = 1; at < length; ++at) {
    if ((byte(at) & 0xc0) != 0x80)
      return {0, 0};
    code = code << 6 | (byte(at) & 0x3f);
  }
  static constexpr UTF32 least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[length] || code > 0x10ffff ||
      (code >= 0xd800 && code < 0xe000))
    return {0, 0};
  return {code, length};
}

static StringRef between(const UTF8 *begin, const UTF8 *end) {
  return {reinterpret_cast<const char *>(begin), size_t(end - begin)};
}

unsigned llvm::getNumBytesForUTF8(UTF8 firstByte) {
  return firstByte < 0xc0   ? 1
         : firstByte < 0xe0 ? 2
         : firstByte < 0xf0 ? 3
         : firstByte < 0xf8 ? 4
         : firstByte < 0xfc ? 5
                            : 6;
}

Boolean llvm::isLegalUTF8Sequence(const UTF8 *source, const UTF8 *sourceEnd) {
  return decode(between(source, sourceEnd)).second != 0;
}

Boolean llvm::isLegalUTF8String(const UTF8 **source, const UTF8 *sourceEnd) {
  while (*source != sourceEnd) {
    unsigned length = decode(between(*source, sourceEnd)).second;
    if (length == 0)
      return false;
    *source += length;
  }
  return true;
}

ConversionResult llvm::ConvertUTF8toUTF32(const UTF8 **sourceStart,
                                          const UTF8 *sourceEnd,
                                          UTF32 **targetStart, UTF32 *targetEnd,
                                          ConversionFlags) {
  while (*sourceStart != sourceEnd && *targetStart != targetEnd) {
    auto [code, length] = decode(between(*sourceStart, sourceEnd));
    if (length == 0)
      return sourceIllegal;
    *(*targetStart)++ = code;
    *sourceStart += length;
  }
  return *sourceStart == sourceEnd ? conversionOK : targetExhausted;
}

int sys::unicode::columnWidthUTF8(StringRef Text) {
  int width = 0;
  while (!Text.empty()) {
    auto [code, length] = decode(Text);
    if (length == 0)
      return ErrorInvalidUTF8;
    int mine = wcwidth(static_cast<wchar_t>(code));
    if (mine < 0)
      return ErrorNonPrintableCharacter;
    width += mine;
    Text = Text.drop_front(length);
  }
  return width;
}

// Files: the page gives all texts.

void sys::path::append(SmallVectorImpl<char> &path, const Twine &a,
                       const Twine &b, const Twine &c, const Twine &d) {
  for (const Twine *part : {&a, &b, &c, &d}) {
    std::string text = part->str();
    if (text.empty())
      continue;
    if (!path.empty() && path.back() != '/')
      path.push_back('/');
    path.append(text.begin(), text.end());
  }
}

StringRef sys::path::filename(StringRef path, Style) {
  return path.substr(path.find_last_of('/') + 1);
}

StringRef sys::path::remove_leading_dotslash(StringRef path, Style) {
  while (path.consume_front("./"))
    path = path.ltrim('/');
  return path;
}

std::optional<std::string> sys::Process::GetEnv(StringRef) { return {}; }

namespace {
class CopiedBuffer : public MemoryBuffer {
public:
  CopiedBuffer(StringRef text, std::string name)
      : text(text.str()), name(std::move(name)) {
    init(this->text.data(), this->text.data() + this->text.size(), true);
  }
  StringRef getBufferIdentifier() const override { return name; }
  BufferKind getBufferKind() const override { return MemoryBuffer_Malloc; }

private:
  std::string text, name;
};
} // namespace

MemoryBuffer::~MemoryBuffer() = default;
void MemoryBuffer::init(const char *BufStart, const char *BufEnd, bool) {
  BufferStart = BufStart;
  BufferEnd = BufEnd;
}

std::unique_ptr<MemoryBuffer>
MemoryBuffer::getMemBufferCopy(StringRef InputData, const Twine &BufferName) {
  return std::make_unique<CopiedBuffer>(InputData, BufferName.str());
}

ErrorOr<std::unique_ptr<MemoryBuffer>> MemoryBuffer::getSTDIN() {
  return std::make_error_code(std::errc::no_such_file_or_directory);
}

SourceMgr::SourceMgr() = default;
SourceMgr::~SourceMgr() = default;
SourceMgr::SrcBuffer::SrcBuffer(SrcBuffer &&other)
    : Buffer(std::move(other.Buffer)), IncludeLoc(other.IncludeLoc) {}
SourceMgr::SrcBuffer::~SrcBuffer() = default;

unsigned SourceMgr::FindBufferContainingLoc(SMLoc Loc) const {
  for (unsigned number = 1; number <= Buffers.size(); ++number) {
    const MemoryBuffer &buffer = *Buffers[number - 1].Buffer;
    // The end of a text is a place as well.
    if (Loc.getPointer() >= buffer.getBufferStart() &&
        Loc.getPointer() <= buffer.getBufferEnd())
      return number;
  }
  return 0;
}

std::pair<unsigned, unsigned>
SourceMgr::getLineAndColumn(SMLoc Loc, unsigned BufferID) const {
  if (BufferID == 0)
    BufferID = FindBufferContainingLoc(Loc);
  const char *begin = getMemoryBuffer(BufferID)->getBufferStart();
  StringRef before(begin, Loc.getPointer() - begin);
  size_t newline = before.rfind('\n');
  return {before.count('\n') + 1, before.size() - (newline + 1) + 1};
}
