/* A loaded language model. The caches are states of the artifact, which it updates in place. */
#include <stdlib.h>

#include "compiler/import/gguf/gguf.h"
#include "generate.h"

/* -- open */

static hone_status read_facts(struct ctx *ctx, struct hone_generator *g, const struct gguf *file,
                              int64_t *out_positions) {
  char key[128];
  const char *architecture;
  TRY(gguf_string(ctx, g->arena, file, "general.architecture", &architecture));
  TRY(gguf_string(ctx, g->arena, file, "general.name", &g->name));
  if (!g->name) g->name = "";
  snprintf(key, sizeof key, "%.64s.context_length", architecture ? architecture : "");
  return gguf_int(ctx, file, key, 1, INT32_MAX, GENERATE_CONTEXT, out_positions);
}

static hone_status read_words(struct ctx *ctx, struct hone_generator *g, const struct gguf *file) {
  struct vocabulary vocabulary;
  TRY(gguf_vocabulary(ctx, g->arena, file, &vocabulary));
  TRY(tokeniser_create(ctx, g->arena, &vocabulary, &g->tokeniser));
  TRY(gguf_chat_template(ctx, g->arena, file, &g->template));
  g->vocabulary = (int32_t)vocabulary.count;
  const int32_t ids[] = {vocabulary.bos, vocabulary.eos};
  const char **const texts[] = {&g->bos, &g->eos};
  for (int i = 0; i < 2; i++) {
    struct token_text text = {"", 0};
    if (ids[i] >= 0) TRY(tokeniser_piece(ctx, g->arena, g->tokeniser, ids[i], true, &text));
    TRY(arena_string(ctx, g->arena, text.bytes, text.size, texts[i]));
  }
  return HONE_OK;
}

/* The inputs and outputs that build.c asked for. */
static hone_status check_artifact(struct ctx *ctx, const struct hone_generator *g) {
  const struct hone_artifact_info *info = g->artifact.info;
  if (info->output_count < 2 || info->input_count != info->output_count + 2)
    return fail(ctx, HONE_E_INTERNAL, place_none(), "the artifact has other inputs or outputs");
  const struct hone_io_info *logits = &info->outputs[info->output_count - 1];
  if (logits->dims[logits->rank - 1] >= g->vocabulary) return HONE_OK;
  return fail(ctx, HONE_E_FORMAT, place_name("tokenizer.ggml.tokens"),
              "%d tokens, and logits for %lld", g->vocabulary,
              (long long)logits->dims[logits->rank - 1]);
}

static hone_status allocate_caches(struct ctx *ctx, struct hone_generator *g) {
  const struct hone_artifact_info *info = g->artifact.info;
  hone_tensor form = {.rank = 0};
  g->cache_count = (size_t)info->output_count - 1;
  form.dtype = (hone_dtype)info->outputs[0].dtype;
  form.rank = info->outputs[0].rank;
  for (int d = 0; d < form.rank; d++) form.shape[d] = info->outputs[0].dims[d];
  g->cache_bytes = tensor_elements(&form) * (dtype_bits(form.dtype) / 8);
  TRY(NEW_ARRAY(ctx, g->arena, g->caches, g->cache_count));
  for (size_t i = 0; i < g->cache_count; i++) {
    g->caches[i] = calloc(1, g->cache_bytes + 64); /* pages appear when they are used */
    if (!g->caches[i])
      return fail(ctx, HONE_E_OOM, place_none(), "no memory for caches of keys and values");
  }
  return HONE_OK;
}

static hone_status allocate(struct ctx *ctx, struct hone_generator *g) {
  const struct hone_artifact_info *info = g->artifact.info;
  const struct hone_io_info *logits = &info->outputs[info->output_count - 1];
  TRY(allocate_caches(ctx, g));
  TRY(NEW_ARRAY(ctx, g->arena, g->inputs, g->cache_count + 3));
  TRY(NEW_ARRAY(ctx, g->arena, g->outputs, g->cache_count + 1));
  TRY(NEW_ARRAY(ctx, g->arena, g->input_dims, g->cache_count + 3));
  for (int i = 0; i < info->input_count; i++) g->input_dims[i] = info->inputs[i].dims;
  TRY(NEW_ARRAY(ctx, g->arena, g->logits, (size_t)logits->dims[logits->rank - 1]));
  TRY(NEW_ARRAY(ctx, g->arena, g->order, (size_t)g->vocabulary));
  return NEW_ARRAY(ctx, g->arena, g->tokens, (size_t)g->context);
}

/* Of the content of all files of the model. */
static hone_status hash_files(struct ctx *ctx, const struct hone_generator *g, const char *path,
                              const struct gguf *file, char out[33]) {
  char part[4096], texts[2][33];
  int64_t count;
  file_hash_hex(&g->file, out);
  TRY(gguf_part_count(ctx, file, &count));
  for (int64_t k = 2; k <= count; k++) {
    struct mapping mapping;
    TRY(gguf_part_path(ctx, path, k, count, part));
    TRY(file_map(ctx, part, &mapping));
    memcpy(texts[0], out, 33);
    file_hash_hex(&mapping, texts[1]);
    file_unmap(&mapping);
    hash_hex(out, texts, sizeof texts);
  }
  return HONE_OK;
}

