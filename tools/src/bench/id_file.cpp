#include "bench/id_file.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>

#include "jitbag/error.hpp"
#include "kernel_request.hpp"
#include "npy.hpp"

namespace jitbag::tools::bench {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorKind::invalid_argument, sentence);
}

template <typename Integer>
std::vector<std::int64_t> widened(const std::vector<std::byte>& bytes) {
  std::vector<Integer> values(bytes.size() / sizeof(Integer));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return {values.begin(), values.end()};
}

std::vector<std::int64_t> numbers(const IntegerArray& array) {
  return array.type == IntegerType::int32 ? widened<std::int32_t>(array.bytes)
                                          : widened<std::int64_t>(array.bytes);
}

void require_within(const Options& options, const IdFile& file) {
  const auto count = static_cast<std::int64_t>(file.ids.size());
  std::int64_t previous = 0;
  for (std::size_t i = 0; i < file.offsets.size(); ++i) {
    const std::int64_t offset = file.offsets[i];
    if (offset < previous || offset > count)
      refuse(
          fmt::format("{} has {} at position {}; offsets must rise from 0 to at most the {} ids "
                      "of {}.",
                      options.offsets_file, offset, i, count, options.indices_file));
    previous = offset;
  }
}

void read_offsets(const Options& options, IdFile& file) {
  const IntegerArray array = read_npy(options.offsets_file);
  if (array.shape.size() != 1)
    refuse(fmt::format("{} has {} dimensions; offsets have one.", options.offsets_file,
                       array.shape.size()));
  const bool included = options.offsets_end == "included";
  file.offsets = numbers(array);
  file.batch = array.shape[0] - (included ? 1 : 0);
  if (file.batch < 1)
    refuse(fmt::format("{} has no bag; give one offset or more{}", options.offsets_file,
                       included ? ", and the end of the last bag." : "."));
  file.bags = CsrBags{array.type, included ? OffsetsEnd::included : OffsetsEnd::implied};
  require_within(options, file);
}

}  // namespace

IdFile read_id_file(const Options& options) {
  const IntegerArray array = read_npy(options.indices_file);
  const std::size_t dimensions = array.shape.size();
  IdFile file;
  file.id_type = options.id_type_given ? parse_integer_type(options.id_type) : array.type;
  file.ids = numbers(array);
  if (!file.ids.empty())
    file.largest_id =
        std::max<std::int64_t>(0, *std::max_element(file.ids.begin(), file.ids.end()));
  if (file.largest_id >= largest_count)
    refuse(fmt::format(
        "{} has the id {}; a table for it would not fit any device, so pass ids below {}.",
        options.indices_file, file.largest_id, largest_count));
  if (options.offsets_file.empty()) {
    if (dimensions != 2)
      refuse(
          fmt::format("{} has {} dimension; give --offsets with it, or ids of two dimensions, "
                      "[batch, bag].",
                      options.indices_file, dimensions));
    file.batch = array.shape[0];
    file.bags = FixedBags{array.shape[1]};
    if (file.batch < 1) refuse(fmt::format("{} has no bag.", options.indices_file));
    return file;
  }
  if (dimensions != 1)
    refuse(fmt::format("{} has {} dimensions; with --offsets it has one.", options.indices_file,
                       dimensions));
  read_offsets(options, file);
  return file;
}

}  // namespace jitbag::tools::bench
