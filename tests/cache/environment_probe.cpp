// Says what a program takes from its environment: run by foreign_test.cpp, also with set-uid
// rights.
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdio>

#include "compiler/nvrtc.hpp"
#include "jitbag/cache/disk_cache.hpp"

int main() {
  std::printf("secure %s\n", ::getauxval(AT_SECURE) != 0 ? "yes" : "no");
  std::printf("directory %s\n", jitbag::cache::default_directory().value_or("none").c_str());
  for (const auto& place : jitbag::compiler::searched_places())
    std::printf("compiler %s\n", place.c_str());
  std::fflush(stdout);
  ::_exit(0);  // a leak sanitizer may not look into a set-uid process
}
