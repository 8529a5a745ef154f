/* The bundle's self-test: every file has the SHA-256 of MANIFEST, and the model computes the outputs of vectors/ on one
 * thread and on the measured number of threads. Needs libc, and the engine if the model runs in one. Only exit code 0
 * with "selftest: ok" is a pass.
 *
 * Two copies of the code check the files, before and after the model runs, and the verdict is the sum of the values that
 * each step returns: a damaged byte in this program itself does not make it pass.
 */
#define main run_main
#define HONE_ARTIFACT bundle_artifact
#include "run.c"
#undef main

#include "bundle.h"
#include "sha256.h"

#include <dlfcn.h>
#include <math.h>

enum { FILES_ONE = 0x2b61, MODEL = 0x147d, FILES_TWO = 0x5a09, HEX = 64, CHUNK = 1 << 16 };

static const struct hone_artifact_info *model;
const struct hone_artifact_info *bundle_artifact(void) { return model; }

/* -- the bundle's folder: that of this program */

static int folder_of_program(const char *argv0, char out[4096]) {
  ssize_t n = readlink("/proc/self/exe", out, 4095);
  if (n <= 0) n = snprintf(out, 4096, "%s", argv0 ? argv0 : "");
  if (n <= 0 || n >= 4095) return 0;
  out[n] = 0;
  char *slash = strrchr(out, '/');
  if (!slash) return snprintf(out, 4096, ".") > 0;
  slash[slash == out] = 0;
  return 1;
}

/* -- files */

#define INLINE static inline __attribute__((always_inline))

INLINE int hash_file(const char *path, uint64_t *out_bytes, char out[HEX + 1]) {
  static unsigned char chunk[CHUNK];
  struct sha256 h;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not block on a FIFO in a file's place */
  struct stat info;
  ssize_t n;
  if (fd < 0) return 0;
  if (fstat(fd, &info) || !S_ISREG(info.st_mode)) {
    close(fd);
    errno = EINVAL;
    return 0;
  }
  sha256_begin(&h);
  while ((n = read(fd, chunk, sizeof chunk)) > 0) sha256_add(&h, chunk, (size_t)n);
  close(fd);
  if (n < 0) return 0;
  *out_bytes = h.length;
  sha256_end(&h, out);
  return 1;
}

/* Checks the file of one line "HASH  PATH". */
INLINE int check_line(const char *folder, const char *line, size_t length) {
  char path[8300], hash[HEX + 1];
  uint64_t bytes = 0;
  if (length < HEX + 3 || line[HEX] != ' ' || line[HEX + 1] != ' ' || length > HEX + 4000) {
    fprintf(stderr, "selftest: MANIFEST has an invalid line\n");
    return 0;
  }
  snprintf(path, sizeof path, "%s/%.*s", folder, (int)(length - HEX - 2), line + HEX + 2);
  if (!hash_file(path, &bytes, hash)) {
    fprintf(stderr, "selftest: %s: %s\n", path, strerror(errno));
    return 0;
  }
  if (!memcmp(hash, line, HEX)) return 1;
  fprintf(stderr, "selftest: %s: changed (SHA-256 %.16s..., MANIFEST says %.16s...)\n", path, hash, line);
  return 0;
}

INLINE char *read_manifest(const char *folder, size_t *out_length) {
  char path[8300];
  struct stat info;
  snprintf(path, sizeof path, "%s/MANIFEST", folder);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &info) || info.st_size <= 0 || info.st_size > 1 << 24) {
    fprintf(stderr, "selftest: %s: cannot be read\n", path);
    if (fd >= 0) close(fd);
    return NULL;
  }
  char *text = allocate((size_t)info.st_size + 1);
  read_all(fd, path, text, (size_t)info.st_size);
  close(fd);
  *out_length = (size_t)info.st_size;
  return text;
}

/* The last line of MANIFEST, "# " and 64 digits, is the hash of all lines before it. */
INLINE int check_files(const char *folder, int verdict, char out_id[HEX + 1]) {
  static const char title[] = "# hone bundle 1\n";
  size_t length = 0, at = sizeof title - 1, bad = 0, files = 0;
  char *text = read_manifest(folder, &length);
  struct sha256 h;
  if (!text) return 0;
  if (length < at + HEX + 3 || memcmp(text, title, at)) {
    fprintf(stderr, "selftest: MANIFEST is damaged\n");
    return 0;
  }
  size_t end = length - HEX - 3;
  sha256_begin(&h);
  sha256_add(&h, text, end);
  sha256_end(&h, out_id);
  if (memcmp(text + end, "# ", 2) || memcmp(text + end + 2, out_id, HEX) || text[length - 1] != '\n') {
    fprintf(stderr, "selftest: MANIFEST changed: its last line is not its hash\n");
    return 0;
  }
  while (at < end) {
    const char *line = text + at, *newline = memchr(line, '\n', end - at);
    size_t n = newline ? (size_t)(newline - line) : end - at;
    bad += !check_line(folder, line, n);
    files++;
    at += n + 1;
  }
  free(text);
  return bad || !files ? 0 : verdict;
}

