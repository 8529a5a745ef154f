/* Tokenisers against the ids of llama.cpp (tests/cases/tokens), and vocabularies that no converter writes. */
#include <jansson.h>
#include <stdlib.h>

#include "core/tokens/tokens.h"
#include "unit.h"

static struct ctx ctx;
static struct arena *arena;

static int begin(void **state) {
  (void)state;
  ctx_init(&ctx);
  return arena_create(&ctx, 0, &arena);
}
static int end(void **state) {
  (void)state;
  arena_destroy(arena);
  return 0;
}

static struct token_text *texts_of(const json_t *list) {
  struct token_text *texts;
  assert_int_equal(NEW_ARRAY(&ctx, arena, texts, json_array_size(list) + 1), HONE_OK);
  for (size_t i = 0; i < json_array_size(list); i++)
    texts[i] = (struct token_text){json_string_value(json_array_get(list, i)),
                                   json_string_length(json_array_get(list, i))};
  return texts;
}

static struct vocabulary vocabulary_of(const json_t *json, const char *pre) {
  const json_t *tokens = json_object_get(json, "tokens"), *kinds = json_object_get(json, "kinds");
  const json_t *merges = json_object_get(json, "merges"), *scores = json_object_get(json, "scores");
  const size_t count = json_array_size(tokens);
  uint8_t *kind;
  float *score;
  assert_int_equal(NEW_ARRAY(&ctx, arena, kind, count), HONE_OK);
  assert_int_equal(NEW_ARRAY(&ctx, arena, score, count), HONE_OK);
  for (size_t i = 0; i < count; i++) {
    kind[i] = (uint8_t)json_integer_value(json_array_get(kinds, i));
    score[i] = scores ? (float)json_number_value(json_array_get(scores, i)) : 0;
  }
  return (struct vocabulary){.kind = merges ? VOCABULARY_BPE : VOCABULARY_SENTENCEPIECE,
                             .pre = pre,
                             .count = count,
                             .merge_count = json_array_size(merges),
                             .texts = texts_of(tokens),
                             .merges = texts_of(merges),
                             .scores = score,
                             .kinds = kind,
                             .bos = (int32_t)json_integer_value(json_object_get(json, "bos")),
                             .eos = (int32_t)json_integer_value(json_object_get(json, "eos")),
                             .eot = -1,
                             .unknown = merges ? -1 : 0};
}

static json_t *read_cases(void) {
  json_error_t error;
  json_t *cases = json_load_file("tests/cases/tokens/cases.json", JSON_ALLOW_NUL, &error);
  assert_non_null(cases);
  return cases;
}

static size_t from_hex(const char *hex, char *out) {
  size_t n = 0;
  for (; hex[2 * n]; n++) {
    const char byte[] = {hex[2 * n], hex[2 * n + 1], 0};
    out[n] = (char)strtoul(byte, NULL, 16);
  }
  return n;
}

static struct tokeniser *tokeniser_of(const json_t *cases, const json_t *test) {
  struct tokeniser *t;
  const char *pre = json_string_value(json_object_get(test, "pre"));
  struct vocabulary v =
      vocabulary_of(json_object_get(cases, json_string_value(json_object_get(test, "kind"))), pre);
  v.adds_space = json_is_true(json_object_get(test, "space"));
  v.adds_bos = v.kind == VOCABULARY_SENTENCEPIECE || pre_tokeniser_adds_bos(pre);
  assert_int_equal(tokeniser_create(&ctx, arena, &v, &t), HONE_OK);
  return t;
}

static void ids_are_those_of_llama_cpp(void **state) {
  (void)state;
  json_t *cases = read_cases(), *test;
  const json_t *texts = json_object_get(cases, "texts");
  size_t k;
  json_array_foreach(json_object_get(cases, "cases"), k, test) {
    const struct tokeniser *t = tokeniser_of(cases, test);
    const int flags = TOKENS_ADD_SPECIAL |
                      (json_is_true(json_object_get(test, "special")) ? TOKENS_PARSE_SPECIAL : 0);
    for (size_t i = 0; i < json_array_size(texts); i++) {
      char text[1024];
      const size_t size = from_hex(json_string_value(json_array_get(texts, i)), text);
      const json_t *want = json_array_get(json_object_get(test, "ids"), i);
      int32_t *ids;
      size_t count;
      assert_int_equal(tokeniser_encode(&ctx, arena, t, text, size, flags, &ids, &count), HONE_OK);
      assert_int_equal(count, json_array_size(want));
      for (size_t n = 0; n < count; n++)
        assert_int_equal(ids[n], json_integer_value(json_array_get(want, n)));
    }
  }
  assert_true(k > 15);
  json_decref(cases);
}

