/* What is emulated, from the environment: cudaemu-run sets it. */
#ifndef TN_TESTS_CUDAEMU_SETTINGS_H
#define TN_TESTS_CUDAEMU_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#define EMU_DEVICES_MAX 8

typedef enum emu_nvml {
  EMU_NVML_WORKS,
  EMU_NVML_MISMATCH, /* of another version than the driver */
  EMU_NVML_LOST,     /* the last board fell out */
  EMU_NVML_FEWER,    /* the last board is not shown */
  EMU_NVML_DIVIDED,  /* the first board is divided (MIG) */
  EMU_NVML_OLD       /* does not know of cores */
} emu_nvml;

typedef struct emu_settings {
  int driver;          /* 12000 */
  int devices;         /* boards, by place */
  int capability;      /* 75 */
  uint64_t memory;     /* bytes of each device */
  uint64_t seed;       /* 0: no delays */
  uint32_t peers[EMU_DEVICES_MAX]; /* bit b of [a]: board a may access b's */
  bool mixed;          /* board 0 is slower than the others */
  bool order_ignored;  /* CUDA_DEVICE_ORDER does not count */
  bool no_races, trace;
  emu_nvml nvml;
  const char *faults;  /* TENON_CUDAEMU_FAIL, or NULL */
  const char *without; /* a call that the driver does not have, or NULL */
} emu_settings;

/* Ends the process with status 99 where a value makes no sense. */
void emu_settings_read(emu_settings *settings);

/* What boards say of themselves to driver and NVML alike. */
void emu_board_name(const emu_settings *settings, int board, char *name,
                    unsigned size);
void emu_board_uuid(int board, char uuid[16]);
void emu_board_uuid_text(int board, char text[41]); /* "GPU-..." */
int emu_board_bus(int board);
int emu_board_units(void); /* multiprocessors */

#define EMU_BOARD_DOMAIN 0xeee

#endif
