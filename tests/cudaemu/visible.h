/* CUDA_VISIBLE_DEVICES. */
#ifndef TN_TESTS_CUDAEMU_VISIBLE_H
#define TN_TESTS_CUDAEMU_VISIBLE_H

#include "tests/cudaemu/emulator.h"

/* Which boards are shown, in which order; how many. */
int emu_visible_find(int *visible);

#endif
