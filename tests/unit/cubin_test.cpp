#include "compiler/cubin.hpp"

#include <elf.h>

#include <cstring>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "support/seed.hpp"

namespace jitbag::test {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
void write(Bytes& bytes, std::size_t offset, const T& value) {
  if (bytes.size() < offset + sizeof value) bytes.resize(offset + sizeof value);
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

/// An ELF file of two sections: the names, and code under the given name.
Bytes file_with(const std::string& section, std::uint64_t code_size = 16) {
  const std::string names = '\0' + section + '\0';
  constexpr std::size_t names_at = sizeof(Elf64_Ehdr);
  const std::size_t code_at = names_at + names.size();
  const std::size_t headers_at = code_at + code_size;
  Elf64_Ehdr file{};
  std::memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_shoff = headers_at;
  file.e_shentsize = sizeof(Elf64_Shdr);
  file.e_shnum = 2;
  Elf64_Shdr of_names{};
  of_names.sh_type = SHT_STRTAB;
  of_names.sh_offset = names_at;
  of_names.sh_size = names.size();
  Elf64_Shdr of_code{};
  of_code.sh_name = 1;
  of_code.sh_type = SHT_PROGBITS;
  of_code.sh_offset = code_at;
  of_code.sh_size = code_size;
  Bytes bytes;
  write(bytes, 0, file);
  for (std::size_t i = 0; i < names.size(); ++i) write(bytes, names_at + i, names[i]);
  bytes.resize(headers_at);
  write(bytes, headers_at, of_names);
  write(bytes, headers_at + sizeof of_names, of_code);
  return bytes;
}

TEST_CASE("machine code is whole when the kernel's code is in it, under its very name") {
  CHECK(compiler::has_kernel(file_with(".text.scale"), "scale"));
  CHECK_FALSE(compiler::has_kernel(file_with(".text.scale"), "scal"));
  CHECK_FALSE(compiler::has_kernel(file_with(".text.scale"), "scale2"));
  CHECK_FALSE(compiler::has_kernel(file_with(".nv.global.scale"), "scale"));
  CHECK_FALSE(compiler::has_kernel(file_with(".text.scale", 0), "scale"));
}

TEST_CASE("machine code that was cut anywhere is not whole") {
  const Bytes whole = file_with(".text.scale");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO(size << " of " << whole.size() << " bytes");
    CHECK_FALSE(compiler::has_kernel(Bytes(whole.begin(), whole.begin() + size), "scale"));
  }
}

TEST_CASE("no damage of machine code is believed beyond the end of the file") {
  std::cout << "JITBAG_TEST_SEED=" << seed() << '\n';
  std::mt19937_64 random(seed());
  const Bytes whole = file_with(".text.scale");
  for (int i = 0; i < 100'000; ++i) {
    Bytes damaged = whole;
    for (auto left = 1 + random() % 4; left > 0; --left)
      damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    static_cast<void>(compiler::has_kernel(damaged, "scale"));  // the sanitizers watch
  }
}

}  // namespace
}  // namespace jitbag::test
