#include "attention/score.h"

double score_scale(const struct score *score, size_t head)
{
	return score->temperature ? score->scale / (double)score->temperature[head] : score->scale;
}
