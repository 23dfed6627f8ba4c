/* --colormap list. */
#ifndef ATTN_CMD_COLORMAPS_H
#define ATTN_CMD_COLORMAPS_H

#include "cmd/cmd.h"

/* Print all maps on standard output: on a terminal of 24-bit colour (COLORTERM says
 * so, and NO_COLOR is not set) each with its colours, else name and summary with a tab
 * between. */
enum attn_status colormaps_print(const struct command *self, struct attn_error *err);

#endif