__attribute__((noinline)) static int check_files_one(const char *folder, char id[HEX + 1]) {
  return check_files(folder, FILES_ONE, id);
}
__attribute__((noinline)) static int check_files_two(const char *folder, char id[HEX + 1]) {
  return check_files(folder, FILES_TWO, id);
}

/* -- outputs */

static double half_to_double(unsigned x) {
  int exponent = x >> 10 & 31, fraction = x & 1023;
  double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                 : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                : ldexp(fraction, -24);
  return x >> 15 ? -value : value;
}

static double element(const void *data, int32_t dtype, size_t i) {
  union {
    uint32_t bits;
    float value;
  } wide;
  switch (dtype) {
    case 1: return ((const float *)data)[i];
    case 2: return ((const uint8_t *)data)[i];
    case 3: return ((const int8_t *)data)[i];
    case 4: return ((const uint16_t *)data)[i];
    case 5: return ((const int16_t *)data)[i];
    case 6: return ((const int32_t *)data)[i];
    case 7: return (double)((const int64_t *)data)[i];
    case 10: return half_to_double(((const uint16_t *)data)[i]);
    case 11: return ((const double *)data)[i];
    case 12: return ((const uint32_t *)data)[i];
    case 13: return (double)((const uint64_t *)data)[i];
    case 16: wide.bits = (uint32_t)((const uint16_t *)data)[i] << 16; return wide.value;
    default: return ((const uint8_t *)data)[i] != 0;
  }
}

/* The rule of a study. Floats: relative L2, and the largest difference by the largest value. Integers and quantised outputs:
   99 % within one step and none above four, or more if the conditioning of the model allows it. */
static int is_close(const struct hone_io_info *io, const struct bundle_output *rule, const void *made,
                    const void *expected, size_t count) {
  double square = 0, difference = 0, largest = 0, worst = 0;
  size_t above = 0, misplaced = 0;
  for (size_t i = 0; i < count; i++) {
    double r = element(expected, io->dtype, i), a = element(made, io->dtype, i), d = fabs(r - a);
    if (!isfinite(r) || !isfinite(a)) {
      misplaced += !((isnan(r) && isnan(a)) || r == a);
      continue;
    }
    square += r * r, difference += d * d;
    largest = fmax(largest, fabs(r)), worst = fmax(worst, d);
    above += d > rule->step * 1.001;
  }
  double l2 = sqrt(difference) / sqrt(fmax(square, 1e-6)), share = worst / fmax(largest, 1e-3);
  int is_float = io->dtype == 1 || io->dtype == 10 || io->dtype == 11 || io->dtype == 16, ok = !misplaced;
  int near = worst <= 4.004 * rule->step, few = near && (double)above <= 0.01 * (double)count;
  int flipped = (near || share <= rule->share) && l2 <= rule->rel_l2;
  if (rule->step > 0)
    ok = ok && (few || flipped) && (rule->step <= (is_float ? 0 : 1) || l2 <= 0.3);
  else if (is_float)
    ok = ok && l2 <= rule->rel_l2 && share <= rule->share;
  else
    ok = ok && worst == 0;
  if (!ok)
    fprintf(stderr, "selftest: output \"%s\": relative L2 %.3g (at most %.3g), max|d|/max|r| %.3g (at most %.3g), %zu of %zu "
            "NaN or infinite on one side\n", shown(io->name), l2, rule->rel_l2, share, rule->share, misplaced, count);
  return ok;
}

/* Reads FOLDER/vectors/SET/KIND_I.npy; dynamic dimensions have the sizes of the file. */
static void *read_vector(const char *folder, int set, const char *kind, int32_t i, const struct hone_io_info *io,
                         int64_t *dims) {
  char path[8300];
  int64_t open_dims[HONE_ARTIFACT_SIZES * MAX_RANK] = {0};
  struct hone_io_info any = *io;
  snprintf(path, sizeof path, "%s/vectors/%d/%s_%d.npy", folder, set, kind, (int)i);
  for (int32_t d = 0; d < io->rank && d < MAX_RANK; d++)
    open_dims[d] = (io->extents && io->extents[d]) || (io->slopes && io->slopes[d]);
  any.slopes = open_dims;
  memcpy(dims, io->dims, (size_t)io->rank * sizeof *dims);
  return read_input(path, &any, dims);
}

