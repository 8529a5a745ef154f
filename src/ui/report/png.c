/* png: renders SVG with librsvg and cairo, which are loaded at run time, so that hone runs without them.
 *
 * Signatures from rsvg.h (2.52), cairo.h (1.16) and glib's gerror.h. Fonts are the machine's.
 */
#include "report.h"

#include <dlfcn.h>
#include <math.h>

struct rectangle { /* RsvgRectangle */
  double x, y, width, height;
};
struct g_error {
  uint32_t domain;
  int code;
  char *message;
};
enum { FORMAT_ARGB32 = 0, MOST_PIXELS = 32767 };

#define PNG_FUNCTIONS(X)                                                                   \
  X(rsvg, void *, rsvg_handle_new_from_data, (const uint8_t *, size_t, struct g_error **)) \
  X(rsvg, int, rsvg_handle_get_intrinsic_size_in_pixels, (void *, double *, double *))     \
  X(rsvg, int, rsvg_handle_render_document,                                                \
    (void *, void *, const struct rectangle *, struct g_error **))                         \
  X(gobject, void, g_object_unref, (void *))                                               \
  X(glib, void, g_error_free, (struct g_error *))                                          \
  X(cairo, void *, cairo_image_surface_create, (int, int, int))                            \
  X(cairo, int, cairo_surface_status, (void *))                                            \
  X(cairo, void, cairo_surface_destroy, (void *))                                          \
  X(cairo, void *, cairo_create, (void *))                                                 \
  X(cairo, void, cairo_destroy, (void *))                                                  \
  X(cairo, int, cairo_surface_write_to_png_stream,                                         \
    (void *, int (*)(void *, const uint8_t *, unsigned), void *))

struct drawing {
#define X(library, result, name, arguments) result(*name) arguments;
  PNG_FUNCTIONS(X)
#undef X
};

static hone_status open_library(struct ctx *ctx, const char *name, void **out) {
  *out = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (*out) return HONE_OK;
  return fail(ctx, HONE_E_MISSING, place_name(name),
              "is needed for PNG and is not installed: apt-get install librsvg2-2, or write SVG");
}

/* They stay loaded: glib must not be unloaded. */
static hone_status load(struct ctx *ctx, struct drawing *out) {
  void *rsvg, *gobject, *glib, *cairo;
  TRY(open_library(ctx, "librsvg-2.so.2", &rsvg));
  TRY(open_library(ctx, "libgobject-2.0.so.0", &gobject));
  TRY(open_library(ctx, "libglib-2.0.so.0", &glib));
  TRY(open_library(ctx, "libcairo.so.2", &cairo));
#define X(library, result, name, arguments)                          \
  out->name = (result(*) arguments)(uintptr_t)dlsym(library, #name); \
  if (!out->name)                                                    \
    return fail(ctx, HONE_E_UNSUP, place_name(#name),                \
                "is not in this " #library "; librsvg 2.52 or newer is needed");
  PNG_FUNCTIONS(X)
#undef X
  return HONE_OK;
}

bool png_is_possible(void) {
  struct ctx ctx;
  struct drawing drawing;
  ctx_init(&ctx);
  return load(&ctx, &drawing) == HONE_OK;
}

static int append(void *text, const uint8_t *data, unsigned size) {
  strbuf_append(text, (const char *)data, size);
  return 0; /* CAIRO_STATUS_SUCCESS; a failed strbuf is reported at its end */
}

static hone_status draw(struct ctx *ctx, const struct drawing *d, void *handle, double scale,
                        struct strbuf *out) {
  double width = 0, height = 0;
  struct g_error *error = NULL;
  if (!d->rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height) || !(width > 0) ||
      !(height > 0))
    return fail(ctx, HONE_E_INTERNAL, place_none(), "the drawing has no size");
  /* a long study still fits into one picture, at a lower resolution */
  scale = fmin(scale, MOST_PIXELS / fmax(width, height));
  const struct rectangle all = {0, 0, floor(width * scale), floor(height * scale)};
  void *surface = d->cairo_image_surface_create(FORMAT_ARGB32, (int)all.width, (int)all.height);
  void *cairo = d->cairo_create(surface);
  hone_status status = HONE_OK;
  if (d->cairo_surface_status(surface))
    status = fail(ctx, HONE_E_OOM, place_none(), "no memory for a picture of %.0f x %.0f pixels",
                  all.width, all.height);
  else if (!d->rsvg_handle_render_document(handle, cairo, &all, &error))
    status = fail(ctx, HONE_E_INTERNAL, place_none(), "librsvg: %s", error ? error->message : "?");
  else if (d->cairo_surface_write_to_png_stream(surface, append, out))
    status = fail(ctx, HONE_E_INTERNAL, place_none(), "cairo could not write PNG");
  if (error) d->g_error_free(error);
  d->cairo_destroy(cairo);
  d->cairo_surface_destroy(surface);
  return status ? status : strbuf_finish(ctx, out);
}

hone_status png_of_svg(struct ctx *ctx, const struct strbuf *svg, double scale,
                       struct strbuf *out) {
  struct drawing drawing = {.cairo_create = NULL};
  struct g_error *error = NULL;
  TRY(load(ctx, &drawing));
  void *handle = drawing.rsvg_handle_new_from_data((const uint8_t *)svg->at, svg->length, &error);
  if (!handle) {
    const hone_status status =
        fail(ctx, HONE_E_INTERNAL, place_none(), "librsvg: %s", error ? error->message : "?");
    if (error) drawing.g_error_free(error);
    return status;
  }
  const hone_status status = draw(ctx, &drawing, handle, scale, out);
  drawing.g_object_unref(handle);
  return status;
}
