/* The messages between harness and worker: one JSON object per line, at most WORKER_LINE_MAX bytes.
 * A worker's line is untrusted: it must be an object with exactly the keys of its event, each of
 * the right type and range; otherwise the worker has violated the protocol.
 *
 * Commands (harness to worker, key "do"): describe, reference, open, warmup, slice, keep, close.
 * They come from our own process and are not checked against a table.
 */
#include "wire.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_MS 1e9 /* eleven days */
#define MAX_NS 1e15
#define MAX_BYTES 9e15
#define KEY \
  {"event", FIELD_TEXT, false, 1, 32}, { "cell", FIELD_TEXT, false, 1, 32 }
#define ACCURACY                                                                                  \
  {"max_abs_diff", FIELD_NUMBER, true, 0, 1e308}, {"max_rel_diff", FIELD_NUMBER, true, 0, 1e308}, \
      {"rel_l2", FIELD_NUMBER, true, 0, 1e308}, {"cosine", FIELD_NUMBER, true, -1.1, 1.1}, {      \
    "top1", FIELD_NUMBER, true, 0, 1                                                              \
  }

/* a stage begins */
static const struct field stage_fields[] = {KEY, {"stage", FIELD_TEXT, false, 1, 16}};
/* the configuration failed: status, stage, message */
static const struct field failed_fields[] = {KEY,
                                             {"stage", FIELD_TEXT, false, 1, 16},
                                             {"status", FIELD_TEXT, false, 1, 32},
                                             {"reason", FIELD_TEXT, false, 0, 4096},
                                             ACCURACY};
static const struct field described_fields[] = {
    KEY,
    {"path", FIELD_TEXT, false, 1, 4095},
    {"hash", FIELD_TEXT, false, 32, 32},
    {"shapes", FIELD_TEXT, false, 0, WORKER_LINE_MAX},
    {"open_dimensions", FIELD_TEXT, true, 0, WORKER_LINE_MAX},
    {"tolerance", FIELD_TEXT, true, 4, 7},
    {"flops", FIELD_NUMBER, true, 0, 1e18},
    {"bytes", FIELD_NUMBER, true, 0, 1e18},
    {"weights_bytes", FIELD_INT, true, -1, MAX_BYTES},
    {"file_bytes", FIELD_INT, true, 0, MAX_BYTES},
    {"kept_inputs", FIELD_INT, true, 0, 1 << 20},
    {"side_files", FIELD_LIST, true, 0, WORKER_LINE_MAX},
    {"inputs", FIELD_LIST, false, 0, WORKER_LINE_MAX},
    {"outputs", FIELD_LIST, false, 1, WORKER_LINE_MAX},
};
static const struct field referenced_fields[] = {KEY, {"seconds", FIELD_NUMBER, false, 0, 1e6}};
static const struct field generated_fields[] = {KEY, {"plan", FIELD_LIST, false, 8, 1 << 16}};
static const struct field labelled_fields[] = {
    KEY, {"samples", FIELD_INT, false, 0, 1 << 24}, {"where", FIELD_TEXT, true, 0, 4096}};
static const struct field predicted_fields[] = {
    KEY, {"rows", FIELD_INT, false, 0, 1 << 24}, {"where", FIELD_TEXT, true, 0, 4096}};
