// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Measures this computer and writes a machine file for the cost model.

#include "tp/Run/Calibrate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

static cl::OptionCategory category("Options of tp-calibrate");
static cl::opt<int64_t>
    ranks("ranks", cl::init(1), cl::cat(category),
          cl::desc("ranks that compute at the same time (default: 1)"));
static cl::opt<std::string> name("name", cl::init("cpu"), cl::cat(category),
                                 cl::desc("name of the machine (default: "
                                          "cpu)"));
static cl::opt<std::string> output("o", cl::init("-"), cl::cat(category),
                                   cl::value_desc("file"),
                                   cl::desc("machine file to write (default: "
                                            "-, standard output)"));

static Error run() {
  bool isPlain = !name.empty() && llvm::all_of(name, [](char c) {
    return isAlnum(c) || c == '-' || c == '_';
  });
  if (!isPlain)
    return createStringError("the name of a machine has letters, digits, - and "
                             "_ only, not '%s'",
                             name.c_str());
  std::error_code code;
  ToolOutputFile file(output, code, sys::fs::OF_Text);
  if (code)
    return createStringError(code, "cannot write '%s'", output.c_str());
  Expected<std::string> text = tp::calibrate(ranks, name);
  if (!text)
    return text.takeError();
  file.os() << *text;
  file.keep();
  return Error::success();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Measures products, memory and all-reduces of this computer, for "
      "machine= of tp-plan and tp-cost-report.\n");
  if (Error error = run()) {
    WithColor::error() << toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
