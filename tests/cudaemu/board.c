#include "tests/cudaemu/settings.h"

#include <stdio.h>
#include <string.h>

void emu_board_name(const emu_settings *settings, int board, char *name,
                    unsigned size)
{
  snprintf(name, size, "Emulated GPU%s",
           settings->mixed && board == 0 ? ", the slower one" : "");
}

void emu_board_uuid(int board, char uuid[16])
{
  memcpy(uuid, "EMULATED-GPU-00", 16);
  uuid[15] = (char)board;
}

void emu_board_uuid_text(int board, char text[41])
{
  char uuid[16];
  emu_board_uuid(board, uuid);
  int at = snprintf(text, 41, "GPU-");
  for (int b = 0; b < 16; b++)
    at += snprintf(text + at, (size_t)(41 - at), "%s%02x",
                   b == 4 || b == 6 || b == 8 || b == 10 ? "-" : "",
                   (unsigned char)uuid[b]);
}

int emu_board_bus(int board) { return board + 1; }

int emu_board_units(void) { return 2; }
