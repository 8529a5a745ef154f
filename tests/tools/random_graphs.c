/* random-graphs: looks for wrong answers of the compiler.
 *
 *   random-graphs [--seed N] [--count N] [--seconds S] [--variant NAME] [FILE.hg ...]
 *   random-graphs --show SEED
 *
 * Each random graph (or each graph in a file) is evaluated by the reference, compiled in several
 * variants and run with 1, 2 and 3 threads over an arena full of NaN. A failing graph is made
 * smaller by cutting nodes off as long as it fails in the same way, and printed in text form with
 * the command that builds it again. How far an answer may be from the reference: what the project
 * allows anywhere, and at least what shaking each value by one rounding does to it. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/pipeline/pipeline.h"
#include "random_graphs.h"
#include "compiler/run/run.h"

enum verdict { GOOD, WRONG, OTHER_BITS, INACCURATE, NOT_COMPILED, CRASHED };
static const char *const verdict_names[] = {
    "good",       "differs from the reference", "other bits with other threads",
    "inaccurate", "does not compile",           "crashed"};

static const struct variant {
  const char *name, *level;
  bool no_passes;
} variants[] = {
    {"host", "host", false}, {"plain", "host", true},     {"baseline", "baseline", false},
    {"avx2", "avx2", false}, {"avx512", "avx512", false},
};

/* -- content */

struct distance distance(const struct tensor *expected, const struct tensor *actual) {
  struct distance d = {.same = true, .finite = true};
  double l2 = 0, size = 0;
  for (size_t i = 0; i < tensor_count(expected); i++) {
    double x = tensor_f64(expected, i), y = tensor_f64(actual, i);
    if (!isfinite(x)) d.finite = false;
    if (x == y || (isnan(x) && isnan(y)))
      y = x;
    else
      d.same = false;
    double e = x == y || isnan(x) ? 0 : fabs(x - y);
    if (isnan(y) && !isnan(x)) e = INFINITY;
    l2 += e * e;
    size += x * x;
    d.most = fmax(d.most, e);
    d.size_most = fmax(d.size_most, fabs(x));
  }
  d.l2 = sqrt(l2);
  d.size_l2 = sqrt(size);
  return d;
}

/* A copy whose floats are perturbed by up to about one rounding error. */
static hone_status shake(struct scene *s, uint64_t seed, const struct tensor *from,
                         const struct tensor **out) {
  struct tensor *copy;
  struct random random;
  random_init(&random, seed);
  TRY(tensor_copy(&s->ctx, s->arena, from, &copy));
  for (size_t i = 0; from->dtype == HONE_F32 && i < tensor_count(from); i++)
    tensor_set_f64(copy, i, tensor_f64(from, i) * (1 + 2.4e-7 * (random_uniform(&random) - 0.5)));
  *out = copy;
  return HONE_OK;
}

hone_status scene_input(struct scene *s, const struct value *value) {
  struct tensor *tensor;
  struct random random;
  uint64_t seed = 14695981039346656037u;
  for (const char *p = value->name; *p; p++) seed = (seed ^ (unsigned char)*p) * 1099511628211u;
  random_init(&random, seed);
  if (value->index >= MOST_VALUES)
    return fail(&s->ctx, HONE_E_LIMIT, place_none(), "more than %d values", MOST_VALUES);
  TRY(tensor_create(&s->ctx, s->arena, value->dtype, &value->shape, &tensor));
  for (size_t i = 0; i < tensor_count(tensor); i++)
    if (dtype_is_float(value->dtype))
      tensor_set_f64(tensor, i, random_normal(&random));
    else
      tensor_set_i64(tensor, i, (int64_t)random_below(&random, value->dtype == HONE_BOOL ? 2 : 4));
  s->truth[value->index] = tensor;
  return shake(s, seed, tensor, &s->shaken[value->index]);
}

