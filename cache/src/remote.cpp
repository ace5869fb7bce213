#include "jitbag/cache/remote.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "bytes.hpp"
#include "curl.hpp"
#include "http_client.hpp"
#include "limits.hpp"
#include "producer_rules.hpp"
#include "record_file.hpp"
#include "remote_url.hpp"
#include "signed_message.hpp"
#include "warn_once.hpp"

namespace jitbag::cache {
namespace {

using Bytes = std::vector<std::byte>;
using Clock = std::chrono::steady_clock;

// What stands behind a signed record: this, then the signature.
constexpr std::string_view seal_magic = "JITBAGSG";
constexpr std::size_t seal_size = seal_magic.size() + sizeof(Signature);
constexpr std::string_view signed_kind = "jitbag remote record";

constexpr const char* latest_producer_path = "producers/latest";
constexpr std::size_t largest_producer = longest_producer_id + 1 + longest_producer_description;

/// Below the url, as in a folder.
std::string remote_path(const Digest& key) {
  return record_path({}, key).string();
}

/// A record as it lies on a server, taken apart.
struct RemoteObject {
  std::span<const std::byte> record;
  std::optional<Signature> signature;
};

RemoteObject taken_apart(std::span<const std::byte> bytes) {
  if (bytes.size() < seal_size) return {bytes, {}};
  const auto seal = bytes.last(seal_size);
  if (!std::ranges::equal(seal.first(seal_magic.size()), std::as_bytes(std::span(seal_magic))))
    return {bytes, {}};
  Signature signature{};
  std::ranges::copy(seal.last(signature.size()), signature.begin());
  return {bytes.first(bytes.size() - seal_size), signature};
}

Bytes put_together(const Record& record, const std::optional<SigningKey>& signing) {
  Bytes bytes = encode(record);
  if (!signing) return bytes;
  const Signature signature = signing->sign(signed_message(signed_kind, bytes));
  Bytes object(bytes.size() + seal_size);
  auto end = std::ranges::copy(bytes, object.begin()).out;
  end = std::ranges::copy(std::as_bytes(std::span(seal_magic)), end).out;
  std::ranges::copy(signature, end);
  return object;
}

/// What there is none of. A store of objects that may not list says 403 for it.
bool means_none(long status) {
  return status == 404 || status == 410 || status == 403;
}

}  // namespace

struct Remote::State {
  /// A server that rejects what is written may well be read, so the two are left alone apart.
  enum class Use { reading, writing };

  State(RemoteOptions given, Warn warn)
      : options(std::move(given)),
        url(parse_remote_url(options.url)),
        client({options.connect_timeout, options.timeout}),
        warnings(std::move(warn), [this](std::string_view reason) {
          return fmt::format("The remote cache {} cannot be used: {}.", url.shown, reason);
        }) {}

  const RemoteOptions options;
  const RemoteUrl url;
  const HttpClient client;
  WarnOnce warnings;

  /// Nothing: the server has none, or gave no answer that counts.
  std::optional<Bytes> get(const std::string& path, std::size_t largest_body) {
    if (!may_ask(Use::reading)) return {};
    HttpAnswer answer = client.get(fmt::format("{}/{}", url.base, path), largest_body);
    if (answer.status == 200) {
      works_again(Use::reading);
      return std::move(answer.body);
    }
    if (means_none(answer.status))
      works_again(Use::reading);
    else
      leave_alone(Use::reading, answer);
    return {};
  }

  bool put(const std::string& path, std::span<const std::byte> body) {
    if (!may_ask(Use::writing)) return false;
    const HttpAnswer answer = client.put(fmt::format("{}/{}", url.base, path), body);
    const bool taken = answer.status >= 200 && answer.status < 300;
    if (taken)
      works_again(Use::writing);
    else
      leave_alone(Use::writing, answer);
    return taken;
  }

  /// The record in what the server gave; a warning when it is none that counts.
  std::optional<Record> record_in(std::span<const std::byte> bytes, const Digest& key) {
    const RemoteObject object = taken_apart(bytes);
    if (options.trusted && !is_trusted(object, key)) return {};
    Decoded decoded = decode(object.record);
    if (!decoded.record) {
      std::string_view why = decoded.problem;
      if (why.ends_with('.')) why.remove_suffix(1);  // it stands within a sentence
      return complain_of(key, "damaged", fmt::format("it is damaged: {}", why));
    }
    if (decoded.record->key() != key)
      return complain_of(key, "damaged", "it holds the record of another key");
    return std::move(decoded.record);
  }

