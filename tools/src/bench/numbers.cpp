#include "bench/numbers.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "bench/random_bits.hpp"

namespace jitbag::tools::bench {
namespace {

// The kinds are numbers here, in the order of Numbers::Kind.
JITBAG_HOST_AND_DEVICE(
    number_source,

    /// The bits of value / 2^shift, for a value below 2^8 that is exact in the type.
    inline unsigned long long float_bits(long long value, int shift, int exponent_bits,
                                         int mantissa_bits) {
      if (value == 0) return 0;
      const unsigned long long size = static_cast<unsigned long long>(value < 0 ? -value : value);
      int highest = 0;
      while ((size >> (highest + 1)) != 0) ++highest;
      const unsigned long long sign = value < 0 ? 1 : 0;
      const unsigned long long exponent =
          static_cast<unsigned long long>((1 << (exponent_bits - 1)) - 1 + highest - shift);
      const unsigned long long mantissa =
          (size << (mantissa_bits - highest)) & ((1ull << mantissa_bits) - 1);
      return (((sign << exponent_bits) | exponent) << mantissa_bits) | mantissa;
    }

    inline unsigned long long drawn_number(int kind, int exponent_bits, int mantissa_bits,
                                           int shift, unsigned long long limit,
                                           unsigned long long random) {
      if (kind == 0) return random & limit;
      const long long low = static_cast<long long>(random & 255);
      if (kind == 1) return float_bits(low - 128, shift, exponent_bits, mantissa_bits);
      if (kind == 2) return float_bits(low | 128, shift, exponent_bits, mantissa_bits);
      return random % limit;
    })

constexpr const char* kernel_source = R"(
extern "C" __global__ void write_numbers(unsigned char* first, long long count, long long stride,
                                         unsigned long long stream, unsigned long long limit) {
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += threads) {
    const unsigned long long bits =
        drawn_number(kind, exponent_bits, mantissa_bits, shift, limit, random_bits(stream, i));
    unsigned char* const place = first + i * stride;
    if (bytes == 1) *place = static_cast<unsigned char>(bits);
    if (bytes == 2) *reinterpret_cast<unsigned short*>(place) = static_cast<unsigned short>(bits);
    if (bytes == 4) *reinterpret_cast<unsigned*>(place) = static_cast<unsigned>(bits);
    if (bytes == 8) *reinterpret_cast<unsigned long long*>(place) = bits;
  }
}
)";

Numbers floats(DataType type, Numbers::Kind kind, int shift) {
  Numbers numbers{.kind = kind, .bytes = size_of(type), .shift = shift};
  switch (type) {
    case DataType::float64:
      numbers.exponent_bits = 11;
      numbers.mantissa_bits = 52;
      break;
    case DataType::float16:
      numbers.exponent_bits = 5;
      numbers.mantissa_bits = 10;
      break;
    case DataType::bfloat16:
      numbers.exponent_bits = 8;
      numbers.mantissa_bits = 7;
      break;
    default:
      numbers.exponent_bits = 8;
      numbers.mantissa_bits = 23;
  }
  return numbers;
}

Numbers elements(DataType type) {
  if (!is_quantised(type)) return floats(type, Numbers::Kind::fraction, 7);
  // A float8 without the highest bit of its exponent is below 2, and neither infinite nor a NaN.
  const bool is_integer = type == DataType::int8 || type == DataType::int4;
  return {.kind = Numbers::Kind::code, .bytes = 1, .limit = is_integer ? 0xFFu : 0xBFu};
}

Numbers scales_of(const ForwardSpec& spec) {
  const int code_bits = spec.table_type == DataType::int8   ? 8
                        : spec.table_type == DataType::int4 ? 4
                                                            : 1;
  return floats(spec.row_scale.type, Numbers::Kind::positive, 7 + code_bits);
}

