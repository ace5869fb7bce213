#pragma once

#include <array>
#include <cmath>
#include <string>

#include "machine.hpp"

// Compiled by the C++ compiler and, as the text `name`, by NVRTC.
#define HOST_AND_DEVICE(name, ...) __VA_ARGS__ constexpr const char* const name = #__VA_ARGS__;

/// The model after the tables, which has no parameters of its own: a score is the inner product of
/// the sum of a package's vectors and a section's, the loss is logistic.
HOST_AND_DEVICE(
    model_text,

    constexpr int dim = 32;
    constexpr int batch = 256;

    struct Model {
      const float* pooled[3];  // [batch, dim] each: what the bags of a package came to
      const float* sections;   // [batch, 2, dim]: the vectors of its right and its wrong section
      float* pooled_gradient;  // [batch, dim]: of their sum, and so of each of them
      float* sections_gradient;
    };

    /// The loss of a package of the batch; writes its gradients.
    inline float learn(const Model& model, long long package) {
      float sum[dim];
      float* const gradient = model.pooled_gradient + package * dim;
      for (int i = 0; i < dim; ++i) {
        sum[i] = 0;
        for (const float* const bags : model.pooled) sum[i] += bags[package * dim + i];
        gradient[i] = 0;
      }
      float loss = 0;
      for (int wrong = 0; wrong < 2; ++wrong) {
        const float* const section = model.sections + (2 * package + wrong) * dim;
        float* const section_gradient = model.sections_gradient + (2 * package + wrong) * dim;
        float score = 0;
        for (int i = 0; i < dim; ++i) score += sum[i] * section[i];
        const float sign = wrong != 0 ? 1.0f : -1.0f;
        loss += log1pf(expf(sign * score));
        const float slope = sign / (1 + expf(-sign * score)) / batch;
        for (int i = 0; i < dim; ++i) {
          gradient[i] += slope * section[i];
          section_gradient[i] = slope * sum[i];
        }
      }
      return loss;
    })

inline const jitbag::KernelTemplate learn_kernel = {
    .name = "learn.cu",
    .text = std::string(model_text) + R"(
extern "C" __global__ void learn_batch(Model model, float* losses) {
  const int package = blockIdx.x * blockDim.x + threadIdx.x;
  if (package < batch) losses[package] = learn(model, package);
}
)",
    .entry = "learn_batch",
    .options = {"--device-as-default-execution-space"}};

/// For every package of a batch. On the GPU it is launched and not waited for.
inline void learn_batch(Machine& machine, Model model, float* losses) {
  if (!machine.is_gpu()) {
    for (std::int64_t package = 0; package < batch; ++package)
      losses[package] = learn(model, package);
    return;
  }
  const std::array<void*, 2> parameters = {&model, &losses};
  constexpr unsigned threads = 32;
  machine.engine()
      .kernel(learn_kernel)
      .launch({.blocks_x = batch / threads, .threads_x = threads}, parameters, machine.stream());
}
