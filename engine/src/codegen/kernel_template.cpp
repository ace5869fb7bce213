#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "jitbag/error.hpp"
#include "jitbag/specialisation.hpp"

namespace jitbag {
namespace {

bool is_identifier(std::string_view text) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), is_word);
}

bool has_nul(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

/// Whether a line could bring in a file: strict on purpose, since what NVRTC reads besides the text
/// is not in the key.
bool may_include_files(std::string text) {
  for (auto at = text.find("\\\n"); at != std::string::npos; at = text.find("\\\n", at))
    text.erase(at, 2);
  if (text.find("__has_include") != std::string::npos) return true;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const bool is_directive =
        line.find('#') != std::string_view::npos || line.find("%:") != std::string_view::npos;
    if (is_directive && line.find("include") != std::string_view::npos) return true;
    begin = end + 1;
  }
  return false;
}

void refuse_side_effects(const std::string& option) {
  static constexpr std::array refused = {"-arch",
                                         "--gpu-architecture",
                                         "-I",
                                         "--include-path",
                                         "-include",
                                         "--pre-include",
                                         "-pch",
                                         "--pch",
                                         "-create-pch",
                                         "--create-pch",
                                         "-use-pch",
                                         "--use-pch",
                                         "-time",
                                         "--time",
                                         "-fdevice-time-trace",
                                         "--fdevice-time-trace",
                                         "-dlto",
                                         "--dlto",
                                         "-rdc",
                                         "--relocatable-device-code",
                                         "-dc",
                                         "--device-c",
                                         "--use-bundled-headers",
                                         "--optix-ir"};
  const auto begins = [&](const char* prefix) { return option.starts_with(prefix); };
  if (!option.starts_with('-') || has_nul(option) ||
      std::any_of(refused.begin(), refused.end(), begins)) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("The template option '{}' is not allowed: it reads or writes files, names an "
                    "architecture or makes something other than a kernel. Put what it "
                    "brings in into the template's text.",
                    option));
  }
}

}  // namespace

Specialisation specialise(const KernelTemplate& kernel_template, const Target& target) {
  if (!is_identifier(kernel_template.entry)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("The template's entry is '{}'; it must be the name of an extern \"C\" "
                            "__global__ function.",
                            kernel_template.entry));
  }
  std::string source;
  for (const Constant& constant : kernel_template.constants) {
    if (!is_identifier(constant.name)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("A template constant is named '{}'; it must be a C++ identifier.",
                              constant.name));
    }
    source += fmt::format("constexpr {} {} = {};\n", constant.type, constant.name, constant.value);
  }
  for (const std::string& option : kernel_template.options) refuse_side_effects(option);
  source += kernel_template.text;
  if (has_nul(source) || has_nul(kernel_template.name)) {
    throw Error(ErrorKind::invalid_argument,
                "The template's name or text has a NUL character in it, where NVRTC would stop "
                "reading; remove it.");
  }
  if (may_include_files(source)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("The template {} has an #include or __has_include: what it reads would "
                            "not be part of the "
                            "kernel's key. Put the included text into the template.",
                            kernel_template.name));
  }
  return {.name = kernel_template.name,
          .source = source,
          .entry = kernel_template.entry,
          .target = target,
          .options = kernel_template.options};
}

}  // namespace jitbag