/* Runs one set on one team; returns the number of wrong outputs. */
static size_t test_set(const char *folder, int set, const struct hone_team *team) {
  size_t in = (size_t)model->input_count, out = (size_t)model->output_count, bad = 0;
  const void **inputs = allocate(in * sizeof *inputs);
  void **outputs = allocate(out * sizeof *outputs), *arena = allocate(model->arena_bytes);
  int64_t(*input_dims)[MAX_RANK] = allocate(in * sizeof *input_dims);
  int64_t(*dims)[MAX_RANK] = allocate(out * sizeof *dims), wanted[MAX_RANK];
  const int64_t **input_lists = allocate(in * sizeof *input_lists);
  int64_t **output_lists = allocate(out * sizeof *output_lists);
  for (size_t i = 0; i < in; i++) {
    inputs[i] = read_vector(folder, set, "in", (int32_t)i, &model->inputs[i], input_dims[i]);
    input_lists[i] = input_dims[i];
  }
  for (size_t i = 0; i < out; i++) {
    const struct hone_io_info *o = &model->outputs[i];
    outputs[i] = o->alias >= 0 ? (void *)(uintptr_t)inputs[o->alias] : allocate(bytes_of(o, o->dims));
    memcpy(dims[i], o->dims, (size_t)o->rank * sizeof *o->dims);
    output_lists[i] = dims[i];
  }
  struct hone_io io = {inputs, outputs, input_lists, output_lists};
  int32_t status = model->run(model->weights, arena, &io, team);
  if (status) {
    fprintf(stderr, "selftest: the model failed with status %d\n", (int)status);
    return 1;
  }
  for (size_t i = 0; i < out; i++) {
    const struct hone_io_info *o = &model->outputs[i];
    void *expected = read_vector(folder, set, "out", (int32_t)i, o, wanted);
    size_t count = bytes_of(o, wanted) / type_of(o)->bytes;
    if (memcmp(wanted, dims[i], (size_t)o->rank * sizeof *wanted)) {
      fprintf(stderr, "selftest: output \"%s\" has another shape\n", shown(o->name));
      bad++;
    } else {
      bad += !is_close(o, &bundle_outputs[i], outputs[i], expected, count);
    }
    free(expected);
  }
  return bad;
}

static int test_model(const char *folder, const char *version) {
  char path[8300];
  snprintf(path, sizeof path, "%s/model.so", folder);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "selftest: %s\n", dlerror());
    return 0;
  }
  const struct hone_artifact_info *(*entry)(void) =
      (const struct hone_artifact_info *(*)(void))(uintptr_t)dlsym(library, "model_artifact");
  model = entry ? entry() : NULL;
  if (!model || model->abi != HONE_ARTIFACT_ABI || (model->weights_bytes && !model->weights) ||
      model->output_count != BUNDLE_OUTPUTS || strcmp(model->generator, version)) {
    fprintf(stderr, "selftest: model.so does not belong to this bundle\n");
    return 0;
  }
  check_processor(model->flags);
  size_t bad = 0;
  for (int set = 0; set < BUNDLE_SETS; set++) bad += test_set(folder, set, NULL);
  if (BUNDLE_THREADS > 1) {
    struct hone_team team = team_start(BUNDLE_THREADS, sysconf(_SC_NPROCESSORS_ONLN));
    for (int set = 0; set < BUNDLE_SETS; set++) bad += test_set(folder, set, &team);
  }
  return bad ? 0 : MODEL;
}

int main(int argc, char **argv) {
  char folder[4096], one[HEX + 1] = "", two[HEX + 1] = "";
  volatile int verdict = 0;
  program = "selftest";
  if (argc > 1) {
    printf("usage: selftest\nChecks every file of its folder against MANIFEST and the model against vectors/.\n");
    return USAGE;
  }
  if (!folder_of_program(argv[0], folder)) return 70;
  verdict += check_files_one(folder, one);
  if (verdict != FILES_ONE) return 1;
  verdict += test_model(folder, BUNDLE_GENERATOR);
  verdict += check_files_two(folder, two);
  if (verdict != FILES_ONE + MODEL + FILES_TWO || memcmp(one, two, HEX)) return 1;
  printf("selftest: ok, %d sets on %s, bundle %.16s\n", BUNDLE_SETS,
         BUNDLE_THREADS > 1 ? "1 and " BUNDLE_THREADS_TEXT " threads" : "1 thread", one);
  return fflush(stdout) || verdict != FILES_ONE + MODEL + FILES_TWO ? 1 : 0;
}