static hone_status open_artifact(struct ctx *ctx, struct hone_generator *g, const char *path,
                                 const struct gguf *file, const struct generator_options *options) {
  char hash[33];
  if (options->artifact) {
    TRY(artifact_load(ctx, options->artifact, NULL, &g->artifact));
    return check_artifact(ctx, g);
  }
  TRY(hash_files(ctx, g, path, file, hash));
  file_release(&g->file); /* from here on, texts of tokens are all that is read of it */
  TRY(generator_artifact(ctx, path, hash, options, g->context, &g->artifact));
  return check_artifact(ctx, g);
}

static hone_status open_all(struct ctx *ctx, struct hone_generator *g, const char *path,
                            const struct generator_options *options) {
  struct gguf file;
  int64_t positions;
  const int threads = options->compile.threads > 0 ? options->compile.threads : 1;
  TRY(file_map(ctx, path, &g->file));
  TRY(gguf_read(ctx, g->arena, g->file.data, g->file.size, &file));
  TRY(read_facts(ctx, g, &file, &positions));
  TRY(read_words(ctx, g, &file));
  const int64_t most = options->context ? options->context : GENERATE_CONTEXT;
  g->context = most < positions ? most : positions;
  TRY(features_check(ctx, place_name(options->compile.target.level),
                     options->compile.target.features));
  TRY(open_artifact(ctx, g, path, &file, options));
  TRY(team_create(ctx, threads, false, &g->team));
  return allocate(ctx, g);
}

hone_status generator_open(struct ctx *ctx, const char *path,
                           const struct generator_options *options, struct hone_generator **out) {
  const uint64_t start = clock_ns();
  struct arena *arena;
  struct hone_generator *g;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = NEW(ctx, arena, g);
  if (status) {
    arena_destroy(arena);
    return status;
  }
  *g = (struct hone_generator){.arena = arena};
  status = open_all(ctx, g, path, options);
  g->load_ms = (double)(clock_ns() - start) / 1e6;
  if (status)
    generator_close(g);
  else
    *out = g;
  return status;
}

void generator_close(struct hone_generator *g) {
  if (!g) return;
  team_destroy(g->team);
  if (g->artifact.info) artifact_unload(&g->artifact);
  for (size_t i = 0; g->caches && i < g->cache_count; i++) free(g->caches[i]);
  if (g->file.data) file_unmap(&g->file);
  arena_destroy(g->arena);
}

int64_t generator_context(const struct hone_generator *g) { return g->context; }
const char *generator_name(const struct hone_generator *g) { return g->name; }
double generator_load_ms(const struct hone_generator *g) { return g->load_ms; }

/* -- step */

hone_status generator_step(struct ctx *ctx, struct hone_generator *g, const int32_t *tokens,
                           int64_t count, bool is_end) {
  const struct loaded *artifact = &g->artifact;
  const int64_t sizes[] = {1, count}, past = g->count, last = is_end ? count - 1 : -1;
  int64_t ids[CHUNK_TOKENS];
  for (int64_t i = 0; i < count; i++) ids[i] = tokens[i];
  g->inputs[0] = ids;
  g->input_dims[0] = sizes;
  g->inputs[1] = &past;
  for (size_t i = 0; i < g->cache_count; i++) g->inputs[2 + i] = g->outputs[i] = g->caches[i];
  g->inputs[2 + g->cache_count] = &last;
  g->outputs[g->cache_count] = g->logits;
  const struct hone_io io = {
      .inputs = g->inputs, .outputs = g->outputs, .input_dims = g->input_dims};
  const int32_t status =
      artifact->info->run(artifact->weights, artifact->arena, &io, team_interface(g->team));
  if (status)
    return fail(ctx, (hone_status)status, place_none(), "a token is out of the model's range");
  memmove(g->tokens + g->count, tokens, (size_t)count * sizeof *tokens);
  g->count += count;
  if (count == CHUNK_TOKENS && g->settled == past) g->settled = g->count;
  return HONE_OK;
}

hone_status generator_extend(struct ctx *ctx, struct hone_generator *g, const int32_t *tokens,
                             int64_t past, int64_t count, const float **out_logits) {
  const int64_t end = past + count;
  if (end > g->context)
    return fail(ctx, HONE_E_LIMIT, place_name("text"), "%lld tokens, in a context of %lld",
                (long long)end, (long long)g->context);
  if (g->settled > past) g->settled = past / CHUNK_TOKENS * CHUNK_TOKENS;
  for (g->count = past; g->count < end;) {
    const int64_t left = end - g->count, next = left < CHUNK_TOKENS ? left : CHUNK_TOKENS;
    TRY(generator_step(ctx, g, tokens + count - left, next, next == left));
  }
  *out_logits = g->logits;
  return HONE_OK;
}
