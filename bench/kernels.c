/* Speed of kernels alone: compiles the problems of kernel_problems.def as the emitter would, and
 * prints for each the fastest of many runs: GFLOP/s and the share of the FMA peak measured in
 * between; and how many times as long other libraries' kernels take (kernel_peers.h), run in turn with hone's and
 * checked against its results. One thread; pin it from outside (taskset).
 *
 *   bench-kernels [--isa sse2|avx2|avx512] [--none] [--keep DIR] [FILTER]
 *   --none: without epilogue (default: bias and ReLU)    FILTER: only names that contain it
 *   --keep DIR: the C and the library stay there */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/os/os.h"
#include "compiler/kernels/reference.h"
#include "../tests/unit/kernel_snippet.h"
#include "kernel_peers.h"

struct bench_line {
  const char *name, *line;
};
static const struct bench_line built_in[] = {
#define PROBLEM(name, line) {name, line},
#include "kernel_problems.def"
#undef PROBLEM
};
enum { MOST = sizeof built_in / sizeof built_in[0] };

static const char peak_source[] =
    "float peak(long n);\nfloat peak(long n) {\n  vec a[12];\n"
    "  UNROLL for (int i = 0; i < 12; i++) a[i] = splat_((float)i);\n"
    "  vec x = splat_(0.999f), y = splat_(1e-3f);\n"
    "  __asm__ volatile(\"\" : \"+x\"(x), \"+x\"(y));\n"
    "  for (long k = 0; k < n; k++) UNROLL for (int i = 0; i < 12; i++) a[i] = a[i] * x + y;\n"
    "  UNROLL for (int i = 1; i < 12; i++) a[0] += a[i];\n  return a[0][0];\n}\n";

struct job {
  struct problem problem;
  const char *name;
  struct choice choice;
  kernel_function *run;
  float *a, *b, *c, *e[3], *scratch;
  long units;
  double best_ns;    /* all units */
  double half_ns[2]; /* the first and the second half of them: the shares of two threads */
  struct peer_job peers[PEERS]; /* run NULL: none for this problem */
  float *peer_c[PEERS];
  double peer_ns[PEERS];
};

static float *floats(int64_t count) {
  float *p = aligned_alloc(64, ((size_t)count * sizeof(float) + 4095) / 4096 * 4096 + 4096);
  if (!p) abort();
  for (int64_t i = 0; i < count; i++) p[i] = (float)(i * 7 % 13 - 6) * 0.125f;
  return p;
}

static void peers_open(struct job *job, bool epilogue) {
  for (int i = 0; i < PEERS; i++) {
    job->peer_ns[i] = 1e30;
    job->peer_c[i] = floats(problem_counts(&job->problem).c);
    if (!peers[i].name || !peers[i].open(&job->problem, job->a, job->b, epilogue ? job->e[0] : NULL,
                                         job->peer_c[i], &job->peers[i]))
      job->peers[i].run = NULL;
  }
}

static void job_open(struct job *job, const struct isa *isa, void *library, int index,
                     bool epilogue) {
  char name[32];
  snprintf(name, sizeof name, "run_%d", index);
  job->run = (kernel_function *)dlsym(library, name);
  const struct problem *p = &job->problem;
  struct operand_counts n = problem_counts(p);
  job->a = floats(n.a), job->c = floats(n.c), job->b = floats(n.b);
  for (int i = 0; i < 3; i++) job->e[i] = floats(n.columns);
  peers_open(job, epilogue);
  const struct choice *choice = &job->choice;
  const struct kernel *kernel = choice->kernel;
  if (kernel->pack) {
    float *packed =
        floats((int64_t)(kernel->packed_bytes(p, &isa->target, choice) / sizeof(float)));
    kernel->pack(p, &isa->target, choice, job->b, packed);
    job->b = packed;
  }
  size_t scratch =
      kernel->scratch_bytes ? kernel->scratch_bytes(p, &isa->target, choice) : sizeof(float);
  job->scratch = floats((int64_t)(scratch / sizeof(float)));
  job->units = (long)kernel->units(p, &isa->target, choice);
  job->best_ns = job->half_ns[0] = job->half_ns[1] = 1e30;
}

