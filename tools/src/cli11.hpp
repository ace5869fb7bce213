#pragma once

/// What headers name of CLI11, which itself takes seconds to compile: only sources that add
/// arguments include it.
namespace CLI {
class App;
class Validator;
}  // namespace CLI