static hone_status evaluate(struct scene *s, const struct node *node,
                            const struct tensor *const *values, struct tensor **out) {
  const struct tensor *in[64] = {0};
  struct arena *scratch;
  if (node->input_count > COUNT(in) || node->output_count > 64)
    return fail(&s->ctx, HONE_E_LIMIT, node_place(node), "too many operands");
  for (size_t i = 0; i < node->input_count; i++) {
    const struct value *value = node->inputs[i];
    in[i] = !value ? NULL : value->constant ? value->constant : values[value->index];
  }
  for (size_t i = 0; i < node->output_count; i++)
    TRY(tensor_create(&s->ctx, s->arena, node->outputs[i]->dtype, &node->outputs[i]->shape,
                      &out[i]));
  TRY(arena_create(&s->ctx, 0, &scratch));
  hone_status status = node_evaluate(&s->ctx, scratch, node, in, out);
  arena_destroy(scratch);
  return status;
}

hone_status scene_node(struct scene *s, const struct node *node) {
  struct tensor *truth[64], *shaken[64];
  TRY(evaluate(s, node, s->truth, truth));
  TRY(evaluate(s, node, s->shaken, shaken));
  for (size_t i = 0; i < node->output_count; i++) {
    uint32_t at = node->outputs[i]->index;
    if (at >= MOST_VALUES)
      return fail(&s->ctx, HONE_E_LIMIT, place_none(), "more than %d values", MOST_VALUES);
    s->truth[at] = truth[i];
    TRY(shake(s, at, shaken[i], &s->shaken[at]));
  }
  return HONE_OK;
}

static hone_status scene_evaluate(struct scene *s) {
  for (size_t i = 0; i < s->graph->inputs.count; i++) TRY(scene_input(s, s->graph->inputs.at[i]));
  for (size_t i = 0; i < s->graph->nodes.count; i++) TRY(scene_node(s, s->graph->nodes.at[i]));
  for (size_t i = 0; i < s->graph->outputs.count; i++) { /* outputs that are constants */
    const struct value *value = s->graph->outputs.at[i];
    if (!value->constant) continue;
    s->truth[value->index] = value->constant;
    TRY(shake(s, 1, value->constant, &s->shaken[value->index]));
  }
  return HONE_OK;
}

static hone_status scene_open(struct scene *s) {
  memset(s, 0, sizeof *s);
  ctx_init(&s->ctx);
  return arena_create(&s->ctx, 0, &s->arena);
}
static void scene_close(struct scene *s) { arena_destroy(s->arena); }

/* -- one variant of one graph, in its own process */

struct checker {
  struct scene *s;
  const struct variant *variant;
  char *message;
  size_t room;
  const void **inputs;
  struct tensor **outputs, **first;
};

static enum verdict judge(const struct checker *c, size_t output, int threads) {
  const struct value *value = c->s->graph->outputs.at[output];
  const struct tensor *truth = c->s->truth[value->index], *actual = c->outputs[output];
  struct distance d = distance(truth, actual), r = distance(truth, c->s->shaken[value->index]);
  snprintf(c->message, c->room,
           "%s, %d threads, output %zu \"%s\": L2 %.3g of %.3g, most %.3g of %.3g (rounding: %.3g, "
           "%.3g)",
           c->variant->name, threads, output, value->name, d.l2, d.size_l2, d.most, d.size_most,
           r.l2, r.most);
  if (!dtype_is_float(value->dtype)) return d.same || !r.same ? GOOD : WRONG;
  if (d.l2 > fmax(1e-4 * d.size_l2, 40 * r.l2) || d.most > fmax(1e-3 * d.size_most, 40 * r.most))
    return WRONG;
  if (d.l2 > fmax(1e-5 * d.size_l2, 40 * r.l2)) return INACCURATE;
  return GOOD;
}

/* Memory that ends (or, at_front, begins) at a guard page, aligned to elements only. Lives until
   the process ends. */
static hone_status guarded(struct ctx *ctx, size_t bytes, bool at_front, char **out) {
  size_t page = 4096, inner = (bytes + page - 1) / page * page;
  char *map =
      mmap(NULL, inner + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED || mprotect(map, page, PROT_NONE) ||
      mprotect(map + page + inner, page, PROT_NONE))
    return fail(ctx, HONE_E_OOM, place_none(), "no guarded memory");
  *out = at_front ? map + page : map + page + inner - bytes;
  return HONE_OK;
}

