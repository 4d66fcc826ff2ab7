// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tp/Run/Calibrate.h"
#include "tp/Runtime/Abi.h"
#include "tp/Runtime/Rank.h"
#include "tp/Runtime/Threads.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace tp;

using Clock = std::chrono::steady_clock;

static constexpr int numSamples = 80;
/// Seconds that a sample takes at least: about as long as ranks compute before
/// one waits for the others.
static constexpr double sampleSeconds = 2e-3;

//===- Measuring ----------------------------------------------------------===//

namespace {

/// What one rank does: allocates on the first call, then is timed.
using Body = std::function<void()>;
/// Gives each rank its body.
using MakeBody = std::function<Body(int64_t rank)>;

/// Ranks that do the same at the same time.
class Stopwatch {
public:
  explicit Stopwatch(int64_t ranks) : ranks(ranks) {
    for (int64_t rank = 0; rank < ranks; ++rank)
      everyone.push_back(rank);
  }

  int64_t getRanks() const { return ranks; }
  const int64_t *getGroup() const { return everyone.data(); }
  /// Seconds of one call of the slowest rank: the mean, since that of a step is
  /// the sum of those of its operations, without the odd sample.
  Expected<double> measure(const MakeBody &makeBody) const;

private:
  void wait() const;
  void runRank(const Body &body, int64_t times,
               std::vector<double> &samples) const;
  Error run(ArrayRef<Body> bodies, int64_t times,
            std::vector<std::vector<double>> &samples) const;

  int64_t ranks;
  std::vector<int64_t> everyone;
};

} // namespace

/// All ranks come before one goes on.
void Stopwatch::wait() const {
  int32_t one = 1;
  tp_all_reduce(&one, &one, 1, TP_I32, TP_SUM, getGroup(), 1, ranks, 0);
}

void Stopwatch::runRank(const Body &body, int64_t times,
                        std::vector<double> &samples) const {
  body();
  for (double &sample : samples) {
    wait();
    Clock::time_point begin = Clock::now();
    for (int64_t i = 0; i < times; ++i)
      body();
    std::chrono::duration<double> elapsed = Clock::now() - begin;
    sample = elapsed.count() / static_cast<double>(times);
  }
}

Error Stopwatch::run(ArrayRef<Body> bodies, int64_t times,
                     std::vector<std::vector<double>> &samples) const {
  runtime::ThreadWorld world(ranks, /*deadlineSeconds=*/60);
  std::vector<std::optional<std::string>> errors(ranks);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      runtime::RankScope scope(world.communicator(rank));
      errors[rank] = runtime::runRank(
          scope, [&] { runRank(bodies[rank], times, samples[rank]); });
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::optional<std::string> &error : errors)
    if (error)
      return createStringError("a measurement failed: " + *error);
  return Error::success();
}

Expected<double> Stopwatch::measure(const MakeBody &makeBody) const {
  std::vector<Body> bodies;
  for (int64_t rank = 0; rank < ranks; ++rank)
    bodies.push_back(makeBody(rank));
  auto slowest = [](const std::vector<std::vector<double>> &samples) {
    std::vector<double> times(samples.front().size());
    for (const std::vector<double> &ofRank : samples)
      for (auto [time, sample] : zip_equal(times, ofRank))
        time = std::max(time, sample);
    llvm::sort(times);
    ArrayRef<double> middle = ArrayRef(times)
                                  .drop_front(times.size() / 20)
                                  .drop_back(times.size() / 20);
    return std::accumulate(middle.begin(), middle.end(), 0.0) /
           static_cast<double>(middle.size());
  };
  std::vector<std::vector<double>> trial(ranks, std::vector<double>(3));
  if (Error error = run(bodies, 1, trial))
    return std::move(error);
  double times = std::ceil(sampleSeconds / std::max(slowest(trial), 1e-8));
  std::vector<std::vector<double>> samples(ranks,
                                           std::vector<double>(numSamples));
  if (Error error = run(bodies, static_cast<int64_t>(times), samples))
    return std::move(error);
  return slowest(samples);
}

//===- Products -----------------------------------------------------------===//

namespace {

/// A product [m, k] x [n, k]^T, the form of a linear layer.
struct ProductTime {
  double m, n, k;
  double seconds = 0;
};

/// seconds = scale (m n k + halfRows n k + halfColumns m k + halfDepth m n).
struct ProductFit {
  double scale, halfRows, halfColumns, halfDepth;
};

} // namespace

static constexpr std::array<std::array<int64_t, 3>, 15> productShapes = {{
    {16, 512, 512},
    {32, 256, 1024},
    {64, 1024, 256},
    {64, 512, 512},
    {128, 64, 512},
    {128, 128, 256},
    {128, 256, 128},
    {128, 512, 512},
    {128, 1024, 512},
    {128, 512, 2048},
    {256, 256, 256},
    {128, 4096, 512},
    {256, 1024, 1024},
    {512, 64, 512},
    {512, 512, 512},
}};

