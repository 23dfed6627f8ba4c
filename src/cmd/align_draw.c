#include "cmd/align_draw.h"

#include <stdlib.h>

#include "cmd/progress.h"
#include "util/memory.h"

/* A picture, and all that is made for it. */
struct picture {
	struct heatmap_mark *marks; /* owned */
	size_t count;
	struct link_list found;
	struct grid_consumer grids;
	struct figures figures;
};

/* The key or query with that number among those that may be linked. */
static size_t find_number(const bool *allowed, const size_t *numbers, size_t number)
{
	size_t i = 0;
	while (!allowed[i] || numbers[i] != number)
		i++;
	return i;
}

static enum attn_status mark(struct picture *p, const struct align_input *input, size_t batch,
			     const struct link_list *gold, struct attn_error *err)
{
	TRY(alignment_links(&input->alignment, batch, 0, 0, &p->found, err));
	p->marks = array_alloc(p->found.count + (gold ? gold->count : 0), sizeof *p->marks);
	if (!p->marks)
		return attn_fail_memory(err);
	for (size_t i = 0; gold && i < gold->count; i++) {
		const struct link *link = &gold->items[i];
		p->marks[p->count++] =
		    (struct heatmap_mark){find_number(input->queries, input->targets, link->target),
					  find_number(input->keys, input->sources, link->source),
					  link->possible ? HEATMAP_DASHES : HEATMAP_FRAME};
	}
	for (size_t i = 0; i < p->found.count; i++)
		p->marks[p->count++] =
		    (struct heatmap_mark){p->found.items[i].target, p->found.items[i].source, HEATMAP_SQUARE};
	return ATTN_OK;
}

static enum attn_status draw(struct picture *p, struct align_input *input, struct selection *selection,
			     const struct figure_options *figure, const char *path,
			     const struct command *self, struct attn_error *err)
{
	struct rows_selection rows = selection_rows(selection);
	struct row_consumer *consumers[] = {&p->grids.consumer};
	TRY(figure_grids(&p->grids, figure, input->in.info, selection, 1, err));
	TRY(figures_init(&p->figures, self, &input->in, figure, err));
	TRY(progress_stream(self, input->in.rows.source, &rows, consumers, 1, err));
	TRY(figures_draw(&p->figures, p->grids.grids, 1, path, err));
	return figures_commit(&p->figures, err);
}

enum attn_status align_draw(struct align_input *input, size_t batch, const struct link_list *gold,
			    const struct figure_options *figure, const char *path, const struct command *self,
			    struct attn_error *err)
{
	struct picture p = {0};
	struct figure_options options = *figure;
	enum attn_status status =
	    input->links.heads > 1 ? selection_show(&input->selected, &input->in, err) : ATTN_OK;
	bool *items = array_alloc(input->in.info->shape.batch, sizeof *items);
	struct selection selection = input->selected;
	selection.batch = items;
	if (status == ATTN_OK && !items)
		status = attn_fail_memory(err);
	if (status == ATTN_OK)
		status = mark(&p, input, batch, gold, err);
	options.marks = p.marks;
	options.mark_count = p.count;
	options.mark_note =
	    gold ? "squares are links; frames are links of the gold standard, dashed ones possible"
		 : "squares are links";
	options.xlabel = figure->xlabel ? figure->xlabel : figure->heatmap.transpose ? "target" : "source";
	options.ylabel = figure->ylabel ? figure->ylabel : figure->heatmap.transpose ? "source" : "target";
	if (status == ATTN_OK) {
		items[batch] = true;
		status = draw(&p, input, &selection, &options, path, self, err);
	}
	figures_release(&p.figures);
	grid_consumer_release(&p.grids);
	link_list_release(&p.found);
	free(p.marks);
	free(items);
	return status;
}
