/* NumPy's .npy (NEP 1): magic, version, header length, a Python dict literal, then the payload. */
#include "base.h"

#include <stdlib.h>

/* NumPy's type string without byte order; types NumPy lacks are written as raw unsigned. */
static const struct {
  hone_dtype dtype;
  const char *code;
} codes[] = {
    {HONE_F32, "f4"}, {HONE_F64, "f8"},  {HONE_F16, "f2"},  {HONE_I8, "i1"},  {HONE_I16, "i2"},
    {HONE_I32, "i4"}, {HONE_I64, "i8"},  {HONE_U8, "u1"},   {HONE_U16, "u2"}, {HONE_U32, "u4"},
    {HONE_U64, "u8"}, {HONE_BOOL, "b1"}, {HONE_BF16, "u2"},
};

static hone_status tensor_bytes(struct ctx *ctx, const char *path, const hone_tensor *tensor,
                                size_t *out_bytes) {
  size_t bytes = dtype_bits(tensor->dtype) / 8;
  if (!bytes)
    return fail(ctx, HONE_E_TYPE, place_file(path), "element type %s", dtype_name(tensor->dtype));
  for (int i = 0; i < tensor->rank; i++)
    if (tensor->shape[i] < 0 || !checked_mul(bytes, (size_t)tensor->shape[i], &bytes))
      return fail(ctx, HONE_E_SHAPE, place_file(path), "bad dimension %lld",
                  (long long)tensor->shape[i]);
  if (bytes > (size_t)ctx->limits[LIMIT_value_bytes])
    return fail(ctx, HONE_E_LIMIT, place_file(path), "%zu bytes, limit value_bytes", bytes);
  *out_bytes = bytes;
  return HONE_OK;
}

static const char *skip(const char *p, const char *what) {
  while (*p == ' ') p++;
  size_t n = strlen(what);
  return strncmp(p, what, n) ? NULL : p + n;
}

/* The dict as NumPy writes it: keys in any order, no other keys. */
static bool parse_header(const char *p, char type[8], bool *fortran, hone_tensor *out) {
  int seen = 0;
  if (!(p = skip(p, "{"))) return false;
  for (const char *q; !(q = skip(p, "}"));) {
    if ((q = skip(p, "'descr':"))) {
      if (!(p = skip(q, "'"))) return false;
      size_t n = strcspn(p, "'");
      if (n >= 8 || p[n] != '\'') return false;
      memcpy(type, p, n);
      type[n] = 0;
      p += n + 1;
      seen |= 1;
    } else if ((q = skip(p, "'fortran_order':"))) {
      const char *t = skip(q, "True"), *f = skip(q, "False");
      if (!t && !f) return false;
      *fortran = t != NULL;
      p = t ? t : f;
      seen |= 2;
    } else if ((q = skip(p, "'shape':"))) {
      if (!(p = skip(q, "("))) return false;
      out->rank = 0;
      while (!(q = skip(p, ")"))) {
        while (*p == ' ') p++;
        char digits[24];
        size_t n = strspn(p, "0123456789");
        if (!n || n >= sizeof digits || out->rank >= HONE_MAX_RANK) return false;
        memcpy(digits, p, n);
        digits[n] = 0;
        if (!parse_i64(digits, 0, INT64_MAX, &out->shape[out->rank++])) return false;
        p += n;
        if ((q = skip(p, ","))) p = q;
      }
      p = q;
      seen |= 4;
    } else {
      return false;
    }
    if ((q = skip(p, ","))) p = q;
  }
  return seen == 7;
}

static hone_status take_payload(struct ctx *ctx, const char *path, const uint8_t *data, size_t size,
                                hone_tensor *out) {
  size_t bytes;
  TRY(tensor_bytes(ctx, path, out, &bytes));
  if (bytes != size)
    return fail(ctx, HONE_E_FORMAT, place_file(path), "%zu bytes of data, its shape needs %zu",
                size, bytes);
  out->data = aligned_alloc(64, (bytes + 64) & ~(size_t)63);
  if (!out->data) return fail(ctx, HONE_E_OOM, place_file(path), "no memory for %zu bytes", bytes);
  memcpy(out->data, data, bytes);
  return HONE_OK;
}