static hone_status guard_all(struct checker *c, bool at_front, const void **inputs,
                             void **outputs) {
  struct graph *graph = c->s->graph;
  char *at;
  for (size_t i = 0; i < graph->inputs.count; i++) {
    const struct tensor *given = c->s->truth[graph->inputs.at[i]->index];
    TRY(guarded(&c->s->ctx, given->bytes, at_front, &at));
    if (given->bytes) memcpy(at, given->data, given->bytes);
    inputs[i] = at;
  }
  for (size_t i = 0; i < graph->outputs.count; i++) {
    TRY(guarded(&c->s->ctx, c->outputs[i]->bytes, at_front, &at));
    memset(at, 0xff, c->outputs[i]->bytes);
    outputs[i] = at;
  }
  return HONE_OK;
}

static hone_status run_once(struct checker *c, const struct loaded *loaded, struct team *team,
                            int threads, enum verdict *out) {
  struct graph *graph = c->s->graph;
  void *outputs[64];
  struct hone_io io = {c->inputs, outputs, NULL, NULL};
  TRY(guard_all(c, threads == 2, c->inputs, outputs));
  if (loaded->arena_bytes) memset(loaded->arena, 0xff, loaded->arena_bytes);
  int status = loaded->info->run(loaded->weights, loaded->arena, &io, team_interface(team));
  if (status) return fail(&c->s->ctx, HONE_E_INTERNAL, place_none(), "run returned %d", status);
  for (size_t i = 0; i < graph->outputs.count; i++)
    memcpy((void *)(uintptr_t)c->outputs[i]->data, outputs[i], c->outputs[i]->bytes);
  for (size_t i = 0; i < graph->outputs.count && !*out; i++) {
    const struct tensor *made = c->outputs[i];
    if ((*out = judge(c, i, threads))) break;
    if (threads == 1 && made->bytes)
      memcpy((void *)(uintptr_t)c->first[i]->data, made->data, made->bytes);
    else if (made->bytes && memcmp(c->first[i]->data, made->data, made->bytes))
      *out = OTHER_BITS;
  }
  return HONE_OK;
}

static hone_status run_threads(struct checker *c, const struct loaded *loaded, enum verdict *out) {
  struct graph *graph = c->s->graph;
  TRY(NEW_ARRAY(&c->s->ctx, c->s->arena, c->inputs, graph->inputs.count + 1));
  TRY(NEW_ARRAY(&c->s->ctx, c->s->arena, c->outputs, graph->outputs.count));
  TRY(NEW_ARRAY(&c->s->ctx, c->s->arena, c->first, graph->outputs.count));
  for (size_t i = 0; i < graph->outputs.count; i++) {
    const struct value *value = graph->outputs.at[i];
    TRY(tensor_create(&c->s->ctx, c->s->arena, value->dtype, &value->shape, &c->outputs[i]));
    TRY(tensor_create(&c->s->ctx, c->s->arena, value->dtype, &value->shape, &c->first[i]));
  }
  /* 18: more than get scratch memory */
  static const int counts[] = {1, 2, 3, 18};
  size_t most = strcmp(c->variant->name, "baseline") ? 3 : 4;
  for (size_t k = 0; k < most && !*out; k++) {
    struct team *team;
    int threads = counts[k];
    TRY(team_create(&c->s->ctx, threads, false, &team));
    hone_status status = HONE_OK;
    for (int repeat = 0; repeat < 2 && !*out && !status; repeat++)
      status = run_once(c, loaded, team, threads, out);
    team_destroy(team);
    TRY(status);
  }
  return HONE_OK;
}

