// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TP_IMPORT_ROPECONFIG_H
#define TP_IMPORT_ROPECONFIG_H

#include "tp/Import/HFConfig.h"

namespace tp {

class Fields;
class Findings;
struct Family;

/// Reads the rotary parameters among the top-level `fields` of a config.json
/// into `config`, whose `maxPositions` is already known, and returns the part
/// of each head that is rotated, in (0, 1]. Takes the spelling of transformers
/// 5 ("rope_parameters") and the older one ("rope_theta" and "rope_scaling");
/// if both are there they must agree.
double readRope(const Family &family, Fields &fields, Findings &findings,
                DecoderConfig &config);

} // namespace tp

#endif // TP_IMPORT_ROPECONFIG_H
