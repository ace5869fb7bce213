#include <string>

#include "catch.hpp"
#include "jitbag/backward.hpp"
#include "jitbag/strategy.hpp"
#include "support/caught.hpp"

namespace jitbag::test {
namespace {

Strategy unusual() {
  return {.vector_bytes = 8,
          .vectors_per_lane = 2,
          .lanes_per_row = 16,
          .bag_lanes = 4,
          .rows_in_flight = 1,
          .bags_per_group = 8,
          .block_threads = 256,
          .launch_mode = LaunchMode::dependent};
}

bool refused_for(const std::string& text, const std::string& part) {
  const std::string sentence = caught([&] { static_cast<void>(parse_strategy(text)); });
  INFO(sentence);
  return sentence.find("invalid_argument: ") == 0 && sentence.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a strategy's text reads back as the strategy") {
  CHECK(parse_strategy(to_text(Strategy{})) == Strategy{});
  CHECK(parse_strategy(to_text(unusual())) == unusual());
}

TEST_CASE("a backward strategy's text reads back as the strategy, whatever its method") {
  for (const auto method : {BackwardMethod::scatter, BackwardMethod::merge, BackwardMethod::sort}) {
    const BackwardStrategy strategy{method, unusual()};
    CHECK(parse_backward_strategy(to_text(strategy)) == strategy);
  }
}

TEST_CASE("a backward strategy's text that is not whole is refused with what is wrong") {
  const auto refusal = [](const std::string& text) {
    return caught([&] { static_cast<void>(parse_backward_strategy(text)); });
  };
  for (const std::string& text :
       {std::string(), to_text(Strategy{}), "guess " + to_text(Strategy{})})
    CHECK(refusal(text).find("begins with no method") != std::string::npos);
  CHECK(refusal("sort").find("lacks vector") != std::string::npos);
  CHECK(refusal("sort fast").find("\"fast\" without a value") != std::string::npos);
}

TEST_CASE("a strategy's fields may come in any order") {
  CHECK(parse_strategy(
            "launch=plain  bags=1 block=128 rows=4 bag_lanes=1 lanes=8 vectors=1 vector=16B") ==
        Strategy{});
}

TEST_CASE("a strategy's text that is not whole is refused with what is wrong") {
  const std::string whole = to_text(Strategy{});
  CHECK(refused_for("", "lacks vector"));
  CHECK(refused_for("fast", "\"fast\" without a value"));
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

}  // namespace jitbag::test
