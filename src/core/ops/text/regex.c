/* regex: regular expressions to state tables over bytes (Thompson 1968; subset construction). The
 * syntax is RE2's without flags and Unicode classes; ranges in [] are ASCII only. Non-regular
 * features (back references, look-around) are rejected. An assertion (^ $ \b \B) is resolved when
 * the next byte, or the end, is known, from whether it is the first and whether the previous byte
 * was a word byte; both are part of a table state. */
#include "strings.h"

enum { MOST_NODES = 4000, MOST_STATES = 1024, MOST_GROUPS = 64, MOST_REPEATS = 1000 };

struct bytes {
  uint8_t has[256];
};
/* When an empty transition may be taken: always, or only if an assertion holds. */
enum when { ALWAYS, AT_BEGIN = 1, AT_END = 2, AT_BOUNDARY = 4, AT_NO_BOUNDARY = 8 };
/* A node: any byte of the set leads to `next` (-1: none), empty transitions to eps[0], eps[1]. */
struct nfa_node {
  struct bytes set;
  int next, eps[2];
  enum when when;
};
/* Nodes [low, high), entered at `start`, left at `end`, which has no transition yet. */
struct fragment {
  int low, high, start, end;
  bool exists;
};
struct group {
  /* alternatives before the last "|"; the sequence since then; the last atom */
  struct fragment either, row, atom;
};
struct regex {
  struct ctx *ctx;
  struct arena *arena;
  struct place place;
  const char *at, *end, *begin;
  VEC(struct nfa_node) nodes;
  struct group groups[MOST_GROUPS];
  int depth;
};

static hone_status refuse(struct regex *r, const char *what) {
  return fail(r->ctx, HONE_E_UNSUP, r->place, "the pattern has %s at byte %zu", what,
              (size_t)(r->at - r->begin));
}

static hone_status new_node(struct regex *r, int *out) {
  if (r->nodes.count >= MOST_NODES)
    return fail(r->ctx, HONE_E_LIMIT, r->place, "a pattern of more than %d nodes", MOST_NODES);
  *out = (int)r->nodes.count;
  VEC_PUSH(r->ctx, r->arena, &r->nodes, (struct nfa_node){.next = -1, .eps = {-1, -1}});
  return HONE_OK;
}

/* -- fragments */

static hone_status empty_fragment(struct regex *r, struct fragment *out) {
  int node;
  TRY(new_node(r, &node));
  *out = (struct fragment){node, node + 1, node, node, true};
  return HONE_OK;
}

static hone_status set_fragment(struct regex *r, const struct bytes *set, struct fragment *out) {
  int first, last;
  TRY(new_node(r, &first));
  TRY(new_node(r, &last));
  r->nodes.at[first].set = *set;
  r->nodes.at[first].next = last;
  *out = (struct fragment){first, last + 1, first, last, true};
  return HONE_OK;
}

static void join(struct regex *r, struct fragment *a, const struct fragment *b) {
  if (!a->exists) {
    *a = *b;
    return;
  }
  r->nodes.at[a->end].eps[0] = b->start;
  a->end = b->end;
  a->high = b->high;
}

/* Alternation; b follows a in the list. */
static hone_status either(struct regex *r, struct fragment *a, const struct fragment *b) {
  int start, end;
  if (!a->exists) {
    *a = *b;
    return HONE_OK;
  }
  TRY(new_node(r, &start));
  TRY(new_node(r, &end));
  r->nodes.at[start].eps[0] = a->start;
  r->nodes.at[start].eps[1] = b->start;
  r->nodes.at[a->end].eps[0] = end;
  r->nodes.at[b->end].eps[0] = end;
  *a = (struct fragment){a->low, end + 1, start, end, true};
  return HONE_OK;
}

/* At least once (may_miss false) or any number of times; once_only: at most once. */
static hone_status repeat(struct regex *r, struct fragment *a, bool may_miss, bool once_only) {
  int start, end;
  TRY(new_node(r, &start));
  TRY(new_node(r, &end));
  r->nodes.at[start].eps[0] = a->start;
  if (may_miss) r->nodes.at[start].eps[1] = end;
  r->nodes.at[a->end].eps[0] = end;
  if (!once_only) r->nodes.at[a->end].eps[1] = a->start;
  *a = (struct fragment){a->low, end + 1, start, end, true};
  return HONE_OK;
}