/* The artifact's description of its inputs and outputs matches the graph. */
static hone_status check_info(struct checker *c, const struct hone_artifact_info *info) {
  const struct graph *graph = c->s->graph;
  bool same = (size_t)info->input_count == graph->inputs.count &&
              (size_t)info->output_count == graph->outputs.count;
  for (size_t i = 0; same && i < graph->outputs.count; i++) {
    const struct hone_io_info *io = &info->outputs[i];
    const struct value *value = graph->outputs.at[i];
    same = io->dtype == (int32_t)value->dtype && io->rank == value->shape.rank &&
           !memcmp(io->dims, value->shape.dims, sizeof(int64_t) * (size_t)io->rank) &&
           !strcmp(io->name, value->name);
    if (!same)
      return fail(&c->s->ctx, HONE_E_INTERNAL, place_name(value->name),
                  "the artifact describes output %zu otherwise", i);
  }
  return same ? HONE_OK
              : fail(&c->s->ctx, HONE_E_INTERNAL, place_none(), "the artifact has other counts");
}

static hone_status compile_and_run(struct checker *c, const char *dir, enum verdict *out) {
  struct compile_options options = {
      .threads = 2, .no_cache = true, .no_passes = c->variant->no_passes};
  struct model model = {.arena = c->s->arena, .graph = c->s->graph};
  struct loaded loaded;
  char path[4200];
  snprintf(path, sizeof path, "%s/graph.so", dir);
  TRY(target_init(&c->s->ctx, NULL, c->variant->level, &options.target));
  if (!target_runs_here(&options.target)) return HONE_OK;
  TRY(compile_model(&c->s->ctx, &model, &options, path, NULL));
  TRY(artifact_load(&c->s->ctx, path, NULL, &loaded));
  hone_status status = check_info(c, loaded.info);
  if (!status) status = run_threads(c, &loaded, out);
  artifact_unload(&loaded);
  return status;
}

/* The reference as one run, so that it agrees with itself node by node. */
static enum verdict check_here(struct scene *s, const struct variant *variant, const char *dir,
                               char *message, size_t room) {
  struct checker c = {s, variant, message, room, NULL, NULL, NULL};
  enum verdict verdict = GOOD;
  if (s->graph->outputs.count > 64 || compile_and_run(&c, dir, &verdict)) {
    snprintf(message, room, "%s: %s", variant->name, hone_context_message(&s->ctx));
    return NOT_COMPILED;
  }
  return verdict;
}

/* A broken artifact may end its process. */
static enum verdict check(struct scene *s, const struct variant *variant, const char *dir,
                          char *message, size_t room) {
  int ends[2], status = 0;
  if (pipe(ends)) abort();
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) abort();
  if (child == 0) {
    close(ends[0]);
    alarm(600); /* limit for an artifact that hangs; a busy machine needs part of it */
    memset(message, 0, room);
    enum verdict verdict = check_here(s, variant, dir, message, room);
    if (write(ends[1], message, strlen(message)) < 0) _exit(CRASHED);
    _exit((int)verdict);
  }
  close(ends[1]);
  ssize_t length = 0, n;
  while ((n = read(ends[0], message + length, room - 1 - (size_t)length)) > 0) length += n;
  message[length] = 0;
  close(ends[0]);
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) <= CRASHED) return (enum verdict)WEXITSTATUS(status);
  snprintf(message, room, "%s: signal or exit %d", variant->name, status);
  return CRASHED;
}

/* -- making a failing graph smaller */

struct failure {
  const struct variant *variant;
  enum verdict verdict;
  char message[1024];
};

/* Removes unused inputs. */
static hone_status drop_inputs(struct scene *s) {
  uint32_t *uses;
  size_t kept = 0, removed;
  TRY(graph_uses(&s->ctx, s->arena, s->graph, &uses));
  for (size_t i = 0; i < s->graph->inputs.count; i++)
    if (uses[s->graph->inputs.at[i]->index]) s->graph->inputs.at[kept++] = s->graph->inputs.at[i];
  s->graph->inputs.count = kept;
  return graph_sweep(&s->ctx, s->graph, &removed);
}

/* The graph of `from` with one change: output `at` dropped, or node `at` cut off (its outputs
   become inputs). */
