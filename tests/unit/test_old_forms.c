/* Nodes of old opsets and of com.microsoft, one row each: read with the right result, or refused
 * with the expected message. */
#include "import_case.h"

struct attribute_of {
  const char *name;
  char kind; /* i, f, s, or I and F: a list of `count` numbers */
  double number[4];
  const char *text;
  size_t count;
};
enum { MOST_ATTRIBUTES = 3, F32 = 1, I64 = 7, F64 = 11 };

static const struct row {
  int64_t opset;
  const char *op;
  const char *inputs; /* names; dims has their sizes, separated by "/" */
  const char *dims, *outputs;
  const struct attribute_of attributes[MOST_ATTRIBUTES];
  hone_status status;
  const char *says; /* of what is read: the first operator of the graph, NULL: any */
  int dtype;        /* of the inputs, 0: f32 */
} rows[] = {
    {6,
     "BatchNormalization",
     "x,s,b,m,v",
     "1,2,3,3/2/2/2/2",
     "y",
     {{"spatial", 'i', {0}, 0, 0}},
     HONE_E_UNSUP,
     "spatial = 0",
     0},
    {6,
     "BatchNormalization",
     "x,s,b,m,v",
     "1,2,3,3/2/2/2/2",
     "y",
     {{"is_test", 'i', {0}, 0, 0}},
     HONE_E_UNSUP,
     "training mode",
     0},
    {6,
     "BatchNormalization",
     "x,s,b,m,v",
     "1,2,3,3/2/2/2/2",
     "y",
     {{"is_test", 'i', {1}, 0, 0}},
     HONE_OK,
     NULL,
     0},
    {9,
     "BatchNormalization",
     "x,s,b,m,v",
     "1,2,3,3/2/2/2/2",
     "y,n",
     {{0}},
     HONE_E_UNSUP,
     "more than one output",
     0},
    {9, "BatchNormalization", "x,s,b,m,v", "1,2,3,3/2/2/2/2", "y,,", {{0}}, HONE_OK, NULL, 0},
    {8, "Scan", "l,x", "2/2,3,4", "y", {{0}}, HONE_E_UNSUP, "rows of different lengths", 0},
    {8, "Scan", ",x", "/2,3,4", "y", {{"directions", 'I', {0}, 0, 1}}, HONE_E_FORMAT, "", 0},
    {5, "Tile", "x,t,a", "2,3/1/1", "y", {{0}}, HONE_E_UNSUP, "this old form", 0},
    {5, "Cast", "x", "2", "y", {{"to", 's', {0}, "INT64", 0}}, HONE_OK, NULL, 0},
    {5,
     "Cast",
     "x",
     "2",
     "y",
     {{"to", 's', {0}, "NUMBER", 0}},
     HONE_E_UNSUP,
     "an unknown type in attribute to",
     0},
    {5, "Cast", "x", "2", "y", {{"to", 'i', {7}, 0, 0}}, HONE_OK, NULL, 0},
    {5,
     "Cast",
     "x",
     "2",
     "y",
     {{"to", 'f', {7}, 0, 0}},
     HONE_E_FORMAT,
     "attribute \"to\" of Cast is a float",
     0},
    {5, "Cast", "x", "2", "y", {{0}}, HONE_E_UNSUP, "an unknown type in attribute to", 0},
    {1, "GlobalLpPool", "x", "1,2,3,4", "y", {{"p", 'f', {2}, 0, 0}}, HONE_OK, NULL, 0},
    {1, "GlobalLpPool", "x", "1,2,3,4", "y", {{0}}, HONE_OK, NULL, 0},
    {1, "GlobalLpPool", "x", "1,2,3,4", "y", {{"p", 'i', {3}, 0, 0}}, HONE_OK, NULL, 0},
    {1,
     "GlobalLpPool",
     "x",
     "1,2,3,4",
     "y",
     {{"p", 'f', {2.5}, 0, 0}},
     HONE_E_UNSUP,
     "fractional p",
     0},
    {1,
     "GlobalLpPool",
     "x",
     "1,2,3,4",
     "y",
     {{"p", 'f', {0.5}, 0, 0}},
     HONE_E_UNSUP,
     "fractional p",
     0},
    {1,
     "GlobalLpPool",
     "x",
     "1,2,3,4",
     "y",
     {{"p", 'f', {1e9}, 0, 0}},
     HONE_E_UNSUP,
     "fractional p",
     0},
    {16,
     "GridSample",
     "x,g",
     "1,1,4,4/1,3,3,2",
     "y",
     {{"mode", 's', {0}, "bilinear", 0}},
     HONE_OK,
     NULL,
     0},
    {16,
     "GridSample",
     "x,g",
     "1,1,4,4/1,3,3,2",
     "y",
     {{"mode", 's', {0}, "bicubic", 0}},
     HONE_OK,
     NULL,
     0},
    {16,
     "GridSample",
     "x,g",
     "1,1,4,4/1,3,3,2",
     "y",
     {{"mode", 's', {0}, "nearest", 0}},
     HONE_OK,
     NULL,
     0},
    {7, "Upsample", "x", "1,1,2,2", "y", {{0}}, HONE_E_UNSUP, "no scales", 0},
    {7,
     "Upsample",
     "x",
     "1,1,2,2",
     "y",
     {{"scales", 'F', {1, 1, 2, 2}, 0, 4}, {"mode", 's', {0}, "bilinear", 0}},
     HONE_OK,
     NULL,
     0},
    {7,
     "Upsample",
     "x",
     "1,1,2,2",
     "y",
     {{"scales", 'i', {2}, 0, 0}},
     HONE_E_FORMAT,
     "attribute \"scales\" of Upsample",
     0},
    {1,
     "Upsample",
     "x",
     "1,1,2,2",
     "y",
     {{"height_scale", 'f', {2}, 0, 0}, {"width_scale", 'f', {3}, 0, 0}},
     HONE_OK,
     NULL,
     0},
    {1,
     "Upsample",
     "x",
     "1,1,2,2",
     "y",
     {{"height_scale", 'f', {2}, 0, 0}},
     HONE_E_UNSUP,
     "no scales",
     0},
    {1, "Selu", "x", "2,3", "y", {{0}}, HONE_OK, "Selu", 0},
    {1, "Selu", "x", "2,3", "y", {{"alpha", 'f', {2}, 0, 0}}, HONE_OK, "Selu", 0},
    {1, "Selu", "x", "2,3", "y", {{"gamma", 'f', {2}, 0, 0}}, HONE_OK, "Selu", 0},
    {3, "Concat", "x,z", "2,3/2,3", "y", {{0}}, HONE_OK, "Concat", 0},
    {3, "Concat", "x,z", "2,3/2,3", "y", {{"axis", 'i', {0}, 0, 0}}, HONE_OK, "Concat", 0},
    {6,
     "Clip",
     "x",
     "2,3",
     "y",
     {{"min", 'f', {-1}, 0, 0}, {"max", 'f', {1}, 0, 0}},
     HONE_OK,
     "Clip",
     0},
    {6, "Clip", "x", "2,3", "y", {{"min", 'f', {-1}, 0, 0}}, HONE_OK, "Clip", F64},
    {6,
     "Clip",
     "x",
     "2,3",
     "y",
     {{"min", 'i', {-1}, 0, 0}},
     HONE_E_FORMAT,
     "attribute \"min\" of Clip",
     0},
    {6, "Clip", "", "", "y", {{"min", 'f', {-1}, 0, 0}}, HONE_E_FORMAT, "Clip", 0},
    {2,
     "Pad",
     "x",
     "2,3",
     "y",
     {{"pads", 'I', {1, 0, 0, 1}, 0, 4}, {"value", 'f', {3}, 0, 0}},
     HONE_OK,
     "Pad",
     0},
    {2,
     "Pad",
     "x",
     "2,3",
     "y",
     {{"pads", 'i', {1}, 0, 0}},
     HONE_E_FORMAT,
     "attribute \"pads\" of Pad",
     0},
    {1, "Pad", "x", "2,3", "y", {{"paddings", 'I', {1, 0, 0, 1}, 0, 4}}, HONE_OK, "Pad", 0},
    {1, "Pad", "x", "2,3", "y", {{0}}, HONE_E_FORMAT, "Pad", 0},
    {6,
     "Add",
     "x,z",
     "2,3,4/3",
     "y",
     {{"axis", 'i', {1}, 0, 0}, {"broadcast", 'i', {1}, 0, 0}},
     HONE_OK,
     NULL,
     0},
    {6,
     "Add",
     "x,z",
     "2,3,4/3",
     "y",
     {{"axis", 'i', {-2}, 0, 0}, {"broadcast", 'i', {1}, 0, 0}},
     HONE_E_UNSUP,
     "a negative axis",
     0},
    {6, "Add", "x,z", "2,3/3", "y", {{"broadcast", 'i', {1}, 0, 0}}, HONE_OK, "Add", 0},
    {6, "Add", "x,z", "2,3/2,3", "y", {{"axis", 'i', {1}, 0, 0}}, HONE_OK, "Add", 0},
    {6,
     "Add",
     "x",
     "2,3",
     "y",
     {{"axis", 'i', {1}, 0, 0}, {"broadcast", 'i', {1}, 0, 0}},
     HONE_E_FORMAT,
     "Add",
     0},
    {6,
     "Add",
     "",
     "",
     "y",
     {{"axis", 'i', {1}, 0, 0}, {"broadcast", 'i', {1}, 0, 0}},
     HONE_E_FORMAT,
     "Add",
     0},
    {6, "PRelu", "x,z", "2,3,4/3", "y", {{0}}, HONE_OK, NULL, 0},
    {6, "PRelu", "x,z", "2,3,4/1", "y", {{0}}, HONE_OK, "PRelu", 0},
    {6, "PRelu", "x,z", "2,3,4/3,1", "y", {{0}}, HONE_OK, "PRelu", 0},
    {6, "PRelu", "x", "2,3,4", "y", {{0}}, HONE_E_UNSUP, "a computed slope", 0},
    {6, "PRelu", "", "", "y", {{0}}, HONE_E_UNSUP, "a computed slope", 0},
    {18,
     "GroupNormalization",
     "x,s,b",
     "1,4,3/2/2",
     "y",
     {{"num_groups", 'i', {2}, 0, 0}},
     HONE_OK,
     NULL,
     0},
    {18,
     "GroupNormalization",
     "x,s,b",
     "1,4,3/2/2",
     "y",
     {{"num_groups", 'i', {0}, 0, 0}},
     HONE_E_UNSUP,
     "num_groups below 1",
     0},
    {18,
     "GroupNormalization",
     ",s,b",
     "/2/2",
     "y",
     {{"num_groups", 'i', {2}, 0, 0}},
     HONE_E_UNSUP,
     "num_groups below 1",
     0},
    {18,
     "GroupNormalization",
     "x,s",
     "1,4,3/2",
     "y",
     {{"num_groups", 'i', {2}, 0, 0}},
     HONE_E_FORMAT,
     "",
     0},
    {11, "Softmax", "x", "2,3,1", "y", {{"axis", 'i', {1}, 0, 0}}, HONE_OK, "Softmax", 0},
    {11, "Softmax", "x", "2,3,4", "y", {{"axis", 'i', {-1}, 0, 0}}, HONE_OK, "Softmax", 0},
    {11, "Softmax", "x", "2,3,4", "y", {{"axis", 'i', {0}, 0, 0}}, HONE_OK, NULL, 0},
    {11, "Softmax", "x", "2,3,4", "y", {{"axis", 'i', {3}, 0, 0}}, HONE_OK, NULL, 0},
    {11, "Softmax", "x", "2,3,4", "y", {{"axis", 'i', {9}, 0, 0}}, HONE_E_SHAPE, "", 0},
    {11, "Softmax", "", "", "y", {{0}}, HONE_E_FORMAT, "Softmax", 0},
    {11, "Softmax", "x,z", "2,3/2", "y", {{0}}, HONE_E_FORMAT, "Softmax", 0},
    {11, "Softmax", "x", "2,3", "y,z", {{0}}, HONE_E_FORMAT, "Softmax", 0},
    {11, "LogSoftmax", "x", "3", "y", {{"axis", 'i', {0}, 0, 0}}, HONE_OK, "LogSoftmax", 0},
    {9, "TopK", "x", "2,5", "y,i", {{"k", 'i', {3}, 0, 0}}, HONE_OK, NULL, 0},
    {9, "TopK", "x", "2,5", "y,i", {{0}}, HONE_E_SHAPE, "", 0},
    {1,
     "Slice",
     "x",
     "4,5",
     "y",
     {{"starts", 'I', {1}, 0, 1}, {"ends", 'I', {3}, 0, 1}},
     HONE_OK,
     "Slice",
     0},
    {1,
     "Slice",
     "x",
     "4,5",
     "y",
     {{"starts", 'f', {1}, 0, 0}, {"ends", 'I', {3}, 0, 1}},
     HONE_E_FORMAT,
     "attribute \"starts\" of Slice",
     0},
    {1,
     "Slice",
     "x",
     "4,5",
     "y",
     {{"starts", 'I', {1}, 0, 1}, {"ends", 'f', {3}, 0, 0}},
     HONE_E_FORMAT,
     "attribute \"ends\" of Slice",
     0},
    {11,
     "ReduceSum",
     "x",
     "2,3",
     "y",
     {{"axes", 's', {0}, "1", 0}},
     HONE_E_FORMAT,
     "attribute \"axes\" of ReduceSum",
     0},
    {11, "Squeeze", "x", "2,1,3", "y", {{"axes", 'I', {1}, 0, 1}}, HONE_OK, "Squeeze", 0},
    {11, "Split", "x", "4,3", "y,z", {{"split", 'I', {1, 3}, 0, 2}}, HONE_OK, "Split", 0},
    {11, "Split", "x", "4,3", "y,z", {{0}}, HONE_OK, "Split", 0},
    {4, "Reshape", "x", "2,3", "y", {{"shape", 'I', {3, 2}, 0, 2}}, HONE_OK, "Reshape", 0},
    {6, "Gemm", "a,b,c", "2,3/3,4/4", "y", {{"broadcast", 'i', {1}, 0, 0}}, HONE_OK, "Gemm", 0},
    {6,
     "Dropout",
     "x",
     "2,3",
     "y",
     {{"is_test", 'i', {1}, 0, 0}, {"ratio", 'f', {0.5}, 0, 0}},
     HONE_OK,
     NULL,
     0},
    {5, "Relu", "x", "2,3", "y", {{"consumed_inputs", 'I', {0}, 0, 1}}, HONE_OK, "Relu", 0},
    {10,
     "Resize",
     "x,s",
     "1,1,2,2/4",
     "y",
     {{"mode", 's', {0}, "nearest", 0}},
     HONE_E_UNSUP,
     "",
     0},
    {17, "DFT", "x", "1,4,2", "y", {{"axis", 'i', {1}, 0, 0}}, HONE_OK, NULL, 0},
    {9, "Scatter", "x,i,u", "3,3/2,3/2,3", "y", {{0}}, HONE_E_TYPE, "", 0},
};