static hone_status copy_fragment(struct regex *r, const struct fragment *a, struct fragment *out) {
  int by = (int)r->nodes.count - a->low, node;
  for (int i = a->low; i < a->high; i++) {
    TRY(new_node(r, &node));
    struct nfa_node copy = r->nodes.at[i];
    if (copy.next >= 0) copy.next += by;
    for (int k = 0; k < 2; k++)
      if (copy.eps[k] >= 0) copy.eps[k] += by;
    r->nodes.at[node] = copy;
  }
  *out = (struct fragment){a->low + by, a->high + by, a->start + by, a->end + by, true};
  return HONE_OK;
}

/* {least,most}; most -1: unlimited. Copies are made of the unmodified atom, which stays unused. */
static hone_status repeat_counted(struct regex *r, struct fragment *atom, int least, int most) {
  struct fragment all = {0}, one;
  const struct fragment model = *atom;
  int times = most < 0 ? least + 1 : most;
  for (int i = 0; i < times; i++) {
    TRY(copy_fragment(r, &model, &one));
    if (i >= least) TRY(repeat(r, &one, true, most >= 0));
    join(r, &all, &one);
  }
  if (!all.exists) TRY(empty_fragment(r, &all));
  all.low = model.low;
  *atom = all;
  return HONE_OK;
}

/* -- atoms */

static void add_range(struct bytes *set, int low, int high) {
  for (int c = low; c <= high; c++) set->has[c] = 1;
}

/* \d, \w, \s and their complements within ASCII; false: not a class. */
static bool class_of(char c, struct bytes *set) {
  struct bytes own = {{0}};
  switch (c | 32) {
    case 'd':
      add_range(&own, '0', '9');
      break;
    case 'w':
      add_range(&own, '0', '9');
      add_range(&own, 'a', 'z');
      add_range(&own, 'A', 'Z');
      own.has['_'] = 1;
      break;
    case 's':
      own.has['\t'] = own.has['\n'] = own.has['\f'] = own.has['\r'] = own.has[' '] = 1;
      break;
    default:
      return false;
  }
  for (int i = 0; i < 128; i++) set->has[i] |= own.has[i] != (c < 'a');
  return true;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 32;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte after a backslash, taken literally or as a control character. */
static hone_status escaped(struct regex *r, unsigned char *out) {
  static const char from[] = "tnrfva", to[] = "\t\n\r\f\v\a";
  if (r->at == r->end) return refuse(r, "a backslash at its end");
  char c = *r->at++;
  const char *known = c ? strchr(from, c) : NULL;
  *out = (unsigned char)c;
  if (known) *out = (unsigned char)to[known - from];
  if (known || (unsigned char)c >= 128 || c == '_' ||
      (c > 32 && c < 127 && !((c | 32) >= 'a' && (c | 32) <= 'z') && !(c >= '0' && c <= '9')))
    return HONE_OK;
  int high = r->end - r->at >= 2 && c == 'x' ? hex_digit(r->at[0]) : -1;
  int low = high < 0 ? -1 : hex_digit(r->at[1]);
  if (low < 0 || high >= 8) return refuse(r, "an unsupported escape");
  *out = (unsigned char)(high * 16 + low);
  r->at += 2;
  return HONE_OK;
}

/* Number of bytes of a UTF-8 character, from its first byte; an invalid byte counts as a
 * character. */
static size_t character_bytes(const struct regex *r) {
  unsigned char c = (unsigned char)*r->at;
  size_t length = c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;
  return (size_t)(r->end - r->at) < length ? 1 : length;
}

static hone_status literal(struct regex *r, size_t length, struct fragment *out) {
  *out = (struct fragment){0};
  for (size_t i = 0; i < length; i++) {
    struct bytes set = {{0}};
    struct fragment one;
    set.has[(unsigned char)*r->at++] = 1;
    TRY(set_fragment(r, &set, &one));
    join(r, out, &one);
  }
  return HONE_OK;
}

/* Any non-ASCII character, or one of the set. */
static hone_status set_and_beyond(struct regex *r, const struct bytes *set, struct fragment *out) {
  static const struct {
    int low, high, more;
  } leads[] = {{0xc2, 0xdf, 1}, {0xe0, 0xef, 2}, {0xf0, 0xf4, 3}};
  TRY(set_fragment(r, set, out));
  for (size_t i = 0; i < COUNT(leads); i++) {
    struct fragment row, next;
    struct bytes lead = {{0}}, rest = {{0}};
    add_range(&lead, leads[i].low, leads[i].high);
    add_range(&rest, 0x80, 0xbf);
    TRY(set_fragment(r, &lead, &row));
    for (int k = 0; k < leads[i].more; k++) {
      TRY(set_fragment(r, &rest, &next));
      join(r, &row, &next);
    }
    TRY(either(r, out, &row));
  }
  return HONE_OK;
}

/* "[:alpha:]" after its "["; false for any other text. */
static bool named_class(struct regex *r, struct bytes *set) {
  static const struct {
    const char *name, *ranges; /* pairs of first and last */
  } rows[] = {{"[:alpha:]", "azAZ"},     {"[:digit:]", "09"},      {"[:alnum:]", "azAZ09"},
              {"[:lower:]", "az"},       {"[:upper:]", "AZ"},      {"[:space:]", "\t\r  "},
              {"[:punct:]", "!/:@[`{~"}, {"[:xdigit:]", "09afAF"}, {"[:word:]", "azAZ09__"}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    size_t length = strlen(rows[i].name);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, rows[i].name, length)) continue;
    for (const char *p = rows[i].ranges; *p; p += 2) add_range(set, p[0], p[1]);
    r->at += length;
    return true;
  }
  return false;
}

