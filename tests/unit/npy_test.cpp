#include "npy.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "support/caught.hpp"

namespace jitbag::tools {
namespace {

/// A file that goes when the test does.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content)
      : path_(std::filesystem::temp_directory_path() /
              ("jitbag-npy-test-" + std::to_string(getpid()) + ".npy")) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string preamble(int version, std::uint64_t header_length) {
  return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' +
         little_endian(header_length, version == 1 ? 2 : 4);
}

std::string file(const std::string& header, const std::string& elements, int version = 1) {
  return preamble(version, header.size()) + header + elements;
}

std::string header(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

template <class Integer>
std::string elements(const std::vector<Integer>& values) {
  std::string text;
  for (const Integer value : values) {
    text += little_endian(static_cast<std::uint64_t>(value), sizeof value);
  }
  return text;
}

template <class Integer>
std::vector<Integer> values(const IntegerArray& array) {
  std::vector<Integer> result(array.bytes.size() / sizeof(Integer));
  std::memcpy(result.data(), array.bytes.data(), result.size() * sizeof(Integer));
  return result;
}

/// What the reader says about a file with this content, the path as FILE.
std::string complaint(const std::string& content) {
  const TemporaryFile temporary(content);
  std::string text = test::caught([&] { (void)read_npy(temporary.path()); });
  const std::string path = temporary.path().string();
  const auto at = text.find(path);
  REQUIRE(at != std::string::npos);
  return text.replace(at, path.size(), "FILE");
}

std::string damaged(const std::string& reason) {
  return "io_failed: FILE is not a whole .npy file: " + reason +
         "; write it again with numpy.save.";
}

TEST_CASE("int64 and int32 arrays of one and two dimensions are read") {
  const std::vector<std::int64_t> wide{1, -2, std::int64_t{1} << 40};
  const TemporaryFile one(file(header("<i8", "False", "(3,)") + "     \n", elements(wide)));
  const auto array = read_npy(one.path());
  CHECK(array.type == IntegerType::int64);
  CHECK(array.shape == std::vector<std::int64_t>{3});
  CHECK(values<std::int64_t>(array) == wide);

  const std::vector<std::int32_t> narrow{1, 2, 3, 4, 5, -6};
  const TemporaryFile two(file(header("<i4", "False", "(3, 2)"), elements(narrow)));
  const auto matrix = read_npy(two.path());
  CHECK(matrix.type == IntegerType::int32);
  CHECK(matrix.shape == std::vector<std::int64_t>{3, 2});
  CHECK(values<std::int32_t>(matrix) == narrow);
}

TEST_CASE("format versions 2.0 and 3.0 are read") {
  for (const int version : {2, 3}) {
    const TemporaryFile temporary(
        file(header("<i4", "False", "(1,)"), elements<std::int32_t>({7}), version));
    CHECK(values<std::int32_t>(read_npy(temporary.path())) == std::vector<std::int32_t>{7});
  }
}

TEST_CASE("the header may have its entries in any order, and other quotes and spaces") {
  const std::string unusual =
      R"({ "shape" :( 2 ),"fortran_order":True , "descr":"<i4"})" + std::string(8, ' ') + "\n";
  const TemporaryFile temporary(file(unusual, elements<std::int32_t>({7, 8})));
  CHECK(values<std::int32_t>(read_npy(temporary.path())) == std::vector<std::int32_t>{7, 8});
}

TEST_CASE("an array of no elements is read") {
  const TemporaryFile temporary(file(header("<i8", "False", "(0, 4)"), ""));
  const auto array = read_npy(temporary.path());
  CHECK(array.shape == std::vector<std::int64_t>{0, 4});
  CHECK(array.bytes.empty());
}

TEST_CASE("a file that is not there, and a folder, are answered with a sentence") {
  CHECK(test::caught([] { (void)read_npy("/nonexistent/ids.npy"); }) ==
        "io_failed: /nonexistent/ids.npy cannot be read (No such file or directory); give the path "
        "of a .npy file.");
  CHECK(test::caught([] { (void)read_npy("/"); }) ==
        "io_failed: / is not a regular file; give the path of a .npy file.");
}

TEST_CASE("a file that is not .npy or ends early is damaged") {
  CHECK(complaint("") == damaged("it ends within its first bytes"));
  CHECK(complaint("PK\x03\x04 a zip archive") == damaged("it does not begin with the .npy magic"));
  CHECK(complaint("\x93NUMPY\x01") == damaged("it ends within its first bytes"));
  CHECK(complaint(preamble(1, 0).substr(0, 9)) ==
        damaged("it ends within the length of its header"));
  CHECK(complaint(preamble(1, 100) + "{'descr'") == damaged("it ends within its header"));
  CHECK(complaint(preamble(2, 0xffffffff) + "{'descr'") == damaged("it ends within its header"));
}

TEST_CASE("every file cut short is damaged") {
  const std::string whole = file(header("<i8", "False", "(2, 1)"), elements<std::int64_t>({1, 2}));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO("cut to " << size);
    const std::string text = complaint(whole.substr(0, size));
    CHECK(text.rfind("io_failed: FILE is not a whole .npy file: it", 0) == 0);
  }
}

TEST_CASE("a header that says another size than the file has is damaged") {
  const std::string three = elements<std::int32_t>({1, 2, 3});
  CHECK(complaint(file(header("<i4", "False", "(4,)"), three)) ==
        damaged("its header promises 16 bytes of elements, but 12 follow"));
  CHECK(complaint(file(header("<i4", "False", "(2,)"), three)) ==
        damaged("its header promises 8 bytes of elements, but 12 follow"));
}

TEST_CASE("a shape beyond what can be counted is damaged") {
  const std::string half = "4611686018427387904";  // 2^62
  CHECK(complaint(file(header("<i4", "False", "(" + half + ", 4)"), "")) ==
        damaged("its shape has more elements than 64 bits can count"));
  CHECK(complaint(file(header("<i4", "False", "(" + half + "0,)"), "")) ==
        damaged("its shape passes 64 bits"));
  CHECK(complaint(file(header("<i4", "False", "(-1,)"), "")) ==
        damaged("its shape has the negative size -1"));
}

TEST_CASE("a header that is not a dictionary of the three entries is damaged") {
  CHECK(complaint(file("", "")) == damaged("its header ends too early"));
  CHECK(complaint(file("['<i4']", "")) == damaged("its header cannot be read from \"['<i4']\" on"));
  CHECK(complaint(file("{'descr': '<i4'}", "")) ==
        damaged("its header lacks descr, fortran_order or shape"));
  CHECK(complaint(file("{'descr': '<i4", "")) ==
        damaged("its header cannot be read from \"'<i4\" on"));
  CHECK(complaint(file("{'colour': 3}", "")) ==
        damaged("its header has an entry 'colour' that is not known"));
  CHECK(complaint(file(header("<i4", "Maybe", "(1,)"), "")) ==
        damaged("its header cannot be read from \"Maybe, 'shape': (1,)\" on"));
  CHECK(complaint(file(header("<i4", "False", "(1 2)"), "")) ==
        damaged("its header cannot be read from \"2), }\" on"));
  CHECK(complaint(file(header("<i4", "False", "(0,)") + "}", "")) ==
        damaged("its header cannot be read from \"}\" on"));
}

TEST_CASE("whole files with something else in them are refused with what to do") {
  for (const std::string type : {"<f4", ">i8", "<u4", "|b1"}) {
    CHECK(complaint(file(header(type, "False", "(0,)"), "")) ==
          "invalid_argument: FILE holds elements of type '" + type +
              "'; only '<i4' and '<i8' can be read, so save array.astype('<i8').");
  }
  CHECK(complaint(file("{'descr': [('id', '<i8')], ", "")) ==
        "invalid_argument: FILE holds records of several fields; save one field, as int32 or "
        "int64.");
  CHECK(complaint(file(header("<i4", "True", "(2, 1)"), elements<std::int32_t>({1, 2}))) ==
        "invalid_argument: FILE holds an array in Fortran order; only C order can be read, so save "
        "numpy.ascontiguousarray(array).");
  CHECK(complaint(file(header("<i4", "False", "()"), elements<std::int32_t>({1}))) ==
        "invalid_argument: FILE holds an array of 0 dimensions; only one or two can be read, so "
        "reshape it.");
  CHECK(complaint(file(header("<i4", "False", "(1, 1, 1)"), elements<std::int32_t>({1}))) ==
        "invalid_argument: FILE holds an array of 3 dimensions; only one or two can be read, so "
        "reshape it.");
  CHECK(complaint(file("", "", 4)) ==
        "invalid_argument: FILE holds format version 4.0; only 1.0, 2.0 and 3.0 are known, so save "
        "it with a NumPy that writes those.");
}

}  // namespace
}  // namespace jitbag::tools
