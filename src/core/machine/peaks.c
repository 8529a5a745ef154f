/* Measured peaks: FMA rate and read bandwidth over the working set, with T threads pinned to the
 * first T allowed CPUs. "% of limit" divides by them, so each is the best of many short windows: a
 * window that another program disturbs is only too slow. No result exceeds what the instructions
 * can do per cycle; a chain of dependent additions counts the cycles meanwhile.
 *
 * All work runs in separate threads (the caller keeps its affinity), in lock step: each window
 * starts at a barrier and lasts until its slowest thread is done. A working set is split in equal
 * parts; each thread has written its own part (first touch), so that it has real pages and not the
 * shared zero page. */
#include "probes.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MAX_THREADS 1024
#define SMALLEST (256u << 10)
#define LARGEST (1ull << 30)
#define WINDOW_NS 2000000.0
#define PART_UNIT 4096u
#define CALIBRATIONS 8
#define MOST_LOOKS 8      /* repetitions of the cycle count, if a peak exceeds it */
#define CYCLES_SLACK 1.01 /* tolerance, because cycles are counted in other windows */

struct rig {
  const struct probe *probe;
  const struct flops_probe *flops; /* the probe that windows run now */
  int threads;
  uint64_t budget_ns;
  size_t part_bytes; /* of each thread, at the largest working set */
  pthread_mutex_t gate;
  pthread_barrier_t barrier;
  struct peaks *peaks;
  _Atomic bool failed;
  /* written by each thread between two barriers, read by thread 0 */
  struct lane {
    struct rig *rig;
    int index;
    pthread_t thread;
    double start_ns, end_ns;
    uint8_t *part;
    _Atomic uint64_t sink;
  } * lanes;
  /* decided by thread 0 */
  bool go_on, is_beyond;
  struct windows windows;
  double cycles; /* cycles per second of all lanes; 0: not measured */
  size_t bytes;  /* of each part, in this window */
};

/* The common window: from the first start to the last end. */
static double window_ns(const struct rig *rig) {
  double start = rig->lanes[0].start_ns, end = rig->lanes[0].end_ns;
  for (int i = 1; i < rig->threads; i++) {
    if (rig->lanes[i].start_ns < start) start = rig->lanes[i].start_ns;
    if (rig->lanes[i].end_ns > end) end = rig->lanes[i].end_ns;
  }
  return end > start ? end - start : 1;
}

static void fma_window(struct lane *lane) {
  lane->start_ns = (double)clock_ns();
  float sum = lane->rig->flops->run(lane->rig->windows.rounds);
  lane->end_ns = (double)clock_ns();
  atomic_store_explicit(&lane->sink, (uint64_t)(sum > 0), memory_order_relaxed);
}

static void read_window(struct lane *lane) {
  uint64_t sum = 0;
  lane->start_ns = (double)clock_ns();
  for (long i = 0; i < lane->rig->windows.rounds; i++)
    sum ^= lane->rig->probe->read(lane->part, lane->rig->bytes);
  lane->end_ns = (double)clock_ns();
  atomic_store_explicit(&lane->sink, sum, memory_order_relaxed);
}

void windows_add(struct windows *windows, double ns) {
  if (ns < WINDOW_NS / 2 && windows->calibrations < CALIBRATIONS && windows->rounds < 1l << 40) {
    const double factor = fmin(1000, WINDOW_NS / ns);
    windows->rounds = (long)((double)windows->rounds * factor) + 1;
    windows->calibrations++;
    windows->best_ns = 0;
    windows->count = 0;
    return;
  }
  if (!windows->count++ || ns < windows->best_ns) windows->best_ns = ns;
}

/* Runs windows until the time is over, at least `least` with the same number of rounds; returns the
 * fastest. Called by all threads; thread 0 has the result. */
static double best_window(struct lane *lane, void (*window)(struct lane *), uint64_t time_ns,
                          int least) {
  struct rig *rig = lane->rig;
  const uint64_t start = clock_ns();
  for (;;) {
    pthread_barrier_wait(&rig->barrier);
    window(lane);
    pthread_barrier_wait(&rig->barrier);
    if (lane->index == 0) {
      windows_add(&rig->windows, window_ns(rig));
      rig->go_on = rig->windows.count < least || clock_ns() - start < time_ns;
    }
    pthread_barrier_wait(&rig->barrier);
    if (!rig->go_on) return rig->windows.best_ns;
  }
}

