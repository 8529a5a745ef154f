/* Parses the command line by flags.def. Unknown flags are errors, with the nearest name. */
#include "cli.h"

#include <math.h>

static const struct flag {
  const char *name;
  char letter;
  const char *argument, *verbs, *help;
} flags[FLAG_ID_COUNT] = {
#define GROUP(title)
#define FLAG(name, letter, argument, verbs, help) {#name, letter, argument, verbs, help},
#include "flags.def"
#undef FLAG
#undef GROUP
};

/* In the order of help: a heading, or a flag. */
static const struct line {
  const char *title;
  int flag;
} help_lines[] = {
#define GROUP(title) {title, -1},
#define FLAG(name, letter, argument, verbs, help) {NULL, FLAG_##name},
#include "flags.def"
#undef FLAG
#undef GROUP
};

const char *flag_spelling(enum flag_id flag, char out[64]) {
  snprintf(out, 64, "--%s", flags[flag].name);
  for (char *p = out; *p; p++)
    if (*p == '_') *p = '-';
  return out;
}

static bool takes(const struct flag *flag, const char *verb) {
  size_t n = strlen(verb);
  for (const char *p = flag->verbs; (p = strstr(p, verb)); p += n)
    if ((p == flag->verbs || p[-1] == ' ') && (!p[n] || p[n] == ' ')) return true;
  return false;
}

bool flag_is_of(enum flag_id flag, const char *verb) { return takes(&flags[flag], verb); }
const char *flag_argument(enum flag_id flag) { return flags[flag].argument; }
char flag_letter(enum flag_id flag) { return flags[flag].letter; }
const char *flag_help_text(enum flag_id flag) { return flags[flag].help; }

static hone_status unknown(struct ctx *ctx, const char *verb, const char *word) {
  char spelling[64], best[64] = "";
  size_t least = 4;
  for (int i = 0; i < FLAG_ID_COUNT; i++) {
    if (!takes(&flags[i], verb)) continue;
    size_t distance = edit_distance(word, flag_spelling((enum flag_id)i, spelling));
    if (distance < least) {
      least = distance;
      snprintf(best, sizeof best, "%s", spelling);
    }
  }
  return fail(ctx, HONE_E_USAGE, place_name(word), "'hone %s' has no such flag%s%s%s", verb,
              best[0] ? "; did you mean " : "", best, best[0] ? "?" : "");
}

/* Earlier spellings of flags, still accepted. */
static const struct {
  const char *verb, *spelling;
  enum flag_id flag;
} earlier[] = {{"gate", "--budget", FLAG_fail_above}, {"bisect", "--budget", FLAG_fail_above}};

static int find_long(const char *verb, const char *word, size_t length) {
  char spelling[64];
  for (size_t i = 0; i < COUNT(earlier); i++)
    if (!strcmp(earlier[i].verb, verb) && strlen(earlier[i].spelling) == length &&
        !memcmp(earlier[i].spelling, word, length))
      return earlier[i].flag;
  for (int i = 0; i < FLAG_ID_COUNT; i++)
    if (takes(&flags[i], verb) && strlen(flag_spelling((enum flag_id)i, spelling)) == length &&
        !memcmp(spelling, word, length))
      return i;
  return -1;
}

static int find_letter(const char *verb, char letter) {
  for (int i = 0; i < FLAG_ID_COUNT; i++)
    if (flags[i].letter == letter && takes(&flags[i], verb)) return i;
  return -1;
}

static hone_status add_word(struct ctx *ctx, struct args *args, const char *word) {
  if (!*word) return fail(ctx, HONE_E_USAGE, place_none(), "an empty argument");
  if (args->word_count == COUNT(args->words))
    return fail(ctx, HONE_E_USAGE, place_none(), "more than %zu arguments", COUNT(args->words));
  args->words[args->word_count++] = word;
  return HONE_OK;
}

static hone_status set_flag(struct ctx *ctx, struct args *args, int id, const char *value) {
  char spelling[64];
  struct repeated *list = &args->repeated[id];
  if (id == FLAG_model) return add_word(ctx, args, value);
  if (flags[id].argument && !*value)
    return fail(ctx, HONE_E_USAGE, place_name(flag_spelling((enum flag_id)id, spelling)),
                "needs %s", flags[id].argument);
  if (list->count == REPEATS)
    return fail(ctx, HONE_E_USAGE, place_name(flag_spelling((enum flag_id)id, spelling)),
                "is given too often");
  args->values[id] = value;
  list->at[list->count++] = value;
  return HONE_OK;
}

static hone_status parse_flag(struct ctx *ctx, int argc, char **argv, int *i, struct args *args) {
  const char *word = argv[*i], *equals = strchr(word, '=');
  bool is_long = word[1] == '-';
  size_t length = is_long && equals ? (size_t)(equals - word) : strlen(word);
  int id = is_long ? find_long(args->verb, word, length) : find_letter(args->verb, word[1]);
  const char *attached = is_long ? (equals ? equals + 1 : NULL) : (word[2] ? word + 2 : NULL);
  if (id < 0) return unknown(ctx, args->verb, word);
  if (!flags[id].argument) {
    if (attached) return fail(ctx, HONE_E_USAGE, place_name(word), "takes no value");
    return set_flag(ctx, args, id, "");
  }
  if (attached) return set_flag(ctx, args, id, attached);
  if (!strcmp(flags[id].argument, "FILE|-") && (*i + 1 >= argc || !strncmp(argv[*i + 1], "--", 2)))
    return set_flag(ctx, args, id, "-");
  if (*i + 1 >= argc)
    return fail(ctx, HONE_E_USAGE, place_name(word), "needs %s", flags[id].argument);
  return set_flag(ctx, args, id, argv[++*i]);
}

