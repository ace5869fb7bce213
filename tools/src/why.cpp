#include "why.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>

#include "cache/description.hpp"
#include "output.hpp"

namespace jitbag::tools {
namespace {

/// `using Table = float;` and `constexpr int dim = 64;` name something; other lines do not.
struct Definition {
  std::string_view name;
  std::string_view value;
};

std::optional<Definition> definition(std::string_view line) {
  constexpr std::string_view equals = " = ";
  const std::size_t at = line.find(equals);
  const std::size_t end = line.find(';');
  const bool defines = line.starts_with("constexpr ") || line.starts_with("using ");
  if (!defines || at == std::string_view::npos || end == std::string_view::npos || end < at)
    return std::nullopt;
  const std::string_view left = line.substr(0, at);
  const std::size_t value = at + equals.size();
  return Definition{left.substr(left.rfind(' ') + 1), line.substr(value, end - value)};
}

bool says_something(std::string_view line) {
  return !line.empty() && !line.starts_with("//");
}

void add_line(std::vector<NamedDifference>& all, const std::string& field, const std::string& line,
              std::string NamedDifference::*side) {
  if (!says_something(line)) return;
  const auto defined = definition(line);
  const std::string name = defined ? std::string(defined->name) : field;
  NamedDifference difference{name, {}, {}};
  difference.*side = defined ? std::string(defined->value) : line;
  all.push_back(std::move(difference));
}

void add_source_lines(std::vector<NamedDifference>& all, const cache::Difference& difference) {
  const auto wanted = definition(difference.wanted);
  const auto found = definition(difference.found);
  if (wanted && found && wanted->name == found->name) {
    all.push_back(
        {std::string(wanted->name), std::string(wanted->value), std::string(found->value)});
    return;
  }
  add_line(all, difference.field, difference.wanted, &NamedDifference::wanted);
  add_line(all, difference.field, difference.found, &NamedDifference::found);
}

/// When the file that has the record was made. Its time of change is that of its last use.
std::optional<Why::Time> birth(const Artifact& artifact) {
  std::filesystem::path file = artifact.place;
  const auto key = cache::Digest::from_hex(artifact.key);
  if (artifact.origin == KernelOrigin::disk && key)
    file = cache::DiskCache(file, [](std::string_view) {}).path_of(*key);
  struct statx info {};
  if (::statx(AT_FDCWD, file.c_str(), 0, STATX_BTIME, &info) != 0) return std::nullopt;
  if ((info.stx_mask & STATX_BTIME) == 0) return std::nullopt;
  return std::chrono::system_clock::from_time_t(info.stx_btime.tv_sec);
}

std::string side(const std::string& value) {
  return value.empty() ? "nothing" : value;
}

void print_hit(const Why& why) {
  std::string text = fmt::format("It is there: {} has it", why.artifact->place);
  if (why.since) text += ", since " + iso_time(*why.since);
  fmt::print("{}.\nkey {}\n", text, why.artifact->key);
}

void print_miss(const Why& why) {
  if (!why.nearest) {
    fmt::print("It is not there, and there is no record to compare it with.\n");
    return;
  }
  const cache::Record record{why.nearest->fields, {}};
  fmt::print("It is not there. The nearest record, in {}, is\n  {}, {}\nIt differs in\n",
             why.nearest->where, describe(record).spec, describe(record).arch);
  for (const NamedDifference& difference : named(why.nearest->differences))
    fmt::print("  {}: {} here, {} there\n", difference.name, side(difference.wanted),
               side(difference.found));
}

Json nearest_json(const cache::NearestRecord::Answer& nearest) {
  const cache::Record record{nearest.fields, {}};
  const Description description = describe(record);
  Json differences = Json::array();
  for (const NamedDifference& difference : named(nearest.differences))
    differences.push_back(
        {{"name", difference.name}, {"wanted", difference.wanted}, {"found", difference.found}});
  return {{"key", record.key().hex()}, {"place", nearest.where},
          {"spec", description.spec},  {"strategy", description.strategy},
          {"arch", description.arch},  {"differences", differences}};
}

Json why_json(const Why& why, const KernelRequest& request) {
  return {{"spec", spec_text(request)},
          {"strategy", strategy_text(request)},
          {"arch", to_text(request.target)},
          {"found", why.artifact.has_value()},
          {"kernel_source", why.artifact ? Json(name(why.artifact->origin)) : Json(nullptr)},
          {"place", why.artifact ? Json(why.artifact->place) : Json(nullptr)},
          {"key", why.artifact ? Json(why.artifact->key) : Json(nullptr)},
          {"since", why.since ? Json(iso_time(*why.since)) : Json(nullptr)},
          {"nearest", why.nearest ? nearest_json(*why.nearest) : Json(nullptr)}};
}

}  // namespace

std::vector<NamedDifference> named(const std::vector<cache::Difference>& differences) {
  std::vector<NamedDifference> all;
  for (const cache::Difference& difference : differences) {
    if (difference.field == "source")
      add_source_lines(all, difference);
    else
      all.push_back({difference.field, difference.wanted, difference.found});
  }
  return all;
}

Why why(Engine& engine, const Specialisation& specialisation) {
  Why why;
  why.artifact = engine.find(specialisation);
  if (why.artifact)
    why.since = birth(*why.artifact);
  else
    why.nearest = engine.nearest(specialisation);
  return why;
}

void print_why(const Why& why, const KernelRequest& request, bool json) {
  if (wants_json(json))
    print_json(why_json(why, request));
  else if (why.artifact)
    print_hit(why);
  else
    print_miss(why);
}

}  // namespace jitbag::tools
