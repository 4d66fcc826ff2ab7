// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_ROPECONFIG_H
#define TP_IMPORT_ROPECONFIG_H

#include "tp/Import/HFConfig.h"

namespace tp {

class Fields;
class Findings;

/// Reads the rotary parameters among the top-level `fields` of a config.json
/// into `config`, whose `maxPositions` is already known. Takes the spelling of
/// transformers 5 ("rope_parameters") and the older one ("rope_theta" and
/// "rope_scaling"); if both are there they must agree.
void readRope(Fields &fields, Findings &findings, DecoderConfig &config);

} // namespace tp

#endif // TP_IMPORT_ROPECONFIG_H
