/* detect: the likely format of a file that is not a model hone reads, from its content.
 *
 * Such a file gets E_FORMAT with its likely format and how to convert it to a format that hone
 * reads. Formats that can run code when loaded (pickles and containers of them) get E_TRUST if the
 * file name shows that this was the intended model. ONNX has no magic number: a row matches only
 * bytes that no ONNX file begins with, or messages without a graph. */
#include "import.h"

#include <sys/stat.h>
#include <unistd.h>

#define CONVERT                                                                                   \
  "hone reads ONNX, TFLite, torch.export's .pt2 and GGUF: export or convert the model to one of " \
  "them"
#define FROM_TORCH                                                         \
  "torch.export.save(torch.export.export(model, args), \"model.pt2\") or " \
  "torch.onnx.export(model, args, \"model.onnx\")"
#define FROM_CORE_ML "use the original model, as ONNX or .pt2"
#define FROM_KERAS                                              \
  "model.export(\"model.onnx\", format=\"onnx\") in Keras, or " \
  "'python -m tf2onnx.convert --keras FILE --output model.onnx'"
#define FROM_HUGGING_FACE "'optimum-cli export onnx --model FOLDER OUT'"
#define FROM_WEIGHTS                                             \
  "it contains only weights, without operators: load them into " \
  "their model in Python and export that: " FROM_TORCH           \
  "; of a Hugging Face folder " FROM_HUGGING_FACE
#define FROM_TENSORFLOW                                                  \
  "'python -m tf2onnx.convert --saved-model FOLDER --output model.onnx'" \
  ", of a frozen graph "                                                 \
  "'python -m tf2onnx.convert --graphdef FILE --output model.onnx'"

static const struct {
  size_t at, length;
  const char *magic;
  const char *name;
  const char *hint;
} formats[] = {
    {0, 4, "PK\5\6", "an empty zip archive", CONVERT},
    {0, 4, "\177ELF", "an ELF binary", CONVERT},
    {0, 8, "\211HDF\r\n\032\n", "an HDF5 file", FROM_KERAS},
    {0, 2, "\200\2", "a Python pickle", FROM_TORCH},
    {0, 2, "\200\3", "a Python pickle", FROM_TORCH},
    {0, 2, "\200\4", "a Python pickle", FROM_TORCH},
    {0, 2, "\200\5", "a Python pickle", FROM_TORCH},
    {0, 4, "lmgg", "a GGML model", FROM_WEIGHTS},
    {2, 6, "\0\0ORTM", "ONNX Runtime's own format (.ort)",
     "use the ONNX file from which it was made"},
    {2, 6, "\0\0ET12", "an ExecuTorch program (.pte)", FROM_TORCH},
    {0, 4, "ML\357R", "MLIR bytecode", CONVERT},
    {0, 2, "\037\213", "a gzip archive", "unpack it first: 'gunzip' or 'tar xzf'"},
    {0, 4, "\050\265\057\375", "a zstd archive", "unpack it first: 'zstd -d' or 'tar xf'"},
    {0, 6, "\3757zXZ\0", "an xz archive", "unpack it first: 'xz -d' or 'tar xJf'"},
    {0, 6, "\223NUMPY", "a NumPy array",
     "a model is expected here; arrays are inputs: --input NAME=FILE or --inputs DIR"},
    {0, 8, "version ", "'git lfs pull' downloads the file itself",
     "'git lfs pull' fetches the file itself"},
    {0, 5, "<?xml", "an XML file, perhaps OpenVINO's",
     "use the ONNX or TFLite file from which it was converted"},
    {0, 9, "<!DOCTYPE", "a web page",
     "download the file itself (on a hub: its raw or resolve link)"},
    {0, 5, "<html", "a web page", "download the file itself (on a hub: its raw or resolve link)"},
    {0, 6, "graph(", "hone's own graph text", CONVERT},
};

/* Formats whose usual loader executes code from the file. */
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

static hone_status say(struct ctx *ctx, const struct source *source, const char *name,
                       const char *hint) {
  return advise(ctx,
                fail(ctx, HONE_E_FORMAT, place_file(source->path),
                     "not a model that hone reads: it looks like %s", name),
                "%s", hint);
}

/* -- formats without a magic */

/* Its header begins with its length as 64 bits, followed by JSON. */
static bool is_safetensors(const struct source *source) {
  if (source->size < 10) return false;
  const uint64_t length = little_endian(source->bytes, 8);
  return length >= 2 && length <= source->size - 8 && source->bytes[8] == '{' &&
         (source->bytes[9] == '"' || source->bytes[9] == '}');
}

/* A zip archive whose first member is an array. */
static bool is_npz(const struct source *source) {
  const uint8_t *b = source->bytes;
  if (source->size < 30 || memcmp(b, "PK\3\4", 4)) return false;
  const size_t length = (size_t)little_endian(b + 26, 2);
  return length > 4 && source->size >= 30 + length && !memcmp(b + 30 + length - 4, ".npy", 4);
}

/* Size of a field of the outermost protocol buffer message, including its tag; *out_number its
 * field number; 0: invalid. */
