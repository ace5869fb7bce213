#include "bench/id_file.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>

#include "jitbag/error.hpp"
#include "kernel_choice.hpp"
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

void require_within(const IdFileNames& names, const IdFile& file) {
  const auto count = static_cast<std::int64_t>(file.ids.size());
  std::int64_t previous = 0;
  for (std::size_t i = 0; i < file.offsets.size(); ++i) {
    const std::int64_t offset = file.offsets[i];
    if (offset < previous || offset > count)
      refuse(
          fmt::format("{} has {} at position {}; offsets must rise from 0 to at most the {} ids "
                      "of {}.",
                      names.offsets, offset, i, count, names.indices));
    previous = offset;
  }
}

void read_offsets(const IdFileNames& names, IdFile& file) {
  const IntegerArray array = read_npy(names.offsets);
  if (array.shape.size() != 1)
    refuse(
        fmt::format("{} has {} dimensions; offsets have one.", names.offsets, array.shape.size()));
  const bool included = names.offsets_end == OffsetsEnd::included;
  file.offsets = numbers(array);
  file.batch = array.shape[0] - (included ? 1 : 0);
  if (file.batch < 1)
    refuse(fmt::format("{} has no bag; give one offset or more{}", names.offsets,
                       included ? ", and the end of the last bag." : "."));
  file.bags = CsrBags{array.type, names.offsets_end};
  require_within(names, file);
}

}  // namespace

IdFile read_id_file(const IdFileNames& names) {
  const IntegerArray array = read_npy(names.indices);
  const std::size_t dimensions = array.shape.size();
  IdFile file;
  file.id_type = array.type;
  file.ids = numbers(array);
  if (!file.ids.empty())
    file.largest_id =
        std::max<std::int64_t>(0, *std::max_element(file.ids.begin(), file.ids.end()));
  if (file.largest_id >= largest_count)
    refuse(fmt::format(
        "{} has the id {}; a table for it would not fit any device, so pass ids below {}.",
        names.indices, file.largest_id, largest_count));
  if (names.offsets.empty()) {
    if (dimensions != 2)
      refuse(
          fmt::format("{} has {} dimension; give --offsets with it, or ids of two dimensions, "
                      "[batch, bag].",
                      names.indices, dimensions));
    file.batch = array.shape[0];
    file.bags = FixedBags{array.shape[1]};
    if (file.batch < 1) refuse(fmt::format("{} has no bag.", names.indices));
    return file;
  }
  if (dimensions != 1)
    refuse(
        fmt::format("{} has {} dimensions; with --offsets it has one.", names.indices, dimensions));
  read_offsets(names, file);
  return file;
}

}  // namespace jitbag::tools::bench
