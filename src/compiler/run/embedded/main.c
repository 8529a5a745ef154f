/* The program around a compiled model, MODEL IN... [OUT...]: reads each input from a .npy or raw file, or all of them from
 * a folder, runs the model, and writes the outputs to files or as output_0.npy, output_1.npy, ... to a folder. It needs a C11 compiler, POSIX threads and the artifact,
 * no library of hone. HONE_ARTIFACT is the artifact's function, given with -D.
 *
 * Exit codes: 0 ok, 2 usage, 65 an input does not fit, 66 no such file, 69 the processor lacks what
 * the code needs, 70 the model failed, 71 out of memory, 73 cannot write, 74 cannot read.
 */
#define _GNU_SOURCE /* syscall */
#include "stages.h"

#include "features.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef HONE_ARTIFACT
#define HONE_ARTIFACT hone_model_artifact
#endif
const struct hone_artifact_info *HONE_ARTIFACT(void);

enum { USAGE = 2, BAD_INPUT = 65, NO_FILE = 66, MISSING = 69, FAILED = 70, NO_MEMORY = 71 };
enum { NO_WRITE = 73, NO_READ = 74 };
enum { MAX_THREADS = 1024, MAX_RANK = 16, HEADER_MAX = 4096 };

static const char *program = "model";

__attribute__((noreturn, format(printf, 2, 3))) static void die(int code, const char *format, ...) {
  va_list args;
  fflush(stdout);
  fprintf(stderr, "%s: ", program);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  exit(code);
}

/* Names come from the model's author: only safe characters reach the terminal. */
static const char *shown(const char *name) {
  static char out[256];
  size_t n = 0;
  for (; *name && n < sizeof out - 5; name++) {
    unsigned char c = (unsigned char)*name;
    if (c >= 32 && c < 127)
      out[n++] = *name;
    else
      n += (size_t)snprintf(out + n, 5, "\\x%02x", c);
  }
  out[n] = 0;
  return out;
}

static double now_ms(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void *allocate(size_t bytes) {
  void *data = NULL;
  if (posix_memalign(&data, 4096, bytes ? bytes : 1))
    die(NO_MEMORY, "no memory for %zu bytes", bytes);
  memset(data, 0, bytes); /* touches every page before the first run */
  return data;
}

/* -- element types */

/* ONNX number, NumPy's code (types NumPy lacks: raw unsigned), name, bytes. */
static const struct type {
  int32_t dtype;
  const char *code, *name;
  size_t bytes;
} types[] = {
    {1, "f4", "f32", 4},   {2, "u1", "u8", 1},   {3, "i1", "i8", 1},   {4, "u2", "u16", 2},
    {5, "i2", "i16", 2},   {6, "i4", "i32", 4},  {7, "i8", "i64", 8},  {9, "b1", "bool", 1},
    {10, "f2", "f16", 2},  {11, "f8", "f64", 8}, {12, "u4", "u32", 4}, {13, "u8", "u64", 8},
    {16, "u2", "bf16", 2},
};

static const struct type *type_of(const struct hone_io_info *io) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (types[i].dtype == io->dtype) return &types[i];
  die(FAILED, "\"%s\" has element type %d, which this program cannot read", shown(io->name),
      (int)io->dtype);
}

static size_t bytes_of(const struct hone_io_info *io, const int64_t *dims) {
  size_t bytes = type_of(io)->bytes;
  for (int32_t i = 0; i < io->rank; i++)
    if (dims[i] < 0 || __builtin_mul_overflow(bytes, (size_t)dims[i], &bytes))
      die(NO_MEMORY, "\"%s\" is too large", shown(io->name));
  return bytes;
}

static void print_shape(FILE *file, const int64_t *dims, int32_t rank) {
  fputc('[', file);
  for (int32_t i = 0; i < rank; i++) fprintf(file, "%s%lld", i ? "," : "", (long long)dims[i]);
  fputc(']', file);
}

/* A data-dependent size as "<=" its bound. */
static void print_bounds(FILE *file, const struct hone_io_info *io) {
  fputc('[', file);
  for (int32_t i = 0; i < io->rank; i++)
    fprintf(file, "%s%s%lld", i ? "," : "", io->extents[i] ? "<=" : "", (long long)io->dims[i]);
  fputc(']', file);
}

