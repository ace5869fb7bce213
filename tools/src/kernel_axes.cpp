#include "kernel_axes.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "arguments.hpp"
#include "jitbag/error.hpp"
#include "row_scale_text.hpp"

namespace jitbag::tools {
namespace {

constexpr std::int64_t any_lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t any_highest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t largest_stride = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t largest_alignment = 256;

constexpr const char* pooling_form =
    "sum, mean, mean_by_weights, mean_by_length, mean_by_sqrt, max or none, or several at once, "
    "such as sum+max";

const Words float_types{{"float32", "float16", "bfloat16", "float64"}};
const Words table_types{
    {"float32", "float16", "bfloat16", "float64", "int8", "int4", "float8_e4m3", "float8_e5m2"}};
const Words integer_types{{"int32", "int64"}};

/// A number that was checked before.
std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<std::int64_t> number_or_none(const std::string& text) {
  if (text == "none") return std::nullopt;
  return number(text);
}

template <auto field>
Setting set_number(const std::string& text) {
  return [value = number(text)](KernelChoice& choice) { choice.spec.*field = value; };
}

template <auto field>
Setting set_data_type(const std::string& text) {
  return [value = parse_data_type(text)](KernelChoice& choice) { choice.spec.*field = value; };
}

Setting set_layout(const std::string& text) {
  if (text == "fixed") return [](KernelChoice& choice) { choice.spec.bags = FixedBags{}; };
  return [](KernelChoice& choice) { choice.spec.bags = CsrBags{}; };
}

template <auto field, class Value>
void set_fixed(KernelChoice& choice, Value value) {
  if (auto* fixed = std::get_if<FixedBags>(&choice.spec.bags)) fixed->*field = value;
}

template <auto field, class Value>
void set_csr(KernelChoice& choice, Value value) {
  if (auto* csr = std::get_if<CsrBags>(&choice.spec.bags)) csr->*field = value;
}

Setting set_bag_size(const std::string& text) {
  return [size = number(text)](KernelChoice& choice) { set_fixed<&FixedBags::size>(choice, size); };
}

Setting set_offset_type(const std::string& text) {
  return [type = parse_integer_type(text)](KernelChoice& choice) {
    set_csr<&CsrBags::offset_type>(choice, type);
  };
}

Setting set_offsets_end(const std::string& text) {
  return [end = text == "included" ? OffsetsEnd::included : OffsetsEnd::implied](
             KernelChoice& choice) { set_csr<&CsrBags::end>(choice, end); };
}

Setting set_dtype(const std::string& text) {
  return [type = parse_data_type(text)](KernelChoice& choice) {
    choice.spec.table_type = type;
    choice.spec.output_type = type;
  };
}

Setting set_scale_type(const std::string& text) {
  return
      [type = parse_data_type(text)](KernelChoice& choice) { choice.spec.row_scale.type = type; };
}

Setting set_scale(const std::string& text) {
  check_row_scale(text);
  return [text](KernelChoice& choice) { set_row_scale(choice.spec, text); };
}

Setting set_weight_type(const std::string& text) {
  if (text == "none") return [](KernelChoice& choice) { choice.spec.weight_type.reset(); };
  return set_data_type<&ForwardSpec::weight_type>(text);
}

Setting set_pooling(const std::string& text) {
  std::vector<Pooling> poolings;
  try {
    for (const std::string& part : split(text, '+')) poolings.push_back(parse_pooling(part));
    return [several = Poolings(poolings)](KernelChoice& choice) { choice.spec.pooling = several; };
  } catch (const Error&) {  // its sentence is about one part
    throw UsageError("'" + text + "' is not known, choose " + pooling_form);
  }
}

Setting set_winners(const std::string& text) {
  return [wanted = text == "true"](KernelChoice& choice) { choice.spec.winners = wanted; };
}

Setting set_id_type(const std::string& text) {
  return [type = parse_integer_type(text)](KernelChoice& choice) { choice.spec.id_type = type; };
}

Setting set_padding_id(const std::string& text) {
  return [id = number_or_none(text)](KernelChoice& choice) { choice.spec.padding_id = id; };
}

Setting set_bad_ids(const std::string& text) {
  return [policy = parse_bad_ids(text)](KernelChoice& choice) { choice.spec.bad_ids = policy; };
}

Setting set_addressing(const std::string& text) {
  return [bits = text == "32" ? Addressing::bits32 : Addressing::bits64](KernelChoice& choice) {
    choice.spec.addressing = bits;
  };
}

Setting set_counts(const std::string& text) {
  return [place = text == "on_device" ? Counts::on_device : Counts::at_launch](
             KernelChoice& choice) { choice.spec.counts = place; };
}

template <auto field>
Setting set_end(const std::string& text) {
  return [text](KernelChoice& choice) {
    choice.spec.end.*field = text == "none" ? std::string() : text;
  };
}

Setting set_expected_batch(const std::string& text) {
  return [batch = number_or_none(text)](KernelChoice& choice) { choice.expected_batch = batch; };
}

Setting set_strategy(const std::string& text) {
  if (text == "none") return [](KernelChoice& choice) { choice.strategy.reset(); };
  try {
    return [strategy = parse_strategy(text)](KernelChoice& choice) { choice.strategy = strategy; };
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

std::vector<KernelAxis> all_axes() {
  return {
      {"embedding_dim", "64", "Columns of the table", Numbers{1, largest_dim},
       set_number<&ForwardSpec::dim>},
      {"layout", "fixed", "Bags of one size (fixed), or offsets (csr)", Words{{"fixed", "csr"}},
       set_layout},
      {"embedding_bag_size", "4", "Ids in each bag; csr has no use for it", Numbers{0, largest_dim},
       set_bag_size},
      {"offset_type", "int64", "Type of the offsets of csr bags", integer_types, set_offset_type},
      {"offsets_end", "included",
       "Whether the offsets hold the end of the last bag (batch + 1 of them) or not",
       Words{{"included", "implied"}}, set_offsets_end},
      {"pooling", "mean",
       "sum, mean, mean_by_weights, mean_by_length, mean_by_sqrt, max, none; sum+max is both, side "
       "by side",
       FreeText{pooling_form}, set_pooling},
      {"mean_length", "", "What mean_by_length divides by", Numbers{1, any_highest},
       set_number<&ForwardSpec::mean_length>},
      {"winners", "false", "With max: also which id won", Words{{"false", "true"}}, set_winners},
      {"dtype", "float32", "Type of table and output, unless they are given", float_types,
       set_dtype},
      {"table_type", "",
       "Type of the table: those of --dtype, int8, int4, float8_e4m3, float8_e5m2", table_types,
       set_data_type<&ForwardSpec::table_type>},
      {"scale_type", "float32", "Type of scale and bias of a quantised table",
       Words{{"float32", "float16"}}, set_scale_type},
      {"row_scale", "apart",
       "Where a quantised table has the scales of its rows: apart, apart+bias, none, "
       "fbgemm_inference, fbgemm_fused, in_row+bias@0:codes@8",
       FreeText{row_scale_form}, set_scale},
      {"output_type", "", "Type of the output", float_types,
       set_data_type<&ForwardSpec::output_type>},
      {"weight_type", "none", "Type of the weights, one for each id",
       Words{{"none", "float32", "float16", "bfloat16", "float64"}}, set_weight_type},
      {"id_type", "int64", "Type of the ids: int32, int64", integer_types, set_id_type},
      {"padding_id", "0", "The id that is skipped and not counted",
       Numbers{any_lowest, any_highest, true}, set_padding_id},
      {"bad_ids", "skip", "What an id outside the table, or a bag outside the ids, does",
       Words{{"skip", "report", "trust"}}, set_bad_ids},
      {"row_stride", "", "Elements from row to row (bytes, of a quantised table); unset: no gap",
       Numbers{0, largest_stride}, set_number<&ForwardSpec::row_stride>},
      {"output_stride", "", "Elements from one bag's output to the next; unset: no gap",
       Numbers{0, largest_stride}, set_number<&ForwardSpec::output_stride>},
      {"alignment", "16", "Bytes that divide the table's address", Numbers{1, largest_alignment},
       set_number<&ForwardSpec::alignment>},
      {"id_alignment", "", "The same of the ids; unset: as the table",
       Numbers{0, largest_alignment}, set_number<&ForwardSpec::id_alignment>},
      {"output_alignment", "", "The same of the output; unset: as the table",
       Numbers{0, largest_alignment}, set_number<&ForwardSpec::output_alignment>},
      {"addressing", "32", "Bits of addresses: 32 serves fewer than 2^31 rows, ids and outputs",
       Words{{"32", "64"}}, set_addressing},
      {"counts", "at_launch", "Where the numbers of bags and ids are: at_launch, on_device",
       Words{{"at_launch", "on_device"}}, set_counts},
      {"end", "none", "CUDA expression of x that is stored instead of x, such as \"fmaxf(x, 0.f)\"",
       FreeText{"a CUDA expression, or none", true}, set_end<&FusedEnd::element>},
      {"end_row_sum", "none", "CUDA expression of x, summed over the columns: row_sum in --end",
       FreeText{"a CUDA expression, or none", true}, set_end<&FusedEnd::row_sum>},
      {"expected_batch", "none",
       "The batch that the built-in rule plans for; none: one that fills the GPU",
       Numbers{1, largest_batch, true}, set_expected_batch},
      {"strategy", "none", "How to compute it; none: as the built-in rule says",
       FreeText{"\"" + to_text(Strategy{}) +
                "\", each of these once, or none for the built-in rule"},
       set_strategy},
  };
}

bool is_useless(const KernelAxis& axis, const std::vector<std::string>& layouts) {
  const std::string_view layout = layout_of(axis);
  return !layout.empty() && std::ranges::find(layouts, layout) == layouts.end();
}

}  // namespace

std::string KernelAxis::flag() const {
  std::string flag = "--" + name;
  std::ranges::replace(flag, '_', '-');
  return flag;
}

const std::vector<KernelAxis>& kernel_axes() {
  static const std::vector<KernelAxis> axes = all_axes();
  return axes;
}

const KernelAxis& kernel_axis(std::string_view name) {
  return *std::ranges::find(kernel_axes(), name, &KernelAxis::name);
}

std::string_view layout_of(const KernelAxis& axis) {
  if (axis.name == "embedding_bag_size") return "fixed";
  if (axis.name == "offset_type" || axis.name == "offsets_end") return "csr";
  return {};
}

std::vector<std::vector<Setting>> settings(
    const std::function<std::vector<std::string>(const KernelAxis&)>& texts_of) {
  std::vector<std::string> layouts = texts_of(kernel_axis("layout"));
  if (layouts.empty()) layouts = {"fixed"};  // as a spec has it
  std::vector<std::vector<Setting>> all;
  for (const KernelAxis& axis : kernel_axes()) {
    if (is_useless(axis, layouts)) continue;
    std::vector<Setting> values;
    for (const std::string& text : texts_of(axis)) values.push_back(axis.setting(text));
    if (!values.empty()) all.push_back(std::move(values));
  }
  return all;
}

}  // namespace jitbag::tools