static void put_attribute(struct buf *list, const struct attribute_of *a) {
  int64_t ints[4];
  struct buf one = {0};
  switch (a->kind) {
    case 'i':
      attr_int(list, a->name, (int64_t)a->number[0]);
      return;
    case 'f':
      attr_float(list, a->name, (float)a->number[0]);
      return;
    case 's':
      attr_string(list, a->name, a->text);
      return;
    case 'I':
      for (size_t i = 0; i < a->count; i++) ints[i] = (int64_t)a->number[i];
      attr_ints(list, a->name, ints, a->count);
      return;
    default:
      put_str(&one, 1, a->name);
      for (size_t i = 0; i < a->count; i++) put_f32(&one, 7, (float)a->number[i]);
      put_int(&one, 20, 6);
      put_msg(list, 5, &one);
  }
}

/* The inputs of a row as inputs of the graph; one without a name is left out. */
static void put_inputs(struct buf *graph, const struct row *row) {
  const char *dims = row->dims;
  for (const char *p = row->inputs; *p; p += strcspn(p, ","), p += *p == ',') {
    char name[16], size[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(p, ","), p);
    snprintf(size, sizeof size, "%.*s", (int)strcspn(dims, "/"), dims);
    dims += strcspn(dims, "/");
    dims += *dims == '/';
    if (*name) put_input(graph, name, row->dtype ? row->dtype : F32, size);
  }
}

