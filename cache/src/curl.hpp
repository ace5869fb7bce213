#pragma once

// The options that newer releases call outdated are the ones that all releases of the last ten
// years know, and their checks of types wrap functions that we call by pointers.
#define CURL_DISABLE_DEPRECATION
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include <string>

namespace jitbag::cache {

/// The functions of libcurl. Opened when they are first needed and never linked: libcurl brings
/// twenty libraries into a process, and most processes never make a request.
struct Curl {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_perform) easy_perform = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_reset) easy_reset = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;

  /// Why it could not be opened, as a sentence; empty when it was.
  std::string problem;
};

/// Opened once for the process, and never closed.
[[nodiscard]] const Curl& curl();

}  // namespace jitbag::cache
