// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tp/Solver/CertificateNumbers.h"
#include "llvm/ADT/STLExtras.h"

using namespace tp;
using llvm::ArrayRef;

template <typename T>
static void write(std::vector<int64_t> &numbers, ArrayRef<T> list) {
  numbers.push_back(list.size());
  llvm::append_range(numbers, list);
}

uint64_t PlanProof::getSize() const {
  if (!withinMemory)
    return certificate.getSize();
  uint64_t size = 0;
  for (const MemoryCertificate::Range &range : withinMemory->ranges)
    size += range.certificate.getSize() + sizeof(range.mostWorking) +
            sizeof(range.multiplier) + sizeof(range.tolledCost);
  return size;
}

static void write(std::vector<int64_t> &numbers,
                  const Certificate &certificate) {
  numbers.push_back(certificate.messages.size());
  for (ArrayRef<int64_t> message : certificate.messages)
    write(numbers, message);
  write<unsigned>(numbers, certificate.messageOf);
  numbers.push_back(certificate.expansions.size());
  for (const Certificate::Expansion &expansion : certificate.expansions) {
    numbers.push_back(static_cast<int64_t>(expansion.kind));
    write<unsigned>(numbers, expansion.slotLayouts);
    numbers.push_back(expansion.layoutSets.size());
    for (ArrayRef<unsigned> set : expansion.layoutSets)
      write(numbers, set);
  }
  write<unsigned>(numbers, certificate.expansionOf);
  write<unsigned>(numbers, certificate.order);
}

std::vector<int64_t> tp::toNumbers(const PlanProof &proof) {
  std::vector<int64_t> numbers;
  if (!proof.withinMemory) {
    numbers.push_back(0);
    write(numbers, proof.certificate);
    return numbers;
  }
  numbers.push_back(proof.withinMemory->ranges.size());
  for (const MemoryCertificate::Range &range : proof.withinMemory->ranges) {
    Price::Word word = range.tolledCost.getWord();
    llvm::append_values(numbers, static_cast<int64_t>(range.mostWorking),
                        static_cast<int64_t>(range.multiplier),
                        static_cast<int64_t>(word >> 64),
                        static_cast<int64_t>(word));
    write(numbers, range.certificate);
  }
  return numbers;
}

namespace {
/// Takes numbers from the front; once they do not fit, nothing is taken.
class NumberReader {
public:
  explicit NumberReader(ArrayRef<int64_t> numbers) : numbers(numbers) {}

  bool isAtEnd() const { return good && numbers.empty(); }

  int64_t take() {
    if (numbers.empty())
      good = false;
    if (!good)
      return 0;
    int64_t number = numbers.front();
    numbers = numbers.drop_front();
    return number;
  }

  /// A number of things to follow, of which each has one number at least.
  size_t takeLength() {
    int64_t length = take();
    good &= length >= 0 && static_cast<uint64_t>(length) <= numbers.size();
    return good ? length : 0;
  }

  unsigned takeIndex() {
    int64_t index = take();
    good &= index >= 0 && index <= std::numeric_limits<unsigned>::max();
    return good ? index : 0;
  }

  std::vector<int64_t> takeMessage() {
    std::vector<int64_t> message(takeLength());
    for (int64_t &number : message)
      number = take();
    return message;
  }

  std::vector<unsigned> takeIndices() {
    std::vector<unsigned> indices(takeLength());
    for (unsigned &index : indices)
      index = takeIndex();
    return indices;
  }

  Certificate::Expansion takeExpansion() {
    Certificate::Expansion expansion;
    unsigned kind = takeIndex();
    good &= kind <= unsigned(Certificate::Expansion::Kind::Cover);
    expansion.kind = static_cast<Certificate::Expansion::Kind>(kind);
    expansion.slotLayouts = takeIndices();
    expansion.layoutSets.resize(takeLength());
    for (std::vector<unsigned> &set : expansion.layoutSets)
      set = takeIndices();
    return expansion;
  }

  Certificate takeCertificate() {
    Certificate certificate;
    certificate.messages.resize(takeLength());
    for (std::vector<int64_t> &message : certificate.messages)
      message = takeMessage();
    certificate.messageOf = takeIndices();
    certificate.expansions.resize(takeLength());
    for (Certificate::Expansion &expansion : certificate.expansions)
      expansion = takeExpansion();
    certificate.expansionOf = takeIndices();
    certificate.order = takeIndices();
    return certificate;
  }

  MemoryCertificate::Range takeRange() {
    MemoryCertificate::Range range;
    range.mostWorking = take();
    range.multiplier = take();
    auto high = static_cast<uint64_t>(take());
    auto low = static_cast<uint64_t>(take());
    range.tolledCost = Price::fromWord(Price::Word(high) << 64 | low);
    range.certificate = takeCertificate();
    return range;
  }

private:
  ArrayRef<int64_t> numbers;
  bool good = true;
};
} // namespace

llvm::Expected<PlanProof> tp::fromNumbers(ArrayRef<int64_t> numbers) {
  NumberReader reader(numbers);
  PlanProof proof;
  if (size_t numRanges = reader.takeLength()) {
    proof.withinMemory.emplace().ranges.resize(numRanges);
    for (MemoryCertificate::Range &range : proof.withinMemory->ranges)
      range = reader.takeRange();
  } else {
    proof.certificate = reader.takeCertificate();
  }
  if (!reader.isAtEnd())
    return llvm::createStringError(
        "the %zu numbers of the certificate do not fit together",
        numbers.size());
  return proof;
}