/* Work per second of all lanes; thread 0 has the result. */
static double measure_rate(struct lane *lane, const struct flops_probe *probe, uint64_t time_ns,
                           int least) {
  struct rig *rig = lane->rig;
  if (lane->index == 0) {
    rig->windows = (struct windows){.rounds = 1000};
    rig->flops = probe;
  }
  const double ns = best_window(lane, fma_window, time_ns, least);
  return (double)rig->windows.rounds * probe->flops_per_round * rig->threads / (ns * 1e-9);
}

/* Cycles per second of all lanes: the highest measured. A peak above what they allow requests
 * another measurement. */
static void measure_cycles(struct lane *lane, double rate, double per_cycle) {
  struct rig *rig = lane->rig;
  for (int i = 0; probe_cycles() && i < MOST_LOOKS; i++) {
    const double found = measure_rate(lane, probe_cycles(), 0, 3);
    if (lane->index == 0) {
      rig->cycles = fmax(rig->cycles, found);
      rig->is_beyond = rate > rig->cycles * per_cycle;
    }
    pthread_barrier_wait(&rig->barrier);
    if (!rig->is_beyond) return;
  }
}

/* Limits a rate to what the instructions can do: the clock of a virtual machine may stop. */
static double bounded(const struct rig *rig, double rate, double per_cycle) {
  return rig->cycles > 0 ? fmin(rate, rig->cycles * per_cycle * CYCLES_SLACK) : rate;
}

static double measure_flops(struct lane *lane, const struct flops_probe *probe, uint64_t time_ns) {
  const double rate = measure_rate(lane, probe, time_ns, 5);
  measure_cycles(lane, rate, probe->flops_per_cycle);
  return bounded(lane->rig, rate, probe->flops_per_cycle);
}

static void measure_peaks(struct lane *lane) {
  struct rig *rig = lane->rig;
  const struct flops_probe *bf16 = probe_bf16();
  const uint64_t time_ns = rig->budget_ns * 2 / 5 / (bf16 ? 2 : 1);
  const double f32_flops = measure_flops(lane, &rig->probe->fma, time_ns);
  const double bf16_flops = bf16 ? measure_flops(lane, bf16, time_ns) : f32_flops;
  if (lane->index) return;
  rig->peaks->f32_flops = f32_flops;
  rig->peaks->bf16_flops = bf16_flops;
}

static void measure_bandwidth(struct lane *lane) {
  struct rig *rig = lane->rig;
  size_t most = rig->part_bytes * (size_t)rig->threads;
  int points = 0;
  for (size_t set = SMALLEST; set <= most && points < 16; set *= 2) points++;
  int point = 0;
  for (size_t set = SMALLEST; point < points; set *= 2, point++) {
    if (lane->index == 0) {
      rig->bytes = set / (size_t)rig->threads / PART_UNIT * PART_UNIT;
      if (rig->bytes < PART_UNIT) rig->bytes = PART_UNIT;
      rig->windows = (struct windows){.rounds = 1};
    }
    uint64_t time = rig->budget_ns * 3 / 5 / (uint64_t)(points ? points : 1);
    double ns = best_window(lane, read_window, time, 3);
    if (lane->index) continue;
    double bytes = (double)rig->bytes * rig->threads;
    rig->peaks->bandwidth[point].bytes = (double)set;
    rig->peaks->bandwidth[point].bytes_per_s =
        bounded(rig, bytes * (double)rig->windows.rounds / (ns * 1e-9), READ_BYTES_PER_CYCLE);
    rig->peaks->bandwidth_count = point + 1;
  }
}

static void pin_lane(const struct lane *lane) {
  cpu_set_t *one = CPU_ALLOC(1 << 16);
  size_t bytes = CPU_ALLOC_SIZE(1 << 16);
  int cpu = allowed_cpu(lane->index);
  if (one && cpu >= 0) {
    CPU_ZERO_S(bytes, one);
    CPU_SET_S((size_t)cpu, bytes, one);
    pthread_setaffinity_np(pthread_self(), bytes, one);
  }
  if (one) CPU_FREE(one);
}

