// The remote against a real nginx: written, read, killed, frozen.
#include "remote/nginx.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cache/child.hpp"
#include "cache/key_pair.hpp"
#include "catch.hpp"
#include "remote/remote_fixture.hpp"

namespace jitbag::cache {
namespace {

using test::Heard;
using test::Nginx;
using test::sample;
using test::says;
using test::write_content;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

#define NEEDS_NGINX                                                       \
  if (!Nginx::is_installed()) {                                           \
    WARN("skipped: nginx is not installed; apt-get install nginx-light"); \
    return;                                                               \
  }

RemoteOptions reading(const std::string& url) {
  RemoteOptions options;
  options.url = url;
  options.pause = 1s;
  return options;
}
RemoteOptions writing(const std::string& url) {
  RemoteOptions options = reading(url);
  options.write = true;
  return options;
}

fs::path file_of(const Nginx& nginx, const Record& record) {
  const std::string hex = record.key().hex();
  return nginx.data() / "records" / hex.substr(0, 2) / (hex + ".record");
}

TEST_CASE("what one machine writes, another one reads", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  Heard heard;
  const Remote writer(writing(nginx.url()), heard.listener());
  const Remote reader(reading(nginx.url()), heard.listener());
  const Record record = sample("a");
  CHECK_FALSE(reader.find(record.key()));
  CHECK(writer.store(record));
  CHECK(reader.find(record.key()) == record);
  CHECK(test::content_of(file_of(nginx, record)) == test::text_of(encode(record)));
  CHECK_FALSE(reader.find(sample("b").key()));
  CHECK(heard.count() == 0);
}

TEST_CASE("a large record goes there and back", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  Heard heard;
  const Remote remote(writing(nginx.url()), heard.listener());
  Record record = sample("large");
  record.payload.resize(std::size_t{20} << 20, std::byte{0x5a});
  CHECK(remote.store(record));
  CHECK(remote.find(record.key()) == record);
  CHECK(heard.count() == 0);
}

TEST_CASE("a cache folder that a web server shows is a remote", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  Heard heard;
  const DiskCache folder(nginx.data() / "cache", heard.listener());
  REQUIRE(folder.store(sample("a")));
  const Remote remote(reading(nginx.url() + "/cache/"), heard.listener());
  CHECK(remote.find(sample("a").key()) == sample("a"));
  CHECK(heard.count() == 0);
}

TEST_CASE("a remote that is not to be written is not written", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  Heard heard;
  const Remote remote(reading(nginx.url()), heard.listener());
  CHECK_FALSE(remote.writes());
  CHECK_FALSE(remote.store(sample("a")));
  remote.remember({"build", "a build"});
  CHECK(nginx.requests().empty());
  CHECK(heard.count() == 0);
}

TEST_CASE("a server that takes no records is still read", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  Heard heard;
  const std::string hex = sample("a").key().hex();
  const fs::path file =
      nginx.data() / "read_only" / "records" / hex.substr(0, 2) / (hex + ".record");
  fs::create_directories(file.parent_path());
  write_content(file, test::text_of(encode(sample("a"))));
  const Remote remote(writing(nginx.url() + "/read_only"), heard.listener());
  CHECK_FALSE(remote.store(sample("b")));
  CHECK(remote.find(sample("a").key()) == sample("a"));
  CHECK(says(heard.only(), "Nothing is written to the remote cache"));
  CHECK(says(heard.only(), "status 403"));
}

TEST_CASE("the producer that wrote last is remembered, and written once by a process", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  Heard heard;
  const Remote remote(writing(nginx.url()), heard.listener());
  CHECK_FALSE(remote.latest_producer());
  const Producer producer{"build-1", "the first\nof its kind"};
  remote.remember(producer);
  remote.remember(producer);
  CHECK(remote.latest_producer() == producer);
  remote.remember({"build-2", ""});
  CHECK(remote.latest_producer() == Producer{"build-2", ""});
  CHECK(std::ranges::count_if(nginx.requests(), [](const auto& r) { return says(r, "PUT"); }) == 2);
  CHECK(heard.count() == 0);
}

TEST_CASE("a producer with a name that climbs out of a folder is not believed", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  Heard heard;
  const Remote remote(writing(nginx.url()), heard.listener());
  fs::create_directory(nginx.data() / "producers");
  for (const std::string body : {"../../etc/passwd\nx", "", "\nx", "a b\n"}) {
    write_content(nginx.data() / "producers" / "latest", body);
    CHECK_FALSE(remote.latest_producer());
  }
  CHECK(says(heard.only(), "names no producer"));
}

TEST_CASE("signed records are believed by those who trust the key, and read by all", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  const test::TemporaryFolder keys;
  const test::KeyPair ours(keys.path(), 1);
  const test::KeyPair theirs(keys.path(), 2);
  RemoteOptions signing = writing(nginx.url());
  signing.signing = ours.signing();
  RemoteOptions trusting = reading(nginx.url());
  trusting.trusted = ours.trusted();
  RemoteOptions trusting_another = reading(nginx.url());
  trusting_another.trusted = theirs.trusted();
  Heard heard;
  const Record record = sample("a");
  REQUIRE(Remote(signing, heard.listener()).store(record));
  CHECK(Remote(trusting, heard.listener()).find(record.key()) == record);
  CHECK(Remote(reading(nginx.url()), heard.listener()).find(record.key()) == record);
  CHECK(heard.count() == 0);

  const Remote other(trusting_another, heard.listener());
  CHECK_FALSE(other.find(record.key()));
  CHECK_FALSE(other.find(record.key()));
  CHECK(says(heard.only(), "its signature is not by the trusted key"));

  Heard of_unsigned;
  REQUIRE(Remote(writing(nginx.url()), of_unsigned.listener()).store(sample("unsigned")));
  const Remote trusting_remote(trusting, of_unsigned.listener());
  CHECK_FALSE(trusting_remote.find(sample("unsigned").key()));
  CHECK_FALSE(trusting_remote.find(sample("unsigned").key()));
  CHECK(says(of_unsigned.only(), "it is not signed"));
  CHECK(trusting_remote.find(record.key()) == record);
}

TEST_CASE("no change of any byte on the server gives a wrong record", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  const test::TemporaryFolder keys;
  const test::KeyPair pair(keys.path(), 1);
  const Record record = sample("a");
  RemoteOptions options = writing(nginx.url());
  options.signing = pair.signing();
  Heard heard;
  REQUIRE(Remote(options, heard.listener()).store(record));
  options.trusted = pair.trusted();
  const Remote trusting(options, heard.listener());
  const Remote believing(reading(nginx.url()), heard.listener());
  const std::string whole = test::content_of(file_of(nginx, record));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    write_content(file_of(nginx, record), changed);
    if (trusting.find(record.key())) FAIL("byte " << at << " is not signed");
    const auto found = believing.find(record.key());
    if (found && *found != record) FAIL("a wrong record when byte " << at << " changed");
  }
  write_content(file_of(nginx, record), whole);
  CHECK(trusting.find(record.key()) == record);
}

TEST_CASE("user and password reach the server, and no sentence", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  Heard heard;
  const Remote remote(writing(nginx.private_url("user:secret")), heard.listener());
  CHECK(remote.store(sample("a")));
  CHECK(remote.find(sample("a").key()) == sample("a"));
  CHECK(heard.count() == 0);
  CHECK_FALSE(says(remote.where(), "secret"));
  CHECK(says(remote.where(), "http://127.0.0.1:"));

  const Remote wrong(writing(nginx.private_url("user:hush")), heard.listener());
  CHECK_FALSE(wrong.find(sample("a").key()));
  CHECK(says(heard.only(), "status 401"));
  CHECK_FALSE(wrong.store(sample("b")));
  CHECK(heard.count() == 2);
  for (const std::string secret : {"hush", "user"}) CHECK_FALSE(heard.any_says(secret));
}

TEST_CASE("a killed server costs one warning, is left alone, and is used again", "[nginx]") {
  NEEDS_NGINX
  Nginx nginx;
  Heard heard;
  const Remote remote(writing(nginx.url()), heard.listener());
  REQUIRE(remote.store(sample("a")));
  nginx.kill();
  CHECK_FALSE(remote.find(sample("a").key()));
  CHECK(says(heard.only(), "Nothing is read from the remote cache " + nginx.url() + " for 1 s"));
  nginx.start();
  const auto before = nginx.requests().size();
  CHECK_FALSE(remote.find(sample("a").key()));
  CHECK_FALSE(remote.store(sample("b")));
  CHECK(nginx.requests().size() == before);
  std::this_thread::sleep_for(1100ms);
  CHECK(remote.find(sample("a").key()) == sample("a"));
  CHECK(heard.count() == 1);
}

TEST_CASE("a frozen server costs one timeout and one warning", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  Heard heard;
  RemoteOptions options = writing(nginx.url());
  options.timeout = 300ms;
  options.pause = 60s;
  const Remote remote(options, heard.listener());
  REQUIRE(remote.store(sample("a")));
  nginx.freeze();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i) {
    CHECK_FALSE(remote.find(sample("a").key()));
    CHECK_FALSE(remote.store(sample("a")));
  }
  CHECK(std::chrono::steady_clock::now() - start < 10s);  // 100 timeouts are 30 s
  CHECK(says(heard.only(), "imed out"));
  nginx.thaw();
}

