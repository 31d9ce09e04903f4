/* Tenon: everything a program needs. Backend authors: tenon/backend.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_TENON_H
#define TENON_TENON_H

#include "tenon/status.h"
#include "tenon/device.h"
#include "tenon/stream.h"
#include "tenon/memory.h"
#include "tenon/copy.h"
#include "tenon/kernel.h"
#include "tenon/graph.h"
#include "tenon/tensor.h"
#include "tenon/ops.h"
#include "tenon/autograd.h"
#include "tenon/nn.h"
#include "tenon/callable.h"
#include "tenon/version.h"

#endif
