/* pt2_rows: graphs of torch.export, one row each, in the notation of pt2_case. A graph that is read
 * is run by the reference with inputs 0, 1, 2 .. and compared; a refusal must have the given
 * message. */
#ifndef HONE_PT2_ROWS_H
#define HONE_PT2_ROWS_H
#include "pt2_case.h"

enum { MOST = 32 };

/* "[2,3] 0 1 2 3 4 5": the first output of a graph whose inputs hold 0, 1, 2 .. */
static inline void run(struct loaded *l, char *out, size_t size) {
  double numbers[2 * MOST];
  hone_tensor inputs[4] = {0}, output = {0};
  assert_true(l->graph->inputs.count <= 4);
  for (size_t i = 0; i < l->graph->inputs.count; i++) {
    const struct value *value = l->graph->inputs.at[i];
    struct tensor *tensor;
    assert_int_equal(tensor_create(&l->ctx, l->arena, value->dtype, &value->shape, &tensor),
                     HONE_OK);
    for (size_t k = 0; k < tensor_count(tensor); k++) {
      if (dtype_is_float(value->dtype))
        tensor_set_f64(tensor, k, (double)k);
      else
        tensor_set_i64(tensor, k, (int64_t)k);
    }
    inputs[i] = (hone_tensor){
        .dtype = value->dtype, .rank = value->shape.rank, .data = (void *)(uintptr_t)tensor->data};
    memcpy(inputs[i].shape, value->shape.dims, sizeof value->shape.dims);
  }
  const struct value *y = l->graph->outputs.at[0];
  output = (hone_tensor){.dtype = y->dtype, .rank = y->shape.rank, .data = numbers};
  memcpy(output.shape, y->shape.dims, sizeof y->shape.dims);
  struct tensor view = {.dtype = y->dtype, .shape = y->shape, .data = numbers};
  assert_true(tensor_count(&view) <= MOST);
  hone_tensor outputs[4];
  double rest[4][2 * MOST];
  assert_true(l->graph->outputs.count <= 4);
  for (size_t k = 0; k < l->graph->outputs.count; k++) {
    const struct value *value = l->graph->outputs.at[k];
    outputs[k] = (hone_tensor){.dtype = value->dtype, .rank = value->shape.rank, .data = rest[k]};
    memcpy(outputs[k].shape, value->shape.dims, sizeof value->shape.dims);
  }
  outputs[0] = output;
  hone_status status = reference_run(&l->ctx, l->graph, inputs, outputs);
  if (status) print_error("%s\n", l->ctx.message);
  assert_int_equal(status, HONE_OK);
  size_t n = (size_t)snprintf(out, size, "[");
  for (int d = 0; d < y->shape.rank; d++)
    n += (size_t)snprintf(out + n, size - n, "%s%lld", d ? "," : "", (long long)y->shape.dims[d]);
  n += (size_t)snprintf(out + n, size - n, "]");
  for (size_t k = 0; k < tensor_count(&view); k++)
    n += (size_t)snprintf(
        out + n, size - n, " %g",
        dtype_is_float(y->dtype) ? tensor_f64(&view, k) : (double)tensor_i64(&view, k));
  assert_true(n < size);
}

struct row {
  const char *inputs, *nodes, *outputs;
  hone_status status;
  const char *says; /* the output of an accepted graph; NULL: any */
};

/* Says what is wrong with it. */
static inline bool is_right(const struct row *row) {
  struct buf bytes = archive_of(module_of(row->inputs, row->nodes, row->outputs), NULL, 0),
             copy = {0};
  put_raw(&copy, bytes.at, bytes.n);
  struct loaded l = load(&bytes, NULL);
  char got[600] = "";
  bool right = l.status == row->status && (!l.status || strstr(l.ctx.message, row->says));
  if (right && !l.status && row->says) {
    run(&l, got, sizeof got);
    right = !strcmp(got, row->says);
  }
  /* every row is read so as well */
  if (right)
    refuse_allocations(NULL, &copy, NULL, 20000, row->status);
  else
    print_error("%s: %s\n", row->nodes, l.status ? l.ctx.message : *got ? got : "was read");
  unload(&l);
  free(copy.at);
  return right;
}

static inline void check_all(const struct row *rows, size_t count) {
  size_t wrong = 0;
  for (size_t i = 0; i < count; i++) wrong += !is_right(&rows[i]);
  assert_int_equal(wrong, 0);
}

#endif