/* -- thread team: thread 0 is the caller; stages.h distributes the work */

static struct stages pool;

static void *work(void *argument) {
  stages_serve(&pool, (int32_t)(intptr_t)argument);
  return NULL;
}

static void team_run(void *self, const struct hone_job *job) {
  (void)self;
  if (pool.thread_count > 1)
    stages_run(&pool, job);
  else
    stages_run_alone(job);
}

static struct hone_team team_start(int32_t count, long processors) {
  pool.thread_count = count;
  pool.run_spin_ns = pool.idle_spin_ns = count <= processors ? 50000 : 0;
  pool.shares = allocate((size_t)count * sizeof *pool.shares);
  for (int32_t i = 1; i < count; i++) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, work, (void *)(intptr_t)i);
    if (error) die(NO_MEMORY, "cannot start thread %d: %s", (int)i, strerror(error));
    pthread_detach(thread);
  }
  return (struct hone_team){NULL, count, team_run};
}

/* -- .npy, NEP 1 */

struct npy {
  char code[8]; /* "<f4" */
  int fortran;
  int32_t rank;
  int64_t dims[MAX_RANK];
};

static const char *skip(const char *p, const char *what) {
  while (*p == ' ' || *p == '\n') p++;
  size_t n = strlen(what);
  return strncmp(p, what, n) ? NULL : p + n;
}

static const char *parse_tuple(const char *p, struct npy *out) {
  const char *q;
  for (out->rank = 0; !(q = skip(p, ")"));) {
    while (*p == ' ') p++;
    if (*p < '0' || *p > '9' || out->rank == MAX_RANK) return NULL;
    char *end;
    errno = 0;
    out->dims[out->rank++] = strtoll(p, &end, 10);
    if (errno) return NULL;
    p = (q = skip(end, ",")) ? q : end;
  }
  return q;
}

/* The dict literal that follows the magic; 0 if it is not one. */
static int parse_header(const char *p, struct npy *out) {
  int seen = 0;
  const char *q, *end;
  if (!(p = skip(p, "{"))) return 0;
  while (!(end = skip(p, "}"))) {
    if ((q = skip(p, "'descr':")) && (q = skip(q, "'"))) {
      size_t n = strcspn(q, "'");
      if (!q[n] || n >= sizeof out->code) return 0;
      memcpy(out->code, q, n);
      p = q + n + 1;
      seen |= 1;
    } else if ((q = skip(p, "'fortran_order':"))) {
      out->fortran = skip(q, "True") != NULL;
      if (!(p = skip(q, out->fortran ? "True" : "False"))) return 0;
      seen |= 2;
    } else if ((q = skip(p, "'shape':")) && (q = skip(q, "("))) {
      if (!(p = parse_tuple(q, out))) return 0;
      seen |= 4;
    } else {
      return 0;
    }
    if ((q = skip(p, ","))) p = q;
  }
  return seen == 7 && !end[strspn(end, " \n")];
}

static void read_all(int fd, const char *path, void *data, size_t size) {
  for (char *at = data; size;) {
    ssize_t n = read(fd, at, size < (1u << 30) ? size : 1u << 30);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) die(NO_READ, "%s: %s", path, strerror(errno));
    if (!n) die(BAD_INPUT, "%s: the file is truncated", path);
    at += n;
    size -= (size_t)n;
  }
}

/* True for a dynamic dimension: any size up to its bound; run() checks that all inputs agree. */
static int is_open(const struct hone_io_info *io, int32_t d) {
  for (int32_t k = 0; io->slopes && k < HONE_ARTIFACT_SIZES; k++)
    if (io->slopes[k * io->rank + d]) return 1;
  return 0;
}

/* Checks the header and returns the offset of the payload; dims: the bounds, replaced by the
   actual dimensions. */