static hone_status smaller(struct scene *s, const struct graph *from, bool cut, size_t at) {
  size_t removed;
  TRY(graph_copy(&s->ctx, s->arena, from, &s->graph));
  struct graph *graph = s->graph;
  if (!cut) {
    graph->outputs.at[at]->is_output = false;
    memmove(&graph->outputs.at[at], &graph->outputs.at[at + 1],
            (graph->outputs.count - at - 1) * sizeof graph->outputs.at[0]);
    graph->outputs.count--;
    for (size_t i = 0; i < graph->outputs.count; i++) graph->outputs.at[i]->is_output = true;
  } else {
    struct node *node = graph->nodes.at[at];
    for (size_t i = 0; i < node->output_count; i++) {
      if (node->outputs[i]->is_output || node->outputs[i]->constant)
        return fail(&s->ctx, HONE_E_UNSUP, place_none(), "not to be cut");
      node->outputs[i]->producer = NULL;
      node->outputs[i]->is_input = true;
      VEC_PUSH(&s->ctx, graph->arena, &graph->inputs, node->outputs[i]);
    }
    graph->nodes.at[at] = NULL;
  }
  TRY(graph_sweep(&s->ctx, graph, &removed));
  TRY(drop_inputs(s));
  TRY(graph_verify(&s->ctx, graph));
  return scene_evaluate(s);
}

/* Tries one change; true: *s is the smaller graph now. */
static bool try_smaller(struct scene *s, const char *dir, struct failure *failure, bool cut,
                        size_t at) {
  static struct scene other;
  char message[1024] = "";
  if (scene_open(&other)) abort();
  bool good = !smaller(&other, s->graph, cut, at) && other.graph->outputs.count &&
              check(&other, failure->variant, dir, message, sizeof message) == failure->verdict;
  if (good) memcpy(failure->message, message, sizeof message);
  /* the larger arena stays: names and constants are shared with it */
  if (good)
    *s = other;
  else
    scene_close(&other);
  return good;
}

static void reduce(struct scene *s, const char *dir, struct failure *failure) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = s->graph->outputs.count; s->graph->outputs.count > 1 && i-- > 0;)
      if (i < s->graph->outputs.count) changed |= try_smaller(s, dir, failure, false, i);
    for (size_t i = s->graph->nodes.count; i-- > 0;)
      if (i < s->graph->nodes.count) changed |= try_smaller(s, dir, failure, true, i);
  }
}

/* Seeded constants are printed as their seed, not their elements. */
static void print_graph(struct scene *s) {
  struct strbuf text = {0};
  if (graph_print(&s->ctx, &text, s->graph, op_names, &(struct print_options){true})) return;
  for (char *line = text.at, *end; line && *line; line = end) {
    unsigned seed;
    double scale;
    end = strchr(line, '\n');
    end = end ? end + 1 : line + strlen(line);
    char *list = strstr(line, "] [");
    bool is_noise = sscanf(line, " c%u_%lf = const", &seed, &scale) == 2 && list && list < end;
    if (is_noise)
      printf("%.*s seed=%u scale=%g\n", (int)(list + 1 - line), line, seed, scale);
    else
      printf("%.*s", (int)(end - line), line);
  }
  strbuf_deinit(&text);
}

/* -- main */

struct options {
  int64_t seed, count, seconds, show;
  const char *variant;
  char dir[4096];
  char **files;
  int file_count;
};

static int report(struct scene *s, const struct options *o, const char *again,
                  struct failure *failure) {
  printf("\nFAILED (%s): %s\n", verdict_names[failure->verdict], failure->message);
  fflush(stdout);
  reduce(s, o->dir, failure);
  printf("smallest: %s\n", failure->message);
  print_graph(s);
  printf("again: random-graphs --variant %s %s\n", failure->variant->name, again);
  fflush(stdout);
  return 1;
}

