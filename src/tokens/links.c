#include "tokens/links.h"

#include <math.h>
#include <stdlib.h>

#include "util/memory.h"

bool link_list_add(struct link_list *list, struct link link)
{
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 16;
		struct link *items = reallocarray(list->items, room, sizeof *items);
		if (!items)
			return false;
		list->items = items;
		list->room = room;
	}
	list->items[list->count++] = link;
	return true;
}

void link_list_release(struct link_list *list)
{
	free(list->items);
	*list = (struct link_list){0};
}

static int compare_places(const void *a, const void *b)
{
	const struct link *x = a, *y = b;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return x->target < y->target ? -1 : x->target > y->target;
}

static int compare_links(const void *a, const void *b)
{
	const struct link *x = a, *y = b;
	int places = compare_places(a, b);
	return places ? places : (int)x->possible - (int)y->possible;
}

void link_list_sort(struct link_list *list)
{
	size_t kept = 0;
	if (list->count == 0)
		return;
	qsort(list->items, list->count, sizeof *list->items, compare_links);
	for (size_t i = 0; i < list->count; i++)
		if (i == 0 || compare_places(&list->items[i], &list->items[kept - 1]) != 0)
			list->items[kept++] = list->items[i];
	list->count = kept;
}

const struct link *link_find(const struct link_list *list, size_t source, size_t target)
{
	const struct link key = {.source = source, .target = target};
	return list->count ? bsearch(&key, list->items, list->count, sizeof key, compare_places) : NULL;
}

bool links_intersect(const struct link_list *a, const struct link_list *b, struct link_list *out)
{
	bool ok = true;
	for (size_t i = 0; i < a->count && ok; i++)
		if (link_find(b, a->items[i].source, a->items[i].target))
			ok = link_list_add(out, a->items[i]);
	return ok;
}

bool links_union(const struct link_list *a, const struct link_list *b, struct link_list *out)
{
	bool ok = true;
	for (size_t i = 0; i < a->count && ok; i++)
		ok = link_list_add(out, a->items[i]);
	for (size_t i = 0; i < b->count && ok; i++)
		if (!link_find(a, b->items[i].source, b->items[i].target))
			ok = link_list_add(out, b->items[i]);
	link_list_sort(out);
	return ok;
}

/* All links of both lists, and which of them are taken so far. */
struct growth {
	struct link_list all;
	bool *taken;             /* (all) */
	bool *sources, *targets; /* of words, whether one has a link */
};

static void take(struct growth *g, size_t i)
{
	g->taken[i] = true;
	g->sources[g->all.items[i].source] = true;
	g->targets[g->all.items[i].target] = true;
}

static bool is_beside_taken(const struct growth *g, const struct link *link)
{
	for (size_t i = 0; i < 9; i++) {
		size_t source = link->source + i / 3, target = link->target + i % 3; /* 1 too many */
		if (i == 4 || source == 0 || target == 0)
			continue;
		const struct link *near = link_find(&g->all, source - 1, target - 1);
		if (near && g->taken[near - g->all.items])
			return true;
	}
	return false;
}

static void grow_diagonally(struct growth *g)
{
	bool more = true;
	while (more) {
		more = false;
		for (size_t i = 0; i < g->all.count; i++) {
			const struct link *link = &g->all.items[i];
			if (g->taken[i] || (g->sources[link->source] && g->targets[link->target]) ||
			    !is_beside_taken(g, link))
				continue;
			take(g, i);
			more = true;
		}
	}
}

static void take_lonely(struct growth *g, const struct link_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct link *link = &list->items[i];
		if (!g->sources[link->source] && !g->targets[link->target])
			take(g, (size_t)(link_find(&g->all, link->source, link->target) - g->all.items));
	}
}

bool links_grow(const struct link_list *a, const struct link_list *b, struct link_list *out)
{
	struct growth g = {0};
	size_t sources = 0, targets = 0;
	bool ok = links_union(a, b, &g.all);
	for (size_t i = 0; i < g.all.count; i++) {
		const struct link *link = &g.all.items[i];
		sources = link->source >= sources ? link->source + 1 : sources;
		targets = link->target >= targets ? link->target + 1 : targets;
	}
	g.taken = array_alloc(g.all.count, sizeof *g.taken);
	g.sources = array_alloc(sources, sizeof *g.sources);
	g.targets = array_alloc(targets, sizeof *g.targets);
	ok = ok && g.taken && g.sources && g.targets;
	for (size_t i = 0; i < g.all.count && ok; i++)
		if (link_find(a, g.all.items[i].source, g.all.items[i].target) &&
		    link_find(b, g.all.items[i].source, g.all.items[i].target))
			take(&g, i);
	if (ok) {
		grow_diagonally(&g);
		take_lonely(&g, a);
		take_lonely(&g, b);
	}
	for (size_t i = 0; i < g.all.count && ok; i++)
		if (g.taken[i])
			ok = link_list_add(out, g.all.items[i]);
	link_list_release(&g.all);
	free(g.taken);
	free(g.sources);
	free(g.targets);
	return ok;
}

void link_counts_add(struct link_counts *counts, const struct link_list *found, const struct link_list *gold)
{
	counts->found += found->count;
	counts->possible += gold->count;
	for (size_t i = 0; i < gold->count; i++)
		counts->sure += !gold->items[i].possible;
	for (size_t i = 0; i < found->count; i++) {
		const struct link *link = link_find(gold, found->items[i].source, found->items[i].target);
		counts->found_possible += link != NULL;
		counts->found_sure += link && !link->possible;
	}
}

void link_counts_join(struct link_counts *counts, const struct link_counts *more)
{
	counts->found += more->found;
	counts->sure += more->sure;
	counts->possible += more->possible;
	counts->found_sure += more->found_sure;
	counts->found_possible += more->found_possible;
}

static double share(size_t part, size_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

double link_precision(const struct link_counts *counts)
{
	return share(counts->found_possible, counts->found);
}

double link_recall(const struct link_counts *counts)
{
	return share(counts->found_sure, counts->sure);
}

double link_f1(const struct link_counts *counts)
{
	double precision = link_precision(counts), recall = link_recall(counts);
	double sum = precision + recall;
	return sum > 0 ? 2 * precision * recall / sum : sum; /* 0 or NAN */
}

double link_error_rate(const struct link_counts *counts)
{
	return 1 - share(counts->found_sure + counts->found_possible, counts->found + counts->sure);
}
