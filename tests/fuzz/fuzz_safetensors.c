/* Fuzz target of the safetensors reader. */
#define READER safetensors_parse
#include "target.h"
