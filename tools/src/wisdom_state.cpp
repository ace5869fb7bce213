#include "wisdom_state.hpp"

#include <spdlog/fmt/fmt.h>

#include <map>
#include <span>

#include "cache/record_place.hpp"
#include "cache_here.hpp"
#include "command.hpp"
#include "file.hpp"
#include "jitbag/error.hpp"

namespace jitbag::tools {

WisdomFolder wisdom_folder_here() {
  return WisdomFolder(
      *wisdom_directory({.directory = folder_of(cache_options_here()).directory()}));
}

WisdomText read_wisdom_file(const std::string& path) {
  WisdomText wisdom = parse_wisdom(read_file(path, cache::largest_note), path);
  if (wisdom.models.empty() && !wisdom.problems.empty())
    throw Error(ErrorKind::io_failed, wisdom.problems.front());
  return wisdom;
}

int write_wisdom_file(const std::string& path, const WisdomText& wisdom, bool json) {
  const std::string text = to_text(wisdom.models);
  write_file(path, std::as_bytes(std::span(text)));
  const std::size_t findings = count_findings(wisdom.models);
  if (wants_json(json))
    print_json({{"file", path},
                {"models", wisdom.models.size()},
                {"findings", findings},
                {"ignored", wisdom.problems}});
  else
    fmt::print("{} findings for {} device models\n{}\n", findings, wisdom.models.size(), path);
  return exit_status_after(wisdom.problems);
}

std::size_t count_findings(const std::vector<Wisdom>& models) {
  std::size_t count = 0;
  for (const Wisdom& wisdom : models) count += wisdom.findings().size();
  return count;
}

std::vector<std::string> ignored_wisdom(const WisdomText& wisdom) {
  std::vector<std::string> sentences = wisdom.problems;
  for (const Wisdom& model : wisdom.models) {
    std::map<std::string, int> reasons;
    for (const Finding& finding : model.findings()) ++reasons[why_ignored(finding)];
    reasons.erase("");
    for (const auto& [reason, count] : reasons)
      sentences.push_back(fmt::format("{} of {} for {}: {}", count, model.findings().size(),
                                      model.device(), reason));
  }
  return sentences;
}

int exit_status_after(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) say_error(problem);
  return problems.empty() ? exit_done : exit_failed;
}

}  // namespace jitbag::tools
