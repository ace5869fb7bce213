#include "precompile/report.hpp"

#include <spdlog/fmt/fmt.h>

#include <map>
#include <set>

#include "kernel_flags.hpp"
#include "output.hpp"
#include "version.hpp"

namespace jitbag::tools {
namespace {

std::string_view state_of(const Item& item) {
  if (!item.outcome.problem.empty()) return "failed";
  if (!item.outcome.origin) return "missing";
  switch (*item.outcome.origin) {
    case KernelOrigin::compiled:
      return "compiled";
    case KernelOrigin::remote:
      return "fetched";
    case KernelOrigin::memory:
    case KernelOrigin::disk:
    case KernelOrigin::bundle:
      break;
  }
  return "cached";
}

/// How many of the kernels each folder and bundle has.
std::map<std::string, std::size_t> places_of(const std::vector<Item>& items) {
  std::map<std::string, std::size_t> places;
  for (const Item& item : items) {
    if (item.outcome.origin) ++places[item.outcome.place];
  }
  return places;
}

Json architectures_of(const std::vector<Item>& items) {
  std::set<Target> targets;
  for (const Item& item : items) targets.insert(item.request.target);
  Json names = Json::array();
  for (const Target& target : targets) names.push_back(to_text(target));
  return names;
}

Json kernel_json(const Item& item) {
  const Outcome& outcome = item.outcome;
  Json json = {{"arch", to_text(item.request.target)},
               {"spec", spec_text(item.request)},
               {"strategy", strategy_text(item.request)},
               {"state", state_of(item)}};
  if (!outcome.problem.empty()) json["error"] = outcome.problem;
  if (!outcome.origin) return json;
  json["kernel_source"] = name(*outcome.origin);
  json["place"] = outcome.place;
  json["key"] = outcome.key;
  json["cubin_bytes"] = outcome.cubin_bytes;
  json["registers"] = outcome.registers;
  json["spill_bytes"] = outcome.spill_bytes;
  json["disk_ms"] = number(outcome.disk_ms);
  json["remote_ms"] = number(outcome.remote_ms);
  json["compile_ms"] = number(outcome.compile_ms);
  return json;
}

Json report_json(const Report& report) {
  const Counts counts = count(report.items);
  Json json = {{"operator", embedding_bag},
               {"jitbag_version", version},
               {"architectures", architectures_of(report.items)},
               {"compiled", counts.compiled},
               {"fetched", counts.fetched},
               {"cached", counts.cached},
               {"failed", counts.failed},
               {"missing", counts.missing},
               {"complete", counts.failed + counts.missing == 0},
               {"interrupted", report.is_interrupted},
               {"seconds", number(report.seconds)},
               {"cache_directory", maybe(report.cache_directory)},
               {"places", Json::array()},
               {"kernels", Json::array()}};
  for (const auto& [place, kernels] : places_of(report.items))
    json["places"].push_back({{"place", place}, {"kernels", kernels}});
  for (const Item& item : report.items) json["kernels"].push_back(kernel_json(item));
  return json;
}

void print_missing(const std::vector<Item>& items) {
  Table table({"arch", "missing"});
  for (const Item& item : items) {
    if (is_missing(item)) table.add({to_text(item.request.target), spec_text(item.request)});
  }
  fmt::print("{}\n", table.text());
}

std::string made_text(const Counts& counts, const Report& report) {
  std::string text = fmt::format("{} compiled, {} already there, {} failed", counts.compiled,
                                 counts.cached, counts.failed);
  if (counts.fetched > 0) text += fmt::format(", {} from the remote", counts.fetched);
  if (counts.missing > 0) text += fmt::format(", {} left", counts.missing);
  return text + fmt::format(", in {:.2f} s", report.seconds);
}

void print_text(const Report& report) {
  const Counts counts = count(report.items);
  if (report.aim != Aim::make && counts.missing > 0) print_missing(report.items);
  if (report.aim == Aim::make)
    fmt::print("{}\n", made_text(counts, report));
  else
    fmt::print("{} to compile, {} already there\n", counts.missing, counts.cached);
  for (const auto& [place, kernels] : places_of(report.items))
    fmt::print("{} in {}\n", kernels, place);
}

}  // namespace

Counts count(const std::vector<Item>& items) {
  Counts counts;
  for (const Item& item : items) {
    const std::string_view state = state_of(item);
    if (state == "failed") ++counts.failed;
    if (state == "missing") ++counts.missing;
    if (state == "compiled") ++counts.compiled;
    if (state == "fetched") ++counts.fetched;
    if (state == "cached") ++counts.cached;
  }
  return counts;
}

void print_report(const Report& report, bool json) {
  if (wants_json(json))
    print_json(report_json(report));
  else
    print_text(report);
}

}  // namespace jitbag::tools
