/* Maps the steps of a plan to the nodes of the original model, with their work. Passes do not
 * rename values that stay, so a step is found by the value that it writes. A node that writes none
 * (it was fused, or became a view) belongs to the first step that reads its result.
 */
#include "pipeline.h"

#include <stdlib.h>

struct named {
  const char *name;
  size_t node;
};

struct node_map {
  struct ctx *ctx;
  struct arena *arena;
  const struct graph *graph;
  struct named *names; /* of the nodes' outputs, sorted */
  size_t name_count;
  int64_t *step_of; /* by node; -1: none */
};

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static hone_status collect_names(struct node_map *m) {
  const struct graph *graph = m->graph;
  TRY(NEW_ARRAY(m->ctx, m->arena, m->names, graph->values.count));
  for (size_t i = 0; i < graph->nodes.count; i++)
    for (size_t k = 0; k < graph->nodes.at[i]->output_count; k++) {
      const struct value *value = graph->nodes.at[i]->outputs[k];
      if (value && m->name_count < graph->values.count)
        m->names[m->name_count++] = (struct named){value->name, i};
    }
  if (m->name_count) qsort(m->names, m->name_count, sizeof *m->names, by_name);
  return HONE_OK;
}

static void assign_writers(struct node_map *m, const struct plan *plan) {
  for (size_t i = 0; i < m->graph->nodes.count; i++) m->step_of[i] = -1;
  for (size_t s = 0; s < plan->steps.count; s++) {
    struct named key = {plan->steps.at[s]->value, 0};
    const struct named *found = key.name && m->name_count
                                    ? bsearch(&key, m->names, m->name_count, sizeof key, by_name)
                                    : NULL;
    if (found) m->step_of[found->node] = (int64_t)s; /* the last one: copies come before it */
  }
}

/* From the end, so that readers are known before producers. */
static hone_status assign_others(struct node_map *m) {
  const struct graph *graph = m->graph;
  int64_t *reader; /* by value: the first step that reads it */
  TRY(NEW_ARRAY(m->ctx, m->arena, reader, graph->values.count));
  for (size_t i = 0; i < graph->values.count; i++) reader[i] = -1;
  for (size_t i = graph->nodes.count; i-- > 0;) {
    const struct node *node = graph->nodes.at[i];
    int64_t step = m->step_of[i];
    for (size_t k = 0; k < node->output_count && step < 0; k++)
      if (graph_owns(graph, node->outputs[k])) step = reader[node->outputs[k]->index];
    if (node_is_known(node)) step = -1;
    m->step_of[i] = step;
    for (size_t k = 0; k < node->input_count && step >= 0; k++) {
      if (!graph_owns(graph, node->inputs[k])) continue;
      int64_t *at = &reader[node->inputs[k]->index];
      if (*at < 0 || step < *at) *at = step;
    }
  }
  return HONE_OK;
}

static hone_status hand_out(struct node_map *m, struct compile_profile *out) {
  for (size_t i = 0; i < m->graph->nodes.count; i++)
    if (m->step_of[i] >= 0) out->steps[m->step_of[i]].node_count++;
  for (size_t s = 0; s < out->step_count; s++) {
    TRY(NEW_ARRAY(m->ctx, out->arena, out->steps[s].nodes, out->steps[s].node_count));
    out->steps[s].node_count = 0;
  }
  for (size_t i = 0; i < m->graph->nodes.count; i++) {
    const struct node *node = m->graph->nodes.at[i];
    if (m->step_of[i] < 0) continue;
    struct profiled_step *step = &out->steps[m->step_of[i]];
    struct profiled_node one = {.op = node->op->name, .index = node->index};
    TRY(arena_string(m->ctx, out->arena, node->name, strlen(node->name), &one.name));
    step->nodes[step->node_count++] = one;
  }
  return HONE_OK;
}

static hone_status copy_text(struct ctx *ctx, struct arena *arena, struct strbuf *text,
                             const char **out) {
  hone_status status = strbuf_finish(ctx, text);
  if (!status) status = arena_string(ctx, arena, text->at ? text->at : "", text->length, out);
  strbuf_deinit(text);
  return status;
}

static hone_status describe_step(struct ctx *ctx, const struct step *step, struct arena *arena,
                                 struct profiled_step *out) {
  char line[1024] = "", choice[1024] = "";
  struct strbuf shape = {0};
  if (step->kind == STEP_KERNEL || step->kind == STEP_PACK) {
    problem_print(line, sizeof line, &step->problem);
    choice_print(choice, sizeof choice, &step->choice);
  }
  for (size_t k = 0; k < step->output_count; k++)
    if (step->outputs[k].buffer) shape_print(&shape, &step->outputs[k].shape);
  out->kind = step_kind_name(step);
  out->op = step->op ? step->op->name : "layout";
  out->serial = step->serial;
  step_work(step, &out->work);
  TRY(copy_text(ctx, arena, &shape, &out->shape));
  TRY(arena_string(ctx, arena, line, strlen(line), &out->problem));
  return arena_string(ctx, arena, choice, strlen(choice), &out->choice);
}

hone_status describe_steps(struct ctx *ctx, const struct graph *model, const struct plan *plan,
                           struct compile_profile *out) {
  size_t bytes;
  struct node_map m = {.ctx = ctx, .arena = out->arena, .graph = model};
  emit_profile_layout(plan, out->threads, &out->offset, &bytes);
  out->weights_bytes = (double)plan->weights_bytes;
  out->arena_bytes = (double)plan->arena_bytes;
  out->step_count = plan->steps.count;
  TRY(NEW_ARRAY(ctx, out->arena, out->steps, out->step_count));
  for (size_t s = 0; s < out->step_count; s++)
    TRY(describe_step(ctx, plan->steps.at[s], out->arena, &out->steps[s]));
  TRY(NEW_ARRAY(ctx, out->arena, m.step_of, model->nodes.count));
  TRY(collect_names(&m));
  assign_writers(&m, plan);
  TRY(assign_others(&m));
  return hand_out(&m, out);
}
