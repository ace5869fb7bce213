#include "precompile/worker_processes.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"

namespace jitbag::tools {
namespace {

std::vector<std::size_t> first_numbers(std::size_t count) {
  std::vector<std::size_t> pieces(count);
  std::iota(pieces.begin(), pieces.end(), std::size_t{0});
  return pieces;
}

/// Every answer, by its piece.
std::map<std::size_t, Answer> answers(std::size_t pieces, std::size_t workers,
                                      std::function<std::string(std::size_t)> work) {
  std::map<std::size_t, Answer> all;
  const std::vector<std::size_t> numbers = first_numbers(pieces);
  run_in_processes(
      {.pieces = numbers,
       .workers = workers,
       .work = std::move(work),
       .answered = [&](const Answer& answer) { CHECK(all.emplace(answer.piece, answer).second); },
       .waiting = [] {}},
      Interrupt());
  return all;
}

}  // namespace

TEST_CASE("every piece is worked on once, by other processes, whatever its answer's length") {
  const auto all = answers(200, 7, [](std::size_t piece) {
    return std::to_string(::getpid()) + " " + std::string(piece * 1000, 'x');
  });
  REQUIRE(all.size() == 200);
  std::set<std::string> processes;
  for (const auto& [piece, answer] : all) {
    CHECK(answer.problem.empty());
    const std::size_t space = answer.text.find(' ');
    CHECK(answer.text.size() - space - 1 == piece * 1000);
    processes.insert(answer.text.substr(0, space));
  }
  CHECK(processes.size() <= 7);
  CHECK_FALSE(processes.contains(std::to_string(::getpid())));
}

TEST_CASE("a worker that dies costs its piece alone, and is replaced") {
  for (const std::size_t workers : {1u, 3u}) {
    const auto all = answers(20, workers, [](std::size_t piece) -> std::string {
      if (piece % 5 == 2) ::raise(SIGKILL);
      if (piece == 9) ::_exit(3);
      if (piece == 11) throw std::runtime_error("no answer");
      return "made";
    });
    REQUIRE(all.size() == 20);
    for (const auto& [piece, answer] : all) {
      INFO(piece << " " << answer.problem);
      if (piece % 5 == 2)
        CHECK(answer.problem.find("died of signal 9") != std::string::npos);
      else if (piece == 9)
        CHECK(answer.problem.find("ended with status 3") != std::string::npos);
      else if (piece == 11)
        CHECK_FALSE(answer.problem.empty());
      else
        CHECK(answer.text == "made");
    }
  }
}

TEST_CASE("after Ctrl-C no more pieces are dealt out, and those at work are waited for") {
  const std::vector<std::size_t> pieces = first_numbers(50);
  std::size_t answered = 0;
  const Interrupt interrupt;
  run_in_processes({.pieces = pieces,
                    .workers = 2,
                    .work =
                        [](std::size_t) {
                          ::usleep(20'000);
                          return std::string();
                        },
                    .answered =
                        [&](const Answer& answer) {
                          CHECK(answer.problem.empty());
                          if (++answered == 5) ::raise(SIGINT);
                        },
                    .waiting = [] {}},
                   interrupt);
  CHECK(interrupt.count() == 1);
  CHECK(answered >= 5);
  CHECK(answered <= 7);
}

TEST_CASE("a second Ctrl-C does not wait for the pieces at work") {
  const std::vector<std::size_t> pieces = first_numbers(4);
  const Interrupt interrupt;
  int waits = 0;
  run_in_processes({.pieces = pieces,
                    .workers = 2,
                    .work =
                        [](std::size_t) {
                          ::pause();  // for ever: SIGINT is not for workers
                          return std::string();
                        },
                    .answered = [](const Answer&) { FAIL("nothing can be done"); },
                    .waiting =
                        [&] {
                          if (++waits <= 2) ::raise(SIGINT);
                        }},
                   interrupt);
  CHECK(interrupt.count() == 2);
}

}  // namespace jitbag::tools
