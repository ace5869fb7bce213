#include "host/floats.hpp"

#include "jitbag/host.hpp"

namespace jitbag::host {

std::uint16_t float16_from(float value) {
  return round_to_float16(value);
}
float float_from_float16(std::uint16_t bits) {
  return widen_float16(bits);
}
std::uint16_t bfloat16_from(float value) {
  return round_to_bfloat16(value);
}
float float_from_bfloat16(std::uint16_t bits) {
  return widen_bfloat16(bits);
}
std::uint8_t float8_e4m3_from(float value) {
  return round_to_float8_e4m3(value);
}
float float_from_float8_e4m3(std::uint8_t bits) {
  return widen_float8_e4m3(bits);
}
std::uint8_t float8_e5m2_from(float value) {
  return round_to_float8_e5m2(value);
}
float float_from_float8_e5m2(std::uint8_t bits) {
  return widen_float8_e5m2(bits);
}

}  // namespace jitbag::host
