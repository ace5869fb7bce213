#pragma once

/// The whole public interface of jitbag.
#include "jitbag/artifact.hpp"
#include "jitbag/compiler.hpp"
#include "jitbag/device.hpp"
#include "jitbag/engine.hpp"
#include "jitbag/error.hpp"
#include "jitbag/forward_spec.hpp"
#include "jitbag/host.hpp"
#include "jitbag/kernel.hpp"
#include "jitbag/poolings.hpp"
#include "jitbag/quantise.hpp"
#include "jitbag/row_scale.hpp"
#include "jitbag/specialisation.hpp"
#include "jitbag/strategy.hpp"
#include "jitbag/tables.hpp"
#include "jitbag/target.hpp"
#include "jitbag/types.hpp"
