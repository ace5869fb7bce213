#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "jitbag/kernel.hpp"
#include "jitbag/target.hpp"

struct CUctx_st;
struct CUevent_st;
struct CUgraphExec_st;

/// The little of the CUDA driver that tools, tests and examples need beside an Engine: devices,
/// memory, streams, events, graphs. The driver library is opened by the first call. Everything
/// throws Error: missing_library without a driver, no_device, device_failed.
namespace jitbag::device {

struct Info {
  int ordinal = 0;
  std::string name;
  Target target;
  int multiprocessors = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
};

/// The driver library that was opened, and the CUDA version it supports ("13.0").
struct Driver {
  std::string path;
  std::string version;
};
[[nodiscard]] Driver driver();

[[nodiscard]] std::vector<Info> devices();

/// Holds a device's primary context and makes it current for the constructing thread; the
/// destructor makes the earlier one current again.
class Context {
 public:
  explicit Context(int ordinal);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

 private:
  int device_;
};

/// Device memory of the current context.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Synchronous copies and fill, between `bytes` of host and device memory.
void copy_to_device(void* target, const void* source, std::size_t bytes);
void copy_to_host(void* target, const void* source, std::size_t bytes);
/// Enqueued on the stream.
void copy_on_device(void* target, const void* source, std::size_t bytes, Stream stream);
void fill_bytes(void* target, std::uint8_t value, std::size_t bytes, Stream stream);

/// A stream of its own, which does not wait for the default stream.
class OwnedStream {
 public:
  OwnedStream();
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  ~OwnedStream();

  [[nodiscard]] Stream get() const noexcept { return stream_; }
  void synchronize() const;

 private:
  Stream stream_ = nullptr;
};

/// A point in a stream, for timing.
class Event {
 public:
  Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  void record(Stream stream);
  /// Milliseconds of device time between two recorded events; waits for the later one.
  [[nodiscard]] static double elapsed_ms(const Event& start, const Event& stop);

 private:
  CUevent_st* event_ = nullptr;
};

/// What `work` enqueues on the stream, captured once, to be launched many times.
class Graph {
 public:
  Graph(Stream stream, const std::function<void()>& work);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  void launch(Stream stream) const;

 private:
  CUgraphExec_st* graph_ = nullptr;
};

}  // namespace jitbag::device
