#include "compiler/cubin.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace jitbag::compiler {
namespace {

using Bytes = std::span<const std::byte>;

std::optional<Bytes> part(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

/// A header of the file, copied, as it may lie at any address.
template <class Header>
std::optional<Header> header_at(Bytes bytes, std::uint64_t offset) {
  const auto from = part(bytes, offset, sizeof(Header));
  if (!from) return {};
  Header header;
  std::memcpy(&header, from->data(), sizeof header);
  return header;
}

std::optional<Elf64_Shdr> section(Bytes cubin, const Elf64_Ehdr& file, std::uint64_t index) {
  if (index >= file.e_shnum || file.e_shentsize != sizeof(Elf64_Shdr)) return {};
  return header_at<Elf64_Shdr>(cubin, file.e_shoff + index * sizeof(Elf64_Shdr));
}

/// The bytes that a section has in the file; none for one that has only a size.
std::optional<Bytes> content(Bytes cubin, const Elf64_Shdr& header) {
  if (header.sh_type == SHT_NOBITS) return Bytes();
  return part(cubin, header.sh_offset, header.sh_size);
}

bool has_name(Bytes names, std::uint64_t offset, const std::string& name) {
  const auto found = part(names, offset, name.size() + 1);  // with its NUL
  return found && std::memcmp(found->data(), name.c_str(), name.size() + 1) == 0;
}

}  // namespace

bool has_kernel(Bytes cubin, std::string_view entry) {
  const auto file = header_at<Elf64_Ehdr>(cubin, 0);
  if (!file || std::memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 ||
      file->e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  const auto names_header = section(cubin, *file, file->e_shstrndx);
  const auto names = names_header ? content(cubin, *names_header) : std::nullopt;
  if (!names) return false;
  const std::string code = ".text." + std::string(entry);
  bool found = false;
  for (std::uint64_t i = 0; i < file->e_shnum; ++i) {
    const auto header = section(cubin, *file, i);
    const auto bytes = header ? content(cubin, *header) : std::nullopt;
    if (!bytes) return false;
    found = found || (!bytes->empty() && has_name(*names, header->sh_name, code));
  }
  return found;
}

}  // namespace jitbag::compiler
