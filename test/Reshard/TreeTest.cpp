// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prices as words, and trees of reshards against every tree there is.
#include "BruteForceTree.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace tp;

namespace {

Price price(uint64_t time, uint64_t collectives = 0, uint64_t memory = 0,
            uint64_t steps = 0) {
  return *Price::get({time, collectives, memory, steps});
}

/// A table with the given rows; ~0 stands for infinite.
DistanceTable makeTable(std::vector<std::vector<uint64_t>> rows) {
  DistanceTable table;
  table.numLayouts = rows.size();
  for (const std::vector<uint64_t> &row : rows)
    for (uint64_t time : row)
      table.entries.push_back(~time ? price(time) : Price::infinite());
  return table;
}

constexpr uint64_t inf = ~uint64_t(0);

TEST(PriceTest, FieldsSurvivePacking) {
  Price packed = price((uint64_t(1) << 58) - 1, 0x2BCDE, 0x3FEDCBA98, 0x14321);
  EXPECT_EQ(packed.getTime(), (uint64_t(1) << 58) - 1);
  EXPECT_EQ(packed.getCollectives(), 0x2BCDEu);
  EXPECT_EQ(packed.getMemory(), 0x3FEDCBA98u);
  EXPECT_EQ(packed.getSteps(), 0x14321u);
  EXPECT_EQ(Price::fromWord(packed.getWord()), packed);
}

TEST(PriceTest, RefusesFieldsOutOfRange) {
  EXPECT_FALSE(Price::get({uint64_t(1) << 58, 0, 0, 0}));
  EXPECT_FALSE(Price::get({0, uint64_t(1) << 18, 0, 0}));
  EXPECT_FALSE(Price::get({0, 0, uint64_t(1) << 34, 0}));
  EXPECT_FALSE(Price::get({0, 0, 0, uint64_t(1) << 18}));
  // The largest of all fields is the word of infinity.
  EXPECT_FALSE(Price::get({(uint64_t(1) << 58) - 1, (1 << 18) - 1,
                           (uint64_t(1) << 34) - 1, (1 << 18) - 1}));
}

TEST(PriceTest, OrderIsLexicographic) {
  EXPECT_LT(price(1, 99, 99, 99), price(2));
  EXPECT_LT(price(1, 1, 99, 99), price(1, 2));
  EXPECT_LT(price(1, 1, 1, 99), price(1, 1, 2));
  EXPECT_LT(price(1, 1, 1, 1), price(1, 1, 1, 2));
  EXPECT_LT(price((uint64_t(1) << 58) - 1), Price::infinite());
}

TEST(PriceTest, SumsAddFieldsAndSaturate) {
  EXPECT_EQ(price(1, 2, 3, 4) + price(10, 20, 30, 40), price(11, 22, 33, 44));
  EXPECT_EQ(Price::infinite() + Price(), Price::infinite());
  EXPECT_EQ(Price() + Price::infinite(), Price::infinite());
  EXPECT_EQ(Price::infinite() + Price::infinite(), Price::infinite());
  Price half = price(uint64_t(1) << 57);
  EXPECT_EQ(half + half, Price::infinite());
  EXPECT_TRUE((half + price((uint64_t(1) << 57) - 1)).isFinite());
}

TEST(PriceTest, DifferencesAddUpAgain) {
  Price low = price(5, 3, 900, 7), high = price(6, 0, 2, 1);
  EXPECT_EQ(high.above(low) + low, high);
  EXPECT_EQ(low.above(low), Price());
  EXPECT_TRUE(Price::infinite().above(low).isInfinite());
}

TEST(PriceTest, TicksAreSixteenthsOfPicoseconds) {
  EXPECT_DOUBLE_EQ(price(16'000'000).seconds(), 1e-6);
  EXPECT_GT(Price::infinite().seconds(), 1e300);
}

TEST(TreeTest, NothingToReachCostsNothing) {
  DistanceTable table = makeTable({{0, 4}, {6, 0}});
  EXPECT_EQ(treeCost(table, 1, {}), Price());
  EXPECT_EQ(treeCost(table, 1, {1, 1}), Price());
  EXPECT_TRUE(cheapestTree(table, 1, {1}).edges.empty());
}

/// A gather to a hub that serves both targets is paid once.
TEST(TreeTest, SharedStepIsPaidOnce) {
  DistanceTable table =
      makeTable({{0, 8, 8, 6}, {9, 0, 4, 2}, {9, 4, 0, 2}, {7, 2, 2, 0}});
  ASSERT_FALSE(bool(table.check()));
  EXPECT_EQ(treeCost(table, 0, {1, 2}), price(10));
  EXPECT_EQ(TreePrices(table).get(0, {1, 2}), price(10));
  Tree tree = cheapestTree(table, 0, {2, 1, 2, 0});
  EXPECT_EQ(tree.cost, price(10));
  ASSERT_EQ(tree.edges.size(), 3u);
  EXPECT_EQ(tree.edges[0], (TreeEdge{0, 3}));
  EXPECT_EQ(tree.edges[1], (TreeEdge{3, 1}));
  EXPECT_EQ(tree.edges[2], (TreeEdge{3, 2}));
}

/// A target on the way to another one is where the tree goes on.
TEST(TreeTest, TargetsMayLieOnTheWay) {
  DistanceTable table = makeTable({{0, 5, 6}, {inf, 0, 1}, {inf, inf, 0}});
  EXPECT_EQ(treeCost(table, 0, {2, 1}), price(6));
  EXPECT_EQ(cheapestTree(table, 0, {2, 1}).edges.size(), 2u);
}

TEST(TreeTest, UnreachableTargetIsInfinite) {
  DistanceTable table = makeTable({{0, 5, 6}, {inf, 0, 1}, {inf, inf, 0}});
  EXPECT_TRUE(treeCost(table, 2, {1, 2}).isInfinite());
  Tree tree = cheapestTree(table, 1, {0, 2});
  EXPECT_TRUE(tree.cost.isInfinite());
  EXPECT_TRUE(tree.edges.empty());
}

/// Twelve targets around a hub: the way there once, one step each. With a
/// thirteenth the answer is infinite, not wrong.
TEST(TreeTest, TwelveTargetsAreExact) {
  constexpr unsigned n = 15, hub = 14;
  DistanceTable table;
  table.numLayouts = n;
  for (unsigned from = 0; from < n; ++from)
    for (unsigned to = 0; to < n; ++to) {
      uint64_t toHub = from == hub ? 0 : 100, fromHub = to == hub ? 0 : to;
      table.entries.push_back(from == to ? Price() : price(toHub + fromHub));
    }
  ASSERT_FALSE(bool(table.check()));
  std::vector<unsigned> targets;
  for (unsigned target = 1; target <= 12; ++target)
    targets.push_back(target);
  EXPECT_EQ(treeCost(table, 0, targets), price(100 + 12 * 13 / 2));
  EXPECT_EQ(cheapestTree(table, 0, targets).edges.size(), 13u);
  TreePrices prices(table);
  EXPECT_EQ(prices.get(5, targets), price(100 + 12 * 13 / 2 - 5));
  targets.push_back(13);
  EXPECT_TRUE(treeCost(table, 0, targets).isInfinite());
  // From one of the thirteen there are twelve others.
  EXPECT_EQ(prices.get(13, targets), price(100 + 12 * 13 / 2));
  EXPECT_TRUE(prices.get(0, targets).isInfinite());
}

TEST(TreeTest, TablesAreChecked) {
  auto message = [](const DistanceTable &table) {
    return llvm::toString(table.check());
  };
  EXPECT_EQ(message(makeTable({{0, 1}, {1, 0}})), "");
  DistanceTable shortTable = makeTable({{0, 1}, {1, 0}});
  shortTable.entries.pop_back();
  EXPECT_NE(message(shortTable).find("4 entries and has 3"), std::string::npos);
  EXPECT_NE(message(makeTable({{0, 1}, {1, 2}})).find("layout 1 to itself"),
            std::string::npos);
  EXPECT_NE(message(makeTable({{0, 9, 1}, {1, 0, 1}, {1, 2, 0}}))
                .find("detour over layout 2"),
            std::string::npos);
}

/// Checks that `tree` is a tree, reaches its targets and costs what it says.
void expectValid(const DistanceTable &table, unsigned root,
                 const std::vector<unsigned> &targets, const Tree &tree) {
  std::set<unsigned> reached = {root};
  Price total;
  for (TreeEdge edge : tree.edges) {
    EXPECT_TRUE(reached.count(edge.from));
    EXPECT_TRUE(reached.insert(edge.to).second);
    total += table.at(edge.from, edge.to);
  }
  EXPECT_EQ(total, tree.cost);
  for (unsigned target : targets)
    EXPECT_TRUE(reached.count(target));
}

TEST(TreeTest, EqualsBruteForce) {
  std::mt19937 random(20240521);
  for (unsigned trial = 0; trial < 600; ++trial) {
    unsigned n = 2 + random() % 5;
    DistanceTable table = makeRandomTable(random, n);
    ASSERT_EQ(llvm::toString(table.check()), "");
    std::vector<unsigned> targets(1 + random() % 5);
    for (unsigned &target : targets)
      target = random() % n;
    unsigned root = random() % n;
    Price expected = treeByBruteForce(table, root, targets);
    EXPECT_EQ(treeCost(table, root, targets), expected);
    std::vector<unsigned> different = targets;
    llvm::sort(different);
    different.erase(llvm::unique(different), different.end());
    EXPECT_EQ(TreePrices(table).get(root, different), expected);
    Tree tree = cheapestTree(table, root, targets);
    EXPECT_EQ(tree.cost, expected);
    if (expected.isInfinite())
      continue;
    expectValid(table, root, targets, tree);
    std::shuffle(targets.begin(), targets.end(), random);
    EXPECT_EQ(cheapestTree(table, root, targets).edges, tree.edges);
  }
}

} // namespace
