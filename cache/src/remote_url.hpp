#pragma once

#include <string>
#include <string_view>

namespace jitbag::cache {

/// The url of a remote, as it is asked and as it is shown.
struct RemoteUrl {
  std::string base;     ///< with user and password, without a slash at its end
  std::string shown;    ///< without them
  std::string problem;  ///< a sentence that shows nothing secret; empty when the url is good
};

/// http(s)://[user:password@]host[:port][/path]
[[nodiscard]] RemoteUrl parse_remote_url(std::string_view text);

}  // namespace jitbag::cache
