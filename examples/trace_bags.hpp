#pragma once

#include <cstdint>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using Ids = std::vector<std::int32_t>;

/// The int32 numbers of a one-dimensional .npy file, whose header ends with a line break.
inline Ids read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string header;
  if (!std::getline(file, header)) throw std::runtime_error("There are no ids in " + path + ".");
  Ids ids;
  for (std::int32_t id = 0; file.read(reinterpret_cast<char*>(&id), sizeof id);) ids.push_back(id);
  return ids;
}

inline std::int32_t hashed(std::int32_t id, std::int64_t rows) {
  const std::uint32_t mixed =
      static_cast<std::uint32_t>(id) * 0x9e3779b1u;  // 2^32 over the golden ratio
  return static_cast<std::int32_t>((mixed >> 7) % static_cast<std::uint32_t>(rows));
}

/// What an epoch reads of one table, batch after batch.
struct Bags {
  explicit Bags(std::size_t bags_of_a_batch) : batch_size(bags_of_a_batch) {}

  void add(std::int32_t id) { ids.push_back(id); }
  void end_bag() {
    const auto end = static_cast<std::int64_t>(ids.size());
    offsets.push_back(static_cast<std::int32_t>(end - first_ids.back()));
    if (offsets.size() % (batch_size + 1) != 0) return;
    first_ids.push_back(end);
    offsets.push_back(0);
  }

  std::size_t batch_size;
  Ids ids;
  Ids offsets = {0};  ///< of each batch [batch + 1], counted from its first id
  std::vector<std::int64_t> first_ids = {0};  ///< of each batch, and where the last one ends
};

/// Those of a trace, with the packages in the given order and ids hashed to so many rows.
inline Bags trace(const std::string& path, const Ids& order, std::int64_t rows,
                  std::size_t batch_size) {
  const Ids ids = read(path + "_indices.npy");
  const Ids offsets = read(path + "_offsets.npy");
  Bags bags(batch_size);
  for (const std::int32_t package : order) {
    const auto bag = static_cast<std::size_t>(package);
    for (std::int32_t i = offsets[bag]; i < offsets[bag + 1]; ++i) {
      bags.add(hashed(ids[static_cast<std::size_t>(i)], rows));
    }
    bags.end_bag();
  }
  return bags;
}

/// Of each package its right section and that of another one.
inline Bags section_pairs(const Ids& sections, const Ids& order, std::size_t batch_size,
                          std::mt19937& random) {
  Bags bags(batch_size);
  for (const std::int32_t package : order) {
    bags.add(sections[static_cast<std::size_t>(package)]);
    bags.add(sections[random() % sections.size()]);
    bags.end_bag();
  }
  return bags;
}
