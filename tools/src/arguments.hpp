#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli11.hpp"

namespace jitbag::tools {

/// Arguments that can never work: exit status 2. `what()` is one sentence.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "a,b" → {"a", "b"}; "a," has an empty second part.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

/// "red, green or blue".
[[nodiscard]] std::string alternatives(const std::vector<std::string>& names);

/// Checks of one argument, for CLI11. Each answers with what is wrong and what is allowed.
[[nodiscard]] CLI::Validator whole_number(std::int64_t lowest, std::int64_t highest);
[[nodiscard]] CLI::Validator real_number(double lowest, double highest);
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> names);
[[nodiscard]] CLI::Validator architecture();
/// A path, and not the nothing of a shell variable that is unset.
[[nodiscard]] CLI::Validator file_name();
/// "1073741824", "512M", "2G".
[[nodiscard]] CLI::Validator byte_count();
/// The same check for each part of a comma list.
[[nodiscard]] CLI::Validator list_of(CLI::Validator part);

/// The different numbers of a comma list that `list_of(whole_number())` has passed, in order.
[[nodiscard]] std::vector<std::int64_t> whole_numbers(std::string_view list);
/// The different parts of a comma list, in order.
[[nodiscard]] std::vector<std::string> distinct_parts(std::string_view list);

/// Refuses an argument that was given although another one already decides the same thing.
void refuse_beside(const CLI::App& arguments, const std::string& refused, const std::string& given,
                   const std::string& because);

/// Refuses every one of the arguments that was given, for a reason such as "is about many tables:
/// give --tables too".
void refuse_without(const CLI::App& arguments, const std::vector<const char*>& names,
                    const char* reason);

}  // namespace jitbag::tools
