/* Which block an address from tn_malloc is: an open hash table that is read
 * without a lock. */
#ifndef TN_CORE_MEMORY_ADDRESS_TABLE_H
#define TN_CORE_MEMORY_ADDRESS_TABLE_H

#include "core/memory/block.h"

/* Any thread. Addresses are unique among all devices. Sets is_in_table. */
tn_status tn_address_table_add(tn_block *block);
void tn_address_table_remove(tn_block *block);

/* The block that begins at the address, if it is in the table; it stays
 * there. */
tn_block *tn_address_table_find(tn_address address);

/* Around fork. */
void tn_address_table_lock(void);
void tn_address_table_unlock(void);

#endif
