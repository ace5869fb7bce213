#include "check_report.hpp"

#include <spdlog/fmt/fmt.h>

#include "support/bags.hpp"

namespace jitbag::test {

std::string check_report(const std::optional<BadInput>& bad, const BadInputReport& report) {
  if (report.lock != 0) return "The report is still locked.";
  if (!bad) return report.found == 0 ? "" : "Something was reported where nothing is bad.";
  if (report.found == 0)
    return "Nothing was reported: " + std::string(bad_input_error(*bad).what());
  const BadInput reported{
      .kind = report.is_bag != 0 ? BadInput::Kind::bag : BadInput::Kind::id,
      .bag = report.bag,
      .position = report.position,
      .value = report.value,
      .limit = report.limit,
      .table = report.table < 0 ? std::nullopt : std::optional<std::int64_t>(report.table)};
  const std::string actual = bad_input_error(reported).what();
  const std::string expected = bad_input_error(*bad).what();
  if (actual == expected) return {};
  return fmt::format("Reported was \"{}\" instead of \"{}\".", actual, expected);
}

std::string check_report(const ForwardSpec& validated_spec, const ForwardArguments& arguments,
                         const BadInputReport& report) {
  if (validated_spec.bad_ids != BadIds::report) return check_report(std::nullopt, report);
  return check_report(Bags(validated_spec, arguments).first_bad_input(), report);
}

}  // namespace jitbag::test
