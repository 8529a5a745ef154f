#include "prune.h"

enum { BUCKETS = 1024, NONE = -1 };

enum piece_kind {
  PIECE_CODE,
  /* #undef, and #include of a known header, which defines that header's declarations */
  PIECE_DEFINE,
  PIECE_ALWAYS, /* other #includes, #pragma, #error: always kept */
  PIECE_IF,
  PIECE_ELSE, /* and #elif */
  PIECE_END,
  PIECE_COMMENT
};

struct piece {
  enum piece_kind kind;
  struct span source;
  int group; /* the enclosing #if, or the #if that it belongs to; NONE */
  int last;  /* of a comment: one past the last piece that it describes; of an #if: its #endif */
  bool after_blank, is_guard, is_kept;
};

struct name {
  struct span source;
  int piece, next; /* of the same bucket */
};

struct pruner {
  struct ctx *ctx;
  struct arena *arena;
  VEC(struct piece) all;
  VEC(struct name) names;
  int buckets[BUCKETS];
  int *unread; /* kept pieces whose names were not followed yet; space for all */
  size_t unread_count;
};

/* -- words */

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static uint64_t hash_bytes(const char *at, size_t length) {
  uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)at[i]) * 0x100000001b3u;
  return hash;
}

bool span_is(struct span span, const char *word) {
  return span.length == strlen(word) && !memcmp(span.at, word, span.length);
}

const char *skip_quoted(const char *at, const char *end) {
  if (end - at >= 2 && at[0] == '/' && at[1] == '*') {
    const char *close = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
    return close ? close + 2 : end;
  }
  if (*at != '"' && *at != '\'') return NULL;
  const char quote = *at++;
  while (at < end && *at != quote && *at != '\n') at += *at == '\\' && end - at > 1 ? 2 : 1;
  return at < end ? at + 1 : end;
}

const char *skip_line(const char *at, const char *end) {
  while (at < end && *at != '\n') {
    const char *next = skip_quoted(at, end);
    at = next ? next : at[0] == '\\' && end - at > 1 ? at + 2 : at + 1;
  }
  return at < end ? at + 1 : end;
}

bool next_word(const char **at, const char *end, struct span *out) {
  const char *p = *at;
  while (p < end && !is_letter(*p)) {
    const char *next = skip_quoted(p, end);
    if (next)
      p = next;
    else if (is_digit(*p))
      while (p < end && (is_letter(*p) || is_digit(*p) || *p == '.')) p++;
    else
      p++;
  }
  out->at = p;
  while (p < end && (is_letter(*p) || is_digit(*p))) p++;
  out->length = (size_t)(p - out->at);
  *at = p;
  return out->length > 0;
}

static const char *skip_spaces(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  return at;
}

/* The newline if the rest of the line is empty or a comment; NULL: it is not. */
static const char *skip_rest(const char *at, const char *end) {
  at = skip_spaces(at, end);
  if (end - at >= 2 && at[0] == '/' && at[1] == '*') at = skip_spaces(skip_quoted(at, end), end);
  if (at == end) return end;
  return *at == '\n' ? at + 1 : NULL;
}

/* Past the bracket that closes the one at `at`. */
static const char *skip_brackets(const char *at, const char *end) {
  int depth = 0;
  while (at < end) {
    const char *next = skip_quoted(at, end);
    if (next) {
      at = next;
      continue;
    }
    if (strchr("([{", *at)) depth++;
    if (strchr(")]}", *at) && !--depth) return at + 1;
    at++;
  }
  return end;
}

/* -- what a piece defines */

static hone_status add_name(struct pruner *p, struct span name) {
  const size_t bucket = hash_bytes(name.at, name.length) % BUCKETS;
  VEC_PUSH(p->ctx, p->arena, &p->names,
           ((struct name){name, (int)p->all.count - 1, p->buckets[bucket]}));
  p->buckets[bucket] = (int)p->names.count - 1;
  return HONE_OK;
}

static bool is_call(struct span word, const char *end) {
  return word.at + word.length < end && word.at[word.length] == '(';
}

/* A word that is not part of what is declared, with its brackets. */
static bool is_decoration(struct span word) {
  return span_is(word, "__attribute__") || span_is(word, "_Alignas");
}

/* A keyword that may precede braces without a name. */
static bool is_keyword(struct span word) {
  return span_is(word, "typedef") || span_is(word, "struct") || span_is(word, "union") ||
         span_is(word, "enum");
}

