#include "curl.hpp"

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

namespace jitbag::cache {
namespace {

constexpr const char* library_name = "libcurl.so.4";

Curl unusable(std::string problem) {
  Curl curl;
  curl.problem = std::move(problem);
  return curl;
}

template <class Function>
bool resolve(Function& function, void* handle, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  return function != nullptr;
}

Curl open() {
  void* handle = ::dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return unusable(fmt::format(
        "The remote cache is not used: {} was not found ({}); install what Debian calls libcurl4.",
        library_name, ::dlerror()));
  Curl curl;
  const bool whole = resolve(curl.global_init, handle, "curl_global_init") &&
                     resolve(curl.easy_init, handle, "curl_easy_init") &&
                     resolve(curl.easy_setopt, handle, "curl_easy_setopt") &&
                     resolve(curl.easy_perform, handle, "curl_easy_perform") &&
                     resolve(curl.easy_getinfo, handle, "curl_easy_getinfo") &&
                     resolve(curl.easy_reset, handle, "curl_easy_reset") &&
                     resolve(curl.easy_cleanup, handle, "curl_easy_cleanup") &&
                     resolve(curl.easy_strerror, handle, "curl_easy_strerror") &&
                     resolve(curl.slist_append, handle, "curl_slist_append") &&
                     resolve(curl.slist_free_all, handle, "curl_slist_free_all");
  if (!whole || curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return unusable(fmt::format(
        "The remote cache is not used: the {} that is found here does not start; install what "
        "Debian calls libcurl4.",
        library_name));
  return curl;
}

}  // namespace

const Curl& curl() {
  static const Curl functions = open();
  return functions;
}

}  // namespace jitbag::cache
