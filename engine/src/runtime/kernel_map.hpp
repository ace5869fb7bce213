#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace jitbag {

/// A map that only grows, read without a lock: a lookup is one hash and, mostly, one comparison.
/// Values never move.
///
/// Open addressing over atomic pointers. A table that is full is replaced by one of twice the size;
/// readers may still hold the old one, so it is kept: all the old ones together are smaller than
/// the last.
template <class Key, class Value, class Hash>
class KernelMap {
 public:
  KernelMap() { grow(64); }

  [[nodiscard]] const Value* find(const Key& key) const {
    const Table& table = *current_.load(std::memory_order_acquire);
    const std::size_t hash = Hash{}(key);
    for (std::size_t i = hash;; ++i) {
      const Entry* entry = table.slots[i & table.mask].load(std::memory_order_acquire);
      if (!entry) return nullptr;
      if (entry->hash == hash && entry->key == key) return entry->value;
    }
  }

  /// The value is not owned. A key that is there keeps its value.
  void insert(const Key& key, const Value* value) {
    const std::lock_guard lock(writing_);
    if (find(key)) return;
    entries_.push_back(std::make_unique<Entry>(Entry{Hash{}(key), key, value}));
    if (entries_.size() * 2 > tables_.back()->mask + 1) {
      grow((tables_.back()->mask + 1) * 2);
    } else {
      place(*tables_.back(), *entries_.back());
    }
  }

 private:
  struct Entry {
    std::size_t hash;
    Key key;
    const Value* value;
  };
  struct Table {
    explicit Table(std::size_t size) : mask(size - 1), slots(size) {}
    std::size_t mask;
    std::vector<std::atomic<const Entry*>> slots;
  };

  static void place(Table& table, const Entry& entry) {
    std::size_t i = entry.hash;
    while (table.slots[i & table.mask].load(std::memory_order_relaxed)) ++i;
    table.slots[i & table.mask].store(&entry, std::memory_order_release);
  }

  void grow(std::size_t size) {
    tables_.push_back(std::make_unique<Table>(size));
    for (const auto& entry : entries_) place(*tables_.back(), *entry);
    current_.store(tables_.back().get(), std::memory_order_release);
  }

  std::mutex writing_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::atomic<const Table*> current_ = nullptr;
};

}  // namespace jitbag