static hone_status add_enumerators(struct pruner *p, const char *at, const char *end) {
  struct span word;
  bool is_next = true;
  for (at++; at < end;) {
    const char *quoted = skip_quoted(at, end);
    if (quoted) {
      at = quoted;
    } else if (is_letter(*at)) {
      (void)next_word(&at, end, &word);
      if (is_next) TRY(add_name(p, word));
      is_next = false;
    } else {
      is_next |= *at++ == ',';
    }
  }
  return HONE_OK;
}

/* The last word before the brackets, the value or the end of a declaration. PASTE_(NAME, tile)
   declares "tile"; a macro used at the top level, such as BY_LANE_(sin_, sinf), declares its
   first argument. */
static hone_status add_declared(struct pruner *p, struct span code) {
  const char *at = code.at, *const end = code.at + code.length;
  struct span word, last = {0};
  bool is_enum = false;
  while (at < end) {
    const char *quoted = skip_quoted(at, end);
    if (quoted) {
      at = quoted;
    } else if (is_letter(*at)) {
      (void)next_word(&at, end, &word);
      const char *open = skip_spaces(at, end), *close = end;
      const bool opens = open < end && *open == '(';
      if (opens) close = skip_brackets(open, end);
      is_enum |= span_is(word, "enum");
      if (opens && is_decoration(word)) {
        at = close;
      } else if (opens && span_is(word, "PASTE_")) {
        for (const char *q = open; next_word(&q, close, &word);) last = word;
        at = close;
      } else if (opens && word.at == code.at) {
        return next_word(&open, close, &word) ? add_name(p, word) : HONE_OK;
      } else if (!is_keyword(word)) {
        last = word;
      }
    } else if (*at == '{') {
      const char *close = skip_brackets(at, end);
      if (is_enum) TRY(add_enumerators(p, at, close));
      if (last.length) TRY(add_name(p, last));
      at = close;
    } else if (strchr("([=;,", *at)) {
      return last.length ? add_name(p, last) : HONE_OK;
    } else {
      at++;
    }
  }
  return HONE_OK;
}

/* -- splitting */

/* Past a declaration or a function; NULL: its brackets do not close. */
static const char *code_end(const char *at, const char *end) {
  const char *p = at;
  struct span first;
  int depth = 0;
  (void)next_word(&p, end, &first);
  const bool is_macro = first.at == at && is_call(first, end) && !is_decoration(first);
  for (p = at; p < end;) {
    const char *next = skip_quoted(p, end), c = *p;
    if (!next && c == '#' && (p == at || p[-1] == '\n')) next = skip_line(p, end);
    if (next) {
      p = next;
      continue;
    }
    p++;
    if (strchr("([{", c)) depth++;
    if (strchr(")]}", c)) depth--;
    if (depth || !strchr(";})", c)) continue;
    const char *rest = skip_rest(p, end);
    if (c == ';') return rest ? rest : p;
    if (rest && (c == '}' || (c == ')' && is_macro))) return rest;
  }
  return NULL;
}

/* Headers of libc that are printed only if a name that they declare is used (C11 7.12, 7.24; nan
   is more often a variable). Others are always printed. */