struct class {
  struct bytes set;
  struct fragment wide; /* its non-ASCII characters */
  bool beyond;          /* all non-ASCII characters */
};

/* One member, or the first end of a range; *is_byte: it may begin a range. */
static hone_status class_member(struct regex *r, struct class *c, unsigned char *out,
                                bool *is_byte) {
  *is_byte = false;
  if (*r->at == '[' && named_class(r, &c->set)) return HONE_OK;
  if (*r->at == '\\') {
    r->at++;
    if (r->at < r->end && class_of(*r->at, &c->set)) {
      c->beyond |= *r->at++ < 'a';
      return HONE_OK;
    }
    *is_byte = true;
    return escaped(r, out);
  }
  if ((unsigned char)*r->at >= 128) {
    struct fragment one;
    TRY(literal(r, character_bytes(r), &one));
    return either(r, &c->wide, &one);
  }
  *is_byte = true;
  *out = (unsigned char)*r->at++;
  return HONE_OK;
}

static hone_status read_class(struct regex *r, struct fragment *out) {
  struct class c = {.beyond = false};
  bool negates = r->at < r->end && *r->at == '^', is_byte, is_first = true;
  r->at += negates;
  for (; r->at < r->end && (*r->at != ']' || is_first); is_first = false) {
    unsigned char low = 0, high;
    TRY(class_member(r, &c, &low, &is_byte));
    if (!is_byte) continue;
    high = low;
    if (r->end - r->at >= 2 && r->at[0] == '-' && r->at[1] != ']') {
      r->at++;
      TRY(class_member(r, &c, &high, &is_byte));
      if (!is_byte || high < low) return refuse(r, "a range with non-ASCII characters");
    }
    add_range(&c.set, low, high);
  }
  if (r->at == r->end) return refuse(r, "a [ without its ]");
  r->at++;
  if (negates && c.wide.exists) return refuse(r, "a [^ with non-ASCII characters");
  for (int i = 0; negates && i < 128; i++) c.set.has[i] = !c.set.has[i];
  if (negates != c.beyond)
    TRY(set_and_beyond(r, &c.set, out));
  else
    TRY(set_fragment(r, &c.set, out));
  if (!c.wide.exists) return HONE_OK;
  int low = c.wide.low; /* their nodes were made first */
  TRY(either(r, out, &c.wide));
  out->low = low;
  return HONE_OK;
}

static hone_status read_atom(struct regex *r, struct fragment *out) {
  struct bytes set = {{0}};
  unsigned char c;
  switch (*r->at) {
    case '[':
      r->at++;
      return read_class(r, out);
    case '.':
      r->at++;
      add_range(&set, 0, 127);
      set.has['\n'] = 0;
      return set_and_beyond(r, &set, out);
    case '\\':
      r->at++;
      if (r->at < r->end && class_of(*r->at, &set))
        return *r->at++ < 'a' ? set_and_beyond(r, &set, out) : set_fragment(r, &set, out);
      TRY(escaped(r, &c));
      set.has[c] = 1;
      return set_fragment(r, &set, out);
    default:
      return literal(r, character_bytes(r), out);
  }
}

