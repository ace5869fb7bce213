#include "jitbag/cache/notes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cache/cache_folder.hpp"
#include "cache/child.hpp"
#include "cache/refusal.hpp"
#include "catch.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;
using test::refusal;
using test::says;

struct NotesFolder {
  test::TemporaryFolder folder;
  fs::path path = folder.path() / "cache" / "notes";
  Notes notes{path};

  void set(const std::string& name, const std::string& text) const {
    notes.change(name, [&](const auto&) { return text; });
  }
};

}  // namespace

TEST_CASE("a note reads back as it was written, and nothing is made before the first") {
  const NotesFolder f;
  CHECK(f.notes.names().empty());
  CHECK_FALSE(f.notes.read("a.json"));
  CHECK_FALSE(fs::exists(f.path));
  f.set("b.json", "second");
  f.set("a.json", "");
  CHECK(f.notes.read("a.json") == "");
  CHECK(f.notes.read("b.json") == "second");
  CHECK(f.notes.names() == std::vector<std::string>{"a.json", "b.json"});
  CHECK(test::mode_of(f.path) == 0700);
  CHECK(test::mode_of(f.path / "b.json") == 0600);
}

TEST_CASE("a change is told what was there, and one that throws changes nothing") {
  const NotesFolder f;
  const auto append = [&](const std::string& more) {
    f.notes.change("note", [&](const auto& before) { return before.value_or("(none) ") + more; });
  };
  append("one ");
  append("two");
  CHECK(f.notes.read("note") == "(none) one two");
  CHECK(refusal([&] {
          f.notes.change("note", [](const auto&) -> std::string { throw Error("no"); });
        }) == "no");
  CHECK(f.notes.read("note") == "(none) one two");
  CHECK(test::names_below(f.path) == std::vector<std::string>{".", "lock", "note"});
}

TEST_CASE("no change of several processes is lost") {
  const NotesFolder f;
  constexpr int each = 40;
  const auto append = [&](char letter) {
    for (int i = 0; i < each; ++i)
      f.notes.change("note", [&](const auto& before) { return before.value_or("") + letter; });
    return 0;
  };
  std::vector<test::Child> children;
  for (const char letter : {'a', 'b', 'c'}) children.emplace_back([&] { return append(letter); });
  for (test::Child& child : children) CHECK(child.wait() == 0);
  CHECK(f.notes.read("note").value_or("").size() == 3 * each);
}

TEST_CASE("what another user could have written is not read, and gives way to a change") {
  const NotesFolder f;
  f.set("note", "old");
  REQUIRE(::chmod((f.path / "note").c_str(), 0666) == 0);
  CHECK(says(refusal([&] { static_cast<void>(f.notes.read("note")); }), "can be written by other"));
  f.notes.change("note", [](const auto& before) { return before.value_or("none"); });
  CHECK(f.notes.read("note") == "none");

  REQUIRE(::chmod(f.path.c_str(), 0777) == 0);
  for (const std::string& sentence :
       {refusal([&] { static_cast<void>(f.notes.read("note")); }),
        refusal([&] { static_cast<void>(f.notes.names()); }), refusal([&] { f.set("note", "x"); })})
    CHECK(says(sentence, f.path.string() + " can be written by other users (mode 0777)"));
}

TEST_CASE("a link or a folder in a note's place is not followed, and gives way to a change") {
  const NotesFolder f;
  f.set("secret", "kept");
  fs::create_symlink("secret", f.path / "link");
  fs::create_directories(f.path / "folder" / "inside");
  for (const char* name : {"link", "folder"}) {
    CHECK(says(refusal([&] { static_cast<void>(f.notes.read(name)); }), name));
    f.set(name, "new");
    CHECK(f.notes.read(name) == "new");
  }
  CHECK(f.notes.read("secret") == "kept");
}

TEST_CASE("names that mean something to a folder, and texts that are too large, are refused") {
  const NotesFolder f;
  for (const char* name : {"", ".", "..", ".new+1", "lock", "a/b", "a b", "Größe"}) {
    CHECK_FALSE(is_note_name(name));
    CHECK(says(refusal([&] { f.set(name, "x"); }), "cannot be a note's name"));
  }
  CHECK(says(refusal([&] { f.set("note", std::string(largest_note + 1, 'x')); }), "16777216"));
  CHECK(f.notes.names().empty());
}

}  // namespace jitbag::cache
