/* Which block an address from tn_malloc is: an open hash table. */
#ifndef TN_CORE_MEMORY_ADDRESS_TABLE_H
#define TN_CORE_MEMORY_ADDRESS_TABLE_H

#include "core/memory/block.h"

/* Any thread. Addresses are unique among all devices. */
tn_status tn_address_table_add(tn_block *block);

/* NULL if the address is not in the table; otherwise it is not any more. */
tn_block *tn_address_table_take(tn_address address);

/* The block stays in the table, and may be given back by another thread at
 * any time; that is the caller's error. */
tn_block *tn_address_table_find(tn_address address);

/* Around fork. */
void tn_address_table_lock(void);
void tn_address_table_unlock(void);

#endif
