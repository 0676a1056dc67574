//===- SealProgram.cpp - a program that knows whether it is whole ---------===//
//
// Memory addresses stay, but file offsets change: first the data of the loader
// (names, relocations, data), then code, then constants, then weights. So a
// truncated file still starts and reports it, unless hardly anything is left of
// it.
//
//===----------------------------------------------------------------------===//

#include "codegen/native/SealProgram.h"
#include "runtime/model/ProgramSeal.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <vector>

using namespace llvm::ELF;

namespace {

constexpr uint64_t pageSize = 4096;

/// Parses one file, and reassembles it.
class Layout {
public:
  explicit Layout(std::string &file) : file(file) {}

  /// Returns false if the file cannot be laid out.
  bool read();
  void write();
  /// The offset of the section with weights and description in the file.
  std::pair<uint64_t, uint64_t> largeData() const;

private:
  /// Bytes that are loaded, with their header.
  struct Piece {
    Elf64_Phdr header;
    uint64_t place; // in the new file
  };
  template <typename T>
  bool readTable(uint64_t place, size_t count, std::vector<T> &table) {
    if (place > file.size() || count * sizeof(T) > file.size() - place)
      return false;
    table.resize(count);
    std::memcpy(table.data(), file.data() + place, count * sizeof(T));
    return true;
  }
  llvm::StringRef nameOf(const Elf64_Shdr &section) const;
  void splitConstants();
  static int orderOf(const Elf64_Phdr &header, bool isFirst);
  uint64_t placeOf(uint64_t address) const;

  std::string &file;
  Elf64_Ehdr header;
  std::vector<Elf64_Phdr> others; // headers that load nothing
  std::vector<Piece> pieces;      // by address
  std::vector<Elf64_Shdr> sections;
};

} // namespace

llvm::StringRef Layout::nameOf(const Elf64_Shdr &section) const {
  const Elf64_Shdr &names = sections[header.e_shstrndx];
  uint64_t place = names.sh_offset + section.sh_name;
  return place < file.size() ? llvm::StringRef(file.c_str() + place) : "";
}

bool Layout::read() {
  if (file.size() < sizeof(header))
    return false;
  std::memcpy(&header, file.data(), sizeof(header));
  std::vector<Elf64_Phdr> headers;
  if (!header.checkMagic() || header.getFileClass() != ELFCLASS64 ||
      header.getDataEncoding() != ELFDATA2LSB || header.e_type != ET_DYN ||
      header.e_phoff != sizeof(header) ||
      !readTable(header.e_phoff, header.e_phnum, headers) ||
      !readTable(header.e_shoff, header.e_shnum, sections) ||
      header.e_shstrndx >= sections.size())
    return false;
  for (const Elf64_Phdr &one : headers) {
    if (one.p_offset > file.size() || one.p_filesz > file.size() - one.p_offset)
      return false;
    if (one.p_type == PT_LOAD)
      pieces.push_back({one, 0});
    else
      others.push_back(one);
  }
  if (pieces.empty() || pieces[0].header.p_offset != 0 ||
      pieces[0].header.p_flags != PF_R)
    return false;
  splitConstants();
  return true;
}

/// Cuts the first segment where the constants begin; the loader needs none of
/// them. Their header replaces the header of the notes, which nothing needs at
/// run time.
void Layout::splitConstants() {
  Elf64_Phdr &first = pieces[0].header;
  auto notes = llvm::find_if(
      others, [](const Elf64_Phdr &one) { return one.p_type == PT_NOTE; });
  uint64_t begin = first.p_vaddr + first.p_filesz;
  for (const Elf64_Shdr &section : sections)
    if (llvm::StringRef name = nameOf(section);
        name == ".rodata" || name == ".lrodata" ||
        name == ".gcc_except_table" || name == ".eh_frame" ||
        name == ".eh_frame_hdr")
      begin = std::min<uint64_t>(begin, section.sh_addr);
  begin = llvm::alignDown(begin, pageSize);
  if (notes == others.end() || begin <= first.p_vaddr ||
      begin >= first.p_vaddr + first.p_filesz ||
      llvm::any_of(sections, [&](const Elf64_Shdr &section) {
        // What the loader needs may come after constants.
        return (section.sh_flags & SHF_ALLOC) != 0 &&
               section.sh_addr >= begin + pageSize &&
               section.sh_addr < first.p_vaddr + first.p_filesz &&
               section.sh_type != SHT_PROGBITS;
      }))
    return;
  // A page that has both stays with the loader's.
  begin += pageSize;
  if (begin >= first.p_vaddr + first.p_filesz)
    return;
  others.erase(notes);
  Elf64_Phdr second = first;
  uint64_t size = begin - first.p_vaddr;
  second.p_offset += size;
  second.p_vaddr += size;
  second.p_paddr += size;
  second.p_filesz -= size;
  second.p_memsz -= size;
  first.p_filesz = first.p_memsz = size;
  pieces.insert(pieces.begin() + 1, {second, 0});
}

