#include <cmath>
#include <cstdint>
#include <limits>

#include "catch.hpp"
#include "jitbag/host.hpp"

namespace jitbag::host {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

bool is_float16_nan(unsigned bits) {
  return (bits & 0x7fff) > 0x7c00;
}

TEST_CASE("every float16 survives the way to float32 and back, and NaNs become quiet") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const unsigned expected = is_float16_nan(bits) ? bits | 0x200u : bits;
    INFO("bits " << bits);
    REQUIRE(float16_from(float_from_float16(half)) == expected);
  }
}

TEST_CASE("every float16 has the value that its fields say") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    if (is_float16_nan(bits)) continue;
    const int exponent = static_cast<int>(bits >> 10 & 0x1f);
    const int mantissa = static_cast<int>(bits & 0x3ff);
    const double magnitude = exponent == 0x1f ? static_cast<double>(infinity)
                             : exponent == 0  ? std::ldexp(mantissa, -24)
                                              : std::ldexp(1024 + mantissa, exponent - 25);
    const double expected = (bits & 0x8000) != 0 ? -magnitude : magnitude;
    const float actual = float_from_float16(static_cast<std::uint16_t>(bits));
    INFO("bits " << bits);
    REQUIRE(static_cast<double>(actual) == expected);
    REQUIRE(std::signbit(actual) == std::signbit(expected));
  }
}

TEST_CASE("between two neighbouring float16 values the nearer wins, and the even one at a tie") {
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const float low = float_from_float16(static_cast<std::uint16_t>(bits));
    const float high = float_from_float16(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    INFO("bits " << bits);
    REQUIRE(float16_from(middle) == even);
    REQUIRE(float16_from(-middle) == (even | 0x8000u));
    REQUIRE(float16_from(std::nextafter(middle, 0.0f)) == bits);
    REQUIRE(float16_from(std::nextafter(middle, infinity)) == bits + 1);
  }
}

TEST_CASE("float16 conversion meets the known values at its edges") {
  CHECK(float16_from(0.0f) == 0x0000);
  CHECK(float16_from(-0.0f) == 0x8000);
  CHECK(float16_from(1.0f) == 0x3c00);
  CHECK(float16_from(0.1f) == 0x2e66);
  CHECK(float16_from(65504.0f) == 0x7bff);
  CHECK(float16_from(std::nextafter(65520.0f, 0.0f)) == 0x7bff);
  CHECK(float16_from(65520.0f) == 0x7c00);
  CHECK(float16_from(-1e30f) == 0xfc00);
  CHECK(float16_from(infinity) == 0x7c00);
  CHECK(float16_from(0x1p-14f) == 0x0400);
  CHECK(float16_from(std::nextafter(0x1p-14f, 0.0f)) == 0x0400);
  CHECK(float16_from(0x1p-24f) == 0x0001);
  CHECK(float16_from(0x1p-25f) == 0x0000);
  CHECK(float16_from(std::nextafter(0x1p-25f, 1.0f)) == 0x0001);
  CHECK(float16_from(std::numeric_limits<float>::denorm_min()) == 0x0000);
  CHECK(is_float16_nan(float16_from(std::nanf(""))));
  CHECK(std::isnan(float_from_float16(0x7c01)));
}

TEST_CASE("every bfloat16 survives the way to float32 and back, and NaNs become quiet") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const bool is_nan = (bits & 0x7fff) > 0x7f80;
    const unsigned expected = is_nan ? bits | 0x40u : bits;
    INFO("bits " << bits);
    REQUIRE(bfloat16_from(float_from_bfloat16(static_cast<std::uint16_t>(bits))) == expected);
  }
}

TEST_CASE("bfloat16 conversion rounds to nearest even") {
  CHECK(bfloat16_from(1.0f) == 0x3f80);
  CHECK(bfloat16_from(0x1.01p0f) == 0x3f80);  // a tie below an odd neighbour
  CHECK(bfloat16_from(0x1.03p0f) == 0x3f82);  // a tie above an odd neighbour
  CHECK(bfloat16_from(0x1.010002p0f) == 0x3f81);
  CHECK(bfloat16_from(-0.1f) == 0xbdcd);
  CHECK(bfloat16_from(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(bfloat16_from(-infinity) == 0xff80);
  CHECK(bfloat16_from(0x1p-133f) == 0x0001);
  CHECK(bfloat16_from(0x1p-134f) == 0x0000);
  CHECK(std::isnan(float_from_bfloat16(bfloat16_from(std::nanf("")))));
}

}  // namespace
}  // namespace jitbag::host
