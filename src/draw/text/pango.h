/* Pango and Cairo, loaded when the first text is drawn.
 *
 * Linking them would cost every process 8 ms of dynamic loading, also those
 * that draw nothing, and would keep the program from starting on machines
 * without them.  So all calls go through this table.
 */
#ifndef ATTN_DRAW_TEXT_PANGO_H
#define ATTN_DRAW_TEXT_PANGO_H

#include <cairo-pdf.h>
#include <pango/pangocairo.h>

#include "util/error.h"

/* Every function used, of libpangocairo and of what it depends on. */
#define PANGO_FUNCTIONS(X)                                                                                   \
	X(cairo_clip)                                                                                        \
	X(cairo_create)                                                                                      \
	X(cairo_destroy)                                                                                     \
	X(cairo_fill)                                                                                        \
	X(cairo_font_options_create)                                                                         \
	X(cairo_font_options_destroy)                                                                        \
	X(cairo_font_options_set_antialias)                                                                  \
	X(cairo_font_options_set_hint_metrics)                                                               \
	X(cairo_font_options_set_hint_style)                                                                 \
	X(cairo_get_source)                                                                                  \
	X(cairo_image_surface_create)                                                                        \
	X(cairo_image_surface_get_data)                                                                      \
	X(cairo_image_surface_get_stride)                                                                    \
	X(cairo_line_to)                                                                                     \
	X(cairo_move_to)                                                                                     \
	X(cairo_paint)                                                                                       \
	X(cairo_pattern_add_color_stop_rgb)                                                                  \
	X(cairo_pattern_create_linear)                                                                       \
	X(cairo_pattern_destroy)                                                                             \
	X(cairo_pattern_set_filter)                                                                          \
	X(cairo_pdf_surface_create_for_stream)                                                               \
	X(cairo_pdf_surface_set_metadata)                                                                    \
	X(cairo_rectangle)                                                                                   \
	X(cairo_restore)                                                                                     \
	X(cairo_rotate)                                                                                      \
	X(cairo_save)                                                                                        \
	X(cairo_scale)                                                                                       \
	X(cairo_set_line_cap)                                                                                \
	X(cairo_set_line_join)                                                                               \
	X(cairo_set_line_width)                                                                              \
	X(cairo_set_source)                                                                                  \
	X(cairo_set_source_rgb)                                                                              \
	X(cairo_set_source_surface)                                                                          \
	X(cairo_status)                                                                                      \
	X(cairo_status_to_string)                                                                            \
	X(cairo_stroke)                                                                                      \
	X(cairo_surface_destroy)                                                                             \
	X(cairo_surface_finish)                                                                              \
	X(cairo_surface_flush)                                                                               \
	X(cairo_surface_mark_dirty)                                                                          \
	X(cairo_surface_status)                                                                              \
	X(cairo_translate)                                                                                   \
	X(cairo_version_string)                                                                              \
	X(g_object_unref)                                                                                    \
	X(pango_cairo_context_set_font_options)                                                              \
	X(pango_cairo_font_map_new)                                                                          \
	X(pango_cairo_show_layout)                                                                           \
	X(pango_context_set_round_glyph_positions)                                                           \
	X(pango_font_describe)                                                                               \
	X(pango_font_description_free)                                                                       \
	X(pango_font_description_get_family)                                                                 \
	X(pango_font_description_new)                                                                        \
	X(pango_font_description_set_absolute_size)                                                          \
	X(pango_font_description_set_family)                                                                 \
	X(pango_font_map_create_context)                                                                     \
	X(pango_layout_get_baseline)                                                                         \
	X(pango_layout_get_extents)                                                                          \
	X(pango_layout_get_iter)                                                                             \
	X(pango_layout_get_line_count)                                                                       \
	X(pango_layout_get_line_readonly)                                                                    \
	X(pango_layout_get_text)                                                                             \
	X(pango_layout_get_unknown_glyphs_count)                                                             \
	X(pango_layout_iter_free)                                                                            \
	X(pango_layout_iter_get_baseline)                                                                    \
	X(pango_layout_iter_get_line_extents)                                                                \
	X(pango_layout_iter_get_line_readonly)                                                               \
	X(pango_layout_iter_next_line)                                                                       \
	X(pango_layout_new)                                                                                  \
	X(pango_layout_set_ellipsize)                                                                        \
	X(pango_layout_set_font_description)                                                                 \
	X(pango_layout_set_text)                                                                             \
	X(pango_layout_set_width)                                                                            \
	X(pango_layout_set_wrap)                                                                             \
	X(pango_version_string)

struct pango_functions {
#define PANGO_MEMBER(name) __typeof__(name) *name;
	PANGO_FUNCTIONS(PANGO_MEMBER)
#undef PANGO_MEMBER
};

/* Load once, whichever thread is first.  ATTN_FAILED, with what to install,
 * when a library or a function is missing; then also on every later call. */
enum attn_status pango_load(const struct pango_functions **functions, struct attn_error *err);

#endif