static size_t check_npy(int fd, const char *path, const struct hone_io_info *io,
                        const unsigned char *magic, size_t file_bytes, int64_t *dims) {
  size_t start = magic[6] == 1 ? 10 : 12, length = magic[8] | (size_t)magic[9] << 8;
  if (magic[6] == 2) length |= (size_t)magic[10] << 16 | (size_t)magic[11] << 24;
  if (magic[6] < 1 || magic[6] > 2 || magic[7] || length > HEADER_MAX ||
      length + start > file_bytes)
    die(BAD_INPUT, "%s: damaged .npy header", path);
  char text[HEADER_MAX + 1];
  if (lseek(fd, (off_t)start, SEEK_SET) < 0) die(NO_READ, "%s: %s", path, strerror(errno));
  read_all(fd, path, text, length);
  text[length] = 0;
  struct npy npy = {0};
  if (strlen(text) != length || !parse_header(text, &npy))
    die(BAD_INPUT, "%s: damaged .npy header", path);
  if (npy.fortran && npy.rank > 1)
    die(BAD_INPUT, "%s: Fortran order; save it with numpy.ascontiguousarray", path);
  const struct type *type = type_of(io);
  if (!npy.code[0] || !strchr("<|=", npy.code[0]) || strcmp(npy.code + 1, type->code))
    die(BAD_INPUT, "%s: element type is '%s', but the input needs %s ('<%s')", path, shown(npy.code),
        type->name, type->code);
  int same = npy.rank == io->rank;
  for (int32_t i = 0; same && i < npy.rank; i++) {
    if (is_open(io, i) && npy.dims[i] < io->dims[i]) dims[i] = npy.dims[i];
    same = npy.dims[i] == dims[i];
  }
  if (!same) {
    fprintf(stderr, "%s: %s: shape ", program, path);
    print_shape(stderr, npy.dims, npy.rank);
    fprintf(stderr, ", input \"%s\" needs ", shown(io->name));
    print_shape(stderr, io->dims, io->rank);
    fputc('\n', stderr);
    exit(BAD_INPUT);
  }
  return start + length;
}

/* The file size of raw elements determines one dynamic dimension, but not two. */
static void size_raw(const struct hone_io_info *io, size_t file_bytes, int64_t *dims) {
  int32_t open = -1;
  for (int32_t d = 0; d < io->rank; d++) {
    if (!is_open(io, d)) continue;
    if (open >= 0) return;
    open = d;
  }
  if (open < 0) return;
  size_t one = bytes_of(io, io->dims) / (size_t)io->dims[open];
  if (one && file_bytes % one == 0 && file_bytes / one < (size_t)io->dims[open])
    dims[open] = (int64_t)(file_bytes / one);
}

/* dims: the bounds, replaced by the actual dimensions. */
static void *read_input(const char *path, const struct hone_io_info *io, int64_t *dims) {
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    die(errno == ENOENT || errno == ENOTDIR ? NO_FILE : NO_READ, "%s: %s", path, strerror(errno));
  struct stat info;
  if (fstat(fd, &info) || !S_ISREG(info.st_mode)) die(NO_READ, "%s: not a regular file", path);
  size_t file_bytes = (size_t)info.st_size, offset = 0;
  unsigned char magic[12] = {0};
  read_all(fd, path, magic, file_bytes < sizeof magic ? file_bytes : sizeof magic);
  if (!memcmp(magic, "\x93NUMPY", 6))
    offset = check_npy(fd, path, io, magic, file_bytes, dims);
  else
    size_raw(io, file_bytes, dims);
  size_t bytes = bytes_of(io, dims);
  if (file_bytes - offset != bytes)
    die(BAD_INPUT, "%s: %zu bytes of data, but input \"%s\" needs %zu", path, file_bytes - offset,
        shown(io->name), bytes);
  if (lseek(fd, (off_t)offset, SEEK_SET) < 0) die(NO_READ, "%s: %s", path, strerror(errno));
  void *data = allocate(bytes);
  read_all(fd, path, data, bytes);
  close(fd);
  return data;
}

static int ends_in(const char *path, const char *ending) {
  size_t n = strlen(path), k = strlen(ending);
  return n >= k && !strcmp(path + n - k, ending);
}

static int is_folder(const char *path) {
  struct stat info;
  return !stat(path, &info) && S_ISDIR(info.st_mode);
}