/* -- sequences, alternatives, groups */

static struct group *top(struct regex *r) { return &r->groups[r->depth]; }

static void end_atom(struct regex *r) {
  if (top(r)->atom.exists) join(r, &top(r)->row, &top(r)->atom);
  top(r)->atom.exists = false;
}

static hone_status end_row(struct regex *r) {
  end_atom(r);
  if (!top(r)->row.exists) TRY(empty_fragment(r, &top(r)->row));
  TRY(either(r, &top(r)->either, &top(r)->row));
  top(r)->row.exists = false;
  return HONE_OK;
}

static hone_status open_group(struct regex *r) {
  r->at++;
  if (r->at < r->end && *r->at == '?') {
    const char *name = r->at + 1;
    if (r->end - r->at >= 2 && *name == ':') {
      r->at += 2;
    } else if (r->end - r->at >= 3 &&
               (name[0] == 'P' ? name[1] == '<'
                               : name[0] == '<' && name[1] != '=' && name[1] != '!')) {
      while (r->at < r->end && *r->at != '>') r->at++;
      r->at += r->at < r->end;
    } else {
      return refuse(r, "flags or a look-around");
    }
  }
  end_atom(r);
  if (r->depth + 1 == MOST_GROUPS) return refuse(r, "too deeply nested groups");
  r->groups[++r->depth] = (struct group){.row = {.exists = false}};
  return HONE_OK;
}

static hone_status close_group(struct regex *r) {
  if (!r->depth) return refuse(r, "a ) without its (");
  TRY(end_row(r));
  struct fragment whole = top(r)->either;
  r->depth--;
  top(r)->atom = whole;
  r->at++;
  return HONE_OK;
}

/* "{2,5}" at `at`; false for any other text, then the brace is literal. */
static bool read_counts(struct regex *r, int *out_least, int *out_most) {
  const char *p = r->at + 1;
  int counts[2] = {0, -1}, digits[2] = {0, 0};
  for (int k = 0; k < 2; k++) {
    for (; p < r->end && *p >= '0' && *p <= '9' && digits[k] < 6; p++, digits[k]++)
      counts[k] = (counts[k] < 0 ? 0 : counts[k]) * 10 + (*p - '0');
    if (k || p == r->end || *p != ',') break;
    p++;
    if (p < r->end && *p == '}') break;
  }
  if (p == r->end || *p != '}' || !digits[0]) return false;
  bool has_comma = p[-1] == ',' || digits[1];
  *out_least = counts[0];
  *out_most = has_comma ? counts[1] : counts[0];
  r->at = p + 1;
  return true;
}

static hone_status read_quantifier(struct regex *r, bool *out_read) {
  struct fragment *atom = &top(r)->atom;
  char c = *r->at;
  int least = 0, most = 0;
  *out_read = true;
  bool is_count = c == '{' && read_counts(r, &least, &most);
  *out_read = is_count || c == '*' || c == '+' || c == '?';
  if (!*out_read) return HONE_OK;
  if (!atom->exists) return refuse(r, "a repetition without an operand");
  if (is_count && (least > MOST_REPEATS || most > MOST_REPEATS || (most >= 0 && most < least)))
    return refuse(r, "a repetition count out of range");
  if (is_count)
    TRY(repeat_counted(r, atom, least, most));
  else
    TRY(repeat(r, atom, c != '+', c == '?'));
  if (!is_count) r->at++;
  if (r->at < r->end && *r->at == '?') r->at++; /* lazy: the same strings match as a whole */
  if (r->at < r->end && strchr("*+?", *r->at)) return refuse(r, "a repetition of a repetition");
  return HONE_OK;
}

static hone_status read_assertion(struct regex *r, bool *out_read) {
  static const struct {
    const char *text;
    enum when when;
  } rows[] = {{"^", AT_BEGIN},         {"$", AT_END},     {"\\b", AT_BOUNDARY},
              {"\\B", AT_NO_BOUNDARY}, {"\\A", AT_BEGIN}, {"\\z", AT_END}};
  *out_read = false;
  for (size_t i = 0; i < COUNT(rows) && !*out_read; i++) {
    size_t length = strlen(rows[i].text);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, rows[i].text, length)) continue;
    struct fragment from, to;
    *out_read = true;
    r->at += length;
    end_atom(r);
    TRY(empty_fragment(r, &from));
    TRY(empty_fragment(r, &to));
    r->nodes.at[from.start].when = rows[i].when;
    join(r, &from, &to);
    top(r)->atom = from;
  }
  return HONE_OK;
}

