#include "file.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <fstream>
#include <iostream>

#include "jitbag/error.hpp"
#include "output.hpp"

namespace jitbag::tools {
namespace {

std::string content(std::istream& stream, const std::string& path, std::uint64_t most_bytes) {
  std::string content;
  std::array<char, 65536> part{};
  while (stream.read(part.data(), part.size()), stream.gcount() > 0) {
    content.append(part.data(), static_cast<std::size_t>(stream.gcount()));
    if (content.size() > most_bytes)
      throw Error(ErrorKind::io_failed,
                  fmt::format("{} has more than {}; give a smaller one.", path,
                              human_bytes(static_cast<double>(most_bytes))));
  }
  if (!stream.eof())
    throw Error(ErrorKind::io_failed,
                fmt::format("{} cannot be read; name a file that you may read.", path));
  return content;
}

}  // namespace

std::string read_file(const std::string& path, std::uint64_t most_bytes) {
  if (path == "-") return content(std::cin, "standard input", most_bytes);
  std::ifstream file(path, std::ios::binary);
  return content(file, path, most_bytes);
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file)
    throw Error(ErrorKind::io_failed,
                fmt::format("{} cannot be written; name a file in a folder of yours.", path));
}

}  // namespace jitbag::tools
