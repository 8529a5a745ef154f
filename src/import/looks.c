/* looks: what a file that is not ONNX seems to be, from its first bytes.
 *
 * A renamed file gets E_FORMAT with its likely format. Formats that can run code when loaded
 * (pickles and what wraps them) get E_TRUST where the name shows that this is what the user meant.
 * ONNX has no magic: a row matches only bytes that no ONNX file begins with.
 */
#include "import.h"

#define CONVERT \
  "hone reads ONNX, TFLite and torch.export's .pt2: export or convert the model to one of them"

static const struct {
  size_t at, length;
  const char *magic;
  const char *name;
} formats[] = {
    {0, 4, "PK\5\6", "an empty zip archive"},
    {0, 4, "\177ELF", "an ELF binary"},
    {0, 8, "\211HDF\r\n\032\n", "an HDF5 file"},
    {0, 2, "\200\2", "a Python pickle"},
    {0, 2, "\200\3", "a Python pickle"},
    {0, 2, "\200\4", "a Python pickle"},
    {0, 2, "\200\5", "a Python pickle"},
    {0, 4, "GGUF", "a GGUF model"},
    {0, 2, "\037\213", "a gzip archive"},
    {0, 4, "\050\265\057\375", "a zstd archive"},
    {0, 6, "\223NUMPY", "a NumPy array"},
    {0, 8, "version ", "a Git LFS pointer"},
    {0, 5, "<?xml", "an XML file"},
    {0, 9, "<!DOCTYPE", "a web page"},
    {0, 5, "<html", "a web page"},
    {0, 6, "graph(", "hone's own graph text"},
};

/* Formats whose usual loader runs code found in the file. */
static const char *const code_suffixes[] = {".pt",  ".pth", ".pkl",  ".pickle", ".ckpt",
                                            ".bin", ".h5",  ".hdf5", ".keras",  ".joblib"};

static bool has_code_suffix(const char *path) {
  size_t length = strlen(path);
  for (size_t i = 0; i < COUNT(code_suffixes); i++) {
    size_t n = strlen(code_suffixes[i]);
    if (length > n && !strcmp(path + length - n, code_suffixes[i])) return true;
  }
  return false;
}

hone_status format_find(struct ctx *ctx, const struct source *source, read_format_fn **out_read) {
  if (source->size >= 8 && !memcmp(source->bytes + 4, "TFL3", 4)) {
    *out_read = read_tflite;
    return HONE_OK;
  }
  if (source->size >= 4 && !memcmp(source->bytes, "PK\3\4", 4)) {
    *out_read = read_pt2;
    return HONE_OK;
  }
  for (size_t i = 0; i < COUNT(formats); i++) {
    if (source->size < formats[i].at + formats[i].length ||
        memcmp(source->bytes + formats[i].at, formats[i].magic, formats[i].length))
      continue;
    if (has_code_suffix(source->path))
      return advise(ctx,
                    fail(ctx, HONE_E_TRUST, place_file(source->path),
                         "%s of this kind carries code, which hone never runs", formats[i].name),
                    "export the model: torch.export.save(torch.export.export(model, args), "
                    "\"model.pt2\"), torch.onnx.export(model, args, \"model.onnx\"), or for Keras "
                    "'python -m tf2onnx.convert --keras FILE --output model.onnx'");
    bool is_pointer = !strcmp(formats[i].magic, "version ");
    return advise(ctx,
                  fail(ctx, HONE_E_FORMAT, place_file(source->path),
                       "no model that hone reads: looks like %s", formats[i].name),
                  is_pointer ? "'git lfs pull' fetches the file itself" : CONVERT);
  }
  *out_read = read_onnx;
  return HONE_OK;
}

/* Text has no magic either: only what could not be read is called that. */
hone_status format_explain(struct ctx *ctx, const struct source *source, hone_status status) {
  const size_t count = source->size < 512 ? source->size : 512;
  size_t text = 0;
  while (text < count && (source->bytes[text] >= 0x20 ||
                          (source->bytes[text] && strchr("\t\n\r\f", source->bytes[text]))))
    text++;
  if (status != HONE_E_FORMAT || !count || text < count) return status;
  ctx_clear(ctx);
  return advise(ctx,
                fail(ctx, HONE_E_FORMAT, place_file(source->path),
                     "no model that hone reads: looks like text"),
                CONVERT);
}