static double since(uint64_t start) { return (double)(clock_ns() - start); }

/* Runs units [begin, end); short jobs are repeated within one reading. */
static void job_time(struct job *job, long begin, long end, double *best_ns) {
  long repeat = *best_ns < 1e29 ? 1 + (long)(200e3 / *best_ns) : 1;
  uint64_t start = clock_ns();
  for (long i = 0; i < repeat; i++)
    job->run(job->a, job->b, job->c, (const void *const *)job->e, job->scratch, begin, end);
  double ns = since(start) / (double)repeat;
  if (ns < *best_ns) *best_ns = ns;
}

static void peer_time(struct job *job, int peer) {
  const struct peer_job *of = &job->peers[peer];
  const long repeat = job->peer_ns[peer] < 1e29 ? 1 + (long)(200e3 / job->peer_ns[peer]) : 1;
  uint64_t start = clock_ns();
  for (long i = 0; i < repeat; i++) of->run(of->of_peer);
  const double ns = since(start) / (double)repeat;
  if (ns < job->peer_ns[peer]) job->peer_ns[peer] = ns;
}

/* Ends the program where a peer's result is another than hone's: its time would mean nothing. */
static void peer_check(struct job *job, int peer, bool epilogue) {
  const struct problem *p = &job->problem;
  const struct peer_job *of = &job->peers[peer];
  if (of->finish) of->finish(of->of_peer);
  for (int64_t i = 0, count = problem_counts(p).c; i < count; i++) {
    double theirs = job->peer_c[peer][i];
    if (epilogue && peers[peer].spared_epilogue)
      theirs = fmax(theirs + job->e[0][problem_column(p, i)], 0);
    if (fabs(theirs - job->c[i]) <= 1e-3 * fmax(1, fabs(theirs))) continue;
    fprintf(stderr, "%s, element %ld: %g by %s, %g by hone\n", job->name, (long)i, theirs,
            peers[peer].name, (double)job->c[i]);
    exit(1);
  }
}

static void time_all(struct job *jobs, int count, float (*peak)(long), double *out_peak_ns) {
  *out_peak_ns = 1e30;
  volatile float sink = 0;
  for (int round = 0; round < 12; round++)
    for (int i = 0; i < count; i++) {
      uint64_t begin = clock_ns();
      long units = jobs[i].units;
      while (since(begin) < 6e6) job_time(&jobs[i], 0, units, &jobs[i].best_ns);
      job_time(&jobs[i], 0, units / 2, &jobs[i].half_ns[0]);
      job_time(&jobs[i], units / 2, units, &jobs[i].half_ns[1]);
      for (int k = 0; k < PEERS; k++)
        for (begin = clock_ns(); jobs[i].peers[k].run && since(begin) < 6e6;) peer_time(&jobs[i], k);
      uint64_t start = clock_ns();
      sink = peak(20000);
      if (since(start) < *out_peak_ns) *out_peak_ns = since(start);
    }
  (void)sink;
}