/* A .npy file if it has that extension, else the raw elements. */
static void write_output(const char *path, const struct hone_io_info *io, const int64_t *dims,
                         const void *data) {
  char header[1024];
  const struct type *type = type_of(io);
  int n = snprintf(header, sizeof header, "%c%s', 'fortran_order': False, 'shape': (",
                   type->bytes == 1 ? '|' : '<', type->code);
  for (int32_t i = 0; i < io->rank; i++)
    n += snprintf(header + n, sizeof header - (size_t)n, "%lld%s", (long long)dims[i],
                  io->rank == 1      ? ","
                  : i + 1 < io->rank ? ", "
                                     : "");
  char text[1280];
  int length = snprintf(text, sizeof text, "{'descr': '%s), }", header);
  while ((10 + length + 1) % 64) text[length++] = ' ';
  text[length++] = '\n';
  unsigned char start[10] = {0x93,
                             'N',
                             'U',
                             'M',
                             'P',
                             'Y',
                             1,
                             0,
                             (unsigned char)(length & 255),
                             (unsigned char)(length >> 8)};
  size_t bytes = bytes_of(io, dims);
  FILE *file = fopen(path, "wb");
  if (!file) die(NO_WRITE, "%s: %s", path, strerror(errno));
  int is_raw = !ends_in(path, ".npy");
  int ok = (is_raw || (fwrite(start, 1, 10, file) == 10 &&
                       fwrite(text, 1, (size_t)length, file) == (size_t)length)) &&
           fwrite(data, 1, bytes, file) == bytes;
  int error = errno;
  struct stat info;
  int is_regular = !fstat(fileno(file), &info) && S_ISREG(info.st_mode);
  if (fclose(file) && ok) ok = 0, error = errno;
  if (ok) return;
  if (is_regular) remove(path);
  die(NO_WRITE, "%s: %s", path, strerror(error));
}

/* -- command line */

struct options {
  const char *folder; /* for outputs without their own file; NULL: the current folder */
  int32_t threads;
  long repeat;
  const char **words;
  int32_t word_count;
  const char *input_folder; /* NULL: the first arguments are the input files */
  const char **outputs;     /* one file each; NULL: outputs go to the folder */
};

static void print_io(FILE *file, const char *kind, const struct hone_io_info *io, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    fprintf(file, "  %s %d: \"%s\" %s", kind, (int)i, shown(io[i].name), type_of(&io[i])->name);
    print_bounds(file, &io[i]);
    fputc('\n', file);
  }
}

static void usage(FILE *file, const struct hone_artifact_info *info) {
  fprintf(file, "usage: %s", program);
  for (int32_t i = 0; i < info->input_count; i++)
    fprintf(file, info->input_count > 1 ? " IN%d" : " IN", (int)i);
  for (int32_t i = 0; i < info->output_count; i++)
    fprintf(file, info->output_count > 1 ? "%sOUT%d" : "%sOUT", i ? " " : " [", (int)i);
  fprintf(
      file,
      "] [-o DIR] [--threads N] [--repeat N]\n"
      "Runs the compiled model. A file is .npy, or else its raw little-endian elements. One "
      "folder\n"
      "in place of all inputs holds in_0.npy, ... or NAME.npy; one in place of all outputs gets\n"
      "output_0.npy, ...; an OUT without an extension is a folder.\n"
      "  -o DIR       folder for the outputs (default: .)\n"
      "  --threads N  (default: one per processor)\n"
      "  --repeat N   run N times and print the fastest and the median time, and the least CPU\n"
      "               time of a run, summed over all threads\n");
  print_io(file, "input", info->inputs, info->input_count);
  print_io(file, "output", info->outputs, info->output_count);
}

static long number(const char *option, const char *text, long max) {
  char *end = NULL;
  errno = 0;
  long n = text && text[0] >= '0' && text[0] <= '9' ? strtol(text, &end, 10) : 0;
  if (errno || !end || *end || n < 1 || n > max)
    die(USAGE, "%s needs a number from 1 to %ld", option, max);
  return n;
}

/* True for a name without an extension, or an existing folder. */
static int names_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  return is_folder(path) || !strrchr(slash ? slash : path, '.');
}

