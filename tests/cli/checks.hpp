#pragma once

#include <string>

#include "catch.hpp"
#include "program.hpp"

namespace jitbag::test {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Wrong arguments: status 2, nothing on standard output, one line that holds `part`.
inline void require_refused(const Outcome& outcome, const std::string& part) {
  INFO(outcome.error << "\nlacks " << part);
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.error.rfind("jitbag: ", 0) == 0);
  CHECK(outcome.error.find('\n') + 1 == outcome.error.size());
  CHECK(contains(outcome.error, part));
}

/// It ran and failed: status 1 and a sentence that holds `part`.
inline void require_failed(const Outcome& outcome, const std::string& part) {
  INFO(outcome.out << "\n" << outcome.error << "\nlacks " << part);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.error, "jitbag: "));
  CHECK(contains(outcome.error, part));
}

inline nlohmann::json require_json(const Outcome& outcome) {
  INFO(outcome.out << "\n" << outcome.error);
  REQUIRE(outcome.status == 0);
  return outcome.json();
}

inline bool has_nvrtc(const Program& program) {
  return program.run("doctor").json().at("nvrtc").at("problem").is_null();
}

}  // namespace jitbag::test
