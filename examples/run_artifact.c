/* Compiles a model ahead of time, loads the result and runs it, with hone.h alone:
 *
 *   cc run_artifact.c -o run_artifact $(pkg-config --cflags --libs hone)
 *   ./run_artifact zoo:mlp mlp.so
 *
 * Every input is filled with a ramp from -1 to 1; the first values of every output are printed.
 */
#include <hone.h>

#include <stdio.h>
#include <stdlib.h>

struct tensors {
  hone_tensor *at;
  size_t count;
};

static size_t element_count(const hone_tensor *tensor) {
  size_t count = 1;
  for (int32_t i = 0; i < tensor->rank; i++) count *= (size_t)tensor->shape[i];
  return count;
}

/* This example runs models whose inputs and outputs are all float. */
static int allocate(hone_tensor *tensor) {
  if (tensor->dtype != HONE_F32) return fprintf(stderr, "an input or output is not float\n"), 0;
  tensor->data = calloc(element_count(tensor) + 1, sizeof(float));
  return tensor->data != NULL;
}

static int make_inputs(const hone_model *model, struct tensors *inputs) {
  inputs->count = hone_model_input_count(model);
  inputs->at = calloc(inputs->count + 1, sizeof *inputs->at);
  for (size_t i = 0; inputs->at && i < inputs->count; i++) {
    const char *name;
    if (hone_model_input(model, i, &name, &inputs->at[i]) || !allocate(&inputs->at[i])) return 0;
    size_t count = element_count(&inputs->at[i]);
    float *x = inputs->at[i].data;
    for (size_t k = 0; k < count; k++) x[k] = 2.0f * (float)k / (float)count - 1.0f;
  }
  return inputs->at != NULL;
}

static int make_outputs(const hone_model *model, struct tensors *outputs) {
  outputs->count = hone_model_output_count(model);
  outputs->at = calloc(outputs->count + 1, sizeof *outputs->at);
  for (size_t i = 0; outputs->at && i < outputs->count; i++) {
    const char *name;
    if (hone_model_output(model, i, &name, &outputs->at[i]) || !allocate(&outputs->at[i])) return 0;
  }
  return outputs->at != NULL;
}

static void print_outputs(const struct tensors *outputs) {
  for (size_t i = 0; i < outputs->count; i++) {
    size_t count = element_count(&outputs->at[i]);
    const float *y = outputs->at[i].data;
    printf("output %zu, %zu values:", i, count);
    for (size_t k = 0; k < count && k < 8; k++) printf(" %g", (double)y[k]);
    printf("%s\n", count > 8 ? " ..." : "");
  }
}

static void release(struct tensors *tensors) {
  for (size_t i = 0; tensors->at && i < tensors->count; i++) free(tensors->at[i].data);
  free(tensors->at);
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: %s MODEL ARTIFACT.so\n", argv[0]), 2;
  hone_context *context = NULL;
  hone_model *model = NULL;
  hone_artifact *artifact = NULL;
  struct tensors inputs = {NULL, 0}, outputs = {NULL, 0};
  int ok = 0;

  if (hone_context_create(&context)) return 1;
  hone_status status = hone_model_load(context, argv[1], NULL, &model);
  if (!status) status = hone_model_compile(context, model, NULL, argv[2]);
  if (!status) status = hone_artifact_open(context, argv[2], 0, &artifact);
  if (!status && make_inputs(model, &inputs) && make_outputs(model, &outputs)) {
    status =
        hone_artifact_run(context, artifact, inputs.at, inputs.count, outputs.at, outputs.count);
    ok = !status;
  }
  if (status) fprintf(stderr, "%s\n", hone_context_message(context));
  if (ok) print_outputs(&outputs);

  release(&inputs);
  release(&outputs);
  hone_artifact_close(artifact);
  hone_model_destroy(model);
  hone_context_destroy(context);
  return ok ? 0 : 1;
}
