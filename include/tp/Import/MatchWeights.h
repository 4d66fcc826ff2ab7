// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_MATCHWEIGHTS_H
#define TP_IMPORT_MATCHWEIGHTS_H

#include "tp/Import/HFConfig.h"
#include "tp/Import/Safetensors.h"

namespace tp {

/// Checks that the tensors of `checkpoint` are the parameters of the model, of
/// which the first `layers` layers are wanted: each there with its shape and
/// with floating-point elements, and no tensor without a place in the model.
/// Excepted are buffers that transformers leaves out, too, and an equal copy of
/// a tied table. The names may lack the prefix of the whole model, as in the
/// checkpoint of one without its head. The error lists what is wrong, one line
/// each, the first few of each kind. Appends to `said` what is left out or not
/// read, one line each.
llvm::Error matchWeights(const Checkpoint &checkpoint,
                         const DecoderConfig &config, int64_t layers,
                         std::vector<std::string> &said);

} // namespace tp

#endif // TP_IMPORT_MATCHWEIGHTS_H
