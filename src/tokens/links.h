/* Word alignments: links between the words of a source and of a target, and how well they agree
 * with those of a gold standard. */
#ifndef ATTN_TOKENS_LINKS_H
#define ATTN_TOKENS_LINKS_H

#include <stdbool.h>
#include <stddef.h>

/* Source word and target word, from 0. */
struct link {
	size_t source, target;
	double weight;     /* 0 for those of a gold standard */
	double confidence; /* the same */
	bool possible;     /* of a gold standard: not sure */
};

struct link_list {
	struct link *items; /* owned */
	size_t count, room;
};

bool link_list_add(struct link_list *list, struct link link); /* false: no memory */
void link_list_release(struct link_list *list);               /* safe on a zeroed one */

/* Order by source, then target, and keep one of those that are the same; a sure one before a
 * possible one. */
void link_list_sort(struct link_list *list);

/* The link between these in a sorted list, or NULL. */
const struct link *link_find(const struct link_list *list, size_t source, size_t target);

/* Append to an empty list, sorted, of sorted lists: what is in both; what is in either.  Links are those
 * of `a` where both have one.  False: no memory. */
bool links_intersect(const struct link_list *a, const struct link_list *b, struct link_list *out);
bool links_union(const struct link_list *a, const struct link_list *b, struct link_list *out);

/* grow-diag-final-and (Koehn et al. 2005): from what is in both, links of either that are beside one of the
 * result, also across a corner, and have a word without a link, as long as there are any; then those
 * of a, then of b, neither of whose words has a link.  In the order of fast_align's atools. */
bool links_grow(const struct link_list *a, const struct link_list *b, struct link_list *out);

/* Counts of links, of a sentence or summed over several: found ones A, and of the gold standard
 * sure ones S and possible ones P, which S is part of. */
struct link_counts {
	size_t found, sure, possible; /* |A|, |S|, |P| */
	size_t found_sure;            /* |A n S| */
	size_t found_possible;        /* |A n P| */
};

/* Add those of a sentence; both lists are sorted. */
void link_counts_add(struct link_counts *counts, const struct link_list *found, const struct link_list *gold);
void link_counts_join(struct link_counts *counts, const struct link_counts *more);

/* Och and Ney 2003, section 5; NAN where a quotient has no denominator. */
double link_precision(const struct link_counts *counts);  /* |A n P| / |A| */
double link_recall(const struct link_counts *counts);     /* |A n S| / |S| */
double link_f1(const struct link_counts *counts);         /* the harmonic mean of both */
double link_error_rate(const struct link_counts *counts); /* 1 - (|A n S| + |A n P|) / (|A| + |S|) */

#endif