namespace {

/// Copies of a buffer that are used in turn, so that each is as far from the
/// processor as it is in a model, which has touched others since.
class Rotation {
public:
  Rotation(int64_t size, int64_t mebibytes, float value)
      : size(size), copies(std::max<int64_t>(1, (mebibytes << 18) / size)),
        data(std::make_shared<std::vector<float>>(copies * size, value)) {}
  float *next() {
    turn = (turn + 1) % copies;
    return data->data() + turn * size;
  }

private:
  int64_t size, copies, turn = 0;
  std::shared_ptr<std::vector<float>> data;
};

} // namespace

static Expected<double> measureProduct(const Stopwatch &stopwatch, int64_t m,
                                       int64_t n, int64_t k) {
  return stopwatch.measure([=](int64_t) -> Body {
    return [=, a = Rotation(m * k, 4, 0.5f), b = Rotation(n * k, 64, 0.25f),
            out = Rotation(m * n, 16, 0)]() mutable {
      tp_matmul_f32(out.next(), a.next(), b.next(), 1, m, n, k,
                    /*bBatched=*/0, /*transposeA=*/0, /*transposeB=*/1);
    };
  });
}

/// Least squares of relative errors over coefficients that are not negative:
/// each in turn, the others held fixed, until nothing changes. The sum of
/// squares is convex, so this ends at its minimum.
static ProductFit fitProducts(ArrayRef<ProductTime> times) {
  std::array<double, 4> coefficients{};
  auto getTerms = [](const ProductTime &time) -> std::array<double, 4> {
    double s = time.seconds;
    return {time.m * time.n * time.k / s, time.n * time.k / s,
            time.m * time.k / s, time.m * time.n / s};
  };
  for (int round = 0; round < 20000; ++round)
    for (size_t i = 0; i < coefficients.size(); ++i) {
      double along = 0, length = 0;
      for (const ProductTime &time : times) {
        std::array<double, 4> terms = getTerms(time);
        double rest = 1;
        for (auto [j, term] : enumerate(terms))
          rest -= j == i ? 0 : coefficients[j] * term;
        along += rest * terms[i];
        length += terms[i] * terms[i];
      }
      coefficients[i] = std::max(0.0, along / length);
    }
  double scale = coefficients[0];
  return {scale, coefficients[1] / scale, coefficients[2] / scale,
          coefficients[3] / scale};
}

static Expected<ProductFit> measureProducts(const Stopwatch &stopwatch) {
  std::vector<ProductTime> times;
  for (auto [m, n, k] : productShapes) {
    Expected<double> seconds = measureProduct(stopwatch, m, n, k);
    if (!seconds)
      return seconds.takeError();
    times.push_back({static_cast<double>(m), static_cast<double>(n),
                     static_cast<double>(k), *seconds});
  }
  ProductFit fit = fitProducts(times);
  if (!(fit.scale > 0))
    return createStringError("the times of products do not grow with their "
                             "sizes; the machine is too busy to be measured");
  return fit;
}

//===- Other operations ---------------------------------------------------===//

/// Seconds of a FLOP of causal attention over a short sequence.
static Expected<double> measureAttention(const Stopwatch &stopwatch,
                                         int64_t dim) {
  constexpr int64_t tokens = 192, heads = 4;
  Expected<double> seconds = stopwatch.measure([=](int64_t) -> Body {
    int64_t size = tokens * heads * dim;
    auto in = std::make_shared<std::vector<float>>(size, 0.125f);
    auto out = std::make_shared<std::vector<float>>(size);
    return [=] {
      tp_attention_f32(out->data(), in->data(), in->data(), in->data(), 1,
                       tokens, tokens, heads, heads, dim, 0.125, /*causal=*/1,
                       /*origin=*/0);
    };
  });
  if (!seconds)
    return seconds.takeError();
  // Two products over half of the pairs.
  return *seconds / (4.0 * tokens * tokens / 2 * heads) /
         static_cast<double>(dim);
}

namespace {

/// With heads of size d, attention / (1 + halfHead / d) of the peak.
struct AttentionFit {
  double attention, halfHead;
};

} // namespace

/// The line through heads of two sizes.
static Expected<AttentionFit> fitAttention(const Stopwatch &stopwatch,
                                           double peak) {
  constexpr int64_t small = 16, large = 64;
  Expected<double> ofSmall = measureAttention(stopwatch, small);
  if (!ofSmall)
    return ofSmall.takeError();
  Expected<double> ofLarge = measureAttention(stopwatch, large);
  if (!ofLarge)
    return ofLarge.takeError();
  double ofPair =
      std::max(0.0, (*ofSmall - *ofLarge) / (1.0 / small - 1.0 / large));
  double rest = *ofLarge - ofPair / large;
  double attention = rest * peak > 1 ? 1 / (rest * peak) : 1;
  return AttentionFit{attention, ofPair * peak * attention};
}

