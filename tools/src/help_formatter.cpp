#include "help_formatter.hpp"

#include <sstream>

namespace jitbag::tools {
namespace {

constexpr std::size_t name_columns = 36;
constexpr std::size_t text_columns = 64;

/// The text with a line break wherever the next word would not fit.
std::string wrapped(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  std::size_t column = 0;
  for (std::string word; words >> word;) {
    if (column > 0) {
      const bool fits = column + 1 + word.size() <= text_columns;
      result += fits ? ' ' : '\n';
      column = fits ? column + 1 : 0;
    }
    result += word;
    column += word.size();
  }
  return result;
}

}  // namespace

HelpFormatter::HelpFormatter() {
  column_width(name_columns);
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) return {};
  std::string text = " " + option->get_type_name();
  if (!option->get_default_str().empty()) text += " [" + option->get_default_str() + "]";
  if (option->get_required()) text += " (required)";
  return text;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return wrapped(option->get_description());
}

std::string HelpFormatter::make_subcommand(const CLI::App* subcommand) const {
  std::ostringstream text;
  CLI::detail::format_help(text, subcommand->get_name(), wrapped(subcommand->get_description()),
                           name_columns);
  return text.str();
}

}  // namespace jitbag::tools