static hone_status read_mapped(struct ctx *ctx, const char *path, const struct mapping *map,
                               const hone_tensor *expect, hone_tensor *out) {
  const uint8_t *p = map->data;
  if (map->size < 10 || memcmp(p, "\x93NUMPY", 6)) {
    if (!expect) return fail(ctx, HONE_E_FORMAT, place_file(path), "not a .npy file");
    *out = *expect; /* raw bytes of the expected tensor */
    return take_payload(ctx, path, p, map->size, out);
  }
  size_t start = p[6] == 1 ? 10 : 12, length = (size_t)p[8] | (size_t)p[9] << 8;
  if (p[6] == 2 && map->size >= 12) length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
  char header[4096], type[8];
  bool fortran = false;
  if (p[6] < 1 || p[6] > 2 || map->size < start || length > map->size - start ||
      length >= sizeof header)
    return fail(ctx, HONE_E_FORMAT, place_file(path), "damaged .npy header");
  memcpy(header, p + start, length);
  header[length] = 0;
  memset(out, 0, sizeof *out);
  if (!parse_header(header, type, &fortran, out))
    return fail(ctx, HONE_E_FORMAT, place_file(path), "damaged .npy header");
  if (fortran && out->rank > 1)
    return fail(ctx, HONE_E_UNSUP, place_file(path),
                "Fortran order: save it with numpy.ascontiguousarray");
  for (size_t i = 0; i < COUNT(codes) && !out->dtype; i++)
    if (strlen(type) == 3 && strchr("<|=", type[0]) && !strcmp(type + 1, codes[i].code))
      out->dtype = codes[i].dtype;
  if (!out->dtype) return fail(ctx, HONE_E_TYPE, place_file(path), "element type '%s'", type);
  if (expect && expect->dtype == HONE_BF16 && out->dtype == HONE_U16) out->dtype = HONE_BF16;
  return take_payload(ctx, path, p + start + length, map->size - start - length, out);
}

hone_status npy_read(struct ctx *ctx, const char *path, const hone_tensor *expect,
                     hone_tensor *out) {
  struct mapping map;
  TRY(file_map(ctx, path, &map));
  hone_status status = read_mapped(ctx, path, &map, expect, out);
  file_unmap(&map);
  return status;
}

hone_status npy_text(struct ctx *ctx, const char *path, const hone_tensor *tensor,
                     struct text *out) {
  size_t bytes;
  TRY(tensor_bytes(ctx, path, tensor, &bytes));
  const char *code = NULL;
  for (size_t i = 0; i < COUNT(codes) && !code; i++)
    if (codes[i].dtype == tensor->dtype) code = codes[i].code;
  if (!code)
    return fail(ctx, HONE_E_TYPE, place_file(path), "element type %s", dtype_name(tensor->dtype));
  text_append(out, "\x93NUMPY\x01\x00\x00\x00", 10);
  text_printf(out, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
              code[1] == '1' ? '|' : '<', code);
  for (int i = 0; i < tensor->rank; i++)
    text_printf(out, "%lld%s", (long long)tensor->shape[i],
                tensor->rank == 1      ? ","
                : i + 1 < tensor->rank ? ", "
                                       : "");
  text_puts(out, "), }");
  while (!out->failed && (out->length + 1) % 64) text_puts(out, " ");
  text_puts(out, "\n");
  if (out->at && !out->failed) {
    out->at[8] = (char)((out->length - 10) & 255);
    out->at[9] = (char)((out->length - 10) >> 8);
  }
  text_append(out, tensor->data, bytes);
  return text_finish(ctx, out);
}

hone_status npy_write(struct ctx *ctx, const char *path, const hone_tensor *tensor) {
  struct text text = {0};
  hone_status status = npy_text(ctx, path, tensor, &text);
  if (!status) status = file_write_atomic(ctx, path, text.at, text.length, 0644);
  text_deinit(&text);
  return status;
}
