/* Where the parts of the weights are written, and the stub by which the code finds them. */
#include "toolchain_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler/run/artifact.h"

#define LARGE_WEIGHTS (1u << 20)

bool has_large_section(const struct build *build) {
  return build->input->weights_bytes >= LARGE_WEIGHTS &&
         !strncmp(build->options->target->triple, "x86_64", 6);
}

/* Space for the linked image before the weights: code is smaller than its source. If it does not
   fit, the usual way is used. */
static size_t image_room(const struct build_input *input) {
  size_t bytes = 256 << 10;
  for (size_t i = 0; i < input->unit_count; i++) bytes += input->units[i].length;
  return (bytes + WEIGHTS_PAGE - 1) / WEIGHTS_PAGE * WEIGHTS_PAGE;
}

static hone_status open_temporary(struct ctx *ctx, struct build *build) {
  struct output *file = &build->file;
  snprintf(file->temporary, sizeof file->temporary, "%s/weights.bin", build->directory);
  snprintf(file->path, sizeof file->path, "weights");
  build->weights_at = 0;
  file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file->fd < 0 || ftruncate(file->fd, (off_t)build->input->weights_bytes))
    return fail(ctx, HONE_E_WRITE, place_file(file->temporary), "%s", strerror(errno));
  return HONE_OK;
}

hone_status weights_open(struct ctx *ctx, struct build *build, const char *path) {
  bool is_stream = false;
  build->file.fd = -1;
  if (!build->embeds) return HONE_OK;
  if (build->inserts) {
    TRY(output_create(ctx, path, 0755, &build->file, &is_stream));
    build->weights_at = image_room(build->input);
    if (!is_stream) return HONE_OK;
    build->inserts = false;
  }
  return open_temporary(ctx, build);
}

/* Memory of a few large pages: it is touched once and freed. */
static void *part_memory(size_t bytes) {
  enum { HUGE_PAGE = 2 << 20 };
  size_t size = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  void *at = bytes < HUGE_PAGE ? aligned_alloc(64, (bytes + 63) / 64 * 64)
                               : aligned_alloc(HUGE_PAGE, size);
  if (at && bytes >= HUGE_PAGE) madvise(at, size, MADV_HUGEPAGE);
  return at;
}

hone_status weights_part(struct ctx *ctx, const struct build *build, size_t i) {
  const struct build_part *part = &build->input->parts[i];
  size_t at = build->weights_at + part->offset;
  if (!part->bytes) return HONE_OK;
  if (part->data) return output_put(ctx, &build->file, at, part->data, part->bytes);
  char *packed = part_memory(part->bytes);
  if (!packed)
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for %zu bytes of weights", part->bytes);
  size_t padding = part->bytes < 64 ? part->bytes : 64; /* packed weights may end in it */
  memset(packed + part->bytes - padding, 0, padding);
  build->input->pack(build->input->packer, i, packed);
  hone_status status = output_put(ctx, &build->file, at, packed, part->bytes);
  free(packed);
  return status;
}

/* The symbol PREFIX_weights over the bytes, or over one page that reserves their place. */
static hone_status write_stub(struct ctx *ctx, const struct build *build) {
  const char *prefix = build->prefix;
  struct strbuf stub = {0};
  strbuf_printf(&stub, ".section %s,\"a\",%%progbits\n.balign 4096\n",
                has_large_section(build) ? WEIGHTS_SECTION : ".rodata");
  strbuf_printf(&stub, ".globl %s_weights\n.hidden %s_weights\n", prefix, prefix);
  strbuf_printf(&stub, ".type %s_weights, %%object\n.size %s_weights, %zu\n%s_weights:\n", prefix,
                prefix, build->input->weights_bytes, prefix);
  if (build->inserts)
    strbuf_printf(&stub, ".skip %zu\n", WEIGHTS_PAGE);
  else
    strbuf_puts(&stub, ".incbin \"weights.bin\"\n");
  strbuf_puts(&stub, ".section .note.GNU-stack,\"\",%progbits\n");
  hone_status status = strbuf_finish(ctx, &stub);
  if (!status) status = put_file(ctx, build->directory, "weights.s", stub.at, stub.length);
  strbuf_deinit(&stub);
  return status;
}

hone_status assemble_weights(struct ctx *ctx, const struct build *build) {
  if (!build->embeds) return HONE_OK;
  TRY(write_stub(ctx, build));
  struct arguments arguments = {0};
  stub_arguments(build, &arguments);
  return tool_run(ctx, &arguments, build->directory, build->deadline_ns, "weights.o", NULL, NULL);
}