static size_t skip_field(const uint8_t *at, size_t left, uint64_t *out_number) {
  uint64_t numbers[2] = {0}; /* the tag; a length or a number */
  size_t used = 0;
  for (int k = 0; k < 2; k++) {
    int shift = 0;
    do {
      if (used == left || shift > 63) return 0;
      numbers[k] |= (uint64_t)(at[used] & 0x7f) << shift;
      shift += 7;
    } while (at[used++] & 0x80);
    if (!k && (numbers[0] & 7) != 0 && (numbers[0] & 7) != 2) return 0;
  }
  *out_number = numbers[0] >> 3;
  if ((numbers[0] & 7) == 0) return used;
  return numbers[1] <= left - used ? used + (size_t)numbers[1] : 0;
}

/* Protocol buffer messages of other software, recognised by their outermost fields. ONNX has its
 * graph in field 7. */
static const char *message_name(const struct source *source, const char **out_hint) {
  enum { FIRST_CORE_ML_KIND = 200, MOST_FIELDS = 4096, ONNX_GRAPH = 7 };
  size_t at = 0, nodes = 0, graphs = 0, length;
  uint64_t number;
  for (int i = 0; i < MOST_FIELDS && at < source->size; i++, at += length) {
    length = skip_field(source->bytes + at, source->size - at, &number);
    if (!length || number == ONNX_GRAPH) return NULL;
    if (number >= FIRST_CORE_ML_KIND && source->bytes[0] == 0x08) {
      *out_hint = FROM_CORE_ML;
      return "a Core ML model";
    }
    if (number > 4) return NULL;
    nodes += number == 1 && source->bytes[at] == 0x0a;
    graphs += number == 2 && source->bytes[at] == 0x12 && source->bytes[0] == 0x08 &&
              source->bytes[1] == 1;
  }
  *out_hint = FROM_TENSORFLOW;
  return nodes ? "a frozen TensorFlow graph" : graphs ? "a TensorFlow SavedModel" : NULL;
}

hone_status format_find(struct ctx *ctx, const struct source *source, read_format_fn **out_read) {
  if (source->size >= 8 && !memcmp(source->bytes + 4, "TFL3", 4)) {
    *out_read = read_tflite;
    return HONE_OK;
  }
  if (source->size >= 4 && !memcmp(source->bytes, "GGUF", 4)) {
    *out_read = read_gguf;
    return HONE_OK;
  }
  if (is_npz(source))
    return say(
        ctx, source, "a NumPy archive (.npz)",
        "a model is expected here; arrays are inputs: --input NAME=FILE.npy or --inputs DIR");
  if (source->size >= 4 && !memcmp(source->bytes, "PK\3\4", 4)) {
    *out_read = read_pt2;
    return HONE_OK;
  }
  for (size_t i = 0; i < COUNT(formats); i++) {
    if (source->size < formats[i].at + formats[i].length ||
        memcmp(source->bytes + formats[i].at, formats[i].magic, formats[i].length))
      continue;
    if (has_code_suffix(source->path))
      return advise(
          ctx,
          fail(ctx, HONE_E_TRUST, place_file(source->path),
               "%s of this kind can contain code, which hone never runs", formats[i].name),
          "export the model: %s", formats[i].hint);
    return say(ctx, source, formats[i].name, formats[i].hint);
  }
  if (is_safetensors(source)) return say(ctx, source, "a safetensors file", FROM_WEIGHTS);
  *out_read = read_onnx;
  return HONE_OK;
}

/* A format without a magic number is reported only for files that could not be read as ONNX. */
hone_status format_explain(struct ctx *ctx, const struct source *source, hone_status status) {
  const size_t count = source->size < 512 ? source->size : 512;
  const char *hint = CONVERT;
  size_t text = 0;
  if (status != HONE_E_FORMAT || !count) return status;
  while (text < count && (source->bytes[text] >= 0x20 ||
                          (source->bytes[text] && strchr("\t\n\r\f", source->bytes[text]))))
    text++;
  const char *name = text < count ? message_name(source, &hint) : "text";
  if (!name) return status;
  ctx_clear(ctx);
  return say(ctx, source, name, hint);
}

hone_status format_explain_folder(struct ctx *ctx, const char *path, hone_status status) {
  static const struct {
    const char *holds, *name, *hint;
  } folders[] = {
      {"saved_model.pb", "a TensorFlow SavedModel", FROM_TENSORFLOW},
      {"Manifest.json", "a Core ML package", FROM_CORE_ML},
      {"config.json", "a Hugging Face model", FROM_HUGGING_FACE},
  };
  struct stat about;
  char inner[4096];
  if (status != HONE_E_IO || stat(path, &about) || !S_ISDIR(about.st_mode)) return status;
  for (size_t i = 0; i < COUNT(folders); i++) {
    const int n = snprintf(inner, sizeof inner, "%s/%s", path, folders[i].holds);
    if (n < 0 || n >= (int)sizeof inner || access(inner, F_OK)) continue;
    ctx_clear(ctx);
    return advise(ctx,
                  fail(ctx, HONE_E_FORMAT, place_file(path),
                       "not a model that hone reads: a folder that looks like %s", folders[i].name),
                  "%s", folders[i].hint);
  }
  return status;
}