std::vector<RowPart> scale_parts(const ForwardSpec& spec, std::uint64_t stream) {
  const RowScale& scale = spec.row_scale;
  const bool is_apart = scale.place == RowScale::Place::apart;
  const std::int64_t bytes = size_of(scale.type);
  RowPart part{.numbers = scales_of(spec), .stream = random_bits(stream, 1)};
  part.is_apart = is_apart;
  part.offset = is_apart ? 0 : scale.offset;
  part.stride = is_apart ? bytes * (scale.has_bias ? 2 : 1) : row_stride_bytes(spec);
  std::vector<RowPart> parts = {part};
  if (scale.has_bias) {
    part.numbers = floats(scale.type, Numbers::Kind::fraction, 7);
    part.stream = random_bits(stream, 2);
    part.offset += bytes;
    parts.push_back(part);
  }
  return parts;
}

}  // namespace

Numbers random_integers(IntegerType type, std::int64_t limit) {
  return {.kind = Numbers::Kind::integer,
          .bytes = size_of(type),
          .limit = static_cast<std::uint64_t>(std::max<std::int64_t>(limit, 1))};
}

Numbers weights_of(DataType type) {
  return floats(type, Numbers::Kind::positive, 8);
}

std::uint64_t number_at(const Numbers& numbers, std::uint64_t stream, std::int64_t index) {
  return drawn_number(static_cast<int>(numbers.kind), numbers.exponent_bits, numbers.mantissa_bits,
                      numbers.shift, numbers.limit,
                      random_bits(stream, static_cast<std::uint64_t>(index)));
}

std::vector<RowPart> row_parts(const ForwardSpec& spec, std::uint64_t stream) {
  RowPart all{.numbers = elements(spec.table_type), .stream = random_bits(stream, 0)};
  all.stride = all.numbers.bytes;
  all.per_row = spec.row_stride;
  std::vector<RowPart> parts = {all};
  if (is_quantised(spec.table_type) && spec.row_scale.place != RowScale::Place::nowhere) {
    for (const RowPart& part : scale_parts(spec, stream)) parts.push_back(part);
  }
  return parts;
}

void write_row(const std::vector<RowPart>& parts, std::int64_t row, std::int64_t place,
               std::byte* table, std::byte* scales) {
  for (const RowPart& part : parts) {
    std::byte* const first = (part.is_apart ? scales : table) + part.offset;
    for (std::int64_t i = 0; i < part.per_row; ++i) {
      // Little-endian, as the device is.
      const std::uint64_t bits = number_at(part.numbers, part.stream, row * part.per_row + i);
      std::memcpy(first + (place * part.per_row + i) * part.stride, &bits,
                  static_cast<std::size_t>(part.numbers.bytes));
    }
  }
}

KernelTemplate writing_kernel(const Numbers& numbers) {
  const auto constant = [](const char* name, std::int64_t value) {
    return Constant{"int", name, std::to_string(value)};
  };
  return {.name = "write_numbers.cu",
          .text = std::string(random_bits_source) + number_source + kernel_source,
          .entry = "write_numbers",
          .constants = {constant("kind", static_cast<int>(numbers.kind)),
                        constant("bytes", numbers.bytes),
                        constant("exponent_bits", numbers.exponent_bits),
                        constant("mantissa_bits", numbers.mantissa_bits),
                        constant("shift", numbers.shift)},
          .options = {"--device-as-default-execution-space"}};
}

void NumberWriter::write(const Numbers& numbers, std::uint64_t random_stream, void* first,
                         std::int64_t count, std::int64_t stride) const {
  if (count == 0) return;
  constexpr std::int64_t block = 256;
  constexpr std::int64_t most_blocks = 1 << 16;
  std::uint64_t limit = numbers.limit;
  const std::array<void*, 5> arguments = {&first, &count, &stride, &random_stream, &limit};
  const LaunchShape shape{
      .blocks_x = static_cast<unsigned>(std::min((count + block - 1) / block, most_blocks)),
      .threads_x = static_cast<unsigned>(block)};
  engine_.kernel(writing_kernel(numbers)).launch(shape, arguments, stream_);
}

void NumberWriter::write_rows(const std::vector<RowPart>& parts, std::int64_t rows, void* table,
                              void* scales) const {
  for (const RowPart& part : parts) {
    auto* const first = static_cast<std::byte*>(part.is_apart ? scales : table) + part.offset;
    write(part.numbers, part.stream, first, rows * part.per_row, part.stride);
  }
}

}  // namespace jitbag::tools::bench
