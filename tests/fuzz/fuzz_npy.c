/* Fuzz target of the npy reader. */
#define READER npy_parse
#include "target.h"
