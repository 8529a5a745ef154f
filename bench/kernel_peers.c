/* oneDNN 2 (https://oneapi-src.github.io/oneDNN) and OpenBLAS (https://www.openblas.net). oneDNN has its weights in the
 * layout that it asks for and its bias and ReLU fused, as hone has; once with hone's layouts of a and c and once with its own,
 * whose reorders are not timed. OpenBLAS packs in every call and has no epilogue: it is spared bias and ReLU. */
#include "kernel_peers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#if __has_include(<dnnl.h>)
#include <dnnl_version.h>
#if DNNL_VERSION_MAJOR == 2
#define HAS_DNNL
#endif
#endif
#if __has_include(<cblas.h>)
#include <cblas.h>
#endif

#ifdef HAS_DNNL
#include <dnnl.h>

static void check(dnnl_status_t status, const char *what) {
  if (status == dnnl_success) return;
  fprintf(stderr, "oneDNN: %s ended with status %d\n", what, (int)status);
  exit(1);
}
#define CHECK(call) check(call, #call)

enum { SRC, WEIGHTS, DST, ROLES };

struct dnnl_job {
  dnnl_stream_t stream;
  dnnl_primitive_t primitive;
  dnnl_exec_arg_t args[4];
  int arg_count;
  dnnl_memory_t given[ROLES], own[ROLES]; /* the problem's layout, and what the primitive reads or writes */
};

static dnnl_engine_t engine(void) {
  static dnnl_engine_t made;
  if (made) return made;
  void (*set_threads)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "omp_set_num_threads");
  if (set_threads) set_threads(1);
  CHECK(dnnl_engine_create(&made, dnnl_cpu, 0));
  return made;
}

static void move(struct dnnl_job *job, dnnl_memory_t from, dnnl_memory_t to) {
  if (from == to) return;
  const dnnl_memory_desc_t *a, *b;
  CHECK(dnnl_memory_get_memory_desc(from, &a));
  CHECK(dnnl_memory_get_memory_desc(to, &b));
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t reorder;
  CHECK(dnnl_reorder_primitive_desc_create(&desc, a, engine(), b, engine(), NULL));
  CHECK(dnnl_primitive_create(&reorder, desc));
  const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  CHECK(dnnl_primitive_execute(reorder, job->stream, 2, args));
  CHECK(dnnl_stream_wait(job->stream));
  CHECK(dnnl_primitive_destroy(reorder));
  CHECK(dnnl_primitive_desc_destroy(desc));
}

static void dnnl_run(void *of_peer) {
  struct dnnl_job *job = of_peer;
  dnnl_primitive_execute(job->primitive, job->stream, job->arg_count, job->args);
  dnnl_stream_wait(job->stream);
}

static void dnnl_finish(void *of_peer) {
  struct dnnl_job *job = of_peer;
  move(job, job->own[DST], job->given[DST]);
}

/* Shapes and strides of the three operands in oneDNN's order of dimensions: batch or image, channels, rows, columns. */
struct shapes {
  int ranks[ROLES];
  dnnl_dims_t dims[ROLES], strides[ROLES];
};

static void set_shape(struct shapes *s, int role, int rank, const int64_t *dims,
                      const int64_t *strides) {
  s->ranks[role] = rank;
  for (int i = 0; i < rank; i++) s->dims[role][i] = dims[i], s->strides[role][i] = strides[i];
}

static bool product_shapes(const struct problem *p, struct shapes *s) {
  const int64_t batch = p->batch1 > 1 ? p->batch1 : 1;
  if (p->batch0 > 1) return false;
  set_shape(s, SRC, 3, (int64_t[]){batch, p->m, p->k},
            (int64_t[]){batch > 1 ? p->a_batch1 : p->m * p->a_row, p->a_row, 1});
  set_shape(s, WEIGHTS, 3, (int64_t[]){batch, p->k, p->n},
            (int64_t[]){batch > 1 ? p->b_batch1 : p->k * p->n, p->b_row, p->b_column});
  set_shape(s, DST, 3, (int64_t[]){batch, p->m, p->n},
            (int64_t[]){batch > 1 ? p->c_batch1 : p->m * p->c_row, p->c_row, 1});
  return true;
}