  /// The same producer need not be written again by the same process.
  void remember(const Producer& producer) {
    const std::lock_guard lock(producer_mutex);
    if (written_producer == producer) return;
    const std::string text =
        fmt::format("{}\n{}", producer.id, kept_description(producer.description));
    if (put(latest_producer_path, std::as_bytes(std::span(text)))) written_producer = producer;
  }

 private:
  std::mutex producer_mutex;
  std::optional<Producer> written_producer;
  std::mutex pause_mutex;
  Clock::time_point reading_from{};
  Clock::time_point writing_from{};

  Clock::time_point& pause_of(Use use) { return use == Use::reading ? reading_from : writing_from; }

  bool may_ask(Use use) {
    if (!url.problem.empty()) {
      warnings.say("url", url.problem);
      return false;
    }
    {
      const std::lock_guard lock(pause_mutex);
      if (Clock::now() < pause_of(use)) return false;
    }
    if (curl().problem.empty()) return true;
    warnings.say("libcurl", curl().problem);
    return false;
  }

  void works_again(Use use) { warnings.forget(use == Use::reading ? "reading" : "writing"); }

  void leave_alone(Use use, const HttpAnswer& answer) {
    const auto until = Clock::now() + options.pause;
    {
      const std::lock_guard lock(pause_mutex);
      pause_of(use) = until;
      // Who does not answer at all is left alone altogether.
      if (answer.status == 0) reading_from = writing_from = until;
    }
    const std::string reason = answer.status == 0
                                   ? answer.problem
                                   : fmt::format("it answered with status {}", answer.status);
    const bool reading = use == Use::reading;
    warnings.say(
        reading ? "reading" : "writing",
        fmt::format("Nothing is {} the remote cache {} for {} s: {}; check the server, or "
                    "unset {}.",
                    reading ? "read from" : "written to", url.shown, options.pause.count(), reason,
                    reading ? "JITBAG_CACHE_REMOTE" : "JITBAG_CACHE_REMOTE_WRITE"));
  }

  bool is_trusted(const RemoteObject& object, const Digest& key) {
    if (!object.signature) {
      complain_of(key, "untrusted",
                  "it is not signed, and one signed by the trusted key is wanted");
      return false;
    }
    if (options.trusted->has_signed(signed_message(signed_kind, object.record), *object.signature))
      return true;
    complain_of(key, "untrusted", "its signature is not by the trusted key");
    return false;
  }

  std::nullopt_t complain_of(const Digest& key, const char* kind, std::string_view clause) {
    warnings.say(kind, fmt::format("The record {} of the remote cache {} is not used: {}.",
                                   key.hex(), url.shown, clause));
    return std::nullopt;
  }
};

Remote::Remote(RemoteOptions options, Warn warn)
    : state_(std::make_shared<State>(std::move(options), std::move(warn))) {}

std::string Remote::where() const {
  return state_->url.shown;
}

bool Remote::writes() const noexcept {
  return state_->options.write;
}

std::optional<Record> Remote::find(const Digest& key) const {
  return state_->warnings.attempt(std::optional<Record>{}, [&]() -> std::optional<Record> {
    const auto bytes = state_->get(remote_path(key), largest_record + seal_size);
    if (!bytes) return {};
    return state_->record_in(*bytes, key);
  });
}

bool Remote::store(const Record& record) const {
  return state_->warnings.attempt(false, [&] {
    if (!writes()) return false;
    const Bytes object = put_together(record, state_->options.signing);
    if (object.size() > largest_record) {
      state_->warnings.say(
          "too large", fmt::format("A record of {} bytes is not written to the remote cache {}: at "
                                   "most {} are allowed.",
                                   object.size(), where(), largest_record));
      return false;
    }
    return state_->put(remote_path(record.key()), object);
  });
}

std::optional<Producer> Remote::latest_producer() const {
  return state_->warnings.attempt(std::optional<Producer>{}, [&]() -> std::optional<Producer> {
    const auto bytes = state_->get(latest_producer_path, largest_producer);
    if (!bytes) return {};
    const std::string text = text_of(*bytes);
    const std::size_t line_end = std::min(text.find('\n'), text.size());
    Producer producer{text.substr(0, line_end), text.substr(std::min(line_end + 1, text.size()))};
    if (is_valid_producer_id(producer.id)) return producer;
    state_->warnings.say("producer", fmt::format("The remote cache {} names no producer that can "
                                                 "be one in {}.",
                                                 where(), latest_producer_path));
    return {};
  });
}

void Remote::remember(const Producer& producer) const {
  state_->warnings.attempt(false, [&] {
    if (!writes()) return false;
    if (is_valid_producer_id(producer.id))
      state_->remember(producer);
    else
      state_->warnings.say("producer id", bad_id_sentence(producer.id, where()));
    return true;
  });
}

}  // namespace jitbag::cache
