// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The parts of what tp-explain writes.

#ifndef TP_EXPLAIN_EXPLANATION_H
#define TP_EXPLAIN_EXPLANATION_H

#include "Reasons.h"
#include "Scenarios.h"
#include "WeightGroups.h"
#include "tp/Explain/Alternatives.h"

namespace tp {

/// A planned module under questions, whichever plan it holds. Every price is
/// that of a plan.
class Explanation {
public:
  /// Diagnoses recorded settings that give no plan, and types that no plan
  /// under them has.
  static mlir::FailureOr<std::unique_ptr<Explanation>>
  create(mlir::ModuleOp module, const PlanSettings &settings);

  void printHead(llvm::raw_ostream &os);
  /// Each weight: its layout, what it does, what decided, what else costs.
  void printWeights(llvm::raw_ostream &os);
  /// Each collective: where, how much, why, and the best plan without it.
  void printCollectives(llvm::raw_ostream &os);
  /// What each constraint costs.
  void printConstraints(llvm::raw_ostream &os);
  /// What the pins cost.
  void printPins(llvm::raw_ostream &os);
  /// What each setting of sequence-parallel costs.
  void printSequence(llvm::raw_ostream &os);

  /// Seconds of a step of the module's plan.
  double getSeconds() const { return plan.figures.seconds; }
  /// The next best layout of each weight, and what each constraint costs.
  std::vector<WeightAlternative> listWeights();
  std::vector<ConstraintAlternative> listConstraints();

  /// Prices the pins of `questions`: `weight:layout`, those that go together
  /// joined by commas, questions by semicolons. Diagnoses questions that cannot
  /// be understood.
  mlir::LogicalResult printWhyNot(llvm::StringRef questions,
                                  llvm::raw_ostream &os);

private:
  Explanation(mlir::ModuleOp module, const PlanSettings &settings)
      : module(module), settings(settings), scenario(module, settings) {}

  /// A pin of a question: a weight in all its layers, and what is wanted of it;
  /// the layout, unless the word is row, column or whole.
  struct Wish {
    const WeightGroup *group;
    std::string word;
    std::vector<Layout> layouts;
  };

  /// Another layout of a weight, and the best plan that has it.
  struct NextBest {
    Layout layout;
    Outcome outcome;
  };

  Planner &getPlanner() { return *scenario.getPlanner(); }
  const Outcome &getPlan() { return plan; }
  /// The cheapest plan under the recorded settings.
  const Outcome &getCheapest() { return *scenario.getBest(); }
  bool isCheapest() {
    return plan.solution.cost <= getCheapest().solution.cost;
  }
  Layout getLayout(const ParameterChoice &parameter);
  mlir::ArrayRef<int64_t> getShape(const WeightGroup &group);
  std::string describe(const WeightGroup &group, const Layout &layout);

  /// The groups, each split into the members that lie alike.
  std::vector<WeightGroup> splitGroups();
  std::optional<NextBest> findNextBest(const WeightGroup &group);

  void printWeight(const WeightGroup &group, llvm::raw_ostream &os);
  std::optional<Layout> findCheapestLayout(const WeightGroup &group);
  void printDecision(const WeightGroup &group, llvm::raw_ostream &os);
  void printReplicas(const WeightGroup &group, llvm::raw_ostream &os);
  void printExcluded(const WeightGroup &group, llvm::raw_ostream &os);
  void printNextBest(const WeightGroup &group, llvm::raw_ostream &os);
  void printChangedWeights(const Planner &planner, const Outcome &other,
                           llvm::raw_ostream &os);
  void printCollective(llvm::ArrayRef<const PlanStep *> alike,
                       llvm::raw_ostream &os);
  void printNewCollectives(const Outcome &other, llvm::raw_ostream &os);
  void printWithout(llvm::ArrayRef<const PlanStep *> alike,
                    llvm::raw_ostream &os);
  void printImpossible(
      llvm::function_ref<std::optional<Outcome>(const Scenario &)> retry,
      llvm::raw_ostream &os);

  mlir::FailureOr<const WeightGroup *> findGroup(llvm::StringRef name);
  mlir::FailureOr<Layout> parseLayout(llvm::StringRef text,
                                      const WeightGroup &group,
                                      std::string &reason);
  mlir::FailureOr<Wish> readWish(llvm::StringRef text);
  std::vector<Layout> findLayouts(const Scenario &scenario, const Wish &wish);
  std::optional<Outcome> solveWishes(const Scenario &scenario,
                                     llvm::ArrayRef<Wish> wishes,
                                     std::vector<Layout> *granted);
  mlir::LogicalResult answer(llvm::StringRef question, llvm::raw_ostream &os);

  mlir::ModuleOp module;
  PlanSettings settings;
  /// Under the recorded settings.
  Scenario scenario;
  /// What the module holds.
  Outcome plan;
  std::vector<Lifting> liftings;
  std::unique_ptr<Reasons> reasons;
  std::vector<WeightGroup> groups;
};

} // namespace tp

#endif // TP_EXPLAIN_EXPLANATION_H
