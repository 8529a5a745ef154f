/* NumPy's .npy (NEP 1): magic, version, header length, a Python dict literal, then the payload.
 * Types that NumPy lacks are stored as unsigned integers with the same bits; types smaller than a
 * byte take one byte per element in files and are packed in memory. Strings are fixed-width UTF-32
 * ("U"). */
#include "os.h"

#include <stdlib.h>

static const char *code_of(hone_dtype dtype) { return dtype_facts(dtype)->numpy; }

/* hone_dtype lists the types that NumPy has before those that share their code. */
static hone_dtype dtype_of(const char *code) {
  for (int i = 1; i < DTYPE_COUNT; i++) {
    const char *own = code_of((hone_dtype)i);
    if (own && !strcmp(own, code)) return (hone_dtype)i;
  }
  return HONE_UNDEFINED;
}

static hone_status tensor_bytes(struct ctx *ctx, const char *path, const hone_tensor *tensor,
                                size_t *out_bytes) {
  size_t bits = dtype_bits(tensor->dtype), bytes = bits && bits < 8 ? 1 : bits / 8;
  if (tensor->dtype == HONE_STRING) bytes = sizeof(hone_string);
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

/* The dict in the form that NumPy writes: keys in any order, no other keys. */
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

/* Types smaller than a byte: one byte per element in files, packed in memory, low bits first. */
static void pack(const hone_tensor *tensor, size_t count) {
  unsigned bits = dtype_bits(tensor->dtype), each = bits && bits < 8 ? 8 / bits : 1;
  uint8_t *data = tensor->data;
  for (size_t i = 0; each > 1 && i < count; i++) {
    unsigned code = data[i] & ((1u << bits) - 1), shift = (unsigned)(i % each) * bits;
    data[i / each] = (uint8_t)((shift ? data[i / each] : 0) | code << shift);
  }
}

static void unpack(const hone_tensor *tensor, size_t count, uint8_t *out) {
  unsigned bits = dtype_bits(tensor->dtype), each = 8 / bits;
  const bool is_signed = dtype_is_signed(tensor->dtype);
  for (size_t i = 0; i < count; i++) {
    unsigned code = (unsigned)((const uint8_t *)tensor->data)[i / each] >> i % each * bits;
    code &= (1u << bits) - 1;
    if (is_signed && code >> (bits - 1)) code |= 0xffu << bits;
    out[i] = (uint8_t)code;
  }
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
  pack(out, bytes);
  return HONE_OK;
}

/* -- strings: NumPy's "U", UTF-32 padded with zeros */

/* One allocation holds the table of strings, then their bytes. */
static hone_status take_strings(struct ctx *ctx, const char *path, const uint8_t *data, size_t size,
                                size_t width, hone_tensor *out) {
  size_t table, bytes, count;
  TRY(tensor_bytes(ctx, path, out, &table));
  count = table / sizeof(hone_string);
  if (!checked_mul(count, width * 4, &bytes) || bytes != size)
    return fail(ctx, HONE_E_FORMAT, place_file(path), "%zu bytes of strings, expected %zu", size,
                bytes);
  out->data = aligned_alloc(64, (table + bytes + 64) & ~(size_t)63);
  if (!out->data)
    return fail(ctx, HONE_E_OOM, place_file(path), "no memory for %zu bytes", table + bytes);
  hone_string *strings = out->data;
  char *text = (char *)out->data + table;
  for (size_t i = 0; i < count; i++) {
    strings[i].bytes = text;
    for (size_t k = 0; k < width; k++) {
      uint32_t c;
      memcpy(&c, data + (i * width + k) * 4, 4);
      if (!c) break;
      text += utf8_write(c > 0x10ffff ? 0xfffd : c, text);
    }
    strings[i].length = (size_t)(text - strings[i].bytes);
  }
  return HONE_OK;
}

static size_t count_points(const hone_string *s) {
  size_t count = 0, length;
  for (size_t at = 0; at < s->length; at += length, count++)
    (void)utf8_read(s->bytes + at, s->length - at, &length);
  return count;
}

static size_t string_width(const hone_tensor *tensor, size_t count) {
  size_t width = 1;
  for (size_t i = 0; i < count; i++) {
    size_t points = count_points(&((const hone_string *)tensor->data)[i]);
    width = points > width ? points : width;
  }
  return width;
}

static void put_strings(struct strbuf *text, const hone_tensor *tensor, size_t count,
                        size_t width) {
  static const char zeros[4] = {0};
  for (size_t i = 0; i < count; i++) {
    const hone_string *s = &((const hone_string *)tensor->data)[i];
    size_t points = 0, length;
    for (size_t at = 0; at < s->length; at += length, points++) {
      uint32_t c = utf8_read(s->bytes + at, s->length - at, &length);
      strbuf_append(text, (const char *)&c, 4);
    }
    for (; points < width; points++) strbuf_append(text, zeros, 4);
  }
}

static hone_status read_mapped(struct ctx *ctx, const char *path, const struct mapping *map,
                               const hone_tensor *expect, hone_tensor *out) {
  const uint8_t *p = map->data;
  if (map->size < 10 || memcmp(p, "\x93NUMPY", 6)) {
    if (!expect)
      return advise(ctx, fail(ctx, HONE_E_FORMAT, place_file(path), "not a .npy file"),
                    "numpy.save(FILE, x) writes one");
    *out = *expect; /* raw bytes of the expected tensor */
    return take_payload(ctx, path, p, map->size, out);
  }
  size_t start = p[6] == 1 ? 10 : 12, length = (size_t)little_endian(p + 8, 2);
  if (p[6] == 2 && map->size >= 12) length = (size_t)little_endian(p + 8, 4);
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
    return advise(ctx, fail(ctx, HONE_E_UNSUP, place_file(path), "an array in Fortran order"),
                  "save numpy.ascontiguousarray(x) instead of x");
  if (strlen(type) == 3 && strchr("<|=", type[0])) out->dtype = dtype_of(type + 1);
  const uint8_t *payload = p + start + length;
  size_t payload_bytes = map->size - start - length;
  if (type[0] && type[1] == 'U') {
    int64_t width;
    if (!parse_i64(type + 2, 0, 1 << 24, &width))
      return fail(ctx, HONE_E_FORMAT, place_file(path), "damaged .npy header");
    out->dtype = HONE_STRING;
    return take_strings(ctx, path, payload, payload_bytes, (size_t)width, out);
  }
  if (!out->dtype)
    return advise(ctx, fail(ctx, HONE_E_TYPE, place_file(path), "element type '%s'", type),
                  "save x.astype(T), where T is a type of the model, in little-endian order");
  const char *stored = expect ? code_of(expect->dtype) : NULL;
  if (stored && !strcmp(stored, code_of(out->dtype))) out->dtype = expect->dtype;
  return take_payload(ctx, path, payload, payload_bytes, out);
}

hone_status npy_read(struct ctx *ctx, const char *path, const hone_tensor *expect,
                     hone_tensor *out) {
  struct mapping map;
  TRY(file_map(ctx, path, &map));
  hone_status status = read_mapped(ctx, path, &map, expect, out);
  file_unmap(&map);
  return status;
}

static void put_payload(struct strbuf *out, const hone_tensor *tensor, size_t bytes) {
  if (tensor->dtype == HONE_STRING) {
    size_t count = bytes / sizeof(hone_string);
    put_strings(out, tensor, count, string_width(tensor, count));
    return;
  }
  unsigned bits = dtype_bits(tensor->dtype);
  if (bits >= 8) {
    strbuf_append(out, tensor->data, bytes);
    return;
  }
  uint8_t *unpacked = malloc(bytes + 1);
  if (!unpacked) {
    out->failed = true;
    return;
  }
  unpack(tensor, bytes, unpacked);
  strbuf_append(out, (const char *)unpacked, bytes);
  free(unpacked);
}

hone_status npy_text(struct ctx *ctx, const char *path, const hone_tensor *tensor,
                     struct strbuf *out) {
  size_t bytes;
  char wide[24];
  TRY(tensor_bytes(ctx, path, tensor, &bytes));
  const char *code = code_of(tensor->dtype);
  if (tensor->dtype == HONE_STRING) {
    snprintf(wide, sizeof wide, "U%zu", string_width(tensor, bytes / sizeof(hone_string)));
    code = wide;
  }
  if (!code)
    return fail(ctx, HONE_E_TYPE, place_file(path), "element type %s", dtype_name(tensor->dtype));
  strbuf_append(out, "\x93NUMPY\x01\x00\x00\x00", 10);
  strbuf_printf(out, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                code[1] == '1' && code[0] != 'U' ? '|' : '<', code);
  for (int i = 0; i < tensor->rank; i++)
    strbuf_printf(out, "%lld%s", (long long)tensor->shape[i],
                  tensor->rank == 1      ? ","
                  : i + 1 < tensor->rank ? ", "
                                         : "");
  strbuf_puts(out, "), }");
  while (!out->failed && (out->length + 1) % 64) strbuf_puts(out, " ");
  strbuf_puts(out, "\n");
  if (out->at && !out->failed) {
    out->at[8] = (char)((out->length - 10) & 255);
    out->at[9] = (char)((out->length - 10) >> 8);
  }
  put_payload(out, tensor, bytes);
  return strbuf_finish(ctx, out);
}

hone_status npy_write(struct ctx *ctx, const char *path, const hone_tensor *tensor) {
  struct strbuf text = {0};
  hone_status status = npy_text(ctx, path, tensor, &text);
  if (!status) status = file_write_atomic(ctx, path, text.at, text.length, 0644);
  strbuf_deinit(&text);
  return status;
}
