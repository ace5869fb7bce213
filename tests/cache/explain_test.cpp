#include "jitbag/cache/explain.hpp"

#include "catch.hpp"

namespace jitbag::test {
namespace {

using cache::Difference;
using cache::Field;

std::vector<Field> kernel(const std::string& target, int dim, const std::string& compiler = "a1") {
  return {{"compiler_build", compiler},
          {"target", target},
          {"option", "--std=c++17"},
          {"option", "--minimal"},
          {"source", "constexpr int dim = " + std::to_string(dim) + ";\nconstexpr int bag = 4;\n"}};
}

void check(const std::vector<Difference>& found, const std::vector<Difference>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].field == wanted[i].field);
    CHECK(found[i].wanted == wanted[i].wanted);
    CHECK(found[i].found == wanted[i].found);
  }
}

TEST_CASE("equal fields differ in nothing") {
  CHECK(cache::differences(kernel("sm_90", 64), kernel("sm_90", 64)).empty());
  CHECK(cache::differences({}, {}).empty());
}

TEST_CASE("a difference is the field and the line of it that differs, not the whole text") {
  check(cache::differences(kernel("sm_90", 64), kernel("sm_80", 128)),
        {{"target", "sm_90", "sm_80"},
         {"source", "constexpr int dim = 64;", "constexpr int dim = 128;"}});
}

TEST_CASE("a field that one side lacks, and one that stands more often, are differences") {
  auto without = kernel("sm_90", 64);
  without.erase(without.begin() + 3);
  check(cache::differences(kernel("sm_90", 64), without), {{"option", "--minimal", ""}});
  check(cache::differences(without, kernel("sm_90", 64)), {{"option", "", "--minimal"}});
  without.erase(without.begin());
  check(cache::differences(without, kernel("sm_90", 64)),
        {{"option", "", "--minimal"}, {"compiler_build", "", "a1"}});
}

TEST_CASE("the same lines in another order are told as that") {
  const std::vector<Field> one = {{"source", "a\nb\n"}};
  const std::vector<Field> other = {{"source", "b\na\n"}};
  REQUIRE(cache::differences(one, other).size() == 1);
  CHECK(cache::differences(one, other)[0].wanted == "(the same lines in another order)");
}

TEST_CASE("the nearest record is the one that differs in the fewest lines, the first of equals") {
  cache::NearestRecord nearest(kernel("sm_90", 64));
  CHECK_FALSE(nearest.answer().has_value());
  nearest.consider(kernel("sm_80", 128), "far");
  nearest.consider(kernel("sm_90", 64, "b2"), "near");
  nearest.consider(kernel("sm_90", 32), "as near, and later");
  REQUIRE(nearest.answer().has_value());
  CHECK(nearest.answer()->where == "near");
  check(nearest.answer()->differences, {{"compiler_build", "a1", "b2"}});
  nearest.consider(kernel("sm_90", 64), "the very one");
  CHECK(nearest.answer()->where == "the very one");
  CHECK(nearest.answer()->differences.empty());
}

}  // namespace
}  // namespace jitbag::test
