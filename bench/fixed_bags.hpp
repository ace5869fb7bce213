#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "device_data.hpp"
#include "race.hpp"

/// Launches over fixed bags of uniform ids, each set with ids and an output of its own.
namespace jitbag::bench {

struct FixedShape {
  std::int64_t batch, bag_size, dim, rows;
  double padding;
  Effort effort;
  double power = 0;  ///< over 1: ids by a power law of this exponent; 0: uniform
};

inline nlohmann::json to_json(const FixedShape& shape) {
  return {{"batch", shape.batch}, {"bag_size", shape.bag_size}, {"dim", shape.dim},
          {"rows", shape.rows},   {"padding", shape.padding},   {"power", shape.power}};
}

/// Ids of which the share falls as a power of their number, without padding.
inline device::Buffer power_law_ids(const FixedShape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(shape.batch * shape.bag_size));
  const double exponent = 1 - shape.power;
  const double last = std::pow(static_cast<double>(shape.rows), exponent);
  for (std::int32_t& id : ids) {
    const double rank = std::pow(1 - uniform(random) * (1 - last), 1 / exponent);
    id = static_cast<std::int32_t>(std::min<double>(rank, static_cast<double>(shape.rows))) - 1;
  }
  device::Buffer buffer(ids.size() * sizeof(std::int32_t));
  device::copy_to_device(buffer.data(), ids.data(), buffer.size());
  return buffer;
}

class RotatingBags {
 public:
  RotatingBags(Engine& engine, const FixedShape& shape, std::int64_t output_element_bytes)
      : shape_(shape) {
    for (std::size_t set = 0; set < shape.effort.sets; ++set) {
      ids_.push_back(shape.power > 0
                         ? power_law_ids(shape, set + 3)
                         : random_ids(engine, shape.batch * shape.bag_size, shape.rows,
                                      shape.padding, static_cast<std::int64_t>(set) + 3));
      outputs_.emplace_back(
          static_cast<std::size_t>(shape.batch * shape.dim * output_element_bytes));
    }
  }

  [[nodiscard]] ForwardArguments arguments(std::size_t set, const device::Buffer& table) const {
    return {.table = table.data(),
            .num_rows = shape_.rows,
            .ids = ids_[set].data(),
            .output = outputs_[set].data(),
            .batch = shape_.batch};
  }

 private:
  FixedShape shape_;
  std::vector<device::Buffer> ids_, outputs_;
};

}  // namespace jitbag::bench
