#include "files/pickle_internal.h"

#include "util/strings.h"

bool is_pickle(const unsigned char *data, size_t length)
{
	return length > 2 && data[0] == 0x80 && data[1] >= 2 && data[1] <= 5;
}

/* The command takes a dictionary, a list, a tuple or one tensor; members of an npz are then
 * named after their keys or numbers. */
enum attn_status checkpoint_fail(const char *path, struct attn_error *err)
{
	return attn_fail(
	    err, ATTN_BAD_INPUT,
	    "a PyTorch checkpoint, a pickle, which is not read because it may run code; convert it: python3 "
	    "-c "
	    "\"import torch, numpy; d = torch.load('%.200s', 'cpu', weights_only=True); d = d if "
	    "isinstance(d, dict) else dict(enumerate(d if isinstance(d, (list, tuple)) else [d])); "
	    "numpy.savez('new.npz', **{str(k): v.detach().float().numpy() for k, v in d.items()})\"",
	    origin_name(path));
}
