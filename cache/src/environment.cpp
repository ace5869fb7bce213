#include "jitbag/cache/environment.hpp"

#include <spdlog/fmt/fmt.h>
#include <sys/auxv.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "jitbag/cache/cache.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;

std::uint64_t max_bytes_from_environment(const Warn& warn) {
  const auto text = environment("JITBAG_CACHE_MAX_BYTES");
  if (!text) return default_max_bytes;
  if (const auto bytes = parse_bytes(*text)) return *bytes;
  warn(fmt::format(
      "JITBAG_CACHE_MAX_BYTES is \"{}\", which is no number of bytes, so the limit is {}; "
      "give a whole number, with K, M, G or T behind it if you like, or 0 for no limit.",
      *text, default_max_bytes));
  return default_max_bytes;
}

std::vector<fs::path> layers_from_environment(const Warn& warn) {
  std::vector<fs::path> layers;
  for (fs::path& path : environment_paths("JITBAG_CACHE_PATH")) {
    if (path.is_absolute()) {
      layers.push_back(std::move(path));
    } else {
      warn(fmt::format("JITBAG_CACHE_PATH names \"{}\", which is left out; give an absolute path.",
                       path.string()));
    }
  }
  return layers;
}

std::optional<std::string> remote_from_environment(const Warn& warn) {
  auto url = environment("JITBAG_CACHE_REMOTE");
  if (!url) return {};
  if (url->starts_with("http://") || url->starts_with("https://")) return url;
  // Not printed: it may hold a password.
  warn(
      "JITBAG_CACHE_REMOTE does not start with http:// or https://, so no remote is used; give the "
      "url of a web server.");
  return {};
}

bool remote_write_from_environment(const Warn& warn) {
  const auto text = environment("JITBAG_CACHE_REMOTE_WRITE");
  if (!text || *text == "0") return false;
  if (*text == "1") return true;
  warn(fmt::format(
      "JITBAG_CACHE_REMOTE_WRITE is \"{}\", so the remote is only read; give 1 to write, or 0.",
      *text));
  return false;
}

std::optional<fs::path> path_from_environment(const char* variable) {
  const auto value = environment(variable);
  return value ? std::optional<fs::path>(*value) : std::nullopt;
}

}  // namespace

std::optional<std::string> environment(const char* name) {
  const char* value = ::secure_getenv(name);
  if (value == nullptr || *value == '\0') return {};
  return value;
}

std::vector<fs::path> environment_paths(const char* name) {
  std::vector<fs::path> paths;
  const std::string list = environment(name).value_or("");
  std::string_view rest = list;
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find(':'), rest.size());
    if (length > 0) paths.emplace_back(rest.substr(0, length));
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return paths;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return {};
  const std::string_view unit(end, text.data() + text.size());
  if (unit.empty()) return number;
  const std::size_t power = std::string_view("KMGT").find(unit.front());
  if (unit.size() != 1 || power == std::string_view::npos) return {};
  const unsigned shift = 10 * (static_cast<unsigned>(power) + 1);
  if (number > std::numeric_limits<std::uint64_t>::max() >> shift) return {};
  return number << shift;
}

CacheOptions options_from_environment(const Warn& warn) {
  if (::getauxval(AT_SECURE) != 0) {
    warn(
        "This program runs with the rights of another user (set-uid or capabilities), so its "
        "environment is not trusted and kernels are kept in memory only.");
    return {};
  }
  CacheOptions options{.directory = default_directory(),
                       .max_bytes = max_bytes_from_environment(warn),
                       .layers = layers_from_environment(warn),
                       .remote = remote_from_environment(warn),
                       .remote_write = remote_write_from_environment(warn),
                       .trusted_key = path_from_environment("JITBAG_CACHE_TRUST"),
                       .signing_key = path_from_environment("JITBAG_CACHE_SIGN")};
  if (!options.directory)
    warn(
        "No folder for the kernel cache: JITBAG_CACHE_DIR, XDG_CACHE_HOME and HOME are all unset "
        "or no absolute paths, so new kernels are kept in memory only; set JITBAG_CACHE_DIR.");
  return options;
}

}  // namespace jitbag::cache
