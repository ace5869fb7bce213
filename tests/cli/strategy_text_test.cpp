#include "strategy_text.hpp"

#include <string>

#include "arguments.hpp"
#include "catch.hpp"

namespace jitbag::tools {
namespace {

std::string refusal_of(const std::string& text) {
  try {
    static_cast<void>(parse_strategy(text));
    return "nothing";
  } catch (const UsageError& error) {
    return error.what();
  }
}

bool refused_for(const std::string& text, const std::string& part) {
  return refusal_of(text).find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a strategy's text reads back as the strategy") {
  Strategy strategy;
  CHECK(parse_strategy(to_text(strategy)) == strategy);
  strategy.vector_bytes = 8;
  strategy.vectors_per_lane = 2;
  strategy.lanes_per_row = 16;
  strategy.bag_lanes = 4;
  strategy.rows_in_flight = 1;
  strategy.bags_per_group = 8;
  strategy.block_threads = 256;
  strategy.launch_mode = LaunchMode::dependent;
  CHECK(parse_strategy(to_text(strategy)) == strategy);
}

TEST_CASE("a strategy's fields may come in any order") {
  CHECK(parse_strategy(
            "launch=plain  bags=1 block=128 rows=4 bag_lanes=1 lanes=8 vectors=1 vector=16B") ==
        Strategy{});
}

TEST_CASE("a strategy's text that is not whole is refused with what is wrong") {
  const std::string whole = to_text(Strategy{});
  CHECK(refused_for("", "lacks vector"));
  CHECK(refused_for("fast", "'fast' without a value"));
  CHECK(refused_for(whole + " rows=2", "rows twice"));
  CHECK(refused_for(whole + " colour=2", "colour"));
  CHECK(refused_for("vector=16 vectors=1 lanes=8 bag_lanes=1 rows=4 bags=1 block=128 launch=plain",
                    "vector=16"));
  CHECK(
      refused_for("vector=16B vectors=one lanes=8 bag_lanes=1 rows=4 bags=1 block=128 launch=plain",
                  "vectors=one"));
  CHECK(refused_for("vector=16B vectors=1 lanes=8 bag_lanes=1 rows=4 block=128 launch=plain",
                    "lacks bags"));
  CHECK(refused_for("vector=16B vectors=1 lanes=8 bag_lanes=1 rows=4 bags=1 block=128 launch=soon",
                    "launch=soon"));
}

}  // namespace jitbag::tools
