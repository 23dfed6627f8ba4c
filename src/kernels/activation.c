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
	/* Of infinity its limit: x times what is 0 would be NaN. */
	double near = x < -1e3 ? -1e3 : x;
	switch (activation) {
	case ACTIVATION_GELU:
		return near * 0.5 * erfc(-near * root_half);
	case ACTIVATION_GELU_TANH:
		return near / (1 + exp(-2 * root_two_over_pi * (near + 0.044715 * near * near * near)));
	case ACTIVATION_GELU_10:
		return x > 10 ? 10 : activation_value(ACTIVATION_GELU, x); /* which is never below -0.2 */
	case ACTIVATION_QUICK_GELU:
		return near / (1 + exp(-1.702 * near));
	case ACTIVATION_SILU:
		return near / (1 + exp(-near));
	case ACTIVATION_MISH:
		return near * tanh(log1p(exp(near)));
	case ACTIVATION_RELU:
		return x < 0 ? 0 : x;
	case ACTIVATION_RELU2:
		return x < 0 ? 0 : x * x;
	case ACTIVATION_RELU6:
		return x < 0 ? 0 : x > 6 ? 6 : x;
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
	if (kernels) {
		kernels->activate(activation, x, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		x[i] = (float)activation_value(activation, (double)x[i]);
}