static const struct field quality_fields[] = {KEY, {"tokens", FIELD_INT, false, 2, 1 << 24}};
static const struct field opened_fields[] = {
    KEY,
    {"version", FIELD_TEXT, false, 0, 63},
    {"device", FIELD_TEXT, false, 0, 63},
    {"precision", FIELD_TEXT, false, 0, 31},
    {"threads", FIELD_INT, false, 0, 1 << 20},
    {"fallback_share", FIELD_NUMBER, true, 0, 1},
    {"artifact_bytes", FIELD_INT, false, -1, MAX_BYTES},
    {"arena_bytes", FIELD_INT, false, -1, MAX_BYTES},
    {"from_cache", FIELD_BOOL, false, 0, 1},
    {"flags", FIELD_INT, false, 0, 65535},
    {"import_ms", FIELD_NUMBER, true, 0, MAX_MS},
    {"compile_ms", FIELD_NUMBER, true, 0, MAX_MS},
    {"load_ms", FIELD_NUMBER, false, 0, MAX_MS},
    {"first_ms", FIELD_NUMBER, false, 0, MAX_MS},
    {"rss_import", FIELD_INT, false, -1, MAX_BYTES},
    {"rss_compile", FIELD_INT, false, -1, MAX_BYTES},
    {"rss_load", FIELD_INT, false, -1, MAX_BYTES},
    {"output_hash", FIELD_TEXT, false, 32, 32},
    {"checks", FIELD_LIST, true, 0, 64},
    ACCURACY,
};
static const struct field warm_fields[] = {
    KEY,
    {"ms", FIELD_NUMBER, false, 0, MAX_MS},
    {"median_ns", FIELD_NUMBER, false, 1, MAX_NS},
    {"is_stationary", FIELD_BOOL, false, 0, 1},
    {"rss", FIELD_INT, false, -1, MAX_BYTES},
};
static const struct field block_fields[] = {
    KEY,
    {"round", FIELD_INT, false, 0, 1 << 20},
    {"samples", FIELD_INT, false, 1, 1 << 24},
    {"rewarm", FIELD_INT, false, 0, 1 << 24},
    {"verified", FIELD_INT, false, 0, 1 << 20},
    {"is_within", FIELD_BOOL, false, 0, 1},
    {"where", FIELD_TEXT, true, 0, 1023},
    {"involuntary", FIELD_INT, false, -1, MAX_BYTES},
    {"busy_threads", FIELD_INT, true, -1, 1 << 20},
    {"copy_in", FIELD_INT, true, 0, 1 << 10}, /* number of copy times; 0: none */
    {"copy_out", FIELD_INT, true, 0, 1 << 24},
    {"checks", FIELD_LIST, true, 0, 64},
    {"iterations", FIELD_INT, false, 1, MAX_BYTES},
    {"rss", FIELD_INT, false, -1, MAX_BYTES},
    {"rss_peak", FIELD_INT, false, -1, MAX_BYTES},
    ACCURACY,
};
static const struct field closed_fields[] = {KEY};

/* how the engine computed, by its profile, after all measurements */
static const struct field surveyed_fields[] = {
    KEY, {"precision", FIELD_TEXT, false, 0, 31}, {"fallback_share", FIELD_NUMBER, true, 0, 1}};

/* the files that the engine made of the model, in the worker's folder */
static const struct field kept_fields[] = {
    KEY, {"files", FIELD_LIST, false, 0, 64}, {"why", FIELD_TEXT, false, 0, 1023}};

static const struct schema event_schemas[] = {
    {"block", block_fields, COUNT(block_fields)},
    {"closed", closed_fields, COUNT(closed_fields)},
    {"described", described_fields, COUNT(described_fields)},
    {"failed", failed_fields, COUNT(failed_fields)},
    {"generated", generated_fields, COUNT(generated_fields)},
    {"kept", kept_fields, COUNT(kept_fields)},
    {"labelled", labelled_fields, COUNT(labelled_fields)},
    {"opened", opened_fields, COUNT(opened_fields)},
    {"predicted", predicted_fields, COUNT(predicted_fields)},
    {"quality_made", quality_fields, COUNT(quality_fields)},
    {"referenced", referenced_fields, COUNT(referenced_fields)},
    {"stage", stage_fields, COUNT(stage_fields)},
    {"surveyed", surveyed_fields, COUNT(surveyed_fields)},
    {"warm", warm_fields, COUNT(warm_fields)},
};

static bool in_range(const struct field *field, double x) {
  return x >= field->min && x <= field->max;
}

static bool field_fits(const struct field *field, const json_t *value) {
  switch (field->type) {
    case FIELD_TEXT:
      return json_is_string(value) && in_range(field, (double)json_string_length(value)) &&
             strlen(json_string_value(value)) == json_string_length(value);
    case FIELD_INT:
      return json_is_integer(value) && in_range(field, (double)json_integer_value(value));
    case FIELD_NUMBER:
      return json_is_number(value) && in_range(field, json_number_value(value));
    case FIELD_BOOL:
      return json_is_boolean(value);
    case FIELD_LIST:
      return json_is_array(value) && in_range(field, (double)json_array_size(value));
  }
  return false;
}

static bool fits(const struct schema *schema, json_t *message, char reason[256]) {
  size_t known = 0;
  for (size_t i = 0; i < schema->count; i++) {
    const struct field *field = &schema->fields[i];
    const json_t *value = json_object_get(message, field->key);
    known += value != NULL;
    if (value ? field_fits(field, value) : field->is_optional) continue;
    snprintf(reason, 256, "event %s: key %s is %s", schema->name, field->key,
             value ? "of another type or out of range" : "missing");
    return false;
  }
  if (known == json_object_size(message)) return true;
  snprintf(reason, 256, "event %s: unknown key", schema->name);
  return false;
}

