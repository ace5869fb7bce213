#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "jitbag/cache/error.hpp"
#include "jitbag/error.hpp"
#include "jitbag/wisdom.hpp"

namespace jitbag {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".json";

/// Good as a name anywhere: "NVIDIA H200" is in NVIDIA-H200.json. Two models may share a file.
std::string file_name(const std::string& device) {
  constexpr std::size_t longest = 100;
  std::string name = device.substr(0, longest);
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  std::ranges::replace_if(name, std::not_fn(is_plain), '-');
  return name.append(suffix);
}

}  // namespace

/// Only the models whose file this is: what stands elsewhere would be found by nobody.
WisdomText WisdomFolder::read_file(const std::string& name) const {
  WisdomText found;
  const std::string path = (directory() / name).string();
  try {
    const auto text = notes_.read(name);
    if (text) found = parse_wisdom(*text, path);
  } catch (const cache::Error& error) {
    found.problems.emplace_back(error.what());
  }
  std::erase_if(found.models, [&](const Wisdom& wisdom) {
    if (file_name(wisdom.device()) == name) return false;
    found.problems.push_back(
        fmt::format("{} has wisdom for \"{}\", whose file is {}; it is ignored.", path,
                    wisdom.device(), file_name(wisdom.device())));
    return true;
  });
  return found;
}

WisdomText WisdomFolder::read() const {
  WisdomText all;
  const auto take = [](auto& to, auto& from) {
    to.insert(to.end(), std::move_iterator(from.begin()), std::move_iterator(from.end()));
  };
  try {
    for (const std::string& name : notes_.names()) {
      if (!name.ends_with(suffix)) continue;
      WisdomText found = read_file(name);
      take(all.models, found.models);
      take(all.problems, found.problems);
    }
  } catch (const cache::Error& error) {
    all.problems.emplace_back(error.what());
  }
  std::ranges::sort(all.models, {}, &Wisdom::device);
  return all;
}

Wisdom WisdomFolder::read(const std::string& device, const cache::Warn& warn) const {
  WisdomText found = read_file(file_name(device));
  for (const std::string& problem : found.problems) warn(problem);
  const auto place = std::ranges::find(found.models, device, &Wisdom::device);
  return place == found.models.end() ? Wisdom(device) : std::move(*place);
}

std::size_t WisdomFolder::merge(const Wisdom& wisdom) const {
  const std::string name = file_name(wisdom.device());
  std::size_t kept = 0;
  const auto with_wisdom = [&](const std::optional<std::string>& before) {
    WisdomText found = parse_wisdom(before.value_or(""), name);
    if (found.is_of_another_format)
      throw cache::Error(
          fmt::format("{} was written by a later jitbag, and is left as it is; use that one, or "
                      "another folder.",
                      (directory() / name).string()));
    kept = jitbag::merge(found.models, wisdom);
    return to_text(found.models);
  };
  try {
    notes_.change(name, with_wisdom);
  } catch (const cache::Error& error) {
    throw Error(ErrorKind::io_failed, error.what());
  }
  return kept;
}

std::optional<fs::path> wisdom_directory(const cache::CacheOptions& options) {
  return options.directory ? std::optional(*options.directory / "wisdom") : std::nullopt;
}

}  // namespace jitbag