/// The loader's data, code, constants, weights.
int Layout::orderOf(const Elf64_Phdr &header, bool isFirst) {
  return isFirst                        ? 0
         : (header.p_flags & PF_W) != 0 ? 1
         : (header.p_flags & PF_X) != 0 ? 2
                                        : 3;
}

/// Returns the new file offset of the byte at an address; 0 if there is none.
uint64_t Layout::placeOf(uint64_t address) const {
  for (const Piece &piece : pieces)
    if (address >= piece.header.p_vaddr &&
        address - piece.header.p_vaddr <= piece.header.p_filesz)
      return piece.place + (address - piece.header.p_vaddr);
  return 0;
}

void Layout::write() {
  std::vector<Piece *> order;
  for (Piece &piece : pieces)
    order.push_back(&piece);
  auto rankOf = [&](const Piece *piece) {
    return std::pair(orderOf(piece->header, piece == &pieces[0]),
                     uint64_t(piece->header.p_vaddr));
  };
  llvm::sort(order, [&](const Piece *a, const Piece *b) {
    return rankOf(a) < rankOf(b);
  });
  std::string result;
  for (Piece *piece : order) {
    // Offset and address are congruent modulo the page size.
    piece->place = llvm::alignDown(result.size(), pageSize) +
                   piece->header.p_vaddr % pageSize;
    if (piece->place < result.size())
      piece->place += pageSize;
    result.resize(piece->place);
    result.append(file, piece->header.p_offset, piece->header.p_filesz);
  }
  for (Elf64_Shdr &section : sections) {
    if (section.sh_type == SHT_NULL)
      continue;
    if ((section.sh_flags & SHF_ALLOC) != 0) {
      section.sh_offset = placeOf(section.sh_addr);
      continue;
    }
    uint64_t from = section.sh_offset;
    result.resize(llvm::alignTo(result.size(),
                                std::max<uint64_t>(section.sh_addralign, 1)));
    section.sh_offset = result.size();
    result.append(file, from, section.sh_size);
  }
  result.resize(llvm::alignTo(result.size(), 8));
  header.e_shoff = result.size();
  result.append(reinterpret_cast<const char *>(sections.data()),
                sections.size() * sizeof(Elf64_Shdr));

  std::vector<Elf64_Phdr> headers;
  auto add = [&](Elf64_Phdr one) {
    if (one.p_filesz != 0 || one.p_type == PT_LOAD)
      one.p_offset = placeOf(one.p_vaddr);
    headers.push_back(one);
  };
  auto isEarly = [](const Elf64_Phdr &one) {
    return one.p_type == PT_PHDR || one.p_type == PT_INTERP;
  };
  for (const Elf64_Phdr &one : others)
    if (isEarly(one))
      add(one);
  for (const Piece &piece : pieces) {
    Elf64_Phdr one = piece.header;
    one.p_offset = piece.place;
    headers.push_back(one);
  }
  for (const Elf64_Phdr &one : others)
    if (!isEarly(one))
      add(one);
  std::memcpy(result.data(), &header, sizeof(header));
  std::memcpy(result.data() + sizeof(header), headers.data(),
              headers.size() * sizeof(Elf64_Phdr));
  file = std::move(result);
}

std::pair<uint64_t, uint64_t> Layout::largeData() const {
  for (const Elf64_Shdr &section : sections)
    if (nameOf(section).starts_with(".lrodata"))
      return {section.sh_offset, section.sh_offset + section.sh_size};
  return {file.size(), file.size()};
}

void fovea::codegen::sealProgram(std::string &file) {
  static constexpr char mark[16] = FOVEA_SEAL_MARK;
  Layout layout(file);
  if (!layout.read())
    return;
  layout.write();
  size_t place = file.find(llvm::StringRef(mark, sizeof(mark)));
  if (place == std::string::npos || place + sizeof(FoveaSeal) > file.size())
    return;
  FoveaSeal seal;
  std::memcpy(&seal, file.data() + place, sizeof(seal));
  auto [begin, end] = layout.largeData();
  seal.size = file.size();
  seal.place = place;
  bool isAfterSeal = place + sizeof(seal) <= begin;
  seal.skipBegin = isAfterSeal ? begin : file.size();
  seal.skipEnd = isAfterSeal ? end : file.size();
  seal.checksum = runtime::checksumOf(file, seal);
  std::memcpy(file.data() + place, &seal, sizeof(seal));
}
