/* The engine behind a line protocol, to be timed in turn with other programs.
 *
 * peer_attn H N D CAUSAL MODE DATADIR OUTFILE [VARIANT]: reads Q, K, V (H, N, D), or X
 * (N, H D) and Wq, Wk, Wv (H D, H D), raw float32, from DATADIR; writes the context
 * (H, N, D) to OUTFILE; prints "ready"; then for each line "R n w" of standard input
 * computes w times untimed and n times timed, and prints the mean milliseconds; "Q"
 * ends.  MODE: ctx (context), full (and weights), proj, projfull (from X).  The
 * environment's THREADS sets the number of threads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attention/matrix.h"
#include "attention/plan.h"
#include "consumers/context.h"
#include "util/memory.h"
#include "util/threads.h"

/* All weights in memory. */
struct weights_consumer {
	struct row_consumer consumer;
	float *weights; /* (H, N, N) */
	size_t queries, keys;
};

static void place(struct row_consumer *consumer, struct row_block *block)
{
	struct weights_consumer *s = (struct weights_consumer *)consumer;
	block->weights_place = s->weights + (block->head * s->queries + block->query) * s->keys;
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	(void)consumer;
	(void)block;
	(void)err;
	return ATTN_OK;
}

static void die(const char *what)
{
	fprintf(stderr, "peer_attn: %s\n", what);
	exit(1);
}

/* `count` raw floats of a file; never freed. */
static const float *load(const char *directory, const char *file, size_t count)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", directory, file);
	FILE *in = fopen(path, "rb");
	float *data = floats_alloc(count);
	if (!in || !data || fread(data, sizeof *data, count, in) != count)
		die(path);
	fclose(in);
	return data;
}

struct peer {
	struct attention attention;
	struct plan plan;
	struct row_source *source; /* kept over runs, unless projecting is measured too */
	struct context_consumer context;
	struct weights_consumer weights;
	bool all_weights, projected;
};

static void compute(struct peer *peer)
{
	struct attn_error err;
	struct row_consumer *consumers[] = {&peer->context.consumer, &peer->weights.consumer};
	if (!peer->source && plan_run(&peer->plan, &peer->source, &err) != ATTN_OK)
		die(err.message);
	if (rows_stream(peer->source, NULL, consumers, peer->all_weights ? 2 : 1, &err) != ATTN_OK)
		die(err.message);
	if (peer->projected) {
		peer->source->free(peer->source);
		peer->source = NULL;
	}
}

static double milliseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void save(const struct peer *peer, const char *path, size_t d)
{
	size_t heads = peer->plan.shape.heads, queries = peer->plan.shape.queries;
	FILE *out = fopen(path, "wb");
	if (!out)
		die(path);
	for (size_t h = 0; h < heads; h++)
		for (size_t n = 0; n < queries; n++)
			fwrite(peer->context.context + (n * heads + h) * d, sizeof(float), d, out);
	if (fclose(out) != 0)
		die(path);
}

static void serve(struct peer *peer)
{
	char line[256];
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) && line[0] != 'Q') {
		int runs = 1, warmups = 0;
		sscanf(line + 1, "%d %d", &runs, &warmups);
		for (int i = 0; i < warmups; i++)
			compute(peer);
		double start = milliseconds();
		for (int i = 0; i < runs; i++)
			compute(peer);
		printf("%.6f\n", (milliseconds() - start) / runs);
		fflush(stdout);
	}
}

static void set_attention(struct peer *peer, size_t H, size_t N, size_t d, const char *directory)
{
	size_t width = H * d;
	struct attention *a = &peer->attention;
	*a = (struct attention){.batch = 1,
				.heads = H,
				.kv_heads = H,
				.queries = N,
				.keys = {.own = N},
				.head_size = d,
				.value_size = d,
				.has_values = true,
				.projected = peer->projected};
	attention_set_plain(a);
	if (peer->projected) {
		a->embeddings = (struct sequence){load(directory, "X", N * width), N, width, 0};
		a->source = a->source_values = a->embeddings;
		a->wq = matrix_plain(load(directory, "Wq", width * width), width, width, width);
		a->wk = matrix_plain(load(directory, "Wk", width * width), width, width, width);
		a->wv = matrix_plain(load(directory, "Wv", width * width), width, width, width);
	} else {
		a->q = (struct heads_view){load(directory, "Q", N * width), 0, N * d, d};
		a->k = (struct heads_view){load(directory, "K", N * width), 0, N * d, d};
		a->v = (struct heads_view){load(directory, "V", N * width), 0, N * d, d};
	}
}

int main(int argc, char **argv)
{
	if (argc < 8)
		die("usage: peer_attn H N D CAUSAL MODE DATADIR OUTFILE [VARIANT]");
	size_t H = strtoul(argv[1], NULL, 10), N = strtoul(argv[2], NULL, 10), d = strtoul(argv[3], NULL, 10);
	struct peer peer = {.projected = strncmp(argv[5], "proj", 4) == 0,
			    .all_weights = strstr(argv[5], "full") != NULL};
	struct attn_error err;
	memory_keep();
	if (getenv("THREADS"))
		threads_set(strtoul(getenv("THREADS"), NULL, 10));
	set_attention(&peer, H, N, d, argv[6]);
	peer.attention.masking.causal = strcmp(argv[4], "1") == 0 || strcmp(argv[4], "true") == 0;
	const struct rows_want want = {.weights = peer.all_weights, .context = true};
	if (plan_init(&peer.plan, &peer.attention, NULL, want, &err) != ATTN_OK ||
	    context_consumer_init(&peer.context, &peer.plan.shape, d, &err) != ATTN_OK)
		die(err.message);
	if (peer.all_weights) {
		peer.weights = (struct weights_consumer){
		    {.consume = consume, .place = place, .any_order = true}, floats_alloc4(H, N, N, 1), N, N};
		if (!peer.weights.weights)
			die("out of memory");
	}
	compute(&peer);
	save(&peer, argv[7], d);
	serve(&peer);
	return 0;
}
