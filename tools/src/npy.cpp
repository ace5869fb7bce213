#include "npy.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "jitbag/error.hpp"

namespace jitbag::tools {
namespace {

/// A .npy file: the magic, a version, the length of the header, the header, the elements. The
/// header is a Python dictionary: {'descr': '<i8', 'fortran_order': False, 'shape': (3, 4), }.
struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
};

[[noreturn]] void damaged(const std::filesystem::path& path, std::string_view reason) {
  throw Error(ErrorKind::io_failed,
              fmt::format("{} is not a whole .npy file: {}; write it again with numpy.save.",
                          path.string(), reason));
}

[[noreturn]] void unsuitable(const std::filesystem::path& path, std::string_view what,
                             std::string_view advice) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} holds {}; {}.", path.string(), what, advice));
}

/// Reads the dictionary from front to back; every function throws by `damaged`.
class HeaderParser {
 public:
  HeaderParser(const std::filesystem::path& path, std::string_view text)
      : path_(path), rest_(text) {}

  Header parse() {
    Header header;
    expect('{');
    while (!accept('}')) {
      read_entry(header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) fail();
    return header;
  }

 private:
  void read_entry(Header& header) {
    const std::string key = string();
    expect(':');
    if (key == "descr") {
      header.descr = type();
    } else if (key == "fortran_order") {
      header.fortran_order = boolean();
    } else if (key == "shape") {
      header.shape = tuple();
    } else {
      damaged(path_, fmt::format("its header has an entry '{}' that is not known", key));
    }
  }

  /// A list instead of a string describes records.
  std::string type() {
    if (accept('[')) {
      unsuitable(path_, "records of several fields", "save one field, as int32 or int64");
    }
    return string();
  }

  std::string string() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') fail();
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) fail();
    std::string value(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return value;
  }

  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(std::string_view(word).size());
      return value;
    }
    fail();
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(size());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  std::int64_t size() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::result_out_of_range) damaged(path_, "its shape passes 64 bits");
    if (error != std::errc{}) fail();
    if (value < 0) damaged(path_, fmt::format("its shape has the negative size {}", value));
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail();
  }

  bool accept(char wanted) {
    skip_space();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t\r"), rest_.size()));
  }

  [[noreturn]] void fail() const {
    damaged(path_, rest_.empty() ? "its header ends too early"
                                 : fmt::format("its header cannot be read from \"{}\" on",
                                               rest_.substr(0, 20)));
  }

  const std::filesystem::path& path_;
  std::string_view rest_;
};

class NpyFile {
 public:
  explicit NpyFile(const std::filesystem::path& path) : path_(path) {
    std::error_code error;
    // Asked before opening: to open a pipe waits for a writer.
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
      throw Error(
          ErrorKind::io_failed,
          fmt::format("{} is not a regular file; give the path of a .npy file.", path.string()));
    }
    stream_.open(path, std::ios::binary);
    const auto size = std::filesystem::file_size(path, error);
    if (error || !stream_) {
      throw Error(ErrorKind::io_failed,
                  fmt::format("{} cannot be read ({}); give the path of a .npy file.",
                              path.string(), error ? error.message() : "it cannot be opened"));
    }
    remaining_ = size;
  }

  IntegerArray read() {
    const std::string text = header_text();
    const Header header = HeaderParser(path_, text).parse();
    if (!header.descr || !header.fortran_order || !header.shape) {
      damaged(path_, "its header lacks descr, fortran_order or shape");
    }
    IntegerArray array;
    array.type = element_type(*header.descr);
    array.shape = *header.shape;
    check_order(*header.fortran_order, array.shape);
    array.bytes.resize(byte_count(array));
    read_exactly(array.bytes.data(), array.bytes.size(), "its elements");
    return array;
  }

 private:
  std::string header_text() {
    static constexpr std::string_view magic = "\x93NUMPY";
    std::array<char, 8> start{};
    read_exactly(start.data(), start.size(), "its first bytes");
    if (std::string_view(start.data(), magic.size()) != magic) {
      damaged(path_, "it does not begin with the .npy magic");
    }
    const int version = static_cast<unsigned char>(start[6]);
    const int minor = static_cast<unsigned char>(start[7]);
    if (version < 1 || version > 3 || minor != 0) {
      unsuitable(path_, fmt::format("format version {}.{}", version, minor),
                 "only 1.0, 2.0 and 3.0 are known, so save it with a NumPy that writes those");
    }
    const std::uint64_t length = header_length(version == 1 ? 2 : 4);
    if (length > remaining_) damaged(path_, "it ends within its header");
    std::string text(length, '\0');
    read_exactly(text.data(), text.size(), "its header");
    return text;
  }

  std::uint64_t header_length(std::size_t width) {
    std::array<unsigned char, 4> bytes{};
    read_exactly(bytes.data(), width, "the length of its header");
    std::uint64_t length = 0;
    for (std::size_t i = width; i-- > 0;) length = length << 8 | bytes[i];
    return length;
  }

  IntegerType element_type(std::string_view descr) const {
    if (descr == "<i4") return IntegerType::int32;
    if (descr == "<i8") return IntegerType::int64;
    unsuitable(path_, fmt::format("elements of type '{}'", descr),
               "only '<i4' and '<i8' can be read, so save array.astype('<i8')");
  }

  void check_order(bool fortran_order, const std::vector<std::int64_t>& shape) const {
    if (shape.empty() || shape.size() > 2) {
      unsuitable(path_, fmt::format("an array of {} dimensions", shape.size()),
                 "only one or two can be read, so reshape it");
    }
    if (fortran_order && shape.size() == 2) {
      unsuitable(path_, "an array in Fortran order",
                 "only C order can be read, so save numpy.ascontiguousarray(array)");
    }
  }

  /// What the header says, which must be what the file has left.
  std::uint64_t byte_count(const IntegerArray& array) const {
    std::uint64_t count = static_cast<std::uint64_t>(size_of(array.type));
    for (const std::int64_t size : array.shape) {
      const auto factor = static_cast<std::uint64_t>(size);
      if (factor != 0 && count > std::numeric_limits<std::uint64_t>::max() / factor) {
        damaged(path_, "its shape has more elements than 64 bits can count");
      }
      count *= factor;
    }
    if (count != remaining_) {
      damaged(path_, fmt::format("its header promises {} bytes of elements, but {} follow", count,
                                 remaining_));
    }
    return count;
  }

  void read_exactly(void* target, std::size_t size, std::string_view what) {
    if (size > remaining_) damaged(path_, fmt::format("it ends within {}", what));
    stream_.read(static_cast<char*>(target), static_cast<std::streamsize>(size));
    if (!stream_) {
      throw Error(ErrorKind::io_failed,
                  fmt::format("Reading {} failed within {}; check the disk and the file's rights.",
                              path_.string(), what));
    }
    remaining_ -= size;
  }

  const std::filesystem::path& path_;
  std::ifstream stream_;
  std::uint64_t remaining_ = 0;
};

}  // namespace

IntegerArray read_npy(const std::filesystem::path& path) {
  return NpyFile(path).read();
}

}  // namespace jitbag::tools
