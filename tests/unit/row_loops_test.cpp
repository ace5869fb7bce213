#include "host/row_loops.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
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

RowBlock<float> block_of(const std::vector<std::int64_t>& rows, bool weighted) {
  RowBlock<float> block;
  block.weighted = weighted;
  for (const std::int64_t row : rows) {
    block.rows[block.count] = row;
    block.weights[block.count] = 0.3f + static_cast<float>(block.count);
    ++block.count;
  }
  return block;
}

/// Sums where NaNs all look the same: which of two NaNs an addition keeps is nobody's promise.
std::vector<float> sums_of(const RowLoops& loops, const std::vector<std::byte>& table,
                           std::uint64_t row_bytes, const RowBlock<float>& block,
                           std::int64_t dim) {
  std::vector<float> sums(static_cast<std::size_t>(dim), 0.0f);
  loops.add_rows(table.data(), row_bytes, block, dim, sums.data());
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
      for (const bool weighted : {false, true}) {
        const auto block = block_of({3, 0, 4, 3}, weighted);
        const auto sums = sums_of(portable, table, row_bytes, block, dim);
        CHECK(sums_of(fast, table, row_bytes, block, dim) == sums);
        CHECK(quotients_of(fast, sums, type) == quotients_of(portable, sums, type));
      }
    }
  }
}

TEST_CASE("both kinds of row loops write quotients of any bits as NaN, infinity and number") {
  if (!avx2_row_loops(DataType::float32, DataType::float32)) return;
  std::mt19937_64 random(test::seed());
  std::vector<float> sums(4096);
  const auto bits = random_bytes(sums.size() * sizeof(float), random);
  std::memcpy(sums.data(), bits.data(), bits.size());
  for (const DataType output :
       {DataType::float32, DataType::float16, DataType::bfloat16, DataType::float64}) {
    INFO(name(output) << " JITBAG_TEST_SEED=" << test::seed());
    const DataType table = DataType::float32;
    CHECK(quotients_of(avx2_row_loops(table, output).value(), sums, output) ==
          quotients_of(portable_row_loops(table, output), sums, output));
  }
}

TEST_CASE("no rows leave the sums as they are") {
  for (const DataType type : types) {
    std::vector<float> sums{1, 2, 3, 4, 5, 6, 7, 8, 9};
    const auto before = sums;
    row_loops(type, type).add_rows(nullptr, 0, RowBlock<float>{}, 9, sums.data());
    CHECK(sums == before);
  }
}

TEST_CASE("row loops multiply every row, in whole vectors and beyond them, by its weight") {
  constexpr std::int64_t dim = 11;
  std::vector<float> table(2 * dim, 1.0f);
  std::fill(table.begin() + dim, table.end(), 10.0f);
  const auto bytes = std::as_bytes(std::span(table));
  RowBlock<float> block = block_of({1, 0, 1}, true);
  block.weights = {0.5f, 3.0f, -2.0f};
  const auto loops = row_loops(DataType::float32, DataType::float32);
  std::vector<float> sums(dim, 100.0f);
  loops.add_rows(bytes.data(), dim * sizeof(float), block, dim, sums.data());
  CHECK(sums == std::vector<float>(dim, 100.0f + 5.0f + 3.0f - 20.0f));
}

}  // namespace
}  // namespace jitbag::host
