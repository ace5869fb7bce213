// Two bags of ids pooled on the CPU, and the source of the kernel that a GPU would run for them.
// Needs neither a GPU nor NVRTC.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <jitbag/jitbag.hpp>

namespace {

constexpr std::int64_t rows = 4;
constexpr std::int64_t dim = 2;
constexpr std::int64_t bag_size = 3;
constexpr std::int64_t batch = 2;

}  // namespace

int main() {
  const std::array<float, rows * dim> table{0, 0, 1, 10, 2, 20, 3, 30};
  const std::array<std::int64_t, batch * bag_size> ids{1, 2, 3, 3, 0, 0};
  const std::array<float, batch * dim> expected{2, 20, 3, 30};
  std::array<float, batch * dim> output{};

  try {
    const jitbag::ForwardSpec spec = jitbag::validated({
        .dim = dim,
        .bags = jitbag::FixedBags{bag_size},
        .padding_id = 0,
        .alignment = sizeof(float),
    });
    jitbag::host::forward(spec, {.table = table.data(),
                                 .num_rows = rows,
                                 .ids = ids.data(),
                                 .output = output.data(),
                                 .batch = batch});

    const jitbag::Target target = jitbag::parse_target("sm_90");
    const jitbag::Specialisation kernel =
        jitbag::specialise(spec, jitbag::default_strategy(spec, target), target);
    std::printf("%s\n%s\n", jitbag::to_text(spec).c_str(), kernel.source.c_str());
  } catch (const jitbag::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
  if (output != expected) {
    std::fprintf(stderr, "The pooled rows are not the expected ones.\n");
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
