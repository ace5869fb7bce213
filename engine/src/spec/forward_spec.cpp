#include "jitbag/forward_spec.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <string_view>

#include "jitbag/error.hpp"

namespace jitbag {
namespace {

/// Loop counters, column numbers and offsets within a row are 32-bit in the kernels, with room for
/// a group's worth beyond the end.
constexpr std::int64_t dim_limit = std::int64_t{1} << 28;
constexpr std::int64_t bag_limit = std::int64_t{1} << 30;
constexpr std::int64_t stride_limit = std::int64_t{1} << 31;

/// The widest vector that a kernel loads.
constexpr std::int64_t widest_alignment = 16;

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> sentence, Arguments&&... arguments) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format(sentence, std::forward<Arguments>(arguments)...));
}

template <class Enumeration>
void check_enumerator(std::string_view field, Enumeration value, Enumeration last) {
  if (value > last) {
    refuse("{} has the number {}, which is none of its enumerators; use one of them.", field,
           static_cast<int>(value));
  }
}

/// Against numbers from outside that were cast without a look.
void check_enumerators(const ForwardSpec& spec) {
  check_enumerator("pooling", spec.pooling, Pooling::mean);
  check_enumerator("table_type", spec.table_type, DataType::bfloat16);
  check_enumerator("output_type", spec.output_type, DataType::bfloat16);
  check_enumerator("id_type", spec.id_type, IntegerType::int64);
  check_enumerator("bad_ids", spec.bad_ids, BadIds::trust);
  check_enumerator("addressing", spec.addressing, Addressing::bits32);
  if (const auto* csr = std::get_if<CsrBags>(&spec.bags)) {
    check_enumerator("offset_type", csr->offset_type, IntegerType::int64);
    check_enumerator("the offsets' end", csr->end, OffsetsEnd::implied);
  }
}

void check_dim(std::int64_t dim) {
  if (dim < 0 || dim >= dim_limit) {
    refuse("dim is {}; it must be at least 0 and less than 2^28.", dim);
  }
}

void check_bags(const BagLayout& bags) {
  const auto* fixed = std::get_if<FixedBags>(&bags);
  if (fixed != nullptr && (fixed->size < 0 || fixed->size >= bag_limit)) {
    refuse("The bag size is {}; it must be at least 0 and less than 2^30.", fixed->size);
  }
}

void check_padding_id(const ForwardSpec& spec) {
  using Int32 = std::numeric_limits<std::int32_t>;
  if (!spec.padding_id || spec.id_type == IntegerType::int64) return;
  if (*spec.padding_id < Int32::min() || *spec.padding_id > Int32::max()) {
    refuse("padding_id is {}, which no int32 id can equal; use int64 ids or another padding_id.",
           *spec.padding_id);
  }
}

void check_row_stride(std::int64_t row_stride, std::int64_t dim) {
  if (row_stride < dim || row_stride >= stride_limit) {
    refuse("row_stride is {}; it must be at least dim, {}, and less than 2^31, or 0 for dim.",
           row_stride, dim);
  }
}

void check_alignment(std::int64_t alignment, DataType table_type) {
  const std::int64_t element = size_of(table_type);
  if (alignment < element || !std::has_single_bit(static_cast<std::uint64_t>(alignment))) {
    refuse("alignment is {}; it must be a power of two and at least {}, the size of a {} element.",
           alignment, element, name(table_type));
  }
}

std::string bags_text(const BagLayout& bags) {
  if (const auto* fixed = std::get_if<FixedBags>(&bags)) return fmt::format("{}", fixed->size);
  const auto& csr = std::get<CsrBags>(bags);
  return fmt::format("csr offsets={}{}", name(csr.offset_type),
                     csr.end == OffsetsEnd::implied ? " end=implied" : "");
}

}  // namespace

ForwardSpec validated(ForwardSpec spec) {
  check_enumerators(spec);
  check_dim(spec.dim);
  check_bags(spec.bags);
  check_padding_id(spec);
  if (spec.row_stride == 0) spec.row_stride = spec.dim;
  check_row_stride(spec.row_stride, spec.dim);
  check_alignment(spec.alignment, spec.table_type);
  spec.alignment = std::min(spec.alignment, widest_alignment);
  return spec;
}

std::string to_text(const ForwardSpec& spec) {
  std::string text =
      fmt::format("embedding_bag_mean dim={} bags={} table={} output={} ids={} padding={}",
                  spec.dim, bags_text(spec.bags), name(spec.table_type), name(spec.output_type),
                  name(spec.id_type), spec.padding_id ? fmt::to_string(*spec.padding_id) : "none");
  const auto end = std::back_inserter(text);
  fmt::format_to(end, " bad_ids={}", name(spec.bad_ids));
  if (spec.row_stride != 0 && spec.row_stride != spec.dim) {
    fmt::format_to(end, " row_stride={}", spec.row_stride);
  }
  if (spec.alignment < widest_alignment) fmt::format_to(end, " alignment={}", spec.alignment);
  if (spec.addressing == Addressing::bits32) fmt::format_to(end, " addressing=bits32");
  return text;
}

std::string_view name(BadIds policy) {
  switch (policy) {
    case BadIds::skip:
      return "skip";
    case BadIds::report:
      return "report";
    case BadIds::trust:
      return "trust";
  }
  refuse("{} is not the number of a BadIds policy; use one of its enumerators.",
         static_cast<int>(policy));
}

BadIds parse_bad_ids(std::string_view text) {
  for (const auto policy : {BadIds::skip, BadIds::report, BadIds::trust}) {
    if (text == name(policy)) return policy;
  }
  refuse("\"{}\" is not a policy for bad ids; use skip, report or trust.", text);
}

}  // namespace jitbag
