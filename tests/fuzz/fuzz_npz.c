/* Fuzz target of the npz reader. */
#define READER npz_parse
#include "target.h"
