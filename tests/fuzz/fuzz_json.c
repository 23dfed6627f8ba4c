/* Fuzz target of the json reader. */
#define READER json_parse
#include "target.h"