/* Splits the arguments into inputs and outputs. */
static void place(const struct hone_artifact_info *info, struct options *out) {
  int32_t in = info->input_count;
  if (out->word_count && info->input_count && is_folder(out->words[0])) {
    out->input_folder = out->words[0];
    in = 1;
  }
  int32_t more = out->word_count - in;
  if (more < 0) {
    usage(stderr, info);
    die(USAGE, "%d input files given, but the model has %d inputs", (int)out->word_count,
        (int)info->input_count);
  }
  if (!more) return;
  int is_one_folder = more == 1 && (info->output_count != 1 || names_folder(out->words[in]));
  if (!is_one_folder && more != info->output_count)
    die(USAGE, "%d files after the inputs, but the model has %d outputs (see --help)", (int)more,
        (int)info->output_count);
  if (out->folder) die(USAGE, "-o cannot be used with output files");
  if (is_one_folder)
    out->folder = out->words[in];
  else
    out->outputs = out->words + in;
}

static void parse(int argc, char **argv, const struct hone_artifact_info *info,
                  struct options *out) {
  for (int i = 1, plain = 0; i < argc; i++) {
    const char *a = argv[i], *next = argv[i + 1];
    if (plain || a[0] != '-') {
      out->words[out->word_count++] = a;
    } else if (!strcmp(a, "--")) {
      plain = 1;
    } else if (!strcmp(a, "-h") || !strcmp(a, "--help")) {
      usage(stdout, info);
      exit(fflush(stdout) ? NO_WRITE : 0);
    } else if (!strcmp(a, "-o")) {
      if (!next || !*next || strlen(next) > 4000) die(USAGE, "-o needs a folder");
      out->folder = next, i++;
    } else if (!strcmp(a, "--threads")) {
      out->threads = (int32_t)number(a, next, MAX_THREADS), i++;
    } else if (!strcmp(a, "--repeat")) {
      out->repeat = number(a, next, 1000000000), i++;
    } else {
      die(USAGE, "unknown option %s (see --help)", shown(a));
    }
  }
  place(info, out);
}

/* -- run */

