// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_SOLVER_CERTIFICATEBOUNDS_H
#define TP_SOLVER_CERTIFICATEBOUNDS_H

#include "tp/Solver/Certificate.h"
#include "tp/Solver/Problem.h"
#include <map>

// The part of the certificate checker that is about messages. It shares nothing
// with the solver.
namespace tp {

/// What the messages of a certificate prove.
class CertificateBounds {
public:
  /// In words of `Price`, with a sign.
  __extension__ using Number = __int128;

  CertificateBounds(const Problem &problem, const Certificate &certificate);

  /// Fails if the messages do not fit the problem or are too large to add up.
  llvm::Error run();

  /// No plan costs less.
  Price getBound() const;

  /// By variable, the choices that a plan cheaper than `cost` may use: all
  /// others are banned, impossible, or lift the bound to `cost`.
  llvm::Expected<std::vector<std::vector<unsigned>>> findChoices(Price cost);

private:
  /// One end of a value, and the index of its message; ~0 for none.
  struct End {
    Problem::Use use;
    unsigned message = 0;
  };
  struct Tree {
    unsigned table = 0;
    llvm::SmallVector<End, 4> ends;
  };

  llvm::Error readEnds();
  llvm::Error readEnd(const Problem::Value &value, Problem::Use use,
                      size_t &position, Tree &tree);
  llvm::Error findPossible();
  bool narrow(const Problem::Value &value);
  bool keepOnly(Problem::Use use, const std::vector<char> &isAllowed);

  Number wordsOf(int64_t ticks);
  Number add(Number a, Number b);
  Number subtract(Number a, Number b);
  std::vector<Number> reducedCosts(unsigned variable);
  std::vector<Number> leafOf(const Tree &tree, const End &end);
  /// From layout to layout.
  using Distances = std::vector<std::vector<Number>>;
  /// By layout of a table: what an end pays for it.
  using Leaf = std::vector<Number>;

  const Distances &distancesOf(unsigned table);
  Number treeMinimum(const Distances &distances, llvm::ArrayRef<Leaf> leaves,
                     std::vector<Leaf> &led);
  Leaf arrivals(const Distances &distances, const Leaf &root,
                llvm::ArrayRef<Leaf> led, unsigned own);
  Number boundOf(const Tree &tree);
  std::vector<unsigned> keyOf(const Tree &tree) const;
  const std::vector<Number> &marginals(const Tree &tree, size_t place);
  std::vector<Number> choiceBounds(unsigned variable);
  llvm::Error addedUp() const;

  const Problem &problem;
  const Certificate &certificate;
  /// By layout map: the different layouts, ascending.
  std::vector<std::vector<unsigned>> layoutsOf;
  std::vector<Tree> trees;
  /// By variable: its ends, as (tree, place).
  std::vector<std::vector<std::pair<unsigned, unsigned>>> endsOf;
  /// By variable and choice.
  std::vector<std::vector<char>> isPossible;
  /// By variable: a number that is equal if costs and possible choices are.
  std::vector<unsigned> kindOf;
  /// By table.
  std::map<unsigned, Distances> distances;
  std::map<std::vector<unsigned>, Number> variableBounds, treeBounds;
  std::map<std::vector<unsigned>, std::vector<Number>> knownMarginals;
  Number bound = 0;
  bool hasOverflowed = false;
};

} // namespace tp

#endif // TP_SOLVER_CERTIFICATEBOUNDS_H
