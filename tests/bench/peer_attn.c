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
	(void)sink;
	(void)block;
	(void)err;
	return ATTN_OK;
}

static void die(const char *what)
{
	fprintf(stderr, "peer_attn: %s\n", what);
	exit(1);
}

static void add_tensor(struct bundle *b, const char *role, const char *directory, const char *file, int rank,
		       const size_t *shape)
{
	struct attn_error err;
	struct tensor t;
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", directory, file);
	FILE *in = fopen(path, "rb");
	if (!in || tensor_init(&t, role, path, DTYPE_F32, rank, shape, &err) != ATTN_OK)
		die(path);
	t.data = t.owned = floats_alloc(t.count);
	if (!t.owned || fread(t.owned, sizeof(float), t.count, in) != t.count)
		die(path);
	fclose(in);
	if (bundle_add_tensor(b, &t, &err) != ATTN_OK)
		die(err.message);
}

struct job {
	struct problem problem;
	struct plan plan;
	struct row_source *source; /* kept over runs, unless projecting is measured too */
	struct context_consumer context;
	struct weights_consumer weights;
	bool all_weights, projected;
};

static void compute(struct job *job)
{
	struct attn_error err;
	struct row_consumer *consumers[] = {&job->context.consumer, &job->weights.consumer};
	if (!job->source && plan_run(&job->plan, &job->source, &err) != ATTN_OK)
		die(err.message);
	if (rows_stream(job->source, NULL, consumers, job->all_weights ? 2 : 1, &err) != ATTN_OK)
		die(err.message);
	if (job->projected) {
		job->source->free(job->source);
		job->source = NULL;
	}
}

static double milliseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void save(const struct job *job, const char *path, size_t d)
{
	size_t heads = job->plan.shape.heads, queries = job->plan.shape.queries;
	FILE *out = fopen(path, "wb");
	if (!out)
		die(path);
	for (size_t h = 0; h < heads; h++)
		for (size_t n = 0; n < queries; n++)
			fwrite(job->context.context + (n * heads + h) * d, sizeof(float), d, out);
	if (fclose(out) != 0)
		die(path);
}

static void serve(struct job *job)
{
	char line[256];
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) && line[0] != 'Q') {
		int runs = 1, warmups = 0;
		sscanf(line + 1, "%d %d", &runs, &warmups);
		for (int i = 0; i < warmups; i++)
			compute(job);
		double start = milliseconds();
		for (int i = 0; i < runs; i++)
			compute(job);
		printf("%.6f\n", (milliseconds() - start) / runs);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	if (argc < 8)
		die("usage: peer_attn H N D CAUSAL MODE DATADIR OUTFILE [VARIANT]");
	size_t H = strtoul(argv[1], NULL, 10), N = strtoul(argv[2], NULL, 10), d = strtoul(argv[3], NULL, 10);
	const size_t heads[] = {H, N, d}, tokens[] = {N, H * d}, square[] = {H * d, H * d};
	struct job job = {.projected = strncmp(argv[5], "proj", 4) == 0,
			  .all_weights = strstr(argv[5], "full") != NULL};
	struct attn_error err;
	struct bundle b;
	bundle_init(&b);
	memory_keep();
	if (getenv("THREADS"))
		threads_set(strtoul(getenv("THREADS"), NULL, 10));
	if (job.projected) {
		add_tensor(&b, "embeddings", argv[6], "X", 2, tokens);
		add_tensor(&b, "wq", argv[6], "Wq", 2, square);
		add_tensor(&b, "wk", argv[6], "Wk", 2, square);
		add_tensor(&b, "wv", argv[6], "Wv", 2, square);
		bundle_override(&b, "num_heads", argv[1], "H", &err);
	} else {
		add_tensor(&b, "q", argv[6], "Q", 3, heads);
		add_tensor(&b, "k", argv[6], "K", 3, heads);
		add_tensor(&b, "v", argv[6], "V", 3, heads);
	}
	bundle_override(&b, "causal", argv[4], "CAUSAL", &err);
	const struct rows_want want = {.weights = job.all_weights, .context = true};
	if (problem_init(&job.problem, &b, &err) != ATTN_OK ||
	    plan_init(&job.plan, &job.problem.attention, NULL, want, &err) != ATTN_OK ||
	    context_consumer_init(&job.context, &job.plan.shape, d, &err) != ATTN_OK)
		die(err.message);
	if (job.all_weights) {
		job.weights = (struct weights_consumer){
		    {.consume = consume, .place = place, .any_order = true}, floats_alloc4(H, N, N, 1), N, N};
		if (!job.weights.weights)
			die("out of memory");
	}
	compute(&job);
	save(&job, argv[7], d);
	serve(&job);
	return 0;
}
