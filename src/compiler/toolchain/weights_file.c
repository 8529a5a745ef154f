/* The .weights file that accompanies C source. */
#include "toolchain_internal.h"

#include "compiler/run/artifact.h"

static hone_status put_footer(struct ctx *ctx, const struct output *file, size_t bytes,
                              struct hone_weights_footer *footer) {
  struct mapping map;
  TRY(file_map(ctx, file->temporary, &map));
  footer->checksum = hash_64(map.data, bytes < map.size ? bytes : map.size);
  file_unmap(&map);
  return output_put(ctx, file, bytes, footer, sizeof *footer);
}

/* The packed weights, then the footer that the loader checks. */
hone_status write_weights(struct ctx *ctx, const struct build_input *input, const char *path) {
  struct hone_weights_footer footer = {.magic = HONE_WEIGHTS_MAGIC,
                                       .weights_bytes = input->weights_bytes};
  if (!input->build_id || strlen(input->build_id) != sizeof footer.build_id)
    return fail(ctx, HONE_E_INTERNAL, place_file(path), "weights without a build id");
  memcpy(footer.build_id, input->build_id, sizeof footer.build_id);
  struct build build = {.input = input};
  bool is_stream;
  TRY(output_create(ctx, path, 0644, &build.file, &is_stream));
  if (is_stream) return fail(ctx, HONE_E_PATH, place_file(path), "weights need a regular file");
  hone_status status = run_jobs(ctx, &build, false);
  if (!status) status = put_footer(ctx, &build.file, input->weights_bytes, &footer);
  if (!status) return output_commit(ctx, &build.file);
  output_drop(&build.file);
  return status;
}