static void window_shapes(const struct problem *p, struct shapes *s) {
  const int64_t groups = p->kind == PROBLEM_depthwise ? p->ic : 1, window = p->kh * p->kw;
  const int64_t images = p->images > 1 ? p->images : 1;
  set_shape(s, SRC, 4, (int64_t[]){images, p->ic, p->ih, p->iw},
            (int64_t[]){p->i_image, 1, p->i_row, p->i_pixel});
  set_shape(s, DST, 4, (int64_t[]){images, p->oc, p->oh, p->ow},
            (int64_t[]){p->o_image, 1, p->o_row, p->o_pixel});
  const int64_t ic = p->ic / groups, dims[] = {groups, p->oc / groups, ic, p->kh, p->kw};
  const int64_t strides[] = {p->oc / groups * ic * window, ic * window, window, p->kw, 1};
  const int skipped = groups == 1;
  set_shape(s, WEIGHTS, 5 - skipped, dims + skipped, strides + skipped);
}

static dnnl_primitive_desc_t describe(const struct problem *p, const dnnl_memory_desc_t d[ROLES],
                                      const dnnl_memory_desc_t *bias) {
  dnnl_primitive_attr_t attr;
  dnnl_post_ops_t after;
  CHECK(dnnl_primitive_attr_create(&attr));
  CHECK(dnnl_post_ops_create(&after));
  if (bias) CHECK(dnnl_post_ops_append_eltwise(after, 1, dnnl_eltwise_relu, 0, 0));
  CHECK(dnnl_primitive_attr_set_post_ops(attr, after));
  dnnl_matmul_desc_t product;
  dnnl_convolution_desc_t windows;
  const void *what = &product;
  if (p->kind == PROBLEM_gemm) {
    CHECK(dnnl_matmul_desc_init(&product, &d[SRC], &d[WEIGHTS], bias, &d[DST]));
  } else {
    const int64_t bottom = (p->oh - 1) * p->sh + (p->kh - 1) * p->dh + 1 - p->ih - p->pt;
    const int64_t right = (p->ow - 1) * p->sw + (p->kw - 1) * p->dw + 1 - p->iw - p->pl;
    what = &windows;
    CHECK(dnnl_dilated_convolution_forward_desc_init(
        &windows, dnnl_forward_inference, dnnl_convolution_auto, &d[SRC], &d[WEIGHTS], bias,
        &d[DST], (dnnl_dims_t){p->sh, p->sw}, (dnnl_dims_t){p->dh - 1, p->dw - 1},
        (dnnl_dims_t){p->pt, p->pl}, (dnnl_dims_t){bottom, right}));
  }
  dnnl_primitive_desc_t made = NULL;
  if (dnnl_primitive_desc_create(&made, what, attr, engine(), NULL) != dnnl_success) made = NULL;
  CHECK(dnnl_post_ops_destroy(after));
  CHECK(dnnl_primitive_attr_destroy(attr));
  return made;
}

