#include "kernel_lists.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "arguments.hpp"
#include "jitbag/error.hpp"

namespace jitbag::tools {
namespace {

/// A sentence that may repeat a person's text, which may be long or odd.
std::string one_line(std::string sentence) {
  constexpr std::size_t longest = 800;
  for (char& c : sentence) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  if (sentence.size() <= longest) return sentence;
  std::size_t end = longest;
  while ((static_cast<unsigned char>(sentence[end]) & 0xC0) == 0x80) --end;  // within a character
  return sentence.substr(0, end) + "…";
}

[[noreturn]] void refuse(const KernelLists& lists, const std::string& sentence) {
  const std::string line = one_line(sentence);
  throw UsageError(lists.where.empty() ? line : lists.where + ": " + line);
}

/// Requests, each once.
class DifferentRequests {
 public:
  void add(KernelRequest request) {
    const std::string text = spec_text(request) + strategy_text(request) + to_text(request.target);
    if (seen_.insert(text).second) requests_.push_back(std::move(request));
  }
  [[nodiscard]] std::vector<KernelRequest> all() && { return std::move(requests_); }

 private:
  std::vector<KernelRequest> requests_;
  std::unordered_set<std::string> seen_;
};

/// Counts through the combinations of one number below each size, the last one fastest.
class Odometer {
 public:
  explicit Odometer(const std::vector<std::vector<Setting>>& axes)
      : axes_(axes), numbers_(axes.size()) {}

  [[nodiscard]] KernelChoice choice() const {
    KernelChoice choice;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) axes_[axis][numbers_[axis]](choice);
    return choice;
  }

  /// False after the last combination.
  [[nodiscard]] bool advance() {
    for (std::size_t axis = axes_.size(); axis-- > 0;) {
      if (++numbers_[axis] < axes_[axis].size()) return true;
      numbers_[axis] = 0;
    }
    return false;
  }

 private:
  const std::vector<std::vector<Setting>>& axes_;
  std::vector<std::size_t> numbers_;
};

void add_requests(const KernelLists& lists, DifferentRequests& requests) {
  Odometer odometer(lists.axes);
  do {
    const KernelChoice choice = odometer.choice();
    for (const Target& target : lists.targets) {
      requests.add(lists.tables ? kernel_request(*lists.tables, choice.expected_batch, target)
                                : kernel_request(choice, target));
    }
  } while (odometer.advance());
}

}  // namespace

KernelLists kernel_lists(const KernelFlags& flags, std::vector<Target> targets) {
  return {.axes = settings([&](const KernelAxis& axis) { return values_of(flags, axis); }),
          .targets = std::move(targets)};
}

void add_combinations(std::uint64_t& kernels, const KernelLists& lists) {
  // Either factor is at most one more than the limit, so that nothing overflows.
  const auto limited = [](std::uint64_t count) { return std::min(count, most_kernels + 1); };
  std::uint64_t product = limited(lists.targets.size());
  for (const auto& axis : lists.axes) product = limited(product * limited(axis.size()));
  kernels += product;
  if (kernels > most_kernels)
    refuse(lists,
           fmt::format("these are more than {} kernels; shorten a list or a range", most_kernels));
}

std::vector<KernelRequest> kernel_requests(const std::vector<KernelLists>& lists) {
  std::uint64_t kernels = 0;
  for (const KernelLists& list : lists) add_combinations(kernels, list);
  DifferentRequests different;
  for (const KernelLists& list : lists) {
    try {
      add_requests(list, different);
    } catch (const Error& error) {
      refuse(list, error.what());
    } catch (const UsageError& error) {
      refuse(list, error.what());
    }
  }
  return std::move(different).all();
}

}  // namespace jitbag::tools