/* Variant `host` and one other by rotation, or the requested one. */
static int check_graph(struct scene *s, const struct options *o, int64_t turn, const char *again) {
  struct failure failure;
  size_t other = 1 + (size_t)(turn % (int64_t)(COUNT(variants) - 1));
  for (size_t i = 0; i < COUNT(variants); i++) {
    bool wanted = o->variant ? !strcmp(o->variant, variants[i].name) : i == 0 || i == other;
    if (!wanted && !(o->file_count && !o->variant)) continue;
    failure.variant = &variants[i];
    failure.verdict = check(s, &variants[i], o->dir, failure.message, sizeof failure.message);
    if (failure.verdict) return report(s, o, again, &failure);
  }
  return 0;
}

static int check_file(const struct options *o, const char *path) {
  static struct scene s;
  struct mapping file;
  if (scene_open(&s)) return 1;
  hone_status status = file_map(&s.ctx, path, &file);
  if (!status) {
    status = graph_parse(&s.ctx, s.arena, (const char *)file.data, file.size, op_find, &s.graph);
    file_unmap(&file);
  }
  if (!status) status = graph_infer(&s.ctx, s.graph);
  if (!status) status = scene_evaluate(&s);
  if (status) printf("%s: %s\n", path, hone_context_message(&s.ctx));
  int failed = status ? 1 : check_graph(&s, o, 0, path);
  scene_close(&s);
  return failed;
}

static int check_seed(const struct options *o, int64_t seed) {
  static struct scene s;
  char again[64];
  snprintf(again, sizeof again, "--seed %lld", (long long)seed);
  if (scene_open(&s)) return 1;
  if (random_graph(&s, (uint64_t)seed) || scene_evaluate(&s)) {
    printf("seed %lld: %s\n", (long long)seed, hone_context_message(&s.ctx));
    scene_close(&s);
    return 1;
  }
  int failed = check_graph(&s, o, seed, again);
  scene_close(&s);
  return failed;
}

static int show(int64_t seed) {
  static struct scene s;
  if (scene_open(&s)) return 1;
  int failed = random_graph(&s, (uint64_t)seed) != HONE_OK;
  if (!failed) print_graph(&s);
  scene_close(&s);
  return failed;
}

static bool read_options(int argc, char **argv, struct options *o) {
  *o = (struct options){.seed = 1, .count = 1, .show = -1};
  int at = 1;
  for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
    const char *name = argv[at], *text = argv[at + 1];
    int64_t *number = !strcmp(name, "--seed")      ? &o->seed
                      : !strcmp(name, "--count")   ? &o->count
                      : !strcmp(name, "--seconds") ? &o->seconds
                      : !strcmp(name, "--show")    ? &o->show
                                                   : NULL;
    if (number ? !parse_i64(text, 0, INT64_MAX / 2, number) : strcmp(name, "--variant") != 0)
      return false;
    if (!number) o->variant = text;
  }
  o->files = argv + at;
  o->file_count = argc - at;
  return at >= argc || argv[at][0] != '-';
}

int main(int argc, char **argv) {
  struct options o;
  struct ctx ctx;
  int64_t failed = 0, done = 0;
  uint64_t start = clock_ns();
  ctx_init(&ctx);
  if (!read_options(argc, argv, &o)) {
    fprintf(stderr,
            "usage: random-graphs [--seed N] [--count N] [--seconds S] [--variant NAME] "
            "[--show SEED] [FILE.hg ...]\n");
    return 2;
  }
  if (o.show >= 0) return show(o.show);
  if (dir_temporary(&ctx, o.dir)) return 2;
  for (int i = 0; i < o.file_count; i++, done++) failed += check_file(&o, o.files[i]);
  for (int64_t i = 0; i < o.count && !o.file_count; i++, done++) {
    if (o.seconds && clock_ns() - start > (uint64_t)o.seconds * 1000000000u) break;
    failed += check_seed(&o, o.seed + i);
  }
  dir_remove_tree(o.dir);
  printf("%lld passed, %lld failed; graphs from seed %lld, %.1f s\n", (long long)(done - failed),
         (long long)failed, (long long)o.seed, (double)(clock_ns() - start) / 1e9);
  return failed != 0;
}
