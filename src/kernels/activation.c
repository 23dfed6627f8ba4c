#include "kernels/activation.h"

#include <math.h>
#include <string.h>

#include "kernels/kernels.h"

bool activation_named(const char *name, enum activation *out)
{
	static const struct {
		const char *name;
		enum activation activation;
	} names[] = {
	    {"gelu", ACTIVATION_GELU},
	    {"gelu_python", ACTIVATION_GELU},
	    {"gelu_new", ACTIVATION_GELU_TANH},
	    {"gelu_pytorch_tanh", ACTIVATION_GELU_TANH},
	    {"gelu_python_tanh", ACTIVATION_GELU_TANH},
	    {"gelu_accurate", ACTIVATION_GELU_TANH},
	    {"gelu_fast", ACTIVATION_GELU_TANH},
	    {"gelu_10", ACTIVATION_GELU_10},
	    {"quick_gelu", ACTIVATION_QUICK_GELU},
	    {"silu", ACTIVATION_SILU},
	    {"swish", ACTIVATION_SILU},
	    {"mish", ACTIVATION_MISH},
	    {"relu", ACTIVATION_RELU},
	    {"relu2", ACTIVATION_RELU2},
	    {"relu6", ACTIVATION_RELU6},
	    {"sigmoid", ACTIVATION_SIGMOID},
	    {"tanh", ACTIVATION_TANH},
	    {"linear", ACTIVATION_LINEAR},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(names[i].name, name) == 0) {
			*out = names[i].activation;
			return true;
		}
	}
	return false;
}

double activation_value(enum activation activation, double x)
{
	static const double root_half = 0.70710678118654752440, root_two_over_pi = 0.79788456080286535588;
	switch (activation) {
	case ACTIVATION_GELU:
		return x * 0.5 * erfc(-x * root_half);
	case ACTIVATION_GELU_TANH:
		return 0.5 * x * (1 + tanh(root_two_over_pi * (x + 0.044715 * x * x * x)));
	case ACTIVATION_GELU_10:
		return fmin(fmax(activation_value(ACTIVATION_GELU, x), -10), 10);
	case ACTIVATION_QUICK_GELU:
		return x / (1 + exp(-1.702 * x));
	case ACTIVATION_SILU:
		return x / (1 + exp(-x));
	case ACTIVATION_MISH:
		return x * tanh(log1p(exp(x)));
	case ACTIVATION_RELU:
		return x > 0 ? x : x * 0;
	case ACTIVATION_RELU2:
		return x > 0 ? x * x : x * 0;
	case ACTIVATION_RELU6:
		return x > 0 ? fmin(x, 6) : x * 0;
	case ACTIVATION_SIGMOID:
		return 1 / (1 + exp(-x));
	case ACTIVATION_TANH:
		return tanh(x);
	default:
		return x;
	}
}

void activate(const struct kernels *kernels, enum activation activation, float *x, size_t count)
{
	if (activation == ACTIVATION_LINEAR)
		return;
	(void)kernels;
	for (size_t i = 0; i < count; i++)
		x[i] = (float)activation_value(activation, (double)x[i]);
}
