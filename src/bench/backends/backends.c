/* The list of backends, and shared code: sessions, parsing of options and shapes, sizes. */
#include "backends.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

const struct backend *const backend_list[] = {
#define BACKEND(name) &backend_##name,
#include "backends.def"
#undef BACKEND
};
const size_t backend_count = COUNT(backend_list);

const struct backend *backend_find(const char *name) {
  const char *testing = getenv("HONE_TESTING");
  bool is_testing = testing && !strcmp(testing, "1");
  for (size_t i = 0; i < backend_count; i++)
    if (!strcmp(backend_list[i]->name, name) && (is_testing || !backend_list[i]->testing_only))
      return backend_list[i];
  return NULL;
}

static hone_status unknown_name(struct ctx *ctx, const char *name) {
  const char *best = backend_list[0]->name;
  for (size_t k = 0; k < backend_count; k++)
    if (!backend_list[k]->testing_only &&
        edit_distance(name, backend_list[k]->name) < edit_distance(name, best))
      best = backend_list[k]->name;
  return fail(ctx, HONE_E_USAGE, place_name(name), "unknown backend; did you mean %s?", best);
}

hone_status backend_choose(struct ctx *ctx, const char *text, struct backend_choice *out) {
  char name[64];
  const char *colon = strchr(text, ':');
  const size_t length = colon ? (size_t)(colon - text) : strlen(text);
  snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 0, text);
  *out = (struct backend_choice){backend_find(name), NULL};
  if (!out->backend) return unknown_name(ctx, name);
  if (!colon) return HONE_OK;
  const struct backend_variant *at = out->backend->variants;
  struct strbuf words = {0};
  for (; at && at->name; at++) {
    if (!strcmp(at->name, colon + 1)) break;
    strbuf_printf(&words, "%s%s", words.length ? ", " : "", at->name);
  }
  hone_status status = HONE_OK;
  if (at && at->name)
    out->variant = at;
  else
    status = fail(ctx, HONE_E_USAGE, place_name(text), "%s has %s%s", name,
                  words.at ? "no variant of that name; choose " : "no variants",
                  words.at ? words.at : "");
  strbuf_deinit(&words);
  return status;
}

static bool has_word(const char *list, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = list; length && (at = strstr(at, word)); at += length)
    if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return true;
  return false;
}

bool backend_reads(const struct backend *backend, const char *format) {
  return has_word(backend->formats, format);
}

bool backend_knows_route(const struct backend *backend, const char *route) {
  return has_word(backend->routes ? backend->routes : "onnx", route);
}

bool backend_holds_with(const struct backend *backend, const char *options) {
  char key[64], value[256], word[sizeof key + sizeof value];
  while (backend->holds_with && option_next(&options, key, value)) {
    snprintf(word, sizeof word, "%s=%s", key, value);
    if (has_word(backend->holds_with, word)) return true;
  }
  return false;
}

void backend_facts_init(struct backend_facts *facts) {
  *facts = (struct backend_facts){.fallback_share = NAN,
                                  .artifact_bytes = -1,
                                  .arena_bytes = -1,
                                  .import_ms = NAN,
                                  .rss_import = -1};
}

hone_status backend_io_create(struct ctx *ctx, size_t input_count, size_t output_count,
                              struct backend_io *out) {
  *out = (struct backend_io){.input_count = input_count, .output_count = output_count};
  out->inputs = calloc(input_count + 1, sizeof *out->inputs);
  out->outputs = calloc(output_count + 1, sizeof *out->outputs);
  if (out->inputs && out->outputs) return HONE_OK;
  backend_io_destroy(out);
  return fail(ctx, HONE_E_OOM, place_none(), "no memory for the list of inputs and outputs");
}

void backend_io_destroy(struct backend_io *io) {
  free(io->inputs);
  free(io->outputs);
  *io = (struct backend_io){0};
}

hone_status session_open(struct ctx *ctx, const struct backend *backend,
                         const struct backend_request *request, struct session **out,
                         struct backend_facts *facts, struct backend_io *out_io) {
  *out_io = (struct backend_io){0};
  if (backend->worker) return refuse_elsewhere(ctx, backend, request->engine_path);
  struct session *session = calloc(1, backend->session_size);
  if (!session) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a session");
  hone_status status = backend->open(ctx, session, request, facts, out_io);
  if (status) {
    backend_io_destroy(out_io);
    session_close(backend, session);
    return status;
  }
  *out = session;
  return HONE_OK;
}

void session_close(const struct backend *backend, struct session *session) {
  backend->close(session);
  free(session);
}

void describe_built_in(struct ctx *ctx, const struct backend *backend, const char *engine_path,
                       struct backend_info *out) {
  (void)backend;
  (void)ctx, (void)engine_path;
  out->status = BACKEND_READY;
  snprintf(out->version, sizeof out->version, "%s", HONE_VERSION);
}

hone_status wait_nothing(struct ctx *ctx, struct session *session, int set) {
  (void)ctx, (void)session, (void)set;
  return HONE_OK;
}

hone_status identity_io(struct ctx *ctx, const struct backend_request *request,
                        struct backend_io *out, size_t *out_bytes) {
  TRY(backend_io_create(ctx, 1, 1, out));
  struct backend_tensor *x = &out->inputs[0], *y = &out->outputs[0];
  snprintf(x->name, sizeof x->name, "x");
  x->info = (hone_tensor){.dtype = HONE_F32, .rank = 1, .shape = {1}};
  shapes_find(request->shapes, "x", &x->info.rank, x->info.shape);
  *y = *x;
  snprintf(y->name, sizeof y->name, "y");
  return tensor_bytes(ctx, x->name, &x->info, out_bytes);
}