#define OF_EACH_TYPE(name) name " " name "f " name "l "
static const struct header {
  const char *file, *names;
} headers[] = {
    {"<math.h>",
     "HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO "
     "float_t double_t fpclassify isfinite isinf isnan isnormal signbit isgreater isgreaterequal "
     "isless islessequal islessgreater isunordered "
     /* clang-format off */
     OF_EACH_TYPE("acos") OF_EACH_TYPE("acosh") OF_EACH_TYPE("asin") OF_EACH_TYPE("asinh")
     OF_EACH_TYPE("atan") OF_EACH_TYPE("atan2") OF_EACH_TYPE("atanh") OF_EACH_TYPE("cbrt")
     OF_EACH_TYPE("ceil") OF_EACH_TYPE("copysign") OF_EACH_TYPE("cos") OF_EACH_TYPE("cosh")
     OF_EACH_TYPE("erf") OF_EACH_TYPE("erfc") OF_EACH_TYPE("exp") OF_EACH_TYPE("exp2")
     OF_EACH_TYPE("expm1") OF_EACH_TYPE("fabs") OF_EACH_TYPE("fdim") OF_EACH_TYPE("floor")
     OF_EACH_TYPE("fma") OF_EACH_TYPE("fmax") OF_EACH_TYPE("fmin") OF_EACH_TYPE("fmod")
     OF_EACH_TYPE("frexp") OF_EACH_TYPE("hypot") OF_EACH_TYPE("ilogb") OF_EACH_TYPE("ldexp")
     OF_EACH_TYPE("lgamma") OF_EACH_TYPE("llrint") OF_EACH_TYPE("llround") OF_EACH_TYPE("log")
     OF_EACH_TYPE("log10") OF_EACH_TYPE("log1p") OF_EACH_TYPE("log2") OF_EACH_TYPE("logb")
     OF_EACH_TYPE("lrint") OF_EACH_TYPE("lround") OF_EACH_TYPE("modf") OF_EACH_TYPE("nearbyint")
     OF_EACH_TYPE("nextafter") OF_EACH_TYPE("nexttoward") OF_EACH_TYPE("pow")
     OF_EACH_TYPE("remainder") OF_EACH_TYPE("remquo") OF_EACH_TYPE("rint") OF_EACH_TYPE("round")
     OF_EACH_TYPE("scalbln") OF_EACH_TYPE("scalbn") OF_EACH_TYPE("sin") OF_EACH_TYPE("sinh")
     OF_EACH_TYPE("sqrt") OF_EACH_TYPE("tan") OF_EACH_TYPE("tanh") OF_EACH_TYPE("tgamma")
     OF_EACH_TYPE("trunc")},
    /* clang-format on */
    {"<string.h>",
     "memchr memcmp memcpy memmove memset strcat strchr strcmp strcoll strcpy strcspn strerror "
     "strlen strncat strncmp strncpy strpbrk strrchr strspn strstr strtok strxfrm"}};

static const struct header *header_of(struct span word, const char *rest, const char *end) {
  rest = skip_spaces(rest, end);
  for (size_t i = 0; span_is(word, "include") && i < COUNT(headers); i++) {
    const size_t length = strlen(headers[i].file);
    if ((size_t)(end - rest) >= length && !memcmp(rest, headers[i].file, length))
      return &headers[i];
  }
  return NULL;
}

static enum piece_kind directive_kind(struct span word) {
  static const struct {
    const char *word;
    enum piece_kind kind;
  } kinds[] = {{"define", PIECE_DEFINE}, {"undef", PIECE_DEFINE}, {"if", PIECE_IF},
               {"ifdef", PIECE_IF},      {"ifndef", PIECE_IF},    {"elif", PIECE_ELSE},
               {"else", PIECE_ELSE},     {"endif", PIECE_END}};
  for (size_t i = 0; i < COUNT(kinds); i++)
    if (span_is(word, kinds[i].word)) return kinds[i].kind;
  return PIECE_ALWAYS;
}

/* The state while a source is split. */
struct cutter {
  struct pruner *p;
  const char *source;
  int group;   /* innermost open #if */
  int comment; /* the comment that describes what follows */
  bool after_blank;
};

static hone_status add_piece(struct cutter *c, enum piece_kind kind, const char *at,
                             const char *end) {
  struct pruner *p = c->p;
  if (kind == PIECE_CODE || kind == PIECE_COMMENT) /* the newline is printed */
    while (end > at && (end[-1] == '\n' || end[-1] == ' ')) end--;
  else if (end > at && end[-1] == '\n')
    end--;
  VEC_PUSH(p->ctx, p->arena, &p->all,
           ((struct piece){.kind = kind,
                           .source = {at, (size_t)(end - at)},
                           .group = c->group,
                           .last = NONE,
                           .after_blank = c->after_blank}));
  c->after_blank = false;
  if (c->comment != NONE && kind != PIECE_COMMENT) p->all.at[c->comment].last = (int)p->all.count;
  return HONE_OK;
}

/* An #include that is already there is not repeated. */
static bool is_included(const struct pruner *p, struct span line) {
  for (size_t i = 0; i < p->all.count; i++)
    if (p->all.at[i].source.length == line.length &&
        !memcmp(p->all.at[i].source.at, line.at, line.length))
      return true;
  return false;
}

/* "#ifndef NAME", then "#define NAME". */
static void mark_guard(struct piece *group, struct span name, const char *end) {
  const struct span source = group->source;
  group->is_guard = source.length > name.length && name.at + name.length + 1 == end &&
                    !memcmp(source.at + source.length - name.length, name.at, name.length);
}

