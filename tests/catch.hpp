#pragma once

// Catch2 v3 where it is, else v2 (Debian 12). Tests use only what both have.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as v2 has it
#else
#include <catch2/catch.hpp>
#endif