static hone_status read_pattern(struct regex *r) {
  while (r->at < r->end) {
    bool done;
    TRY(read_assertion(r, &done));
    if (done) continue;
    if (*r->at == '(') {
      TRY(open_group(r));
      continue;
    }
    if (*r->at == ')') {
      TRY(close_group(r));
      continue;
    }
    if (*r->at == '|') {
      TRY(end_row(r));
      r->at++;
      continue;
    }
    TRY(read_quantifier(r, &done));
    if (done) continue;
    end_atom(r);
    TRY(read_atom(r, &top(r)->atom));
  }
  if (r->depth) return refuse(r, "a ( without its )");
  return end_row(r);
}

/* -- subset construction */

struct subsets {
  struct regex *r;
  size_t words; /* of 64 nodes, plus one */
  bool has_assertions;
  uint64_t *known;
  uint64_t **at;
  size_t count;
  int *stack;
  uint16_t *slots; /* subset + 1 by hash, 0: free */
};
enum { SLOTS = 4 * MOST_STATES };

static bool has_node(const uint64_t *set, size_t i) { return set[i / 64] >> (i % 64) & 1; }

/* holds: bit set of the assertions that are true. */
static void add_node(struct subsets *s, uint64_t *set, int first, unsigned holds) {
  int depth = 0;
  s->stack[depth++] = first;
  while (depth) {
    int node = s->stack[--depth];
    if (node < 0 || has_node(set, (size_t)node)) continue;
    const struct nfa_node *n = &s->r->nodes.at[node];
    set[node / 64] |= UINT64_C(1) << (node % 64);
    if (n->when && !(n->when & holds)) continue;
    s->stack[depth++] = n->eps[0];
    s->stack[depth++] = n->eps[1];
  }
}

/* The last word of a subset: facts about the position. */
enum { IS_FIRST = 1, WORD_BEFORE = 2 };

bool is_word_byte(int byte) {
  return byte == '_' || (byte >= '0' && byte <= '9') || ((byte | 32) >= 'a' && (byte | 32) <= 'z');
}

/* Resolves assertions once the next byte (-1: the end) is known; result in s->known. */
static void pass_assertions(struct subsets *s, const uint64_t *from, int byte) {
  uint64_t facts = from[s->words - 1];
  bool before = facts & WORD_BEFORE, behind = byte >= 0 && is_word_byte(byte);
  unsigned holds = (facts & IS_FIRST ? AT_BEGIN : 0u) | (byte < 0 ? AT_END : 0u) |
                   (before != behind ? AT_BOUNDARY : AT_NO_BOUNDARY);
  memcpy(s->known, from, s->words * sizeof *from);
  if (!s->has_assertions) return;
  for (size_t i = 0; i < s->r->nodes.count; i++) {
    const struct nfa_node *node = &s->r->nodes.at[i];
    if (!has_node(from, i) || !(node->when & holds)) continue;
    add_node(s, s->known, node->eps[0], holds);
    add_node(s, s->known, node->eps[1], holds);
  }
}

/* Returns the index of the subset, new or existing; takes ownership of `set` only if it is new. */
static hone_status find_subset(struct subsets *s, uint64_t *set, size_t *out, bool *out_taken) {
  uint64_t hash = 14695981039346656037u;
  for (size_t w = 0; w < s->words; w++) hash = (hash ^ set[w]) * 1099511628211u, hash ^= hash >> 29;
  size_t slot = hash % SLOTS;
  for (; s->slots[slot]; slot = (slot + 1) % SLOTS) {
    *out = s->slots[slot] - 1u;
    *out_taken = false;
    if (!memcmp(s->at[*out], set, s->words * sizeof *set)) return HONE_OK;
  }
  if (s->count == MOST_STATES)
    return fail(s->r->ctx, HONE_E_LIMIT, s->r->place, "the pattern needs more than %d states",
                MOST_STATES);
  *out = s->count;
  *out_taken = true;
  s->at[s->count++] = set;
  s->slots[slot] = (uint16_t)s->count;
  return HONE_OK;
}