static bool open_dnnl(const struct problem *p, bool own_layouts, const float *const data[ROLES],
                      const float *bias, struct peer_job *out) {
  const bool product = p->kind == PROBLEM_gemm;
  if (!product && p->kind != PROBLEM_conv && p->kind != PROBLEM_depthwise) return false;
  if (p->types.a != TYPE_F32 || p->types.b != TYPE_F32 || p->groups > 1) return false;
  struct shapes s;
  if (product && !product_shapes(p, &s)) return false;
  if (!product) window_shapes(p, &s);
  dnnl_memory_desc_t given[ROLES], asked[ROLES], bias_desc;
  for (int i = 0; i < ROLES; i++) {
    CHECK(dnnl_memory_desc_init_by_strides(&given[i], s.ranks[i], s.dims[i], dnnl_f32, s.strides[i]));
    asked[i] = given[i];
    if (i == WEIGHTS || own_layouts)
      CHECK(dnnl_memory_desc_init_by_tag(&asked[i], s.ranks[i], s.dims[i], dnnl_f32,
                                         dnnl_format_tag_any));
  }
  CHECK(dnnl_memory_desc_init_by_tag(&bias_desc, product ? 3 : 1,
                                     product ? (dnnl_dims_t){1, 1, p->n} : (dnnl_dims_t){p->oc},
                                     dnnl_f32, product ? dnnl_abc : dnnl_a));
  dnnl_primitive_desc_t desc = describe(p, asked, bias ? &bias_desc : NULL);
  if (!desc) return false;
  struct dnnl_job *job = calloc(1, sizeof *job);
  if (!job) abort();
  CHECK(dnnl_stream_create(&job->stream, engine(), dnnl_stream_in_order));
  CHECK(dnnl_primitive_create(&job->primitive, desc));
  static const dnnl_query_t queries[] = {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md};
  static const int names[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
  for (int i = 0; i < ROLES; i++) {
    const dnnl_memory_desc_t *chosen = dnnl_primitive_desc_query_md(desc, queries[i], 0);
    CHECK(dnnl_memory_create(&job->given[i], &given[i], engine(), (void *)(uintptr_t)data[i]));
    job->own[i] = job->given[i];
    if (!dnnl_memory_desc_equal(chosen, &given[i])) {
      CHECK(dnnl_memory_create(&job->own[i], chosen, engine(), DNNL_MEMORY_ALLOCATE));
      move(job, job->given[i], job->own[i]);
    }
    job->args[job->arg_count++] = (dnnl_exec_arg_t){names[i], job->own[i]};
  }
  if (bias) {
    dnnl_memory_t memory;
    CHECK(dnnl_memory_create(&memory, &bias_desc, engine(), (void *)(uintptr_t)bias));
    job->args[job->arg_count++] = (dnnl_exec_arg_t){DNNL_ARG_BIAS, memory};
  }
  CHECK(dnnl_primitive_desc_destroy(desc));
  *out = (struct peer_job){job, dnnl_run, dnnl_finish};
  return true;
}

static bool open_dnnl_given(const struct problem *p, const float *a, const float *b,
                            const float *bias, float *c, struct peer_job *out) {
  return open_dnnl(p, false, (const float *[]){a, b, c}, bias, out);
}

static bool open_dnnl_own(const struct problem *p, const float *a, const float *b, const float *bias,
                          float *c, struct peer_job *out) {
  return open_dnnl(p, true, (const float *[]){a, b, c}, bias, out);
}
#endif

#ifdef OPENBLAS_THREAD

struct blas_job {
  const struct problem *problem;
  const float *a, *b;
  float *c;
};

static __typeof__(cblas_sgemm) *sgemm;

/* Loaded late: it chooses its kernels when it is loaded, and the plainest ones for processors that are newer than it. */
static bool load_blas(void) {
  if (sgemm) return true;
  const char *core = __builtin_cpu_supports("avx512f") ? "SkylakeX" : "Haswell";
  if (__builtin_cpu_supports("avx2") && setenv("OPENBLAS_CORETYPE", core, 0)) abort();
  if (setenv("OPENBLAS_NUM_THREADS", "1", 1)) abort();
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library) sgemm = (__typeof__(cblas_sgemm) *)dlsym(library, "cblas_sgemm");
  return sgemm;
}

static void blas_run(void *of_peer) {
  const struct blas_job *job = of_peer;
  const struct problem *p = job->problem;
  for (int64_t i = 0; i < (p->batch1 > 1 ? p->batch1 : 1); i++)
    sgemm(CblasRowMajor, CblasNoTrans, p->b_column == 1 ? CblasNoTrans : CblasTrans,
                (blasint)p->m, (blasint)p->n, (blasint)p->k, 1, job->a + i * p->a_batch1,
                (blasint)p->a_row, job->b + i * p->b_batch1,
                (blasint)(p->b_column == 1 ? p->b_row : p->b_column), 0, job->c + i * p->c_batch1,
                (blasint)p->c_row);
}

static bool open_blas(const struct problem *p, const float *a, const float *b, const float *bias,
                      float *c, struct peer_job *out) {
  (void)bias;
  if (p->kind != PROBLEM_gemm || p->types.a != TYPE_F32 || p->types.b != TYPE_F32 || p->batch0 > 1)
    return false;
  if (!load_blas()) return false;
  struct blas_job *job = malloc(sizeof *job);
  if (!job) abort();
  *job = (struct blas_job){p, a, b, c};
  *out = (struct peer_job){job, blas_run, NULL};
  return true;
}
#endif

const struct peer peers[PEERS] = {
#ifdef HAS_DNNL
    {"oneDNN", NULL, false, open_dnnl_given},
    {"its layouts", NULL, false, open_dnnl_own},
#else
    {NULL, "oneDNN 2 (apt-get install libdnnl-dev)", false, NULL},
    {NULL, NULL, false, NULL},
#endif
#ifdef OPENBLAS_THREAD
    {"OpenBLAS", NULL, true, open_blas},
#else
    {NULL, "OpenBLAS (apt-get install libopenblas-dev)", false, NULL},
#endif
};
