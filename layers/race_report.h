/* What the race layer found, each two places told once. Callers exclude each
 * other. */
#ifndef TN_LAYERS_RACE_REPORT_H
#define TN_LAYERS_RACE_REPORT_H

#include "layers/race_memory.h"

/* Reports go to its log; the process ends with `exit_status`, unless 0, if
 * there were any. */
void race_reports_begin(const tn_host_api *host, uint64_t exit_status);

void race_report(const char *what, uint32_t tag, const char *and,
                 uint32_t other);

/* Two accesses without an order. */
void race_report_conflict(const order_step *by, order_kind kind,
                          const race_allocation *memory,
                          const order_conflict *with);

/* The host changed what the copy of that tag read. */
void race_report_source(uint32_t tag, tn_address address);

/* What the host did to watched memory since the last call. */
void race_report_trespasses(void);

#endif
