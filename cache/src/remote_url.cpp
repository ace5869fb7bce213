#include "remote_url.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>

namespace jitbag::cache {
namespace {

constexpr std::string_view form = "write it as http(s)://[user:password@]host[:port][/path]";

/// What may hold a password is not shown.
RemoteUrl refuse_url(std::string_view scheme, std::string_view clause) {
  RemoteUrl url;
  url.shown = fmt::format("{}://…", scheme);
  url.problem = fmt::format("The remote cache is not used: its url {}; {}.", clause, form);
  return url;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

RemoteUrl parse_remote_url(std::string_view text) {
  const std::size_t colon = text.find("://");
  const std::string scheme = lower(text.substr(0, colon));
  if (colon == std::string_view::npos || (scheme != "http" && scheme != "https"))
    return refuse_url("http", "does not start with http:// or https://");
  std::string_view rest = text.substr(colon + 3);
  while (rest.ends_with('/')) rest.remove_suffix(1);

  const bool plain =
      std::ranges::all_of(rest, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  if (!plain || rest.find_first_of("\\\"<>^`{|}") != std::string_view::npos)
    return refuse_url(scheme, "has a character that no url has");
  if (rest.find_first_of("?#") != std::string_view::npos)
    return refuse_url(scheme, "has a ? or #, and paths are put behind it");

  const std::size_t slash = std::min(rest.find('/'), rest.size());
  if (rest.find('@', slash) != std::string_view::npos)
    return refuse_url(scheme,
                      "has an @ behind its host (in a user, password or path it is %40, and a "
                      "slash in them is %2F)");
  const std::size_t at = rest.substr(0, slash).rfind('@');
  const std::string_view shown = at == std::string_view::npos ? rest : rest.substr(at + 1);
  if (shown.empty() || shown.front() == '/' || shown.front() == ':')
    return refuse_url(scheme, "has no host");
  return {fmt::format("{}://{}", scheme, rest), fmt::format("{}://{}", scheme, shown), {}};
}

}  // namespace jitbag::cache
