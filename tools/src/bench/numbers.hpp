#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jitbag/engine.hpp"
#include "jitbag/forward_spec.hpp"

/// Input that is a pure function of its place, so that it can be written on the device, where there
/// is room for it, and any part of it computed on the host again.
namespace jitbag::tools::bench {

/// The bits of a number in memory, made from 64 random ones.
struct Numbers {
  enum class Kind : std::uint8_t {
    code,      ///< a byte, of which `limit` says the bits that may be set
    fraction,  ///< between -1 and 1, of 8 bits, so that every type has it exactly
    positive,  ///< from 1 to 2, divided by 2^(shift - 7); of 7 bits
    integer,   ///< from 0 to limit - 1
  };
  Kind kind = Kind::integer;
  std::int64_t bytes = 8;
  int exponent_bits = 0;
  int mantissa_bits = 0;
  int shift = 7;
  std::uint64_t limit = 1;
};

[[nodiscard]] Numbers random_integers(IntegerType type, std::int64_t limit);
/// Positive numbers below 1.
[[nodiscard]] Numbers weights_of(DataType type);

[[nodiscard]] std::uint64_t number_at(const Numbers& numbers, std::uint64_t stream,
                                      std::int64_t index);

/// A part of each row of a table: number `row * per_row + i` is at `offset` and so many strides,
/// for every i below `per_row`.
struct RowPart {
  Numbers numbers;
  std::uint64_t stream = 0;
  bool is_apart = false;  ///< in the scales, and not in the table
  std::int64_t offset = 0;
  std::int64_t stride = 0;  ///< bytes from one number to the next
  std::int64_t per_row = 1;
};

/// What the rows of a table are made of; later parts are written over earlier ones. Scales bring
/// the elements of a quantised table to about 1.
[[nodiscard]] std::vector<RowPart> row_parts(const ForwardSpec& validated_spec,
                                             std::uint64_t stream);

/// Writes row `row` of the table to place `place` of a smaller one.
void write_row(const std::vector<RowPart>& parts, std::int64_t row, std::int64_t place,
               std::byte* table, std::byte* scales);

/// The kernel that writes such numbers.
[[nodiscard]] KernelTemplate writing_kernel(const Numbers& numbers);

/// Writes them on the device.
class NumberWriter {
 public:
  NumberWriter(Engine& engine, Stream stream) : engine_(engine), stream_(stream) {}

  /// Enqueues the writing of `count` numbers, `stride` bytes apart.
  void write(const Numbers& numbers, std::uint64_t random_stream, void* first, std::int64_t count,
             std::int64_t stride) const;
  void write_rows(const std::vector<RowPart>& parts, std::int64_t rows, void* table,
                  void* scales) const;

 private:
  Engine& engine_;
  Stream stream_;
};

}  // namespace jitbag::tools::bench
