// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Programs and tensors for the tests of the evaluator.

#ifndef TP_TEST_REFERENCE_PROGRAMS_H
#define TP_TEST_REFERENCE_PROGRAMS_H

#include "mlir/Parser/Parser.h"
#include "tp/IR/TP.h"
#include "tp/Reference/Evaluator.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace tp {

template <class S> using Tensors = std::vector<TensorOf<S>>;

/// A parsed module; a test fails if the text is not valid.
class Program {
public:
  explicit Program(llvm::StringRef text) {
    context.loadDialect<TPDialect, mlir::func::FuncDialect,
                        mlir::arith::ArithDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text.str();
  }
  mlir::func::FuncOp get(llvm::StringRef name) {
    return module->lookupSymbol<mlir::func::FuncOp>(name);
  }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

template <class S>
TensorOf<S> scalars(llvm::ArrayRef<int64_t> shape, std::vector<S> values) {
  TensorOf<S> tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.values = std::move(values);
  return tensor;
}

template <class S>
TensorOf<S> integers(llvm::ArrayRef<int64_t> shape,
                     std::vector<int64_t> values) {
  TensorOf<S> tensor;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.isInteger = true;
  tensor.integers = std::move(values);
  return tensor;
}

/// Elements drawn from the whole field.
inline TensorOf<Field> randomField(llvm::ArrayRef<int64_t> shape,
                                   std::mt19937_64 &random) {
  std::vector<Field> values(std::accumulate(shape.begin(), shape.end(),
                                            int64_t(1), std::multiplies<>()));
  for (Field &value : values)
    value = Field::reduce(random());
  return scalars<Field>(shape, values);
}

/// Elements in [-1, 1).
inline TensorOf<double> randomReals(llvm::ArrayRef<int64_t> shape,
                                    std::mt19937_64 &random) {
  std::vector<double> values(std::accumulate(shape.begin(), shape.end(),
                                             int64_t(1), std::multiplies<>()));
  for (double &value : values)
    value = std::uniform_real_distribution<>(-1, 1)(random);
  return scalars<double>(shape, values);
}

/// The results of @main of `text`; a test fails on an error.
template <class S>
Tensors<S> evaluateText(llvm::StringRef text, const Tensors<S> &arguments,
                        EvaluateOptions options = {}) {
  Program program(text);
  auto results = evaluate<S>(program.get("main"), arguments, options);
  if (results)
    return *results;
  ADD_FAILURE() << llvm::toString(results.takeError());
  return {};
}

/// The message of the error that evaluating @main of `text` must give.
template <class S>
std::string errorOf(llvm::StringRef text, const Tensors<S> &arguments) {
  Program program(text);
  auto results = evaluate<S>(program.get("main"), arguments);
  EXPECT_FALSE(static_cast<bool>(results));
  return results ? "" : llvm::toString(results.takeError());
}

/// The results of @main of `text` on every rank.
template <class S>
std::vector<Tensors<S>> evaluateLocal(llvm::StringRef text,
                                      const std::vector<Tensors<S>> &arguments,
                                      EvaluateOptions options = {}) {
  Program program(text);
  auto results = evaluateRanks<S>(program.get("main"), arguments.size(),
                                  arguments, options);
  if (results)
    return *results;
  ADD_FAILURE() << llvm::toString(results.takeError());
  return std::vector<Tensors<S>>(arguments.size());
}

inline void expectNear(const TensorOf<double> &tensor,
                       const std::vector<double> &expected, double tolerance) {
  ASSERT_EQ(tensor.values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(tensor.values[i], expected[i], tolerance) << "element " << i;
}

} // namespace tp

#endif // TP_TEST_REFERENCE_PROGRAMS_H