static void *measure(void *argument) {
  struct lane *lane = argument;
  struct rig *rig = lane->rig;
  pthread_mutex_lock(&rig->gate);
  pthread_mutex_unlock(&rig->gate);
  if (atomic_load(&rig->failed)) return NULL;
  pin_lane(lane);
  void *part =
      mmap(NULL, rig->part_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (part == MAP_FAILED) {
    atomic_store(&rig->failed, true);
  } else {
    madvise(part, rig->part_bytes, MADV_HUGEPAGE);
    memset(part, 1, rig->part_bytes);
    lane->part = part;
  }
  pthread_barrier_wait(&rig->barrier);
  if (!atomic_load(&rig->failed)) { /* the same result for all: it was set before the barrier */
    measure_peaks(lane);
    measure_bandwidth(lane);
  }
  if (part != MAP_FAILED) munmap(part, rig->part_bytes);
  return NULL;
}

/* Cost of a call through a pointer: the smallest time that can be measured. */
static __attribute__((noinline)) void empty_call(void) { __asm__ volatile("" ::: "memory"); }

static double call_floor_ns(void) {
  void (*volatile call)(void) = empty_call;
  double best = 0;
  for (int n = 0; n < 20; n++) {
    uint64_t start = clock_ns();
    for (int i = 0; i < 1000; i++) call();
    double ns = (double)(clock_ns() - start) / 1000;
    if (!n || ns < best) best = ns;
  }
  return best;
}

/* Threads wait for each other, so none starts before all of them exist. */
static hone_status run_lanes(struct ctx *ctx, struct rig *rig) {
  int started = 0, error = 0;
  pthread_mutex_lock(&rig->gate);
  while (started < rig->threads && !error) {
    rig->lanes[started] = (struct lane){.rig = rig, .index = started};
    error = pthread_create(&rig->lanes[started].thread, NULL, measure, &rig->lanes[started]);
    if (!error) started++;
  }
  if (error) atomic_store(&rig->failed, true);
  pthread_mutex_unlock(&rig->gate);
  for (int i = 0; i < started; i++) pthread_join(rig->lanes[i].thread, NULL);
  if (error)
    return fail(ctx, HONE_E_OOM, place_none(), "cannot start %d threads: %s", rig->threads,
                strerror(error));
  if (atomic_load(&rig->failed))
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for %zu bytes to measure with",
                rig->part_bytes * (size_t)rig->threads);
  return HONE_OK;
}

/* The largest working set, a power of two: 1 GiB, a quarter of the memory, or what the budget has
 * time to touch: a virtual machine's new pages take about 1 s per GB. */
static size_t largest_set(uint64_t budget_ns) {
  uint64_t limit = usable_ram_bytes() / 4;
  if (budget_ns < limit) limit = budget_ns;
  size_t set = SMALLEST;
  while (set * 2 <= limit && set * 2 <= LARGEST) set *= 2;
  return set;
}

hone_status peaks_measure(struct ctx *ctx, int threads, uint64_t budget_ns, struct peaks *out) {
  memset(out, 0, sizeof *out);
  if (threads < 1 || threads > MAX_THREADS)
    return fail(ctx, HONE_E_USAGE, place_none(), "%d threads: 1 to %d are possible", threads,
                MAX_THREADS);
  struct rig rig = {
      .probe = probe_best(), .threads = threads, .budget_ns = budget_ns, .peaks = out};
  rig.part_bytes =
      (largest_set(budget_ns) / (size_t)threads + PART_UNIT - 1) / PART_UNIT * PART_UNIT;
  rig.lanes = calloc((size_t)threads, sizeof *rig.lanes);
  if (!rig.lanes) return fail(ctx, HONE_E_OOM, place_none(), "no memory for %d threads", threads);
  pthread_mutex_init(&rig.gate, NULL);
  pthread_barrier_init(&rig.barrier, NULL, (unsigned)threads);
  hone_status status = run_lanes(ctx, &rig);
  pthread_barrier_destroy(&rig.barrier);
  pthread_mutex_destroy(&rig.gate);
  free(rig.lanes);
  out->copy_floor_ns = call_floor_ns();
  return status;
}

double peaks_bandwidth(const struct peaks *peaks, double bytes) {
  int n = peaks->bandwidth_count;
  if (n < 1) return 0;
  const struct bandwidth_point *p = peaks->bandwidth;
  if (!(bytes > p[0].bytes)) return p[0].bytes_per_s;
  if (bytes >= p[n - 1].bytes) return p[n - 1].bytes_per_s;
  int i = 1;
  while (bytes > p[i].bytes) i++;
  double share = log2(bytes / p[i - 1].bytes) / log2(p[i].bytes / p[i - 1].bytes);
  return p[i - 1].bytes_per_s + share * (p[i].bytes_per_s - p[i - 1].bytes_per_s);
}

void peaks_raise(struct peaks *peaks, const struct peaks *other) {
  if (other->f32_flops > peaks->f32_flops) peaks->f32_flops = other->f32_flops;
  if (other->bf16_flops > peaks->bf16_flops) peaks->bf16_flops = other->bf16_flops;
  for (int i = 0; i < peaks->bandwidth_count && i < other->bandwidth_count; i++)
    if (other->bandwidth[i].bytes_per_s > peaks->bandwidth[i].bytes_per_s)
      peaks->bandwidth[i].bytes_per_s = other->bandwidth[i].bytes_per_s;
}
