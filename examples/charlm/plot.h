/* A picture of the loss. */
#ifndef CHARLM_PLOT_H
#define CHARLM_PLOT_H

#include <stdbool.h>
#include <stdint.h>

/* losses[i] is that of step i + 1. SVG, with nothing from elsewhere. False
 * after a complaint. */
bool plot_write(const char *path, const float *losses, int64_t count,
                const char *title);

#endif
