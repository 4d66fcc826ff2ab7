// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Tables and origins of local programs, against ones made by hand.

#include "tp/IR/LocalWriter.h"
#include "mlir/Parser/Parser.h"
#include "tp/IR/TP.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tp;

namespace {

using Numbers = std::vector<int64_t>;

/// Ranks 0 1 2 / 3 4 5, "dp" down and "tp" across.
class LocalWriterTest : public testing::Test {
protected:
  LocalWriterTest() {
    context.loadDialect<TPDialect, func::FuncDialect, arith::ArithDialect>();
  }

  /// Reads a function whose argument %x has type `from`, and whose first
  /// operation makes type `to`; writes for a rank that holds `local` of %x and
  /// of the result.
  LocalWriter &read(StringRef from, StringRef op, StringRef to,
                    ArrayRef<int64_t> local) {
    std::string text =
        "tp.mesh @m = <[\"dp\"=2, \"tp\"=3]>\nfunc.func @f(%x: " + from.str() +
        ") {\n  %r = " + op.str() + " : (" + from.str() + ") -> " + to.str() +
        "\n  return\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    func::FuncOp function = *module->getOps<func::FuncOp>().begin();
    this->op = &function.getBody().front().front();
    builder = OpBuilder(&context);
    builder.setInsertionPoint(this->op);
    Type type = RankedTensorType::get(local, builder.getF32Type());
    types = {type};
    operand = function.getBody().addArgument(type, this->op->getLoc());
    MeshAttr mesh = (*module->getOps<MeshOp>().begin()).getMesh();
    writer.emplace(builder, this->op, mesh, operand, types);
    return *writer;
  }

