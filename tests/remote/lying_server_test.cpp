// The remote against servers that lie. None of it may crash, hang or give a wrong record.
#include "remote/lying_server.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "cache/child.hpp"
#include "cache/key_pair.hpp"
#include "catch.hpp"
#include "remote/remote_fixture.hpp"
#include "sigpipe_blocked.hpp"

namespace jitbag::cache {
namespace {

using test::answer;
using test::Connection;
using test::Heard;
using test::LyingServer;
using test::sample;
using test::says;
using namespace std::chrono_literals;

RemoteOptions options_for(const std::string& url) {
  RemoteOptions options;
  options.url = url;
  options.write = true;
  options.connect_timeout = 5s;
  options.timeout = 10s;
  return options;
}

std::string record_text(const std::string& name) {
  return test::text_of(encode(sample(name)));
}

/// A server that says the same to everyone.
LyingServer::Behaviour always(std::string text) {
  return [text = std::move(text)](const Connection& connection) {
    static_cast<void>(connection.head());
    connection.say(text);
  };
}

/// What is warned of when the record "a" is looked for three times, in vain.
struct Outcome {
  std::string warning;
  int requests = 0;
};

Outcome outcome_with(LyingServer::Behaviour behaviour) {
  const LyingServer server(std::move(behaviour));
  Heard heard;
  const Remote remote(options_for(server.url()), heard.listener());
  for (int i = 0; i < 3; ++i) CHECK_FALSE(remote.find(sample("a").key()));
  return {heard.count() == 0 ? "" : heard.only(), server.requests()};
}

TEST_CASE("the server of these tests can tell the truth") {
  const LyingServer server(always(answer("200 OK", record_text("a"))));
  Heard heard;
  CHECK(Remote(options_for(server.url()), heard.listener()).find(sample("a").key()) == sample("a"));
  CHECK(heard.count() == 0);
}

TEST_CASE("none is a plain miss, asked again each time, without a warning") {
  for (const char* status : {"404 Not Found", "410 Gone", "403 Forbidden"}) {
    const Outcome outcome = outcome_with(always(answer(status, "<html>no</html>")));
    CHECK(outcome.warning.empty());
    CHECK(outcome.requests == 3);
  }
}

TEST_CASE("a server that answers with a failure is left alone after one warning") {
  for (const std::string status : {"500 Oops", "503 Busy", "401 Who", "204 Empty", "206 Part",
                                   "304 Same", "429 Slowly", "999 What"}) {
    const Outcome outcome = outcome_with(always(answer(status, "")));
    CHECK(says(outcome.warning, "it answered with status " + status.substr(0, 3)));
    CHECK(says(outcome.warning, "JITBAG_CACHE_REMOTE"));
    CHECK(outcome.requests == 1);
  }
}

TEST_CASE("what is no whole record of that key is a miss, with one warning") {
  const std::string whole = record_text("a");
  CHECK(says(outcome_with(always(answer("200 OK", ""))).warning, "it is damaged"));
  CHECK(says(outcome_with(always(answer("200 OK", "garbage"))).warning, "it is damaged"));
  CHECK(says(outcome_with(always(answer("200 OK", whole + "x"))).warning, "it is damaged"));
  CHECK(says(outcome_with(always(answer("200 OK", whole.substr(0, 50)))).warning, "it is damaged"));
  const Outcome other = outcome_with(always(answer("200 OK", record_text("b"))));
  CHECK(says(other.warning, "it holds the record of another key"));
  CHECK(other.requests == 3);  // one bad record is no bad server
}

TEST_CASE("half an answer is no answer") {
  const std::string whole = record_text("a");
  const std::string promise =
      "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(whole.size()) + "\r\n\r\n";
  const Outcome half = outcome_with(always(promise + whole.substr(0, whole.size() / 2)));
  CHECK(says(half.warning, "Nothing is read from"));
  CHECK(half.requests == 1);
  // Without a length the end of the connection is the end of the record.
  const Outcome cut = outcome_with(always("HTTP/1.1 200 OK\r\n\r\n" + whole.substr(0, 60)));
  CHECK(says(cut.warning, "it is damaged"));
}

TEST_CASE("what is not HTTP is no answer") {
  for (const std::string& text :
       {std::string("SSH-2.0-hello\r\n"), std::string(""), std::string("\0\0\0\0", 4),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nx"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nx"),
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx")}) {
    const Outcome outcome = outcome_with(always(text));
    CHECK_FALSE(outcome.warning.empty());
  }
}

TEST_CASE("an announced size over the limit is refused before it comes") {
  const Outcome outcome =
      outcome_with(always("HTTP/1.1 200 OK\r\nContent-Length: 300000000\r\n\r\nx"));
  CHECK(says(outcome.warning, "it sent more than 268435528 bytes"));
}

TEST_CASE("an endless body ends at the limit") {
  // That of a producer, which is as well kept and sooner reached than that of a record.
  const LyingServer server([](const Connection& connection) {
    static_cast<void>(connection.head());
    connection.say("HTTP/1.1 200 OK\r\n\r\n");
    const std::string block(1 << 16, 'x');
    while (connection.say(block)) {
    }
  });
  Heard heard;
  CHECK_FALSE(Remote(options_for(server.url()), heard.listener()).latest_producer());
  CHECK(says(heard.only(), "it sent more than 3273 bytes"));
}

TEST_CASE("a drop at a time ends at the timeout") {
  const LyingServer server([](const Connection& connection) {
    static_cast<void>(connection.head());
    connection.say("HTTP/1.1 200 OK\r\n\r\n");
    while (connection.say("x")) std::this_thread::sleep_for(10ms);
  });
  RemoteOptions options = options_for(server.url());
  options.timeout = 200ms;
  Heard heard;
  CHECK_FALSE(Remote(options, heard.listener()).find(sample("a").key()));
  CHECK(says(heard.only(), "imed out"));
}

TEST_CASE("three redirects are followed, four and a loop are not") {
  const auto server_with = [](int redirects) {
    return [redirects](const Connection& connection) {
      const std::string head = connection.head();
      const int hop = says(head, "/hop") ? std::stoi(head.substr(head.find("/hop") + 4)) : 0;
      connection.say(hop < redirects ? "HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: "
                                       "0\r\nLocation: /hop" +
                                           std::to_string(hop + 1) + "\r\n\r\n"
                                     : answer("200 OK", record_text("a")));
    };
  };
  Heard heard;
  const LyingServer three(server_with(3));
  CHECK(Remote(options_for(three.url()), heard.listener()).find(sample("a").key()));
  const LyingServer four(server_with(4));
  CHECK_FALSE(Remote(options_for(four.url()), heard.listener()).find(sample("a").key()));
  CHECK(says(heard.only(), "redirects"));
  CHECK(says(outcome_with(server_with(1'000'000)).warning, "redirects"));
}

TEST_CASE("no redirect leads to a file or to another protocol") {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "a.record";
  test::write_content(path, record_text("a"));  // so that a client that follows would find it
  for (const std::string& target :
       {"file://" + path.string(), std::string("ftp://127.0.0.1/a"),
        std::string("gopher://127.0.0.1/a"), std::string("dict://x/a")}) {
    const Outcome outcome =
        outcome_with(always("HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: "
                            "0\r\nLocation: " +
                            target + "\r\n\r\n"));
    CHECK(says(outcome.warning, "rotocol"));
    CHECK(outcome.requests == 1);
  }
}

TEST_CASE("a redirect does not take user and password to another host") {
  std::string second_head;
  {
    const LyingServer second([&](const Connection& connection) {
      second_head = connection.head();
      connection.say(answer("200 OK", record_text("a")));
    });
    const LyingServer first(
        always("HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: "
               "0\r\nLocation: " +
               second.url() + "/a\r\n\r\n"));
    Heard heard;
    const Remote remote(options_for("http://user:secret@" + first.url().substr(7)),
                        heard.listener());
    CHECK(remote.find(sample("a").key()));
  }
  CHECK(says(second_head, "GET /a"));
  CHECK_FALSE(says(second_head, "Authorization"));
}

TEST_CASE(
    "a server that hangs up while it is written to is a warning, not the end of the process") {
  const LyingServer server(
      [](const Connection& connection) { static_cast<void>(connection.head()); });
  Heard heard;
  const Remote remote(options_for(server.url()), heard.listener());
  Record record = sample("large");
  record.payload.resize(std::size_t{8} << 20);
  CHECK_FALSE(remote.store(record));
  CHECK(says(heard.only(), "from the remote cache") != says(heard.only(), "to the remote cache"));
}

TEST_CASE("the signal of a broken connection is kept from the process, and no other one is") {
  test::Child child([] {
    std::signal(SIGPIPE, SIG_DFL);
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return 1;
    ::close(ends[0]);
    {
      const SigpipeBlocked guard;
      if (::write(ends[1], "x", 1) != -1) return 2;
    }
    sigset_t now;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
    if (::sigismember(&now, SIGPIPE) == 1) return 3;
    return ::write(ends[1], "x", 1) == -1 ? 4 : 5;  // kills, as before
  });
  CHECK(child.wait() == 128 + SIGPIPE);
}

TEST_CASE("a write that is refused is said") {
  for (const std::string status :
       {"403 Forbidden", "405 No", "507 Full", "500 Oops", "301 There"}) {
    const LyingServer server(always(answer(status, "no")));
    Heard heard;
    const Remote remote(options_for(server.url()), heard.listener());
    CHECK_FALSE(remote.store(sample("a")));
    CHECK_FALSE(remote.store(sample("b")));
    CHECK(says(heard.only(), "status " + status.substr(0, 3)));
    CHECK(says(heard.only(), "Nothing is written to the remote cache"));
    CHECK(server.requests() == 1);
  }
}

TEST_CASE("a write that is moved elsewhere is written there, whole") {
  std::string written;
  {
    const LyingServer server([&](const Connection& connection) {
      const std::string head = connection.head();
      if (!says(head, "/elsewhere")) {
        connection.say(
            "HTTP/1.1 307 There\r\nConnection: close\r\nContent-Length: 0\r\nLocation: "
            "/elsewhere\r\n\r\n");
        return;
      }
      written = head;
      connection.say(answer("201 Created", ""));
    });
    Heard heard;
    CHECK(Remote(options_for(server.url()), heard.listener()).store(sample("a")));
  }
  CHECK(says(written, "PUT /elsewhere"));
  CHECK(says(written, "Content-Length: " + std::to_string(record_text("a").size())));
}

TEST_CASE("a request asks for the record's path, says who asks, and expects nothing") {
  std::string head;
  {
    const LyingServer server([&](const Connection& connection) {
      head = connection.head();
      connection.say(answer("201 Created", ""));
    });
    Heard heard;
    CHECK(Remote(options_for(server.url() + "/team/cache/"), heard.listener()).store(sample("a")));
  }
  const std::string hex = sample("a").key().hex();
  CHECK(says(head, "PUT /team/cache/records/" + hex.substr(0, 2) + "/" + hex + ".record HTTP/1.1"));
  CHECK(says(head, "User-Agent: jitbag"));
  CHECK_FALSE(says(head, "Expect"));
}

TEST_CASE("many threads meet a dead server at once, and one warning is said") {
  std::string url;
  {
    const LyingServer soon_gone(always(""));
    url = soon_gone.url();
  }
  Heard heard;
  const Remote remote(options_for(url), heard.listener());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) static_cast<void>(remote.find(sample("a").key()));
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(says(heard.only(), "Nothing is read from the remote cache " + url));
}

TEST_CASE("a listener that throws does no harm to a remote") {
  const LyingServer server(always(answer("500 Oops", "")));
  const Remote remote(options_for(server.url()), [](std::string_view) { throw 1; });
  CHECK_FALSE(remote.find(sample("a").key()));
  CHECK_FALSE(remote.store(sample("a")));
}

TEST_CASE("a remote of the child of the test below", "[.without-libcurl]") {
  Heard heard;
  const Remote remote(options_for("http://127.0.0.1:1"), heard.listener());
  for (int i = 0; i < 3; ++i) CHECK_FALSE(remote.find(sample("a").key()));
  CHECK_FALSE(remote.store(sample("a")));
  CHECK(says(heard.only(), "libcurl.so.4 was not found"));
  CHECK(says(heard.only(), "libcurl4"));
}

TEST_CASE("without libcurl there is one warning, which names the package") {
  const test::TemporaryFolder folder;
  test::write_content(folder.path() / "libcurl.so.4", "not a library");
  test::Child child([&] {
    ::setenv("LD_LIBRARY_PATH", folder.path().c_str(), 1);
    const int silence = ::open("/dev/null", O_WRONLY);
    ::dup2(silence, STDOUT_FILENO);
    ::execl("/proc/self/exe", "jitbag_remote_tests", "[.without-libcurl]",
            static_cast<char*>(nullptr));
    return 127;
  });
  CHECK(child.wait() == 0);
}

}  // namespace
}  // namespace jitbag::cache
