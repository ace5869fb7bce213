#include "remote_url.hpp"

#include <string>

#include "catch.hpp"
#include "remote/remote_fixture.hpp"

namespace jitbag::cache {
namespace {

using test::says;

TEST_CASE("a url is asked as it is, and shown without user and password") {
  const auto shown = [](const char* text) {
    const RemoteUrl url = parse_remote_url(text);
    CHECK(url.problem.empty());
    return url.shown;
  };
  CHECK(shown("http://host") == "http://host");
  CHECK(shown("HTTPS://host:8080/a/b///") == "https://host:8080/a/b");
  CHECK(shown("http://user:secret@host/a") == "http://host/a");
  CHECK(shown("http://secret@host") == "http://host");
  CHECK(shown("http://a:secret@secret@host") == "http://host");
  CHECK(shown("https://user:s%40c@[::1]:80/a%20b") == "https://[::1]:80/a%20b");
  CHECK(parse_remote_url("http://user:secret@host/a/").base == "http://user:secret@host/a");
}

TEST_CASE("a url that means nothing is refused with a sentence that shows no secret") {
  for (const std::string text :
       {"", "secret", "file:///secret", "ftp://user:secret@host", "http:/secret", "http://",
        "http://user:secret@", "http://user:secret@/a", "http://user:secret@:80",
        "http://host/a?token=secret", "http://host/#secret", "http://user:sec/ret@host",
        "http://user:se cret@host", "http://host/a\nsecret", "http://user:secret\\@host",
        "http://user:secr\xc3\xa9t@host", "javascript://secret"}) {
    const RemoteUrl url = parse_remote_url(text);
    CHECK(says(url.problem, "The remote cache is not used: its url "));
    for (const std::string secret : {"secret", "sec/", "ret@", "secr"}) {
      CHECK_FALSE(says(url.problem, secret));
      CHECK_FALSE(says(url.shown, secret));
    }
  }
}

TEST_CASE("a remote with such a url is one warning and no request") {
  test::Heard heard;
  RemoteOptions options;
  options.url = "file:///etc";
  options.write = true;
  const Remote remote(options, heard.listener());
  CHECK_FALSE(remote.find(test::sample("a").key()));
  CHECK_FALSE(remote.store(test::sample("a")));
  CHECK_FALSE(remote.latest_producer());
  CHECK(says(heard.only(), "does not start with http:// or https://"));
}

}  // namespace
}  // namespace jitbag::cache