static hone_status cut_directive(struct cutter *c, const char *at, const char *end) {
  struct pruner *p = c->p;
  const char *rest = at;
  struct span word = {0}, name = {0};
  (void)next_word(&rest, end, &word);
  const struct header *header = header_of(word, rest, end);
  const enum piece_kind kind = header ? PIECE_DEFINE : directive_kind(word);
  if (span_is(word, "include") && is_included(p, (struct span){at, (size_t)(end - at - 1)}))
    return HONE_OK;
  const int number = (int)p->all.count;
  if ((kind == PIECE_ELSE || kind == PIECE_END) && c->comment != NONE &&
      p->all.at[c->comment].group == c->group)
    c->comment = NONE;
  TRY(add_piece(c, kind, at, end));
  if (header) {
    const char *at_name = header->names, *const last = at_name + strlen(at_name);
    while (next_word(&at_name, last, &name)) TRY(add_name(p, name));
  } else if (kind == PIECE_DEFINE && next_word(&rest, end, &name)) {
    TRY(add_name(p, name));
    if (number && c->group == number - 1) mark_guard(&p->all.at[number - 1], name, end);
  }
  if (kind == PIECE_IF) c->group = number;
  if (kind == PIECE_END && c->group != NONE) {
    p->all.at[c->group].last = number;
    c->group = p->all.at[c->group].group;
  }
  return HONE_OK;
}

/* The first comment, and any comment followed by a blank line or another comment, describe
   everything after them; other comments describe what follows up to one of these. */
static hone_status cut_comment(struct cutter *c, const char *at, const char *behind,
                               const char *end) {
  const char *next = skip_spaces(behind, end);
  const bool is_heading =
      at == c->source || (next < end && (*next == '\n' || (*next == '/' && next[1] == '*')));
  TRY(add_piece(c, PIECE_COMMENT, at, behind));
  c->comment = (int)c->p->all.count - 1;
  if (is_heading) {
    c->p->all.at[c->comment].last = INT32_MAX; /* the end of the source, set there */
    c->comment = NONE;
  }
  return HONE_OK;
}

static hone_status cut_next(struct cutter *c, const char **at_, const char *end) {
  const char *at = *at_, *word = skip_spaces(at, end);
  if (word == end || *word == '\n') {
    c->after_blank = true;
    c->comment = NONE;
    *at_ = word == end ? end : word + 1;
    return HONE_OK;
  }
  const char *behind = *word == '/' ? skip_rest(word, end) : NULL;
  if (behind) {
    *at_ = behind;
    return cut_comment(c, word, behind, end);
  }
  if (*word == '#') {
    *at_ = skip_line(word, end);
    return cut_directive(c, word, *at_);
  }
  behind = code_end(word, end);
  *at_ = behind ? behind : end;
  /* brackets do not close: the rest is kept unchanged */
  TRY(add_piece(c, behind ? PIECE_CODE : PIECE_ALWAYS, word, *at_));
  return behind ? add_declared(c->p, c->p->all.at[c->p->all.count - 1].source) : HONE_OK;
}

hone_status pruner_make(struct ctx *ctx, struct arena *arena, struct pruner **out) {
  TRY(NEW_ARRAY(ctx, arena, *out, 1));
  **out = (struct pruner){.ctx = ctx, .arena = arena};
  for (int i = 0; i < BUCKETS; i++) (*out)->buckets[i] = NONE;
  return HONE_OK;
}

hone_status pruner_parse(struct pruner *p, const char *source, size_t length) {
  struct cutter c = {.p = p, .source = source, .group = NONE, .comment = NONE};
  const size_t first = p->all.count;
  for (const char *at = source, *const end = source + length; at < end;)
    TRY(cut_next(&c, &at, end));
  for (size_t i = first; i < p->all.count; i++)
    if (p->all.at[i].last == INT32_MAX) p->all.at[i].last = (int)p->all.count;
  TRY(NEW_ARRAY(p->ctx, p->arena, p->unread, p->all.count + 1));
  pruner_reset(p);
  return HONE_OK;
}

/* -- keeping */

static void keep(struct pruner *p, int number) {
  for (; number != NONE && !p->all.at[number].is_kept; number = p->all.at[number].group) {
    p->all.at[number].is_kept = true;
    p->unread[p->unread_count++] = number;
  }
}

