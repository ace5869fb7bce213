// One epoch of training on real ids, on the CPU: which section is a package filed under, given what
// it depends on, suggests and is tagged with? The vectors of the three bags are added, and that of
// the right section should be nearer to the sum than that of a wrong one. Ids are hashed into
// tables smaller than their number; the tables take steps of row-wise Adagrad on the rows of each
// batch.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "jitbag/jitbag.hpp"

namespace {

using namespace jitbag;
using Floats = std::vector<float>;
using Ids = std::vector<std::int32_t>;

constexpr std::int64_t dim = 32, batch = 256;

/// The int32 numbers of a one-dimensional .npy file, whose header ends with a line break.
Ids read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string header;
  if (!std::getline(file, header)) throw std::runtime_error("There are no ids in " + path + ".");
  Ids ids;
  for (std::int32_t id = 0; file.read(reinterpret_cast<char*>(&id), sizeof id);) ids.push_back(id);
  return ids;
}

std::int32_t hashed(std::int32_t id, std::int64_t rows) {
  const std::uint32_t mixed =
      static_cast<std::uint32_t>(id) * 0x9e3779b1u;  // 2^32 over the golden ratio
  return static_cast<std::int32_t>((mixed >> 7) % static_cast<std::uint32_t>(rows));
}

/// A table and what its optimizer keeps, and how it is read.
class Table {
 public:
  Table(ForwardSpec forward, std::int64_t rows, float rate, std::mt19937& random)
      : spec_{.forward = std::move(forward),
              .table_gradient = AppliedGradient{Optimizer::row_wise_adagrad}},
        rows_(rows),
        moment_(static_cast<std::size_t>(rows)) {
    std::normal_distribution<float> normal(0, 0.1f);
    for (std::int64_t i = 0; i < rows * dim; ++i) values_.push_back(normal(random));
    parameters_.learning_rate = rate;
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }

  void forward(ForwardArguments bags, Floats& output) const {
    bags.table = values_.data();
    bags.num_rows = rows_;
    bags.output = output.data();
    host::forward(spec_.forward, bags);
  }

  void step(ForwardArguments bags, const Floats& output_gradient) {
    bags.num_rows = rows_;
    host::backward(spec_, {.forward = bags,
                           .output_gradient = output_gradient.data(),
                           .updated_table = values_.data(),
                           .second_moment = moment_.data(),
                           .parameters = &parameters_});
  }

 private:
  BackwardSpec spec_;
  std::int64_t rows_;
  Floats values_, moment_;
  OptimizerParameters parameters_;
};

/// One trace: its hashed ids, and the table of their vectors.
struct Feature {
  /// With the packages in the given order.
  Feature(const std::string& folder, const std::string& name, std::int64_t rows, const Ids& order,
          std::mt19937& random)
      : table({.dim = dim, .bags = CsrBags{IntegerType::int32}, .id_type = IntegerType::int32},
              rows, 0.1f, random),
        offsets{0},
        pooled(static_cast<std::size_t>(batch * dim)) {
    const Ids all_ids = read(folder + "/" + name + "_indices.npy");
    const Ids all_offsets = read(folder + "/" + name + "_offsets.npy");
    for (const std::int32_t package : order) {
      const auto bag = static_cast<std::size_t>(package);
      for (std::int32_t i = all_offsets[bag]; i < all_offsets[bag + 1]; ++i) {
        ids.push_back(hashed(all_ids[static_cast<std::size_t>(i)], rows));
      }
      offsets.push_back(static_cast<std::int32_t>(ids.size()));
    }
  }

  /// The bags from `first` on.
  [[nodiscard]] ForwardArguments bags(std::int64_t first) const {
    return {.ids = ids.data(),
            .num_ids = static_cast<std::int64_t>(ids.size()),
            .offsets = offsets.data() + first,
            .batch = batch};
  }

  Table table;
  Ids ids, offsets;
  Floats pooled;
};

