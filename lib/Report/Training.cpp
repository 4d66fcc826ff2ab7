// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Training.h"

using namespace mlir;
using namespace tp;

/// Axes are called dp, data or fsdp unless `names` says otherwise.
static FailureOr<SmallVector<unsigned>>
findDataAxes(ModuleOp module, MeshAttr mesh, StringRef names) {
  SmallVector<StringRef> listed;
  names.split(listed, ',', -1, /*KeepEmpty=*/false);
  for (StringRef &name : listed) {
    name = name.trim();
    if (llvm::count(listed, name) > 1)
      return module.emitError() << "data-axes names \"" << name << "\" twice";
    if (!mesh || !mesh.findAxis(name))
      return module.emitError() << "data-axes names \"" << name
                                << "\", which is no axis of the mesh";
  }
  SmallVector<unsigned> axes;
  if (!mesh)
    return axes;
  for (auto [number, axis] : llvm::enumerate(mesh.getAxes())) {
    StringRef name = axis.getName();
    bool usual = name == "dp" || name == "data" || name == "fsdp";
    if (listed.empty() ? usual : llvm::is_contained(listed, name))
      axes.push_back(number);
  }
  return axes;
}

/// What only an optimizer gives a meaning, and data axes only ZeRO.
static LogicalResult checkAlone(ModuleOp module,
                                const ReportSettings &settings) {
  if (settings.optimizer != "none") {
    if (settings.zero != 0 || settings.dataAxes.empty())
      return success();
    return module.emitError() << "data-axes has no effect without zero";
  }
  StringRef name = !settings.gradientType.empty() ? "gradient-type"
                   : settings.zero != 0           ? "zero"
                   : !settings.dataAxes.empty()   ? "data-axes"
                                                  : "";
  if (name.empty())
    return success();
  return module.emitError() << name << " has no effect without optimizer=adam";
}

FailureOr<FlopConvention> tp::readConvention(ModuleOp module,
                                             const ReportSettings &settings) {
  for (FlopConvention convention :
       {FlopConvention::Causal, FlopConvention::Full})
    if (settings.flops == toString(convention))
      return convention;
  return module.emitError()
         << "flops='" << settings.flops
         << "' must be causal (the pairs that the mask of attention leaves) or "
            "full (all pairs)";
}

FailureOr<TrainingSettings> tp::readTraining(ModuleOp module, MeshAttr mesh,
                                             const ReportSettings &settings) {
  if (settings.optimizer != "none" && settings.optimizer != "adam")
    return module.emitError()
           << "optimizer='" << settings.optimizer << "' must be none or adam";
  if (!settings.gradientType.empty() && settings.gradientType != "f32")
    return module.emitError()
           << "gradient-type='" << settings.gradientType
           << "' must be f32, or be left out for the parameters' type";
  if (settings.zero < 0 || settings.zero > 3)
    return module.emitError() << "zero=" << settings.zero
                              << " must be 0, 1 (optimizer states are dealt "
                                 "over the data axes), 2 "
                                 "(gradients, too) or 3 (parameters, too)";
  if (settings.recompute != "none" && settings.recompute != "layers")
    return module.emitError()
           << "recompute='" << settings.recompute << "' must be none or layers";
  if (failed(checkAlone(module, settings)))
    return failure();
  FailureOr<SmallVector<unsigned>> axes =
      findDataAxes(module, mesh, settings.dataAxes);
  if (failed(axes))
    return failure();
  TrainingSettings training;
  training.usesAdam = settings.optimizer == "adam";
  training.gradientBytes = settings.gradientType == "f32" ? 4 : 0;
  training.zero = static_cast<int>(settings.zero);
  training.dataAxes = *axes;
  training.recomputesLayers = settings.recompute == "layers";
  return training;
}
