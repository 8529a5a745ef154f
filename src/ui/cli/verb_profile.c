/* hone profile: compiles a model with a clock around every step, runs it, and compares each step's time with the machine's
 * limit.
 */
#include <unistd.h>

#include "compiler/profile/profile.h"
#include "ui/report/profile_page.h"
#include "cli.h"

enum { PEAKS_AGAIN = 2 };

struct profiler {
  struct ctx *ctx;
  const struct args *args;
  struct sinks sinks;
  struct arena *arena;
  struct model model;
  struct loaded loaded;
  struct team *team;
  struct peaks peaks;
  struct profile profile;
};

static hone_status make_io(struct profiler *p, struct hone_io *io) {
  size_t inputs = p->model.graph->inputs.count, outputs = p->model.graph->outputs.count;
  hone_tensor *in, *out;
  const void **from;
  void **to;
  TRY(NEW_ARRAY(p->ctx, p->arena, in, inputs));
  TRY(NEW_ARRAY(p->ctx, p->arena, out, outputs));
  TRY(NEW_ARRAY(p->ctx, p->arena, from, inputs));
  TRY(NEW_ARRAY(p->ctx, p->arena, to, outputs));
  TRY(make_inputs(p->ctx, p->args, &p->model, p->arena, 0, in));
  TRY(make_outputs(p->ctx, &p->model, p->arena, out));
  for (size_t i = 0; i < inputs; i++) from[i] = in[i].data;
  for (size_t i = 0; i < outputs; i++) to[i] = out[i].data;
  *io = (struct hone_io){from, to, NULL, NULL};
  return HONE_OK;
}

static hone_status profile(struct profiler *p) {
  const char *path;
  double seconds;
  struct hone_io io;
  struct compile_options options;
  TRY(one_word(p->ctx, p->args, "model", &path));
  TRY(number_of(p->ctx, p->args, FLAG_min_time, 0.01, 3600, 1, &seconds));
  TRY(sinks_read(p->ctx, p->args, &p->sinks));
  TRY(read_compile_options(p->ctx, p->args, &options));
  TRY(arena_create(p->ctx, (size_t)64 << 30, &p->arena));
  TRY(load_model(p->ctx, p->args, path, &p->model));
  TRY(sinks_check_model(p->ctx, &p->sinks, &p->model));
  TRY(make_io(p, &io));
  p->profile = (struct profile){.model = path,
                                .precision = value_of(p->args, FLAG_precision, "as-is"),
                                .plan = {.arena = p->arena, .threads = options.threads},
                                .target = options.target};
  options.profile = &p->profile.plan;
  TRY(about_model(p->ctx, compile_loaded(p->ctx, &p->model, &options, &p->loaded, NULL)));
  /* before the thread pool, which pins this thread, and all threads that it starts, to one core */
  if (!has(p->args, FLAG_no_measure)) {
    TRY(peaks_measure(p->ctx, options.threads, 600000000, &p->peaks));
    p->profile.peaks = &p->peaks;
  }
  TRY(team_create(p->ctx, options.threads, true, &p->team));
  TRY(profile_measure(p->ctx, p->arena, &p->loaded, p->team, &io, seconds, &p->profile));
  team_destroy(p->team);
  p->team = NULL;
  /* a step was faster, so the probe was disturbed */
  for (int i = 0; i < PEAKS_AGAIN && p->profile.peaks && profile_passes_peaks(&p->profile); i++) {
    struct peaks again;
    TRY(peaks_measure(p->ctx, options.threads, 600000000, &again));
    peaks_raise(&p->peaks, &again);
  }
  return HONE_OK;
}

static hone_status render(struct ctx *ctx, void *user, const char *form, struct strbuf *out) {
  static const struct {
    const char *form;
    hone_status (*render)(struct ctx *, const struct profile *, struct strbuf *);
  } forms[] = {{"json", profile_json},
               {"trace", profile_trace},
               {"svg", profile_svg},
               {"html", profile_html}};
  const struct profiler *p = user;
  for (size_t i = 0; i < COUNT(forms); i++)
    if (!strcmp(forms[i].form, form)) return forms[i].render(ctx, &p->profile, out);
  const int width = terminal_width(1);
  return profile_table(ctx, &p->profile, width ? width : 160, out);
}

int verb_profile(struct ctx *ctx, struct args *args) {
  static struct profiler p;
  p = (struct profiler){.ctx = ctx, .args = args};
  int code = profile(&p) ? report_failure(ctx) : 0;
  if (!code) code = sinks_show(ctx, &p.sinks, render, &p);
  team_destroy(p.team);
  if (p.loaded.library) artifact_unload(&p.loaded);
  model_unload(&p.model);
  arena_destroy(p.arena);
  return code;
}
