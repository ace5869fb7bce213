#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace jitbag::tools {

/// Help within 100 columns, with defaults in brackets: "--batch N [8]".
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* subcommand) const override;
};

}  // namespace jitbag::tools
