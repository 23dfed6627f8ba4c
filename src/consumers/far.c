#include "consumers/far.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/reference.h"
#include "util/checked.h"
#include "util/memory.h"
#include "util/minmax.h"

enum {
	CHUNK = 1024, /* keys that are looked at again if one of them is heavy enough to be a link */
	SEGMENTS = 2 * (FAR_WINDOWS + 1) + 1
};

/* Of the queries of a block. */
struct far_sums {
	double lost, most;
	size_t query, half;
};

/* The strongest links of a block, and what a weight must have at least to be one of the head's. */
struct finding {
	struct far_link *links;
	size_t count, kept;
	float least;
};

/* --- links --------------------------------------------------------------------------------- */

static bool comes_before(const struct far_link *a, const struct far_link *b)
{
	float x = fabsf(a->weight), y = fabsf(b->weight);
	if (x != y)
		return x > y;
	return a->query != b->query ? a->query < b->query : a->key < b->key;
}

/* Put a link into a list of at most `kept`.  False: it comes after all of a full one. */
static bool insert(struct far_link *list, size_t *count, size_t kept, struct far_link link)
{
	size_t low = 0, high = *count;
	if (*count == kept && !comes_before(&link, &list[kept - 1]))
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (comes_before(&list[middle], &link))
			low = middle + 1;
		else
			high = middle;
	}
	size_t last = *count < kept ? (*count)++ : kept - 1;
	memmove(&list[low + 1], &list[low], (last - low) * sizeof *list);
	list[low] = link;
	return true;
}

/* Links come by query and key, so that of equal weights the first stay. */
static void find_links(struct finding *f, const float *weights, size_t query, size_t first, size_t end)
{
	for (size_t key = first; key < end; key++) {
		float magnitude = fabsf(weights[key]);
		if (magnitude > 0 && magnitude >= f->least)
			insert(f->links, &f->count, f->kept, (struct far_link){query, key, weights[key]});
	}
}

/* Whether a chunk whose largest magnitude is this may have a link. */
static bool may_link(const struct finding *f, float largest)
{
	if (!(largest > 0) || largest < f->least)
		return false;
	return f->count < f->kept || largest > fabsf(f->links[f->kept - 1].weight);
}

/* --- a row --------------------------------------------------------------------------------- */

