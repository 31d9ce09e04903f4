/* CUDA_VISIBLE_DEVICES. */
#ifndef TN_TESTS_CUDAEMU_VISIBLE_H
#define TN_TESTS_CUDAEMU_VISIBLE_H

#include "tests/cudaemu/emulator.h"

/* Which of `count` devices are shown, in which order; how many. */
int emu_visible_find(int count, int *visible);
void emu_uuid(int number, CUuuid *uuid);

#endif