void identity_facts(const struct backend_request *request, struct backend_facts *facts) {
  snprintf(facts->version, sizeof facts->version, "%s", HONE_VERSION);
  snprintf(facts->device, sizeof facts->device, "cpu");
  snprintf(facts->precision, sizeof facts->precision, "%s", request->precision);
  facts->threads = 1;
  facts->fallback_share = 0;
  facts->flags = FLAG_MASK(synthetic);
}

bool option_next(const char **at, char key[64], char value[256]) {
  const char *p = *at;
  if (!p) return false;
  while (*p == ';') p++;
  if (!*p) return false;
  size_t length = strcspn(p, ";");
  const char *equal = memchr(p, '=', length);
  size_t key_length = equal ? (size_t)(equal - p) : length;
  size_t value_length = equal ? length - key_length - 1 : 0;
  snprintf(key, 64, "%.*s", (int)key_length, p);
  snprintf(value, 256, "%.*s", (int)value_length, equal ? equal + 1 : "");
  *at = p + length;
  return true;
}

bool option_get(const char *options, const char *key, char value[256]) {
  char name[64];
  while (option_next(&options, name, value))
    if (!strcmp(name, key)) return true;
  value[0] = 0;
  return false;
}

hone_status option_int(struct ctx *ctx, const char *options, const char *key, int64_t otherwise,
                       int64_t min, int64_t max, int64_t *out) {
  char value[256];
  *out = otherwise;
  if (!option_get(options, key, value) || parse_i64(value, min, max, out)) return HONE_OK;
  return fail(ctx, HONE_E_USAGE, place_name(key),
              "option value \"%s\" is not a number from %lld to %lld", value, (long long)min,
              (long long)max);
}

bool shapes_find(const char *shapes, const char *name, int32_t *out_rank,
                 int64_t out_dims[HONE_MAX_RANK]) {
  size_t length = strlen(name);
  for (const char *p = shapes; p && *p;) {
    if (!strncmp(p, name, length) && p[length] == '[')
      return parse_dims(p + length, out_rank, out_dims) != NULL;
    p = strstr(p, "],"); /* a name may contain other characters */
    if (p) p += 2;
  }
  return false;
}

hone_status tensor_bytes(struct ctx *ctx, const char *name, const hone_tensor *tensor,
                         size_t *out_bytes) {
  const bool is_text = tensor->dtype == HONE_STRING;
  unsigned bits = is_text ? 8 * (unsigned)sizeof(hone_string) : dtype_bits(tensor->dtype);
  if (!bits)
    return fail(ctx, HONE_E_TYPE, place_name(name), "cannot be measured with this element type");
  size_t count = 1;
  for (int32_t i = 0; i < tensor->rank; i++) {
    if (tensor->shape[i] < 0)
      return fail(ctx, HONE_E_SHAPE, place_name(name), "dimension %d is dynamic", (int)i);
    if (!checked_mul(count, (size_t)tensor->shape[i], &count))
      return fail(ctx, HONE_E_LIMIT, place_name(name), "has too many elements");
  }
  size_t total_bits;
  if (!checked_mul(count, (size_t)bits, &total_bits) ||
      !checked_add(total_bits, (size_t)7, &total_bits))
    return fail(ctx, HONE_E_LIMIT, place_name(name), "has too many elements");
  *out_bytes = total_bits / 8;
  return HONE_OK;
}

void precision_mix_add(struct precision_mix *mix, const char *word, double ns, bool is_fallback) {
  const enum precision precision = precision_of_word(word);
  mix->all_ns += ns;
  if (is_fallback) mix->fallback_ns += ns;
  if (precision < PRECISION_COUNT) mix->ns[precision] += ns;
}

void precision_mix_tell(const struct precision_mix *mix, struct backend_facts *facts) {
  double sum = 0;
  bool is_told[PRECISION_COUNT] = {false};
  char text[32] = "";
  for (size_t i = 0; i < PRECISION_COUNT; i++) sum += mix->ns[i];
  if (!(sum > 0)) return;
  for (size_t round = 0; round < PRECISION_COUNT; round++) {
    size_t best = PRECISION_COUNT;
    for (size_t i = 0; i < PRECISION_COUNT; i++)
      if (!is_told[i] && mix->ns[i] >= 0.05 * sum &&
          (best == PRECISION_COUNT || mix->ns[i] > mix->ns[best]))
        best = i;
    if (best == PRECISION_COUNT) break;
    is_told[best] = true;
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s%s", length ? "+" : "", precisions[best].name);
  }
  snprintf(facts->precision, sizeof facts->precision, "%s", text);
  facts->fallback_share = mix->fallback_ns / mix->all_ns;
}

int64_t resident_bytes(void) {
  char text[128];
  int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return -1;
  text[n] = 0;
  char *second = strchr(text, ' ');
  if (!second) return -1;
  second[1 + strcspn(second + 1, " \n")] = 0;
  int64_t pages;
  return parse_i64(second + 1, 0, INT64_MAX / 65536, &pages) ? pages * sysconf(_SC_PAGESIZE) : -1;
}

int process_thread_count(void) {
  DIR *folder = opendir("/proc/self/task");
  int count = 0;
  if (!folder) return 0;
  for (struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}