/* The first placed key at or after a position. */
static size_t key_from(const struct head_places *p, size_t position)
{
	size_t low = 0, high = p->placed;
	if (p->even && p->placed > 0) {
		size_t first = (size_t)p->at[0];
		return position > first ? size_min(position - first, p->placed) : 0;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (p->at[middle] < (double)position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Where the segments of a row end, from its first key on: before the widest cut, ..., within the
 * narrowest one, ..., behind the widest. */
static void find_ends(const struct far_consumer *s, size_t query, size_t ends[static SEGMENTS])
{
	const struct head_places *p = s->places;
	size_t own = p->own[query], n = s->cut_count;
	for (size_t c = 0; c < n; c++) {
		size_t width = s->cuts[c];
		ends[n - 1 - c] = key_from(p, own >= width ? own - width + 1 : 0);
		ends[n + c] = key_from(p, width < SIZE_MAX - own ? own + width : SIZE_MAX);
	}
	ends[2 * n] = p->placed;
}

/* One row while it is looked at. */
struct row {
	const float *weights;
	size_t query;
	struct key_span span;
};

/* The sum of the magnitudes of keys [first, end), among which links are looked for. */
static double add_segment(const struct far_consumer *s, const struct row *row, size_t first, size_t end,
			  struct finding *links)
{
	double sum = 0;
	const float *weights = row->weights;
	first = size_max(first, row->span.first);
	end = size_min(end, row->span.end);
	for (size_t next; first < end; first = next) {
		float largest;
		next = size_min(end, first + CHUNK);
		sum += s->kernels ? s->kernels->magnitudes(weights + first, next - first, &largest)
				  : reference_magnitudes(weights + first, next - first, &largest);
		if (links && may_link(links, largest))
			find_links(links, weights, row->query, first, next);
	}
	return sum;
}

static void add_loss(struct far_sums *sums, double share, size_t query)
{
	sums->lost += share;
	sums->half += share > 0.5;
	if (share > sums->most) {
		sums->most = share;
		sums->query = query;
	}
}

/* False: the row has no weight. */
static bool add_row(const struct far_consumer *s, const struct row *row, struct far_sums *sums,
		    struct finding *links)
{
	size_t n = s->cut_count, window = s->options.window_count, ends[SEGMENTS];
	double parts[SEGMENTS], lost[FAR_WINDOWS + 1], total = 0;
	find_ends(s, row->query, ends);
	for (size_t i = 0, first = 0; i <= 2 * n; first = ends[i++]) {
		size_t cut = i < n ? n - 1 - i : i - n - 1; /* the widest one that this lies outside of */
		bool far = i != n && s->cuts[cut] > s->options.distance;
		parts[i] = add_segment(s, row, first, ends[i], far ? links : NULL);
	}
	for (size_t c = n; c-- > 0;)
		lost[c] = total += parts[n - 1 - c] + parts[n + 1 + c];
	total += parts[n] + add_segment(s, row, s->places->placed, s->shape.keys, NULL);
	for (size_t c = n; c-- > 0 && total > 0;)
		if (window > 0 && s->options.windows[window - 1] == s->cuts[c])
			add_loss(&sums[--window], lost[c] / total, row->query);
	return total > 0;
}

/* --- the consumer -------------------------------------------------------------------------- */

static size_t head_number_of(const struct far_consumer *s, size_t batch, size_t layer, size_t head)
{
	return (layer * s->shape.batch + batch) * s->shape.heads + head;
}

static enum attn_status consume(struct row_consumer *consumer, const struct row_block *block,
				struct attn_error *err)
{
	struct far_consumer *s = (struct far_consumer *)consumer;
	size_t head = head_number_of(s, block->batch, block->layer, block->head);
	size_t number = head * s->blocks + block->query / ROWS_BLOCK;
	struct far_link *list = s->links + head * s->kept;
	struct finding found = {.links = array_alloc(s->kept, sizeof *found.links), .kept = s->kept};
	if (!found.links)
		return attn_fail_memory(err);
	pthread_mutex_lock(&s->lock);
	if (s->counts[head] == s->kept)
		found.least = fabsf(list[s->kept - 1].weight);
	pthread_mutex_unlock(&s->lock);
	for (size_t r = 0; r < block->count; r++) {
		struct row row = {block->weights + r * block->keys, block->query + r, row_span(block, r)};
		s->queries[number] += add_row(s, &row, s->sums + number * s->options.window_count, &found);
	}
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < found.count; i++)
		if (!insert(list, &s->counts[head], s->kept, found.links[i]))
			break;
	pthread_mutex_unlock(&s->lock);
	free(found.links);
	return ATTN_OK;
}

/* The windows and the distance, each once. */
static void find_cuts(struct far_consumer *s)
{
	const struct far_options *o = &s->options;
	size_t near = o->distance < SIZE_MAX ? o->distance + 1 : SIZE_MAX;
	bool placed = false;
	for (size_t i = 0; i < o->window_count; i++) {
		if (!placed && near <= o->windows[i]) {
			placed = true;
			if (near < o->windows[i])
				s->cuts[s->cut_count++] = near;
		}
		s->cuts[s->cut_count++] = o->windows[i];
	}
	if (!placed)
		s->cuts[s->cut_count++] = near;
}

enum attn_status far_consumer_init(struct far_consumer *s, const struct rows_shape *shape,
				   const struct head_places *places, const struct far_options *options,
				   struct attn_error *err)
{
	size_t heads, blocks, pairs, sums, links;
	*s = (struct far_consumer){
	    .consumer = {.consume = consume, .any_order = true, .no_context = true, .spans_only = true},
	    .places = places,
	    .kernels = kernels_best(),
	    .shape = *shape,
	    .options = *options,
	    .blocks = (shape->queries - 1) / ROWS_BLOCK + 1,
	    .lock = PTHREAD_MUTEX_INITIALIZER};
	find_cuts(s);
	s->kept = options->top;
	if (size_mul(shape->queries, shape->keys, &pairs))
		s->kept = size_min(s->kept, pairs);
	if (!size_mul(shape->layers, shape->batch, &heads) || !size_mul(heads, shape->heads, &heads) ||
	    !size_mul(heads, s->blocks, &blocks) || !size_mul(blocks, options->window_count, &sums) ||
	    !size_mul(heads, s->kept, &links))
		return attn_fail_memory(err);
	s->sums = array_alloc(sums, sizeof *s->sums);
	s->queries = array_alloc(blocks, sizeof *s->queries);
	s->links = array_alloc(links, sizeof *s->links);
	s->counts = array_alloc(heads, sizeof *s->counts);
	if (s->sums && s->queries && s->links && s->counts)
		return ATTN_OK;
	far_consumer_release(s);
	return attn_fail_memory(err);
}

void far_consumer_release(struct far_consumer *s)
{
	free(s->sums);
	free(s->queries);
	free(s->links);
	free(s->counts);
	*s = (struct far_consumer){0};
}

struct far_loss far_loss_of(const struct far_consumer *s, size_t batch, size_t layer, size_t head,
			    size_t window)
{
	size_t number = head_number_of(s, batch, layer, head) * s->blocks, half = 0;
	struct far_loss out = {.lost = 0};
	for (size_t b = 0; b < s->blocks; b++) {
		const struct far_sums *sums = &s->sums[(number + b) * s->options.window_count + window];
		out.queries += s->queries[number + b];
		out.lost += sums->lost;
		half += sums->half;
		if (sums->most > out.most) {
			out.most = sums->most;
			out.query = sums->query;
		}
	}
	if (out.queries == 0)
		out.most = NAN;
	out.lost = out.queries ? out.lost / (double)out.queries : NAN;
	out.half = out.queries ? (double)half / (double)out.queries : NAN;
	return out;
}

const struct far_link *far_links_of(const struct far_consumer *s, size_t batch, size_t layer, size_t head,
				    size_t *count)
{
	size_t number = head_number_of(s, batch, layer, head);
	*count = s->counts[number];
	return s->links + number * s->kept;
}