  static Numbers flat(DenseIntElementsAttr table) {
    Numbers numbers;
    for (const APInt &number : table.getValues<APInt>())
      numbers.push_back(number.getSExtValue());
    return numbers;
  }
  static Numbers shapeOf(DenseIntElementsAttr table) {
    return Numbers(table.getType().getShape());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  OpBuilder builder{&context};
  Operation *op = nullptr;
  Value operand;
  SmallVector<Type> types;
  std::optional<LocalWriter> writer;
};

const AxisPart data{0, 1, 2}, model{1, 1, 3};

} // namespace

TEST_F(LocalWriterTest, GroupsAreRowsOfRanks) {
  LocalWriter &writer =
      read("tensor<7x5xf32, #tp.sharding<@m, [{\"tp\"}, {}]>>", "tp.relu %x",
           "tensor<7x5xf32, #tp.sharding<@m, [{\"tp\"}, {}]>>", {3, 5});
  EXPECT_EQ(flat(writer.getGroups({model})), Numbers({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(shapeOf(writer.getGroups({model})), Numbers({2, 3}));
  EXPECT_EQ(flat(writer.getGroups({data})), Numbers({0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(shapeOf(writer.getGroups({data})), Numbers({3, 2}));
  // Major first, whatever the order in the mesh.
  EXPECT_EQ(flat(writer.getGroups({model, data})), Numbers({0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(shapeOf(writer.getGroups({model, data})), Numbers({1, 6}));
}

TEST_F(LocalWriterTest, PiecesAreListedWhereTheyDiffer) {
  LocalWriter &writer = read(
      "tensor<7x6xf32, #tp.sharding<@m, [{\"tp\"}, {\"dp\"}]>>", "tp.relu %x",
      "tensor<7x6xf32, #tp.sharding<@m, [{\"tp\"}, {\"dp\"}]>>", {3, 3});
  Value input = op->getOperand(0);
  // 7 over 3 is 3, 2, 2.
  EXPECT_EQ(flat(writer.getPieces({model}, input, 0)),
            Numbers({3, 2, 2, 3, 2, 2}));
  EXPECT_FALSE(writer.getPieces({data}, input, 1));
  // The members of a group along dp hold the same rows.
  EXPECT_FALSE(writer.getPieces({data}, input, 0));
}

TEST_F(LocalWriterTest, SendsFollowTheOrderOfAxes) {
  LocalWriter &writer =
      read("tensor<7xf32, #tp.sharding<@m, [{\"dp\", \"tp\"}]>>",
           "tp.collective_permute %x dim 0 to {\"tp\", \"dp\"}",
           "tensor<7xf32, #tp.sharding<@m, [{\"tp\", \"dp\"}]>>", {2});
  LocalWriter::Sends sends = writer.getSends(0);
  // Pieces of 4 + 3 over 3 each: 2, 1, 1, 1, 1, 1 for ranks 0 to 5; piece i of
  // the new order is rank 0, 3, 1, 4, 2, 5's.
  EXPECT_EQ(flat(sends.pairs), Numbers({0, 0, 1, 3, 2, 1, 3, 4, 4, 2, 5, 5}));
  ASSERT_TRUE(sends.counts);
  EXPECT_EQ(Numbers(sends.counts.asArrayRef()), Numbers({2, 1, 1, 1, 1, 1}));
}

TEST_F(LocalWriterTest, OriginsAreOfWhatIsSplit) {
  LocalWriter &writer =
      read("tensor<7x5xf32, #tp.sharding<@m, [{\"tp\"}, {}]>>", "tp.relu %x",
           "tensor<7x5xf32, #tp.sharding<@m, [{\"tp\"}, {}]>>", {3, 5});
  Value input = op->getOperand(0);
  EXPECT_FALSE(writer.getOrigin(input, 1));
  Value origin = writer.getOrigin(input, 0);
  ASSERT_TRUE(origin);
  EXPECT_EQ(origin.getDefiningOp<ShardOriginOp>().getSize(), 7u);
  // Nothing to add, and nothing to add to.
  EXPECT_EQ(writer.shift(origin, writer.getNumber(0)), origin);
  EXPECT_FALSE(writer.shift({}, writer.getNumber(3)));
  // Rows of 5 elements.
  auto place = writer.getLinearOrigin(input).getDefiningOp<arith::MulIOp>();
  ASSERT_TRUE(place);
  EXPECT_EQ(place.getRhs().getDefiningOp<arith::ConstantIndexOp>().value(), 5);
  Extent both = writer.getSize(input, 0) - writer.getSize(input, 1);
  EXPECT_EQ(writer.toAttr(both).getInt(), 2);
}

TEST_F(LocalWriterTest, PartsAreOfWhatTheRankHolds) {
  LocalWriter &writer = read(
      "tensor<28xf32, #tp.sharding<@m, [{\"dp\", unit = 2}]>>",
      "tp.all_slice %x dim 0 over {\"tp\"}",
      "tensor<28xf32, #tp.sharding<@m, [{\"dp\", \"tp\", unit = 2}]>>", {14});
  auto origin = writer.getPartOrigin(0, {model}).getDefiningOp<ShardOriginOp>();
  EXPECT_EQ(origin.getSize(), 14u);
  EXPECT_EQ(origin.getSplit().getUnit(), 2);
  ASSERT_EQ(origin.getSplit().getAxes().size(), 1u);
  EXPECT_EQ(origin.getSplit().getAxes()[0].getName(), "tp");
  auto place = writer.getPlace({data, model}).getDefiningOp<ShardOriginOp>();
  EXPECT_EQ(place.getSize(), 6u);
  EXPECT_EQ(place.getSplit().getUnit(), 1);
  EXPECT_EQ(place.getSplit().getAxes().size(), 2u);
}

TEST_F(LocalWriterTest, SlicesLeaveWhatTheRankHolds) {
  LocalWriter &writer =
      read("tensor<2x5x7xf32, #tp.sharding<@m, [{}, {\"dp\"}, {\"tp\"}]>>",
           "tp.relu %x",
           "tensor<2x5x7xf32, #tp.sharding<@m, [{}, {\"dp\"}, {\"tp\"}]>>",
           {2, 3, 2});
  auto last = cast<LocalSliceOp>(writer.slice(op));
  auto first = last.getInput().getDefiningOp<LocalSliceOp>();
  ASSERT_TRUE(first);
  EXPECT_EQ(first.getInput(), op->getResult(0));
  EXPECT_EQ(first.getDim(), 1u);
  EXPECT_EQ(Numbers(first.getType().getShape()), Numbers({2, 3, 7}));
  EXPECT_EQ(last.getDim(), 2u);
  EXPECT_EQ(Numbers(last.getType().getShape()), Numbers({2, 3, 2}));
}
