#pragma once

namespace jitbag {

/// The version of what strategies mean. Raise it when a strategy's text comes to mean another
/// kernel (a field gets another meaning, a new one decides what was fixed), or when templates
/// change so much that what was fastest need not be it any more. Wisdom of another version is kept
/// on disk for whoever has that version, and ignored here: measured anew, never translated.
///
/// 1: the fields of Strategy and the methods of BackwardStrategy as of December 2026.
inline constexpr int current_strategy_space = 1;

}  // namespace jitbag
