/* Facts of the machine, read from the system. */
#ifndef TN_BACKENDS_CPU_MACHINE_H
#define TN_BACKENDS_CPU_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* Processors this process may run on; at least 1. */
int tn_cpu_machine_processors(void);

/* Bytes of the last cache before memory, 0 if unknown. */
uint64_t tn_cpu_machine_cache(void);

/* "AMD EPYC 9354 32-Core Processor"; the architecture where the system tells
 * no name. */
void tn_cpu_machine_name(char *name, size_t size);

/* The NUMA node of all memory this process may have, -1 if there are several
 * or nothing tells. */
int tn_cpu_machine_numa_node(void);

/* 16 bytes that are the same in every run on this machine with a processor of
 * this name, and other ones for each ordinal. */
void tn_cpu_machine_uuid(const char *name, int ordinal, uint8_t uuid[16]);

/* Bytes of memory the machine has. */
uint64_t tn_cpu_machine_memory(void);

/* Bytes that this process's control group (version 1 or 2) lets it have;
 * UINT64_MAX without a limit. `root` is "" (tests: a folder that stands for
 * /). */
uint64_t tn_cpu_machine_limit(const char *root);

/* Bytes that could be had now without swapping, 0 if unknown. */
uint64_t tn_cpu_machine_available(const char *root);

#endif
