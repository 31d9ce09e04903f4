/* Taking over a plugin's tables: which entries must be there. */
#ifndef TN_CORE_DEVICE_TABLE_CHECK_H
#define TN_CORE_DEVICE_TABLE_CHECK_H

#include "core/device/device_state.h"

/* Checks the tables of an api that reaches at least as far as `copy`, and
 * copies them into `backend`: what a shorter table lacks is NULL there. On
 * failure TN_BAD_PLUGIN, naming every mandatory entry that is missing. */
tn_status tn_tables_take(const tn_backend_api *api, tn_backend *backend);

#endif
