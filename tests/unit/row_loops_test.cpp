#include "host/row_loops.hpp"

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "catch.hpp"
#include "support/seed.hpp"

namespace jitbag::host {
namespace {

constexpr DataType types[] = {DataType::float32, DataType::float16, DataType::bfloat16};

/// Any bits at all: every kind of number, infinities and NaNs too.
std::vector<std::byte> random_bytes(std::size_t size, std::mt19937_64& random) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xff);
  return bytes;
}

/// Sums where NaNs all look the same: which of two NaNs an addition keeps is nobody's promise.
std::vector<float> sums_of(const RowLoops& loops, const std::vector<std::byte>& table,
                           const std::vector<std::uint64_t>& rows, std::int64_t dim) {
  std::vector<float> sums(static_cast<std::size_t>(dim), 0.0f);
  loops.add_rows(table.data(), rows.data(), static_cast<int>(rows.size()), dim, sums.data());
  for (float& sum : sums) {
    if (sum != sum) sum = 12345.0f;
  }
  return sums;
}

std::vector<std::byte> quotients_of(const RowLoops& loops, const std::vector<float>& sums,
                                    DataType output) {
  std::vector<std::byte> bytes(sums.size() * size_of(output));
  loops.write_quotients(sums.data(), 3.0f, static_cast<std::int64_t>(sums.size()), bytes.data());
  return bytes;
}

TEST_CASE("the AVX2 row loops give the same bits as the portable ones") {
  if (!avx2_row_loops(DataType::float32, DataType::float32)) return;
  INFO("JITBAG_TEST_SEED=" << test::seed());
  std::mt19937_64 random(test::seed());
  for (const DataType type : types) {
    const RowLoops fast = avx2_row_loops(type, type).value();
    const RowLoops portable = portable_row_loops(type, type);
    for (const std::int64_t dim : {1, 7, 8, 15, 16, 33, 64, 100, 1025}) {
      INFO(name(type) << " dim " << dim);
      const std::uint64_t row_bytes = dim * size_of(type);
      const auto table = random_bytes(5 * row_bytes, random);
      const std::vector<std::uint64_t> rows{3 * row_bytes, 0, 4 * row_bytes, 3 * row_bytes};
      const auto sums = sums_of(portable, table, rows, dim);
      CHECK(sums_of(fast, table, rows, dim) == sums);
      CHECK(quotients_of(fast, sums, type) == quotients_of(portable, sums, type));
    }
  }
}

TEST_CASE("both kinds of row loops write quotients of any bits as NaN, infinity and number") {
  if (!avx2_row_loops(DataType::float32, DataType::float32)) return;
  std::mt19937_64 random(test::seed());
  std::vector<float> sums(4096);
  const auto bits = random_bytes(sums.size() * sizeof(float), random);
  std::memcpy(sums.data(), bits.data(), bits.size());
  for (const DataType type : types) {
    INFO(name(type) << " JITBAG_TEST_SEED=" << test::seed());
    CHECK(quotients_of(avx2_row_loops(type, type).value(), sums, type) ==
          quotients_of(portable_row_loops(type, type), sums, type));
  }
}

TEST_CASE("no rows leave the sums as they are") {
  for (const DataType type : types) {
    std::vector<float> sums{1, 2, 3, 4, 5, 6, 7, 8, 9};
    const auto before = sums;
    row_loops(type, type).add_rows(nullptr, nullptr, 0, 9, sums.data());
    CHECK(sums == before);
  }
}

}  // namespace
}  // namespace jitbag::host