json_t *event_parse(const char *line, size_t length, char reason[256]) {
  json_error_t error;
  json_t *message = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
  if (!json_is_object(message)) {
    char words[128];
    safe_copy(words, sizeof words, message ? "not an object" : error.text);
    snprintf(reason, 256, "a line is not a JSON object: %s", words);
    json_decref(message);
    return NULL;
  }
  const char *name = message_text(message, "event");
  for (size_t i = 0; i < COUNT(event_schemas); i++)
    if (!strcmp(event_schemas[i].name, name)) {
      if (fits(&event_schemas[i], message, reason)) return message;
      json_decref(message);
      return NULL;
    }
  char shown[64];
  safe_copy(shown, sizeof shown, name);
  snprintf(reason, 256, "unknown event \"%s\"", shown);
  json_decref(message);
  return NULL;
}

char *message_line(json_t *message, size_t *out_length) {
  char *line = message ? json_dumps(message, JSON_COMPACT) : NULL;
  json_decref(message);
  if (!line) return NULL;
  const size_t length = strlen(line);
  if (length >= WORKER_LINE_MAX) {
    free(line);
    return NULL;
  }
  line[length] = '\n'; /* replaces the NUL: no longer a string */
  *out_length = length + 1;
  return line;
}

bool message_write(int fd, json_t *message) {
  size_t length;
  char *line = message_line(message, &length);
  const bool is_written = line && write_all(fd, line, length);
  free(line);
  return is_written;
}

const char *message_text(const json_t *message, const char *key) {
  const char *text = json_string_value(json_object_get(message, key));
  return text ? text : "";
}
double message_number(const json_t *message, const char *key) {
  const json_t *value = json_object_get(message, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}
int64_t message_int(const json_t *message, const char *key, int64_t otherwise) {
  const json_t *value = json_object_get(message, key);
  return json_is_integer(value) ? (int64_t)json_integer_value(value) : otherwise;
}
bool message_bool(const json_t *message, const char *key) {
  return json_is_true(json_object_get(message, key));
}

void message_set_number(json_t *message, const char *key, double x) {
  if (isnan(x)) return;
  if (isinf(x)) x = x > 0 ? 1e308 : -1e308;
  json_object_set_new(message, key, json_real(x));
}

/* -- lines */

/* Makes room and moves the unread part to the front. */
static bool make_room(struct line_reader *reader) {
  if (reader->start) {
    memmove(reader->buffer, reader->buffer + reader->start, reader->length - reader->start);
    reader->length -= reader->start;
    reader->start = 0;
  }
  if (reader->length < reader->capacity) return true;
  size_t capacity = reader->capacity ? reader->capacity * 2 : 4096;
  char *buffer = realloc(reader->buffer, capacity);
  if (!buffer) return false;
  reader->buffer = buffer;
  reader->capacity = capacity;
  return true;
}

enum line_result line_next(struct line_reader *reader, char **out_line, size_t *out_length) {
  size_t searched = reader->start;
  for (;;) {
    char *line = reader->buffer + reader->start;
    char *end = reader->length > searched
                    ? memchr(reader->buffer + searched, '\n', reader->length - searched)
                    : NULL;
    *out_line = line;
    if (end) {
      *end = 0;
      *out_length = (size_t)(end - line);
      reader->start = (size_t)(end - reader->buffer) + 1;
      return *out_length < WORKER_LINE_MAX ? LINE_READY : LINE_TOO_LONG;
    }
    *out_length = reader->length - reader->start;
    if (*out_length >= WORKER_LINE_MAX || !make_room(reader)) return LINE_TOO_LONG;
    searched = reader->length;
    ssize_t n =
        read(reader->fd, reader->buffer + reader->length, reader->capacity - reader->length);
    if (n > 0)
      reader->length += (size_t)n;
    else if (n == 0)
      return LINE_END;
    else if (errno == EAGAIN)
      return LINE_NONE;
    else if (errno != EINTR)
      return LINE_END;
  }
}

void line_reader_deinit(struct line_reader *reader) {
  free(reader->buffer);
  *reader = (struct line_reader){.fd = -1};
}

size_t find_named(const json_t *names, const char *name, size_t otherwise) {
  for (size_t i = 0; i < json_array_size(names); i++)
    if (!strcmp(json_string_value(json_array_get(names, i)), name)) return i;
  return otherwise;
}