TEST_CASE("one thread after the other keeps one connection", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  Heard heard;
  const Remote remote(writing(nginx.url()), heard.listener());
  for (int i = 0; i < 20; ++i) CHECK(remote.store(sample(std::to_string(i))));
  for (int i = 0; i < 20; ++i) CHECK(remote.find(sample(std::to_string(i)).key()));
  std::set<std::string> connections;
  for (const std::string& line : nginx.requests())
    connections.insert(line.substr(0, line.find(' ')));
  CHECK(connections.size() == 1);
}

TEST_CASE("many threads write and read at once", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  Heard heard;
  RemoteOptions options = writing(nginx.url());
  options.connect_timeout = options.timeout = 30s;  // sanitizers are slow, and this is no race
  const Remote remote(options, heard.listener());
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 12; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 20; ++i) {
        const Record record = sample(std::to_string((thread + i) % 15));
        if (remote.store(record) && remote.find(record.key()) == record) ++right;
        remote.remember({"build", "one for all"});
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 12 * 20);
  CHECK(heard.count() == 0);
}

TEST_CASE("a process that was forked does not talk into its parent's connections", "[nginx]") {
  NEEDS_NGINX
  const Nginx nginx;
  Heard heard;
  const Remote remote(writing(nginx.url()), heard.listener());
  for (int i = 0; i < 10; ++i) REQUIRE(remote.store(sample(std::to_string(i))));
  const auto read_all = [&] {
    int right = 0;
    for (int round = 0; round < 20; ++round)
      for (int i = 0; i < 10; ++i) {
        const Record record = sample(std::to_string(i));
        right += remote.find(record.key()) == record ? 1 : 0;
      }
    return right;
  };
  test::Child child([&] { return read_all() == 200 ? 0 : 1; });
  CHECK(read_all() == 200);
  CHECK(child.wait() == 0);
  CHECK(remote.find(sample("1").key()));
  CHECK(heard.count() == 0);
}

}  // namespace
}  // namespace jitbag::cache
