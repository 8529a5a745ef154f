/* sequence_inputs: model inputs that are sequences or optionals. --shape gives the number and
 * shapes of their tensors ("x.0[2,3],x.1[4]"; an optional tensor "x[2,3]"): these become the
 * model's inputs, and nodes build the list from them for inference to resolve. */
#include "onnx.h"

static bool is_list(const struct raw_value *raw) { return raw->is_sequence || raw->is_optional; }

/* True if the text has an entry for this name. */
static bool is_given(const char *shapes, const char *name) {
  size_t length = strlen(name);
  for (const char *at = shapes; at && (at = strstr(at, name)); at++)
    if ((at == shapes || at[-1] == ',') && at[length] == '[') return true;
  return false;
}

static hone_status element_name(struct builder *builder, const struct raw_value *raw, size_t k,
                                const char **out) {
  if (!raw->is_sequence) { /* an optional tensor keeps its name */
    *out = raw->name;
    return HONE_OK;
  }
  return arena_printf(builder->reader.ctx, builder->reader.arena, out, "%s.%zu", raw->name, k);
}

/* The number of the list's tensors that the text gives, in order. */
static hone_status count_elements(struct builder *builder, const struct raw_value *raw,
                                  size_t *out) {
  const char *name;
  for (*out = 0;; (*out)++) {
    if (*out && !raw->is_sequence) return HONE_OK;
    TRY(element_name(builder, raw, *out, &name));
    if (!is_given(builder->options->shapes, name)) return HONE_OK;
  }
}

/* A dimension named N may have another size in each element. */
static hone_status copy_dims(struct builder *builder, const struct raw_value *from,
                             struct raw_value *to) {
  if (!from->rank) return HONE_OK;
  TRY(NEW_ARRAY(builder->reader.ctx, builder->reader.arena, to->dims, (size_t)from->rank));
  for (int d = 0; d < from->rank; d++)
    to->dims[d] = (struct raw_dim){.value = from->dims[d].value, .param = ""};
  return HONE_OK;
}

hone_status expand_lists(struct builder *builder, const struct raw_graph *raw,
                         struct raw_graph *out) {
  struct reader *reader = &builder->reader;
  memset(&out->inputs, 0, sizeof out->inputs);
  for (size_t i = 0; i < raw->inputs.count; i++) {
    struct raw_value value = raw->inputs.at[i];
    size_t count = 1;
    bool lists = is_list(&value);
    if (lists) TRY(count_elements(builder, &value, &count));
    if (lists && !count)
      warn(reader->ctx, "input \"%s\" is %s and is passed as %s; --shape gives its tensors",
           value.name, value.is_optional ? "an optional" : "a sequence",
           value.is_optional ? "absent" : "empty");
    for (size_t k = 0; k < count; k++) {
      if (lists) TRY(element_name(builder, &raw->inputs.at[i], k, &value.name));
      if (lists) TRY(copy_dims(builder, &raw->inputs.at[i], &value));
      value.is_sequence = value.is_optional = false;
      VEC_PUSH(reader->ctx, reader->arena, &out->inputs, value);
    }
  }
  return HONE_OK;
}

static hone_status make_list(struct builder *builder, struct scope *scope, size_t count,
                             bool is_optional, struct value *of, struct value_list **out) {
  struct ctx *ctx = builder->reader.ctx;
  TRY(NEW(ctx, scope->graph->arena, *out));
  (*out)->is_optional = is_optional;
  (*out)->count = count;
  of->list = *out;
  return NEW_ARRAY(ctx, scope->graph->arena, (*out)->at, count + 1);
}

static hone_status join_sequence(struct builder *builder, struct scope *scope,
                                 const struct raw_value *raw, size_t count, struct value *of) {
  struct value_list *list;
  const char *name;
  TRY(make_list(builder, scope, count, false, of, &list));
  for (size_t k = 0; k < count; k++) {
    TRY(element_name(builder, raw, k, &name));
    list->at[k] = names_find(&scope->names, name);
  }
  return HONE_OK;
}

/* An optional tensor uses the input's name: readers get the optional instead. */
static hone_status join_list(struct builder *builder, struct scope *scope,
                             const struct raw_value *raw) {
  struct ctx *ctx = builder->reader.ctx;
  struct value *value, *inner = NULL;
  struct value_list *list;
  size_t count;
  TRY(count_elements(builder, raw, &count));
  if (!raw->is_sequence && count) return HONE_OK; /* present: the tensor itself */
  TRY(graph_value(ctx, scope->graph, raw->name, &value));
  TRY(declare(builder, scope, value, place_offset(raw->offset)));
  if (raw->is_optional) {
    TRY(make_list(builder, scope, count > 0, true, value, &list));
    if (!count) return HONE_OK;
    TRY(graph_value(ctx, scope->graph, NULL, &inner));
    list->at[0] = inner;
  }
  return join_sequence(builder, scope, raw, count, inner ? inner : value);
}

hone_status join_lists(struct builder *builder, struct scope *scope, const struct raw_graph *raw) {
  for (size_t i = 0; i < raw->inputs.count; i++)
    if (is_list(&raw->inputs.at[i])) TRY(join_list(builder, scope, &raw->inputs.at[i]));
  return HONE_OK;
}
