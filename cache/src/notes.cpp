#include "jitbag/cache/notes.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "byte_lock.hpp"
#include "bytes.hpp"
#include "folder.hpp"
#include "jitbag/cache/error.hpp"
#include "producer_rules.hpp"
#include "record_file.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;

/// A change takes milliseconds: who holds the lock longer was stopped.
constexpr std::chrono::seconds patience{10};
/// Of the file `lock`: all notes of a folder have one.
constexpr std::uint64_t note_byte = 0;

/// What the action gives; Trouble leaves this library as an Error.
template <class Action>
auto told(const fs::path& directory, Action&& action) {
  try {
    return action();
  } catch (const Trouble& problem) {
    throw Error(fmt::format("{} cannot be used: {}; see that it is a folder of your own.",
                            directory.string(), problem.what()));
  }
}

/// What one look at a note gave, as text.
std::optional<std::string> text_of_look(const FileLook& look) {
  return look.bytes ? std::optional(std::string(text_of(*look.bytes))) : std::nullopt;
}

FileLook look_at_note(const Folder& folder, const std::string& name) {
  return look_at(folder, name, largest_note, Use::unnoted);
}

[[noreturn]] void refuse_note(const Folder& folder, const std::string& name, const FileLook& look) {
  throw Trouble(fmt::format("{} {}", (folder.path() / name).string(), look.problem));
}

void require_taken(const ByteLock& lock, const Folder& folder) {
  const std::string path = (folder.path() / lock_name).string();
  if (lock.outcome() == LockOutcome::in_vain)
    throw Error(fmt::format("Another process has held {} for over {} s; try again when it is done.",
                            path, patience.count()));
  if (lock.outcome() == LockOutcome::no_file)
    throw Trouble(fmt::format("{} cannot be opened ({})", path, lock.reason()));
}

}  // namespace

Notes::Notes(fs::path directory) : directory_(tidied(std::move(directory))) {}

std::vector<std::string> Notes::names() const {
  return told(directory_, [&] {
    const auto folder = Folder::open(directory_, Trust::own_and_roots);
    if (!folder) return std::vector<std::string>{};
    auto names = folder->names();
    std::erase_if(names, [](const std::string& name) { return !is_note_name(name); });
    std::ranges::sort(names);
    return names;
  });
}

std::optional<std::string> Notes::read(const std::string& name) const {
  return told(directory_, [&]() -> std::optional<std::string> {
    const auto folder = Folder::open(directory_, Trust::own_and_roots);
    if (!folder) return {};
    const FileLook look = look_at_note(*folder, name);
    if (!look.problem.empty()) refuse_note(*folder, name, look);
    return text_of_look(look);
  });
}

void Notes::change(
    const std::string& name,
    const std::function<std::string(std::optional<std::string> before)>& changed) const {
  told(directory_, [&] {
    if (!is_note_name(name)) throw Trouble(fmt::format("\"{}\" cannot be a note's name", name));
    const Folder folder = Folder::make(directory_);
    const ByteLock lock(folder, note_byte, patience);
    require_taken(lock, folder);
    folder.remove_leftovers();
    const FileLook look = look_at_note(folder, name);
    if (!look.problem.empty() && look.flaw == Flaw::unreadable) refuse_note(folder, name, look);
    const std::string text = changed(text_of_look(look));
    if (text.size() > largest_note)
      throw Trouble(fmt::format("{} would have {} bytes, more than the {} allowed", name,
                                text.size(), largest_note));
    folder.publish(name, std::as_bytes(std::span(text)));
  });
}

bool is_note_name(std::string_view text) {
  return is_valid_producer_id(text) && !text.starts_with('.') && text != lock_name;
}

}  // namespace jitbag::cache