/// FLOP/s of a softmax, 5 a point, in the cache: what has exponentials in it.
static Expected<double> measureVectors(const Stopwatch &stopwatch) {
  constexpr int64_t rows = 64, columns = 1024;
  Expected<double> seconds = stopwatch.measure([=](int64_t) -> Body {
    auto in = std::make_shared<std::vector<float>>(rows * columns, 0.5f);
    auto out = std::make_shared<std::vector<float>>(rows * columns);
    return [=] { tp_softmax_f32(out->data(), in->data(), rows, columns, 1); };
  });
  if (!seconds)
    return seconds.takeError();
  return 5.0 * rows * columns / *seconds;
}

/// Bytes a second of an addition of two activations of 1 MiB.
static Expected<double> measureMemory(const Stopwatch &stopwatch) {
  constexpr int64_t size = 1 << 18;
  Expected<double> seconds = stopwatch.measure([=](int64_t) -> Body {
    return [in = Rotation(2 * size, 16, 0.5f),
            out = Rotation(size, 16, 0)]() mutable {
      tp_reduce_sum_f32(out.next(), in.next(), 1, 2, size, 0, 2);
    };
  });
  if (!seconds)
    return seconds.takeError();
  return 3.0 * size * sizeof(float) / *seconds;
}

//===- All-reduces --------------------------------------------------------===//

namespace {

struct MessageTime {
  int64_t bytes;
  double seconds;
};

} // namespace

static Expected<std::vector<MessageTime>>
measureSums(const Stopwatch &stopwatch) {
  std::vector<MessageTime> times;
  for (int64_t bytes = 1 << 10; bytes <= 16 << 20; bytes *= 4) {
    int64_t count = bytes / static_cast<int64_t>(sizeof(float));
    Expected<double> seconds = stopwatch.measure([=, &stopwatch](int64_t) {
      auto in = std::make_shared<std::vector<float>>(count, 1.0f);
      auto out = std::make_shared<std::vector<float>>(count);
      return [=, &stopwatch] {
        tp_all_reduce(out->data(), in->data(), count, TP_F32, TP_SUM,
                      stopwatch.getGroup(), 1, stopwatch.getRanks(), 1);
      };
    });
    if (!seconds)
      return seconds.takeError();
    times.push_back({bytes, *seconds});
  }
  return times;
}

//===- The file -----------------------------------------------------------===//

static std::string number(double value) { return formatv("{0:e4}", value); }

/// A ring through the first and the last point, for groups without a table.
static void writeLink(ArrayRef<MessageTime> times, int64_t ranks,
                      raw_ostream &os) {
  double steps = 2.0 * static_cast<double>(ranks - 1);
  double latency = times.front().seconds / steps;
  double rest = std::max(times.back().seconds - times.front().seconds, 1e-9);
  double sent = steps / static_cast<double>(ranks) *
                static_cast<double>(times.back().bytes - times.front().bytes);
  os << "links:\n  - name: threads\n    ranks: 0\n    bandwidth: "
     << number(sent / rest) << "\n    latency: " << number(latency)
     << "\n    measured:\n      - collective: all_reduce\n        group_ranks: "
     << ranks << "\n        points:\n";
  for (const MessageTime &time : times)
    os << "          - {bytes: " << time.bytes
       << ", seconds: " << number(time.seconds) << "}\n";
}

Expected<std::string> tp::calibrate(int64_t ranks, StringRef name) {
  if (ranks < 1 || ranks > maxCalibratedRanks)
    return createStringError(
        "%lld ranks cannot be measured at once; 1 to %lld can",
        static_cast<long long>(ranks),
        static_cast<long long>(maxCalibratedRanks));
  Stopwatch stopwatch(ranks), pair(std::max<int64_t>(ranks, 2));
  Expected<ProductFit> products = measureProducts(stopwatch);
  if (!products)
    return products.takeError();
  double peak = 2 / products->scale;
  Expected<AttentionFit> attention = fitAttention(stopwatch, peak);
  if (!attention)
    return attention.takeError();
  Expected<double> vectors = measureVectors(stopwatch);
  if (!vectors)
    return vectors.takeError();
  Expected<double> memory = measureMemory(stopwatch);
  if (!memory)
    return memory.takeError();
  Expected<std::vector<MessageTime>> sums = measureSums(pair);
  if (!sums)
    return sums.takeError();

  int64_t bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
  std::string text;
  raw_string_ostream os(text);
  os << "# This computer, measured by tp-calibrate with as many ranks at "
        "once: "
     << ranks
     << ".\n# One thread a rank, f32. The peak is that of a product without "
        "end.\nname: "
     << name << "\npeaks:\n  - {type: f32, flops: " << number(peak)
     << "}\n  - {type: f64, flops: " << number(peak / 2)
     << "}\nvector_flops: " << number(*vectors)
     << "\nmemory_bandwidth: " << number(*memory) << "\nmemory_bytes: " << bytes
     << "\nproducts: {efficiency: 1, half_m: " << number(products->halfRows)
     << ", half_n: " << number(products->halfColumns)
     << ", half_k: " << number(products->halfDepth)
     << ", attention: " << number(attention->attention)
     << ", attention_half_head: " << number(attention->halfHead) << "}\n";
  writeLink(*sums, pair.getRanks(), os);
  return text;
}