static void step(struct subsets *s, const uint64_t *from, int byte, uint64_t *to) {
  bool any = false;
  memset(to, 0, s->words * sizeof *to);
  pass_assertions(s, from, byte);
  for (size_t i = 0; i < s->r->nodes.count; i++) {
    const struct nfa_node *node = &s->r->nodes.at[i];
    if (!has_node(s->known, i) || node->next < 0 || !node->set.has[byte]) continue;
    add_node(s, to, node->next, 0);
    any = true;
  }
  if (any && s->has_assertions && is_word_byte(byte)) to[s->words - 1] = WORD_BEFORE;
}

static hone_status build_rows(struct subsets *s, int accept, size_t columns, uint16_t *rows) {
  static const int behind[] = {-1, 'a', ' '}; /* classes of the next byte for columns 256 and up */
  struct regex *r = s->r;
  uint64_t *room = NULL;
  for (size_t state = 0; state < s->count; state++) {
    uint16_t *row = rows + state * columns;
    for (size_t k = 256; k < columns; k++) {
      pass_assertions(s, s->at[state], behind[k - 256]);
      row[k] = has_node(s->known, (size_t)accept);
    }
    for (int byte = 0; byte < 256; byte++) {
      size_t to;
      bool taken;
      if (!room) TRY(NEW_ARRAY(r->ctx, r->arena, room, s->words));
      step(s, s->at[state], byte, room);
      TRY(find_subset(s, room, &to, &taken));
      if (taken) room = NULL;
      row[byte] = (uint16_t)to;
    }
  }
  return HONE_OK;
}

/* starts: NULL, or room for the start rows of the three positions where a match may begin. */
static hone_status build_table(struct regex *r, const struct fragment *whole, int64_t *starts,
                               struct tensor **out) {
  static const uint64_t facts[] = {IS_FIRST, 0, WORD_BEFORE};
  const size_t columns = starts ? FIND_COLUMNS : MATCH_COLUMNS;
  struct subsets s = {.r = r, .words = r->nodes.count / 64 + 2};
  uint16_t *rows;
  uint64_t *nothing, *start;
  size_t number;
  bool taken;
  TRY(NEW_ARRAY(r->ctx, r->arena, rows, MOST_STATES * columns));
  TRY(NEW_ARRAY(r->ctx, r->arena, s.at, MOST_STATES));
  TRY(NEW_ARRAY(r->ctx, r->arena, s.slots, SLOTS));
  TRY(NEW_ARRAY(r->ctx, r->arena, s.stack, 3 * r->nodes.count + 4));
  TRY(NEW_ARRAY(r->ctx, r->arena, nothing, s.words));
  TRY(NEW_ARRAY(r->ctx, r->arena, s.known, s.words));
  for (size_t i = 0; i < r->nodes.count; i++) s.has_assertions |= r->nodes.at[i].when != ALWAYS;
  TRY(find_subset(&s, nothing, &number, &taken));
  for (size_t i = 0; i < (starts ? COUNT(facts) : 1); i++) {
    TRY(NEW_ARRAY(r->ctx, r->arena, start, s.words));
    add_node(&s, start, whole->start, 0);
    if (s.has_assertions) start[s.words - 1] = facts[i];
    TRY(find_subset(&s, start, &number, &taken));
    if (starts) starts[i] = (int64_t)number;
  }
  TRY(build_rows(&s, whole->end, columns, rows));
  struct shape shape = {2, {(int64_t)s.count, (int64_t)columns}};
  TRY(tensor_create(r->ctx, r->arena, HONE_U16, &shape, out));
  memcpy(tensor_data(*out), rows, s.count * columns * sizeof *rows);
  return HONE_OK;
}

static hone_status table_of(struct ctx *ctx, struct arena *arena, struct place place,
                            struct string pattern, int64_t *starts, struct tensor **out) {
  struct regex *r;
  TRY(NEW(ctx, arena, r));
  *r = (struct regex){.ctx = ctx, .arena = arena, .place = place, .begin = pattern.bytes};
  r->at = r->begin;
  r->end = r->begin + pattern.length;
  TRY(read_pattern(r));
  return build_table(r, &r->groups[0].either, starts, out);
}

hone_status regex_table(struct ctx *ctx, struct arena *arena, struct place place,
                        struct string pattern, struct tensor **out) {
  return table_of(ctx, arena, place, pattern, NULL, out);
}

hone_status regex_find_table(struct ctx *ctx, struct arena *arena, struct place place,
                             struct string pattern, struct tensor **out, int64_t out_starts[3]) {
  return table_of(ctx, arena, place, pattern, out_starts, out);
}