/// Seconds that each part has taken.
class Stopwatch {
 public:
  template <class Work>
  void measure(double& seconds, Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  double forward = 0, model = 0, backward = 0;
};

/// The mean loss of a batch, and its gradients: of the sum of a package's vectors, and of the
/// vectors of its right and its wrong section, [batch, 2, dim].
double loss(const Floats& sums, const Floats& sections, Floats& sums_gradient,
            Floats& sections_gradient) {
  double total = 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    const float* const u = sums.data() + b * dim;
    float* const u_gradient = sums_gradient.data() + b * dim;
    std::fill(u_gradient, u_gradient + dim, 0.0f);
    for (const std::int64_t wrong : {0, 1}) {
      const float* const v = sections.data() + (2 * b + wrong) * dim;
      float score = 0;
      for (std::int64_t i = 0; i < dim; ++i) score += u[i] * v[i];
      const float sign = wrong != 0 ? 1.0f : -1.0f;
      total += std::log1p(std::exp(sign * score));
      const float slope = sign / (1 + std::exp(-sign * score)) / static_cast<float>(batch);
      for (std::int64_t i = 0; i < dim; ++i) {
        u_gradient[i] += slope * v[i];
        sections_gradient[static_cast<std::size_t>((2 * b + wrong) * dim + i)] = slope * u[i];
      }
    }
  }
  return total / static_cast<double>(batch);
}

int train(const std::string& folder) {
  std::mt19937 random(1);
  const Ids sections = read(folder + "/section_indices.npy");
  // The catalogue is in alphabetical order, in which neighbours are alike.
  Ids order(sections.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<Feature> features;
  features.emplace_back(folder, "depends", 8192, order, random);
  features.emplace_back(folder, "suggests", 8192, order, random);
  features.emplace_back(folder, "tags", 512, order, random);
  // Rows as they are: the right section's and a wrong one's.
  Table section_table(
      {.dim = dim, .bags = FixedBags{2}, .pooling = Pooling::none, .id_type = IntegerType::int32},
      64, 0.1f, random);

  const auto packages = static_cast<std::int64_t>(sections.size());
  const std::int64_t batches = packages / batch;
  Floats sums(static_cast<std::size_t>(batch * dim)), sums_gradient(sums.size());
  Floats chosen(2 * sums.size()), chosen_gradient(chosen.size());
  Ids pairs(static_cast<std::size_t>(2 * batch));
  const ForwardArguments pair_bags = {.ids = pairs.data(), .batch = batch};
  Stopwatch took;
  double first_tenth = 0, last_tenth = 0, sum = 0;
  for (std::int64_t number = 0; number < batches; ++number) {
    const std::int64_t first = number * batch;
    for (std::int64_t b = 0; b < batch; ++b) {
      const std::int32_t package = order[static_cast<std::size_t>(first + b)];
      pairs[static_cast<std::size_t>(2 * b)] = sections[static_cast<std::size_t>(package)];
      pairs[static_cast<std::size_t>(2 * b + 1)] =
          sections[random() % static_cast<std::size_t>(packages)];
    }
    took.measure(took.forward, [&] {
      for (Feature& feature : features) feature.table.forward(feature.bags(first), feature.pooled);
      section_table.forward(pair_bags, chosen);
    });
    took.measure(took.model, [&] {
      for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] = features[0].pooled[i] + features[1].pooled[i] + features[2].pooled[i];
      }
      sum += loss(sums, chosen, sums_gradient, chosen_gradient);
    });
    took.measure(took.backward, [&] {
      for (Feature& feature : features) feature.table.step(feature.bags(first), sums_gradient);
      section_table.step(pair_bags, chosen_gradient);
    });
    const std::int64_t in_tenth = batches / 10;
    if ((number + 1) % in_tenth != 0) continue;
    last_tenth = std::exchange(sum, 0) / static_cast<double>(in_tenth);
    if (first_tenth == 0) first_tenth = last_tenth;
    std::printf("%3d %% of the epoch: loss %.3f\n", static_cast<int>(100 * (number + 1) / batches),
                last_tenth);
  }
  std::printf("Forward %.2f s, model %.2f s, backward and step %.2f s.\n", took.forward, took.model,
              took.backward);
  if (last_tenth < 0.8 * first_tenth) return 0;
  std::printf("The loss has not fallen by a fifth.\n");
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return train(count > 1 ? arguments[1] : "examples/traces");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_traces: %s\n", error.what());
    return 1;
  }
}
