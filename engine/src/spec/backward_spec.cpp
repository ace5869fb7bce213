#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

#include "jitbag/backward.hpp"
#include "spec/alignment.hpp"
#include "spec/refuse.hpp"
#include "spec/stride_limit.hpp"

namespace jitbag {
namespace {

constexpr std::array optimizers{
    Optimizer::sgd,     Optimizer::plain_sgd,        Optimizer::momentum,
    Optimizer::adagrad, Optimizer::row_wise_adagrad, Optimizer::adam};

bool is_narrow(DataType type) {
  return type == DataType::float16 || type == DataType::bfloat16;
}

void check_gradient_type(std::string_view what, DataType type) {
  if (type > DataType::float64) {
    refuse(
        "The gradient of the {} has the type {}; it must be float32, float16, bfloat16 or "
        "float64.",
        what, name(type));
  }
}

/// Checks one kind of table gradient, and fills in what was left out.
struct Check {
  const ForwardSpec& forward;

  void operator()(std::monostate) const {}

  void operator()(DenseGradient& dense) const {
    check_gradient_type("table", dense.type);
    if (dense.row_stride == 0) dense.row_stride = forward.dim;
    if (dense.row_stride < forward.dim || dense.row_stride >= stride_limit) {
      refuse(
          "The gradient's row_stride is {}; it must be at least dim, {}, and less than 2^31, or "
          "0 for that.",
          dense.row_stride, forward.dim);
    }
  }

  void operator()(ClearedGradient& cleared) const { (*this)(cleared.of); }

  void operator()(SparseGradient& sparse) const { check_gradient_type("table", sparse.type); }

  void operator()(AppliedGradient& applied) const {
    static_cast<void>(name(applied.optimizer));
    if (is_quantised(forward.table_type)) {
      refuse(
          "The gradient is applied to a table of type {}, which has no gradual steps; use a "
          "float table.",
          name(forward.table_type));
    }
    if (applied.stochastic_rounding && !is_narrow(forward.table_type)) {
      refuse(
          "stochastic_rounding is set for a table of type {}; it is for float16 and bfloat16, "
          "unset it.",
          name(forward.table_type));
    }
  }
};

void check_weight_gradient(const BackwardSpec& spec) {
  if (!spec.weight_gradient_type) {
    if (!std::holds_alternative<std::monostate>(spec.table_gradient)) return;
    refuse("The spec asks for no gradient at all; set table_gradient or weight_gradient_type.");
  }
  if (std::holds_alternative<ClearedGradient>(spec.table_gradient)) {
    refuse(
        "The gradient of the table is cleared, and that of the weights asked for; ask for it "
        "where there is an output_gradient to read.");
  }
  check_gradient_type("weights", *spec.weight_gradient_type);
  if (!spec.forward.weight_type) {
    refuse("weight_gradient_type is {}, but there are no weights; set weight_type, or unset it.",
           name(*spec.weight_gradient_type));
  }
}

struct Text {
  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(const DenseGradient& dense) const {
    return fmt::format("dense:{} gradient_stride={} gradient_alignment={}", name(dense.type),
                       dense.row_stride, dense.alignment);
  }
  std::string operator()(const ClearedGradient& cleared) const {
    return "cleared:" + (*this)(cleared.of);
  }
  std::string operator()(const SparseGradient& sparse) const {
    return fmt::format("sparse:{}", name(sparse.type));
  }
  std::string operator()(const AppliedGradient& applied) const {
    return fmt::format("{}{}", name(applied.optimizer),
                       applied.stochastic_rounding ? ":stochastic" : "");
  }
};

}  // namespace

Moments moments_of(Optimizer optimizer, std::int64_t dim) {
  switch (optimizer) {
    case Optimizer::momentum:
      return {.first = dim};
    case Optimizer::adagrad:
      return {.second = dim};
    case Optimizer::row_wise_adagrad:
      return {.second = 1};
    case Optimizer::adam:
      return {.first = dim, .second = dim};
    case Optimizer::sgd:
    case Optimizer::plain_sgd:
      break;
  }
  return {};
}

std::string_view name(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
      return "sgd";
    case Optimizer::plain_sgd:
      return "plain_sgd";
    case Optimizer::momentum:
      return "momentum";
    case Optimizer::adagrad:
      return "adagrad";
    case Optimizer::row_wise_adagrad:
      return "row_wise_adagrad";
    case Optimizer::adam:
      return "adam";
  }
  refuse("{} is not the number of an Optimizer; use one of its enumerators.",
         static_cast<int>(optimizer));
}

Optimizer parse_optimizer(std::string_view text) {
  std::string names;
  for (const Optimizer optimizer : optimizers) {
    if (text == name(optimizer)) return optimizer;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(optimizer));
  }
  refuse("\"{}\" is not an optimizer; use one of: {}.", text, names);
}

BackwardSpec validated(BackwardSpec spec) {
  spec.forward = validated(std::move(spec.forward));
  if (!spec.forward.end.empty()) {
    refuse(
        "The spec has an end, \"{}\", of which the gradient is not known; leave it empty and "
        "give the gradient of what comes before it.",
        spec.forward.end.element);
  }
  if (spec.forward.pooling.has(Pooling::max) && !spec.forward.winners) {
    refuse("The pooling max has a gradient only where its winners are kept; set winners.");
  }
  std::visit(Check{spec.forward}, spec.table_gradient);
  check_weight_gradient(spec);
  return spec;
}

std::string to_text(const BackwardSpec& spec) {
  std::string text = fmt::format("gradient={}", std::visit(Text{}, spec.table_gradient));
  if (spec.weight_gradient_type) {
    text += fmt::format(" weight_gradient={}", name(*spec.weight_gradient_type));
  }
  if (spec.deterministic) text += " deterministic";
  return fmt::format("{} of {}", text, to_text(spec.forward));
}

}  // namespace jitbag
