/* Attributes: every row of attributes.def accepts the kinds that it names and no other. Shape
 * inference checks the attributes of every node, imported or built. */
#include "graph_case.h"

#define KIND(kind) (1u << ATTRIBUTE_##kind)

static const struct row {
  const char *name, *op_name;
  unsigned kinds;
} rows[] = {
#define ATTRIBUTE(name, kinds) {#name, "an operator without rows of its own", kinds},
#define ATTRIBUTE_OF(op, name, kinds) {#name, #op, kinds},
#include "core/ops/attributes.def"
};

static hone_status ask(struct fixture *f, const char *op_name, const char *name,
                       enum attribute_kind kind) {
  const struct attribute attribute = {.name = name, .kind = kind};
  ctx_clear(&f->ctx);
  return attributes_check(&f->ctx, place_none(), op_name, &attribute, 1);
}

static void rows_take_their_kinds(void **state) {
  struct fixture *f = *state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    assert_true(rows[i].kinds != 0);
    for (enum attribute_kind kind = ATTRIBUTE_FLOAT; kind <= ATTRIBUTE_STRINGS; kind++) {
      const bool fits = rows[i].kinds >> kind & 1;
      hone_status status = ask(f, rows[i].op_name, rows[i].name, kind);
      if (status != (fits ? HONE_OK : HONE_E_FORMAT))
        print_error("%s of %s, kind %d\n", rows[i].name, rows[i].op_name, (int)kind);
      assert_int_equal(status, fits ? HONE_OK : HONE_E_FORMAT);
    }
  }
  assert_int_equal(ask(f, "Conv", "stride", ATTRIBUTE_INTS), HONE_E_FORMAT);
  assert_int_equal(ask(f, "Conv", "", ATTRIBUTE_INTS), HONE_E_FORMAT);
  assert_int_equal(ask(f, "Conv", "zzz", ATTRIBUTE_INTS), HONE_E_FORMAT);
  ctx_clear(&f->ctx);
}

/* Graphs of one node, `y = NODE`, of x: f32[2,3], i: i64[2] and s: string[2]. message: part of the
   expected error, NULL: none. */
static const struct row_of_a_node {
  const char *node, *message;
} nodes[] = {
    {"Elu(x) alpha=2.0", NULL},
    {"Elu(x) alpha=2", "attribute \"alpha\" of Elu is an integer, expected a float"},
    {"Elu(x) alphas=2.0", "Elu has an unknown attribute \"alphas\""},
    {"Gelu(x) approximate=1", "attribute \"approximate\" of Gelu is an integer, expected a string"},
    {"Softmax(x) axis=\"1\"", "attribute \"axis\" of Softmax is a string, expected an integer"},
    {"Softmax(x) axis=[1]", "attribute \"axis\" of Softmax is a list of integers"},
    {"Transpose(x) perm=1", "attribute \"perm\" of Transpose is an integer"},
    {"Transpose(x) perm=floats[1, 0]", "attribute \"perm\" of Transpose is a list of floats"},
    {"Cast(x) to=7.0", "attribute \"to\" of Cast is a float, expected an integer or a string"},
    {"Constant() value=1.5", "attribute \"value\" of Constant is a float, expected a tensor"},
    {"Constant() value_ints=3", "attribute \"value_ints\" of Constant is an integer"},
    {"If(x) then_branch=1", "attribute \"then_branch\" of If is an integer, expected a graph"},
    {"Loop(i) body=\"b\"", "attribute \"body\" of Loop is a string, expected a graph"},
    {"Scan(x) body=1 num_scan_inputs=1", "attribute \"body\" of Scan is an integer"},
    {"SequenceMap(i) body=3", "attribute \"body\" of SequenceMap is an integer"},
    {"StringSplit(s) delimiter=3", "attribute \"delimiter\" of StringSplit is an integer"},
    {"RegexFullMatch(s) pattern=1", "attribute \"pattern\" of RegexFullMatch is an integer"},
    {"ai.onnx.ml.LabelEncoder(s) keys_strings=[1] values_int64s=[1]",
     "attribute \"keys_strings\" of LabelEncoder is a list of integers"},
    {"ai.onnx.ml.Scaler(x) offset=floats[0.0] scale=1.0",
     "attribute \"scale\" of Scaler is a float, expected a list of floats"},
    {"ai.onnx.ml.Scaler(x) offset=floats[0.0] scale=floats[1.0]", NULL},
    {"ai.onnx.ml.Normalizer(x) norm=1", "attribute \"norm\" of Normalizer is an integer"},
    {"com.microsoft.CDist(x, x) metric=1", "attribute \"metric\" of CDist is an integer"},
    {"com.microsoft.CDist(x, x) metrics=\"euclidean\"", "CDist has an unknown attribute"},
    {"com.microsoft.MurmurHash3(i) seed=1.0", "attribute \"seed\" of MurmurHash3 is a float"},
    {"com.microsoft.FusedGemm(x, x) transB=1 activation=\"LeakyRelu\" activation_alpha=0.5", NULL},
    {"com.microsoft.FusedGemm(x, x) transB=1 activation_alpha=floats[0.5]",
     "attribute \"activation_alpha\" of FusedGemm is a list of floats, expected a float"},
};
/* Attributes in the table of which only the default value is supported. */
static const struct row_of_a_node unread[] = {
    {"com.microsoft.GroupQueryAttention(x) k_quant_type=\"PER_TENSOR\"",
     "GroupQueryAttention with k_quant_type"},
    {"com.microsoft.GroupQueryAttention(x) v_quant_type=\"PER_CHANNEL\" k_quant_type=\"NONE\"",
     "GroupQueryAttention with v_quant_type"},
    {"com.microsoft.GroupQueryAttention(x) kv_cache_bit_width=4",
     "GroupQueryAttention with kv_cache_bit_width"},
    {"com.microsoft.GroupQueryAttention(x) qk_output=1", "GroupQueryAttention with qk_output"},
    {"com.microsoft.MatMulNBits(x, i, x) K=2 N=2 block_size=16 bits=4 weight_prepacked=1",
     "MatMulNBits with weight_prepacked"},
};

static void infer_rows(struct fixture *f, const struct row_of_a_node *row, size_t count,
                       hone_status refusal) {
  for (; count > 0; row++, count--) {
    const hone_status expected = row->message ? refusal : HONE_OK;
    char text[512];
    snprintf(text, sizeof text,
             "graph(x: f32[2,3], i: i64[2], s: string[2]) -> (y) {\n  y = %s\n}\n", row->node);
    ctx_clear(&f->ctx);
    assert_int_equal(graph_parse(&f->ctx, f->arena, text, strlen(text), op_find, &f->graph),
                     HONE_OK);
    hone_status status = graph_infer(&f->ctx, f->graph);
    if (status != expected || (status && !strstr(f->ctx.message, row->message)))
      print_error("%s: %s\n", row->node, status ? f->ctx.message : "was taken");
    assert_int_equal(status, expected);
    if (status) assert_non_null(strstr(f->ctx.message, row->message));
  }
  ctx_clear(&f->ctx);
}

static void every_node_is_asked(void **state) {
  infer_rows(*state, nodes, COUNT(nodes), HONE_E_FORMAT);
  infer_rows(*state, unread, COUNT(unread), HONE_E_UNSUP);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(rows_take_their_kinds, setup, teardown),
      cmocka_unit_test_setup_teardown(every_node_is_asked, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
