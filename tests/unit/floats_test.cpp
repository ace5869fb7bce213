#include "host/floats.hpp"

#include <algorithm>
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

/// A type of 8 bits, by its fields.
struct Float8 {
  std::uint8_t (*from)(float);
  float (*widen)(std::uint8_t);
  int mantissa_bits, bias;
  unsigned largest;   // the bits of the largest number
  bool has_infinity;  // after it
};

const Float8 e4m3{float8_e4m3_from, float_from_float8_e4m3, 3, 7, 0x7e, false};
const Float8 e5m2{float8_e5m2_from, float_from_float8_e5m2, 2, 15, 0x7b, true};

TEST_CASE("every float8 has the value that its fields say, and survives the way back") {
  for (const Float8& type : {e4m3, e5m2}) {
    for (unsigned bits = 0; bits < 0x100; ++bits) {
      const unsigned magnitude = bits & 0x7f;
      const auto mantissa = static_cast<int>(magnitude & ((1u << type.mantissa_bits) - 1));
      const auto exponent = static_cast<int>(magnitude >> type.mantissa_bits);
      const float actual = type.widen(static_cast<std::uint8_t>(bits));
      INFO("bits " << bits << ", " << type.mantissa_bits << " bits of mantissa");
      REQUIRE(std::signbit(actual) == (bits >= 0x80));
      if (magnitude > type.largest) {
        const bool is_infinite = type.has_infinity && magnitude == type.largest + 1;
        REQUIRE((is_infinite ? std::isinf(actual) : std::isnan(actual)));
        REQUIRE(type.from(actual) == ((bits & 0x80) | (is_infinite ? type.largest : 0x7f)));
        continue;
      }
      const int hidden = exponent == 0 ? 0 : 1 << type.mantissa_bits;
      const double expected =
          std::ldexp(mantissa + hidden, std::max(exponent, 1) - type.bias - type.mantissa_bits);
      REQUIRE(static_cast<double>(std::abs(actual)) == expected);
      REQUIRE(type.from(actual) == bits);
    }
  }
}

TEST_CASE("between two neighbouring float8 values the nearer wins, and the even one at a tie") {
  for (const Float8& type : {e4m3, e5m2}) {
    for (unsigned bits = 0; bits < type.largest; ++bits) {
      const float low = type.widen(static_cast<std::uint8_t>(bits));
      const float high = type.widen(static_cast<std::uint8_t>(bits + 1));
      const float middle = low + (high - low) / 2;
      const unsigned even = bits % 2 == 0 ? bits : bits + 1;
      INFO("bits " << bits << ", " << type.mantissa_bits << " bits of mantissa");
      REQUIRE(type.from(middle) == even);
      REQUIRE(type.from(-middle) == (even | 0x80u));
      REQUIRE(type.from(std::nextafter(middle, 0.0f)) == bits);
      REQUIRE(type.from(std::nextafter(middle, infinity)) == bits + 1);
    }
  }
}

TEST_CASE("float8 saturates beyond its largest number, and keeps NaN") {
  CHECK(float_from_float8_e4m3(0x7e) == 448);
  CHECK(float_from_float8_e5m2(0x7b) == 57344);
  for (const float beyond : {57345.0f, 61440.0f, 1e30f, infinity}) {
    CHECK(float8_e4m3_from(beyond) == 0x7e);
    CHECK(float8_e4m3_from(-beyond) == 0xfe);
    CHECK(float8_e5m2_from(beyond) == 0x7b);
    CHECK(float8_e5m2_from(-beyond) == 0xfb);
  }
  CHECK(float8_e4m3_from(464.0f) == 0x7e);
  for (const float nan : {std::nanf(""), -std::nanf("")}) {
    CHECK(std::isnan(float_from_float8_e4m3(float8_e4m3_from(nan))));
    CHECK(std::isnan(float_from_float8_e5m2(float8_e5m2_from(nan))));
  }
}

TEST_CASE("a double narrowed to odd rounds to a half as the double itself does") {
  // Just beyond a tie between two halves, by less than a float can say.
  CHECK(round_to_float16(narrowed_to_odd(0x1.002p0)) == 0x3c00);
  CHECK(round_to_float16(narrowed_to_odd(0x1.0020000001p0)) == 0x3c01);
  CHECK(round_to_float16(narrowed_to_odd(-0x1.0020000001p0)) == 0xbc01);
  CHECK(round_to_float16(narrowed_to_odd(0x1.005ffffffffp0)) == 0x3c01);
  CHECK(round_to_bfloat16(narrowed_to_odd(0x1.0100000001p0)) == 0x3f81);
  CHECK(round_to_bfloat16(narrowed_to_odd(0x1.02fffffffffp0)) == 0x3f81);
  CHECK(round_to_float16(narrowed_to_odd(1e300)) == 0x7c00);
  CHECK(round_to_bfloat16(narrowed_to_odd(-1e300)) == 0xff80);
  CHECK(narrowed_to_odd(1.5) == 1.5f);
  CHECK(std::isnan(narrowed_to_odd(std::nan(""))));
}

}  // namespace
}  // namespace jitbag::host