hone_status args_parse(struct ctx *ctx, int argc, char **argv, const struct verb *verb,
                       struct args *out) {
  bool only_words = false;
  memset(out, 0, sizeof *out);
  out->verb = verb->name;
  for (int i = 2; i < argc; i++) {
    if (!only_words && !strcmp(argv[i], "--"))
      only_words = true;
    else if (only_words || argv[i][0] != '-' || !argv[i][1])
      TRY(add_word(ctx, out, argv[i]));
    else
      TRY(parse_flag(ctx, argc, argv, &i, out));
  }
  return HONE_OK;
}

bool has(const struct args *args, enum flag_id flag) { return args->values[flag] != NULL; }

const char *value_of(const struct args *args, enum flag_id flag, const char *otherwise) {
  return args->values[flag] ? args->values[flag] : otherwise;
}

hone_status int_of(struct ctx *ctx, const struct args *args, enum flag_id flag, int64_t min,
                   int64_t max, int64_t otherwise, int64_t *out) {
  char spelling[64];
  *out = otherwise;
  if (!args->values[flag] || parse_i64(args->values[flag], min, max, out)) return HONE_OK;
  return fail(ctx, HONE_E_USAGE, place_name(flag_spelling(flag, spelling)),
              "\"%s\" is not a whole number from %lld to %lld", args->values[flag], (long long)min,
              (long long)max);
}

hone_status number_of(struct ctx *ctx, const struct args *args, enum flag_id flag, double min,
                      double max, double otherwise, double *out) {
  char spelling[64];
  *out = otherwise;
  if (!args->values[flag] || parse_f64(args->values[flag], min, max, out)) return HONE_OK;
  return fail(ctx, HONE_E_USAGE, place_name(flag_spelling(flag, spelling)),
              "\"%s\" is not a number from %g to %g", args->values[flag], min, max);
}

hone_status amount_of(struct ctx *ctx, const struct args *args, enum flag_id flag,
                      enum amount_kind kind, double min, double max, double otherwise,
                      double *out) {
  const char *text = args->values[flag];
  char spelling[64];
  *out = otherwise;
  if (!text || parse_amount(text, kind, min, max, out)) return HONE_OK;
  return fail(ctx, HONE_E_USAGE, place_name(flag_spelling(flag, spelling)), "\"%.100s\" is not %s",
              text, amount_example(kind));
}

hone_status ints_of(struct ctx *ctx, const struct args *args, enum flag_id flag, int64_t min,
                    int64_t max, int *out, size_t capacity, size_t *out_count) {
  char spelling[64], part[24];
  const char *list = args->values[flag];
  *out_count = 0;
  while (list) {
    size_t n = strcspn(list, ",");
    int64_t value = 0;
    if (n < sizeof part) memcpy(part, list, n), part[n] = 0;
    if (n >= sizeof part || !parse_i64(part, min, max, &value) || *out_count == capacity)
      return fail(ctx, HONE_E_USAGE, place_name(flag_spelling(flag, spelling)),
                  "\"%s\" is not a list of at most %zu whole numbers from %lld to %lld",
                  args->values[flag], capacity, (long long)min, (long long)max);
    out[(*out_count)++] = (int)value;
    list = list[n] ? list + n + 1 : NULL;
  }
  return HONE_OK;
}

hone_status flags_need(struct ctx *ctx, const struct args *args, const enum flag_id *given,
                       size_t count, bool is_there, const char *what) {
  char spelling[64];
  for (size_t i = 0; i < count && !is_there; i++)
    if (has(args, given[i]))
      return fail(ctx, HONE_E_USAGE, place_name(flag_spelling(given[i], spelling)), "goes with %s",
                  what);
  return HONE_OK;
}

hone_status one_word(struct ctx *ctx, const struct args *args, const char *what, const char **out) {
  if (args->word_count != 1)
    return fail(ctx, HONE_E_USAGE, place_none(), "'hone %s' needs one %s, got %zu", args->verb,
                what, args->word_count);
  *out = args->words[0];
  return HONE_OK;
}

static void print_flag(int flag) {
  char spelling[64], head[128];
  flag_spelling((enum flag_id)flag, spelling);
  snprintf(head, sizeof head, "  %c%c%s%s%s%s", flags[flag].letter ? '-' : ' ',
           flags[flag].letter ? flags[flag].letter : ' ', flags[flag].letter ? ", " : "  ",
           spelling, flags[flag].argument ? " " : "",
           flags[flag].argument ? flags[flag].argument : "");
  print_beside(head, 37, flags[flag].help);
}

/* A heading is printed only if it has a flag of this verb. */
void print_flags(const char *verb) {
  const char *title = NULL;
  for (size_t i = 0; i < COUNT(help_lines); i++) {
    if (help_lines[i].title) title = help_lines[i].title;
    if (help_lines[i].flag < 0 || !takes(&flags[help_lines[i].flag], verb)) continue;
    if (title) printf("\n%s:\n", title);
    title = NULL;
    print_flag(help_lines[i].flag);
  }
}

const char *engine_path_of(const struct args *args, const char *backend) {
  const size_t n = strlen(backend);
  const char *found = NULL;
  for (size_t i = 0; i < args->repeated[FLAG_engine].count; i++) {
    const char *pair = args->repeated[FLAG_engine].at[i];
    if (!strncmp(pair, backend, n) && pair[n] == '=') found = pair + n + 1;
  }
  return found;
}
