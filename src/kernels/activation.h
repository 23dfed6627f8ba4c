/* Activation functions of feed-forward layers, under the names that models give them. */
#ifndef ATTN_KERNELS_ACTIVATION_H
#define ATTN_KERNELS_ACTIVATION_H

#include <stdbool.h>
#include <stddef.h>

struct kernels;

enum activation {
	ACTIVATION_LINEAR,     /* x */
	ACTIVATION_GELU,       /* x Phi(x) = x (1 + erf(x / sqrt(2))) / 2 (Hendrycks and Gimpel 2016) */
	ACTIVATION_GELU_TANH,  /* x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 (the same) */
	ACTIVATION_GELU_10,    /* gelu, clipped to -10 ... 10 */
	ACTIVATION_QUICK_GELU, /* x / (1 + e^(-1.702 x)) (the same) */
	ACTIVATION_SILU,       /* x / (1 + e^-x) (Elfwing et al. 2017) */
	ACTIVATION_MISH,       /* x tanh(ln(1 + e^x)) (Misra 2019) */
	ACTIVATION_RELU,
	ACTIVATION_RELU2, /* relu squared */
	ACTIVATION_RELU6, /* relu, at most 6 */
	ACTIVATION_SIGMOID,
	ACTIVATION_TANH,
	ACTIVATIONS
};

/* By a name of config.json: "gelu_new" is ACTIVATION_GELU_TANH.  False: there is no such name. */
bool activation_named(const char *name, enum activation *out);
#define ACTIVATION_NAMES                                                                                     \
	"gelu, gelu_new, gelu_pytorch_tanh, gelu_fast, gelu_10, quick_gelu, silu, swish, mish, relu, "       \
	"relu2, "                                                                                            \
	"relu6, sigmoid, tanh or linear"

/* x (count) becomes activation(x), within 2e-7 of it or, above 1, of it relatively; infinity becomes
 * the limit, NaN stays NaN.  NULL kernels: in float64, rounded once. */
void activate(const struct kernels *kernels, enum activation activation, float *x, size_t count);

/* In float64. */
double activation_value(enum activation activation, double x);

#endif