/* The code was compiled for certain processor features; without them it would end by SIGILL. */
static void check_processor(uint32_t needed) {
  static const char *const names[32] = {"SSE4.2",
                                        "AVX",
                                        "AVX2",
                                        "FMA",
                                        "F16C",
                                        "AVX-512",
                                        "AVX-512 VNNI",
                                        "AVX-512 BF16",
                                        "AVX-512 FP16",
                                        "AMX",
                                        "AMX INT8",
                                        "AMX BF16",
                                        "AVX-VNNI",
                                        "BMI2",
                                        "AVX-512 VBMI",
                                        [20] = "NEON",
                                        [21] = "dot products",
                                        [22] = "i8mm",
                                        [23] = "bf16"};
  uint32_t missing = needed & ~processor_features();
  if (!missing) return;
  char list[512] = "";
  for (int i = 0; i < 32; i++) {
    if (!(missing >> i & 1)) continue;
    size_t n = strlen(list);
    snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", names[i] ? names[i] : "?");
  }
  die(MISSING, "compiled for a processor with features that this one lacks: %s", list);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void execute(const struct hone_artifact_info *info, const struct hone_io *io,
                    const struct hone_team *team, long repeat) {
  void *arena = allocate(info->arena_bytes);
  long kept = repeat < 100000 ? repeat : 100000; /* number of latest runs */
  double *times = allocate((size_t)kept * sizeof *times);
  double processor = 1e300; /* least CPU time of a run, over all threads */
  for (long i = 0; i < repeat; i++) {
    const double used = now_ms(CLOCK_PROCESS_CPUTIME_ID), start = now_ms(CLOCK_MONOTONIC);
    int32_t status = info->run(info->weights, arena, io, team);
    times[i % kept] = now_ms(CLOCK_MONOTONIC) - start;
    const double spent = now_ms(CLOCK_PROCESS_CPUTIME_ID) - used;
    if (spent < processor) processor = spent;
    if (status)
      die(status == 8 ? BAD_INPUT : FAILED, "the model failed with status %d%s", (int)status,
          status == 8 ? " (an index or shape out of range)" : "");
  }
  qsort(times, (size_t)kept, sizeof *times, ascending);
  if (repeat > 1)
    printf("%ld runs, %d threads: fastest %.6f ms, median %.6f ms, processor %.6f ms\n", repeat,
           (int)team->thread_count, times[0], times[kept / 2], processor);
  free(times);
  free(arena);
}

/* DIR/in_0.npy, or by the input's name. */
static const char *input_path(const struct options *options, const struct hone_io_info *io,
                              size_t i, char path[4200]) {
  if (!options->input_folder) return options->words[i];
  snprintf(path, 4200, "%.3900s/%.200s.npy", options->input_folder, io->name);
  if (strchr(io->name, '/') || access(path, F_OK))
    snprintf(path, 4200, "%.3900s/in_%zu.npy", options->input_folder, i);
  return path;
}

static const char *output_path(const struct options *options, size_t i, char path[4200]) {
  if (options->outputs) return options->outputs[i];
  snprintf(path, 4200, "%.4000s/output_%zu.npy", options->folder ? options->folder : ".", i);
  return path;
}

/* Refuses to overwrite an input. */
static void check_outputs(const struct hone_artifact_info *info, const struct options *options) {
  char path[4200];
  struct stat in, out;
  for (int32_t i = 0; options->outputs && i < info->output_count; i++)
    for (int32_t k = 0; k < info->input_count && !stat(options->outputs[i], &out); k++)
      if (!stat(input_path(options, &info->inputs[k], (size_t)k, path), &in) &&
          in.st_dev == out.st_dev && in.st_ino == out.st_ino)
        die(USAGE, "%s is an input file and cannot be an output", options->outputs[i]);
}

static void run(const struct hone_artifact_info *info, const struct options *options,
                const struct hone_team *team) {
  char path[4200];
  check_outputs(info, options);
  size_t in = (size_t)info->input_count, out = (size_t)info->output_count;
  const void **inputs = allocate(in * sizeof *inputs);
  void **outputs = allocate(out * sizeof *outputs);
  int64_t **dims = allocate(out * sizeof *dims), **input_dims = allocate(in * sizeof *input_dims);
  for (size_t i = 0; i < in; i++) {
    const struct hone_io_info *o = &info->inputs[i];
    input_dims[i] = allocate((size_t)o->rank * sizeof **input_dims);
    if (o->rank) memcpy(input_dims[i], o->dims, (size_t)o->rank * sizeof **input_dims);
    inputs[i] = read_input(input_path(options, o, i, path), o, input_dims[i]);
  }
  for (size_t i = 0; i < out; i++) {
    const struct hone_io_info *o = &info->outputs[i];
    size_t bytes = bytes_of(o, o->dims);
    outputs[i] = o->alias >= 0 && (size_t)o->alias < in ? (void *)(uintptr_t)inputs[o->alias]
                                                        : allocate(bytes);
    dims[i] = allocate((size_t)o->rank * sizeof **dims);
    if (o->rank) memcpy(dims[i], o->dims, (size_t)o->rank * sizeof **dims);
  }
  struct hone_io io = {inputs, outputs, (const int64_t *const *)input_dims, dims};
  execute(info, &io, team, options->repeat);
  if (options->folder && mkdir(options->folder, 0777) && errno != EEXIST)
    die(NO_WRITE, "%s: %s", options->folder, strerror(errno));
  for (size_t i = 0; i < out; i++) {
    const struct hone_io_info *o = &info->outputs[i];
    for (int32_t d = 0; d < o->rank; d++)
      if (dims[i][d] < 0 || dims[i][d] > o->dims[d]) die(FAILED, "output %zu has an invalid shape", i);
    write_output(output_path(options, i, path), o, dims[i], outputs[i]);
  }
}

int main(int argc, char **argv) {
  const struct hone_artifact_info *info = HONE_ARTIFACT();
  if (argc > 0 && argv[0]) program = argv[0];
  if (info->abi != HONE_ARTIFACT_ABI || (info->weights_bytes && !info->weights))
    die(FAILED, "this program was linked from parts of different builds");
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (processors < 1) processors = 1;
  struct options options = {.repeat = 1};
  options.threads = processors < MAX_THREADS ? (int32_t)processors : MAX_THREADS;
  options.words = allocate((size_t)(argc > 0 ? argc : 1) * sizeof *options.words);
  parse(argc, argv, info, &options);
  check_processor(info->flags);
  struct hone_team team = team_start(options.threads, processors);
  run(info, &options, &team);
  return fflush(stdout) ? NO_WRITE : 0;
}