static void keep_named(struct pruner *p, struct span word) {
  int i = p->buckets[hash_bytes(word.at, word.length) % BUCKETS];
  for (; i != NONE; i = p->names.at[i].next)
    if (p->names.at[i].source.length == word.length &&
        !memcmp(p->names.at[i].source.at, word.at, word.length))
      keep(p, p->names.at[i].piece);
}

/* PASTE_(widen, u8) names widen_u8. */
static void keep_pasted(struct pruner *p, const char *at, const char *end) {
  char pasted[128];
  struct span first, second;
  if (!next_word(&at, end, &first) || !next_word(&at, end, &second)) return;
  const int length = snprintf(pasted, sizeof pasted, "%.*s_%.*s", (int)first.length, first.at,
                              (int)second.length, second.at);
  if (length > 0 && (size_t)length < sizeof pasted)
    keep_named(p, (struct span){pasted, (size_t)length});
}

static void keep_words(struct pruner *p, struct span source) {
  const char *at = source.at, *const end = source.at + source.length;
  for (struct span word; next_word(&at, end, &word);) {
    keep_named(p, word);
    if (span_is(word, "PASTE_")) keep_pasted(p, at, end);
  }
}

/* Keeping an #if keeps its #elif, #else and #endif; keeping a guard keeps everything inside. */
static void keep_group(struct pruner *p, int number) {
  const struct piece *group = &p->all.at[number];
  for (int i = number + 1; i <= group->last; i++) {
    const struct piece *piece = &p->all.at[i];
    const bool is_own =
        piece->group == number && (piece->kind == PIECE_ELSE || piece->kind == PIECE_END);
    if (is_own || group->is_guard) keep(p, i);
  }
}

static void read_kept(struct pruner *p) {
  while (p->unread_count) {
    const int number = p->unread[--p->unread_count];
    keep_words(p, p->all.at[number].source);
    if (p->all.at[number].kind == PIECE_IF) keep_group(p, number);
  }
}

void pruner_keep_used(struct pruner *p, const char *source, size_t length) {
  keep_words(p, (struct span){source, length});
  read_kept(p);
}

void pruner_reset(struct pruner *p) {
  for (size_t i = 0; i < p->all.count; i++) p->all.at[i].is_kept = false;
  p->unread_count = 0;
  for (size_t i = 0; i < p->all.count; i++)
    if (p->all.at[i].kind == PIECE_ALWAYS) keep(p, (int)i);
  read_kept(p);
}

/* -- printing */

static bool describes_kept(const struct pruner *p, size_t comment) {
  for (int i = (int)comment + 1; i < p->all.at[comment].last; i++)
    if (p->all.at[i].is_kept) return true;
  return false;
}

/* An #else without content. */
static bool is_empty_else(const struct pruner *p, size_t number) {
  if (p->all.at[number].kind != PIECE_ELSE) return false;
  for (size_t i = number + 1; i < p->all.count; i++)
    if (p->all.at[i].is_kept)
      return p->all.at[i].kind == PIECE_END && p->all.at[i].group == p->all.at[number].group;
  return false;
}

static hone_status see(struct comments_seen *seen, struct span source, bool *out_is_new) {
  const uint64_t hash = hash_bytes(source.at, source.length);
  *out_is_new = true;
  if (!seen) return HONE_OK;
  for (size_t i = 0; i < seen->hashes.count; i++)
    if (seen->hashes.at[i] == hash) *out_is_new = false;
  if (*out_is_new) VEC_PUSH(seen->ctx, seen->arena, &seen->hashes, hash);
  return HONE_OK;
}

hone_status pruner_print(const struct pruner *p, struct comments_seen *seen, struct strbuf *out) {
  bool blank = false;
  for (size_t i = 0; i < p->all.count; i++) {
    const struct piece *piece = &p->all.at[i];
    blank |= piece->after_blank;
    if (piece->kind == PIECE_COMMENT) {
      bool is_new = false;
      if (describes_kept(p, i)) TRY(see(seen, piece->source, &is_new));
      if (!is_new) continue;
    } else if (!piece->is_kept || is_empty_else(p, i)) {
      continue;
    }
    if (blank) strbuf_puts(out, "\n");
    blank = false;
    strbuf_append(out, piece->source.at, piece->source.length);
    strbuf_puts(out, "\n");
  }
  return HONE_OK;
}
