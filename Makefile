# jitbag from a clone: `make bench` shows what it does, `make test` proves that it works here.
# Everything is built under build/; JOBS is how many compiles and tests run at a time.
JOBS ?= $(shell nproc)
export JOBS
SECONDS ?= 600

.DEFAULT_GOAL := build
.PHONY: help setup build test test-gpu stress fuzz bench format lint clean

help: ## Say what there is to make
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 16

setup: ## Install what is missing: packages by apt, NVRTC and CUDA headers into build/cuda
	@scripts/setup.sh

build: setup ## The library and the command, optimised, in build/release
	@scripts/build.sh release

test: build ## All tests: release, then those of the library under the sanitizers
	@scripts/test.sh

test-gpu: build ## The tests that need a GPU
	@scripts/test-gpu.sh

stress: build ## 32 processes on one small cache folder, killed at random for a minute
	build/release/tests/jitbag_cache_stress --seconds 60 --processes 32 --keys 500

fuzz: setup ## The readers of records, bundles and manifests under libFuzzer, SECONDS (600) each
	@scripts/fuzz.sh $(SECONDS)

bench: build ## The main job: a sweep, twelve kernels cold and warm, four real traces
	@scripts/bench.sh

format: ## Format every C++ and CUDA file in place
	@scripts/format.sh

lint: setup ## Check the format, then clang-tidy
	@scripts/lint.sh

clean: ## Remove what was built; build/cuda stays
	rm -rf build/release build/debug build/thread build/fuzz build/lint