static void print_all(const struct job *jobs, int count, const struct isa *isa, double peak_ns) {
  double peak = 20000.0 * 12 * 2 * (isa->target.vector_bytes / 4) / peak_ns, total = 0;
  printf("%s, FMA peak %.1f GFLOP/s\n%-22s %10s %9s %7s %7s", isa->name, peak, "problem", "us",
         "GFLOP/s", "% peak", "% half");
  for (int k = 0; k < PEERS; k++)
    if (peers[k].name) printf(" %11s", peers[k].name);
  printf("  kernel\n");
  for (int i = 0; i < count; i++) {
    double flops = 2 * problem_macs(&jobs[i].problem) / jobs[i].best_ns;
    printf("%-22s %10.2f %9.1f %7.1f %7.1f", jobs[i].name, jobs[i].best_ns / 1e3, flops,
           100 * flops / peak, 100 * fmax(jobs[i].half_ns[0], jobs[i].half_ns[1]) / jobs[i].best_ns);
    for (int k = 0; k < PEERS; k++) {
      if (!peers[k].name) continue;
      if (jobs[i].peers[k].run)
        printf(" %10.2fx", jobs[i].peer_ns[k] / jobs[i].best_ns);
      else
        printf(" %11s", "");
    }
    printf("  %s\n", jobs[i].choice.kernel->name);
    total += jobs[i].best_ns;
  }
  printf("%-22s %10.2f\n", "sum", total / 1e3);
  for (int k = 0; k < PEERS; k++)
    if (peers[k].remedy) printf("not compared: %s\n", peers[k].remedy);
}

static int bench(const struct isa *isa, struct job *jobs, int count, const char *folder,
                 const char *epilogue) {
  struct ctx ctx;
  ctx_init(&ctx);
  struct strbuf text = {0};
  snippet_begin(&text, isa);
  strbuf_puts(&text, peak_source);
  for (int i = 0; i < count; i++)
    snippet_add(&text, isa, &jobs[i].problem, &jobs[i].choice, i,
                jobs[i].problem.kind == PROBLEM_layernorm ? NULL : epilogue);
  uint64_t start = clock_ns();
  if (snippet_compile(&ctx, isa, folder, "bench", &text)) {
    fprintf(stderr, "%s\n", ctx.message);
    return 1;
  }
  printf("compiled in %.0f ms\n", since(start) / 1e6);
  strbuf_deinit(&text);
  char path[4200];
  snprintf(path, sizeof path, "%s/bench.so", folder);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return 1;
  double peak_ns;
  for (int i = 0; i < count; i++) job_open(&jobs[i], isa, library, i, epilogue != NULL);
  time_all(jobs, count, (float (*)(long))dlsym(library, "peak"), &peak_ns);
  for (int i = 0; i < count * PEERS; i++)
    if (jobs[i / PEERS].peers[i % PEERS].run) peer_check(&jobs[i / PEERS], i % PEERS, epilogue != NULL);
  print_all(jobs, count, isa, peak_ns);
  return 0;
}

int main(int argc, char **argv) {
  const struct isa *isa = &isas[0];
  for (int i = 0; i < ISA_COUNT; i++)
    if (isa_runs_here(&isas[i])) isa = &isas[i];
  const char *epilogue = "max_((x) + load_lanes_((const float *)e[0] + (j), lanes), splat_(0.0f))", *filter = "";
  const char *keep = NULL;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--isa") && i + 1 < argc) {
      i++;
      for (int k = 0; k < ISA_COUNT; k++)
        if (!strcmp(isas[k].name, argv[i])) isa = &isas[k];
    } else if (!strcmp(argv[i], "--none")) {
      epilogue = NULL;
    } else if (!strcmp(argv[i], "--keep") && i + 1 < argc) {
      keep = argv[++i];
    } else {
      filter = argv[i];
    }
  }
  static struct job jobs[MOST];
  int count = 0;
  for (int i = 0; i < MOST; i++) {
    if (!strstr(built_in[i].name, filter)) continue;
    struct job *job = &jobs[count];
    job->name = built_in[i].name;
    if (!problem_parse(built_in[i].line, &job->problem)) {
      fprintf(stderr, "not a problem line: %s\n", built_in[i].line);
      return 2;
    }
    if (kernel_choose(&job->problem, &isa->target, &job->choice)) count++;
  }
  char folder[4096];
  struct ctx ctx;
  ctx_init(&ctx);
  if (!keep && dir_temporary(&ctx, folder)) return 1;
  int result = bench(isa, jobs, count, keep ? keep : folder, epilogue);
  if (!keep) dir_remove_tree(folder);
  return result;
}