/* Random bytes: what was valid UTF-8 comes back, and nothing crashes. */
static void pieces_give_the_text_back(void **state) {
  (void)state;
  json_t *cases = read_cases();
  struct random random;
  random_init(&random, 7);
  for (size_t k = 0; k < 2; k++) {
    const json_t *all = json_object_get(cases, "cases");
    const struct tokeniser *t =
        tokeniser_of(cases, json_array_get(all, k ? json_array_size(all) - 1 : 3));
    for (int round = 0; round < 300; round++) {
      char text[256], back[2048];
      size_t size = random_below(&random, 200), length = 0, count;
      const bool is_ascii = round % 2;
      for (size_t i = 0; i < size; i++)
        text[i] = (char)(is_ascii ? 32 + random_below(&random, 95) : random_below(&random, 256));
      int32_t *ids;
      assert_int_equal(tokeniser_encode(&ctx, arena, t, text, size, 0, &ids, &count), HONE_OK);
      for (size_t i = 0; i < count; i++) {
        struct token_text piece;
        assert_int_equal(tokeniser_piece(&ctx, arena, t, ids[i], true, &piece), HONE_OK);
        if (length + piece.size > sizeof back) break;
        memcpy(back + length, piece.bytes, piece.size);
        length += piece.size;
      }
      if (!is_ascii) continue;
      assert_int_equal(length, size);
      assert_memory_equal(back, text, size);
    }
  }
  json_decref(cases);
}

static void odd_vocabularies(void **state) {
  (void)state;
  static const struct token_text texts[] = {{"a", 1}, {"", 0},  {"a", 1},
                                            {"b", 1}, {" ", 1}, {"ab", 2}};
  static const struct token_text merges[] = {{"a b", 3}, {"x y", 3}, {"", 0},
                                             {"ab", 2},  {" ", 1},   {"a b", 3}};
  static const uint8_t kinds[] = {1, 3, 4, 1, 1, 1};
  struct vocabulary v = {.pre = "",
                         .count = 6,
                         .merge_count = 6,
                         .texts = texts,
                         .merges = merges,
                         .kinds = kinds,
                         .bos = -1,
                         .eos = -1,
                         .eot = -1,
                         .unknown = -1};
  struct tokeniser *t;
  struct token_text piece;
  int32_t *ids;
  size_t count;
  for (int kind = 0; kind < 2; kind++) {
    v.kind = kind ? VOCABULARY_SENTENCEPIECE : VOCABULARY_BPE;
    v.adds_bos = v.adds_eos = true; /* without a token for it */
    assert_int_equal(tokeniser_create(&ctx, arena, &v, &t), HONE_OK);
    assert_int_equal(tokeniser_encode(&ctx, arena, t, "bab\0z", 5,
                                      TOKENS_ADD_SPECIAL | TOKENS_PARSE_SPECIAL, &ids, &count),
                     HONE_OK);
    assert_true(count >= 2);
    assert_int_equal(tokeniser_encode(&ctx, arena, t, "", 0, 0, &ids, &count), HONE_OK);
    assert_int_equal(count, 0);
    assert_int_equal(tokeniser_piece(&ctx, arena, t, 1, true, &piece), HONE_OK);
    assert_false(tokeniser_ends(t, -1));
    assert_false(tokeniser_ends(t, 6));
  }
  assert_int_equal(tokeniser_piece(&ctx, arena, t, 6, true, &piece), HONE_E_USAGE);
  ctx_clear(&ctx);
  assert_int_equal(tokeniser_piece(&ctx, arena, t, -1, true, &piece), HONE_E_USAGE);
  ctx_clear(&ctx);
  v = (struct vocabulary){.pre = "gpt", .bos = -1, .eos = -1, .eot = -1, .unknown = -1};
  assert_int_equal(tokeniser_create(&ctx, arena, &v, &t), HONE_E_UNSUP);
  assert_non_null(strstr(ctx.message, "\"gpt\""));
  assert_non_null(strstr(ctx.hint, "qwen2"));
}

/* A word of a megabyte takes time for its length, not for the square of it. */
static void long_words(void **state) {
  (void)state;
  enum { SIZE = 1 << 20 };
  json_t *cases = read_cases();
  const json_t *all = json_object_get(cases, "cases");
  char *text;
  int32_t *ids;
  size_t count;
  assert_int_equal(NEW_ARRAY(&ctx, arena, text, SIZE), HONE_OK);
  for (int space = 0; space < 2; space++)
    for (size_t k = 0; k < json_array_size(all); k += 6) {
      memset(text, space ? ' ' : 'e', SIZE);
      assert_int_equal(tokeniser_encode(&ctx, arena, tokeniser_of(cases, json_array_get(all, k)),
                                        text, SIZE, 0, &ids, &count),
                       HONE_OK);
      assert_true(count > 0);
    }
  json_decref(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(ids_are_those_of_llama_cpp, begin, end),
      cmocka_unit_test_setup_teardown(pieces_give_the_text_back, begin, end),
      cmocka_unit_test_setup_teardown(odd_vocabularies, begin, end),
      cmocka_unit_test_setup_teardown(long_words, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
