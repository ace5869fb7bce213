#pragma once

#include <string>
#include <vector>

#include "jitbag/wisdom.hpp"
#include "output.hpp"

namespace jitbag::tools {

/// The folder beside the cache. Throws cache::Error where there is none.
[[nodiscard]] WisdomFolder wisdom_folder_here();

/// A file of wisdom that the user named, with what is ignored of it. Throws Error(io_failed) where
/// there is nothing in it.
[[nodiscard]] WisdomText read_wisdom_file(const std::string& path);

/// Writes all models into one file and says so; gives the exit status. Throws Error(io_failed).
[[nodiscard]] int write_wisdom_file(const std::string& path, const WisdomText& wisdom, bool json);

[[nodiscard]] std::size_t count_findings(const std::vector<Wisdom>& models);

/// What the engine does not use of it, and why, in sentences: a line for each reason.
[[nodiscard]] std::vector<std::string> ignored_wisdom(const WisdomText& wisdom);

/// Says each sentence on standard error; the exit status is that of a success without any.
[[nodiscard]] int exit_status_after(const std::vector<std::string>& problems);

}  // namespace jitbag::tools