static struct buf model_of_row(const struct row *row) {
  struct buf graph = {0}, attributes = {0};
  for (size_t k = 0; k < MOST_ATTRIBUTES && row->attributes[k].name; k++)
    put_attribute(&attributes, &row->attributes[k]);
  put_node(&graph, row->op, row->inputs, row->outputs, &attributes);
  put_inputs(&graph, row);
  put_output(&graph, "y");
  return model_of(row->opset, &graph);
}

static void nodes_of_old_opsets(void **state) {
  size_t wrong = 0;
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct row *row = &rows[i];
    struct buf model = model_of_row(row);
    struct loaded l = load(&model, NULL);
    const char *last = "";
    if (!l.status) last = l.graph->nodes.at[l.graph->nodes.count - 1]->op->name;
    bool right = l.status == row->status &&
                 (l.status ? strstr(l.ctx.message, row->says) && strstr(l.ctx.message, " at ")
                           : !row->says || !strcmp(last, row->says));
    if (!right)
      print_error("row %zu, %s of opset %lld: %s\n", i, row->op, (long long)row->opset,
                  l.status ? l.ctx.message : last);
    wrong += !right;
    unload(&l);
  }
  assert_int_equal(wrong, 0);
}

/* com.microsoft's names of ai.onnx's operators. */
static void names_of_com_microsoft(void **state) {
  static const struct {
    const char *op, *inputs, *outputs, *is; /* is NULL: refused */
  } contrib[] = {{"Gelu", "x", "y", "Gelu"},
                 {"TransposeMatMul", "x,z", "y", "MatMul"},
                 {"FusedMatMul", "x,z", "y", "MatMul"},
                 {"QuantizeLinear", "x,s", "y", "QuantizeLinear"},
                 {"NoSuchOperator", "x", "y", NULL}};
  (void)state;
  for (size_t i = 0; i < COUNT(contrib); i++)
    for (int imported = 0; imported < 2; imported++) {
      struct buf graph = {0}, import = {0};
      put_node_in(&graph, "com.microsoft", contrib[i].op, contrib[i].inputs, contrib[i].outputs,
                  NULL);
      put_input(&graph, "x", F32, "3,3");
      if (strstr(contrib[i].inputs, "z")) put_input(&graph, "z", F32, "3,3");
      if (strstr(contrib[i].inputs, "s")) put_input(&graph, "s", F32, "");
      put_output(&graph, "y");
      struct buf model = model_of(17, &graph);
      put_str(&import, 1, "com.microsoft");
      put_int(&import, 2, 1);
      if (imported)
        put_msg(&model, 8, &import);
      else
        free(import.at);
      struct loaded l = load(&model, NULL);
      if (contrib[i].is) {
        assert_ok(&l);
        assert_string_equal(l.graph->nodes.at[0]->op->name, contrib[i].is);
      } else {
        assert_int_equal(l.status, HONE_E_UNSUP);
        assert_non_null(strstr(l.ctx.message, contrib[i].op));
      }
      unload(&l);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nodes_of_old_opsets),
                                     cmocka_unit_test(names_of_com_microsoft)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
