#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "device_data.hpp"
#include "race.hpp"

/// Launches over fixed bags of uniform ids, each set with ids and an output of its own.
namespace jitbag::bench {

struct FixedShape {
  std::int64_t batch, bag_size, dim, rows;
  double padding;
  Effort effort;
};

inline nlohmann::json to_json(const FixedShape& shape) {
  return {{"batch", shape.batch},
          {"bag_size", shape.bag_size},
          {"dim", shape.dim},
          {"rows", shape.rows},
          {"padding", shape.padding}};
}

class RotatingBags {
 public:
  RotatingBags(Engine& engine, const FixedShape& shape, std::int64_t output_element_bytes)
      : shape_(shape) {
    for (std::size_t set = 0; set < shape.effort.sets; ++set) {
      ids_.push_back(random_ids(engine, shape.batch * shape.bag_size, shape.rows, shape.padding,
                                static_cast<std::int64_t>(set) + 3));
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
