/* hone list, hone explain and hone help: print hone's tables. */
#include "cli.h"

#include <stdlib.h>
#include <strings.h>

static void list_ops(void) {
  static const char *const classes[] = {"elementwise", "contraction", "reduction", "movement",
                                        "indexed",     "recurrent",   "control",   "generator"};
  for (int i = 1; i < OP_COUNT; i++) {
    const struct op *op = &op_table[i];
    printf("%-12s %-28s since %-3d inputs %d..%d  %-12s %s\n",
           op->domain[0] ? op->domain : "ai.onnx", op->name, op->since, op->min_inputs,
           op->max_inputs, classes[op->class], op->expression ? op->expression : "");
  }
}
static void list_kernels(void) {
  for (size_t i = 0; i < kernel_count; i++)
    printf("%-24s %-10s %s\n", kernel_table[i].name, problem_kind_name(kernel_table[i].kind),
           kernel_table[i].source);
  for (size_t i = 0; i < generic_count; i++)
    printf("%-24s %-10s %s\n", generic_table[i].op, "generic", generic_table[i].source);
}
static void list_passes(void) {
  for (size_t i = 0; i < pass_count; i++)
    printf("%2zu %-36s %s\n", i + 1, pass_pipeline[i].name, pass_pipeline[i].reason);
  for (size_t i = 0; i < export_pass_count; i++)
    printf(" - %-36s in exports: %s\n", export_passes[i].name, export_passes[i].reason);
}
static void list_backends(void) {
  char packages[1024];
  for (size_t i = 0; i < backend_count; i++)
    if (backend_find(backend_list[i]->name))
      printf("%-14s %-20s reads %-8s %s\n", backend_list[i]->name, backend_list[i]->title,
             backend_list[i]->formats, engine_packages(backend_list[i], "built in", packages));
}
static void list_errors(void) {
  for (int i = 1; i < HONE_STATUS_COUNT; i++)
    printf("%-14s exit %-4d %s%s%s\n", hone_status_name((hone_status)i),
           status_exit_code((hone_status)i), status_meaning((hone_status)i),
           *status_remedy((hone_status)i) ? ": " : "", status_remedy((hone_status)i));
}
static void list_limits(void) {
  struct ctx ctx;
  ctx_init(&ctx);
  for (int i = 0; i < LIMIT_COUNT; i++)
    printf("%-22s %-16lld %s\n", limit_name(i), (long long)ctx.limits[i], limit_text(i));
}
static void list_columns(void) {
  for (size_t i = 0; i < column_count; i++)
    printf("%-28s %-4s %s\n", columns[i].key, columns[i].unit, columns[i].help);
}
static void list_verbs(void) {
  for (size_t i = 0; i < verb_count; i++) printf("%-10s %s\n", verbs[i].name, verbs[i].help);
}

static void list_statuses(void) {
  for (int i = 0; i < STATUS_COUNT; i++)
    printf("%-16s %s\n", status_text((enum record_status)i), status_help((enum record_status)i));
  for (int i = 0; i < FLAG_BIT_COUNT; i++)
    printf("%-16s mark: %s\n", flag_text((enum record_flag)i), flag_help((enum record_flag)i));
}

static const struct {
  const char *name, *help;
  void (*print)(void);
} lists[] = {
    {"ops", "operators: domain, version, inputs, kind, expression of elementwise operators",
     list_ops},
    {"kernels", "fast kernels in order of preference, and generic kernels", list_kernels},
    {"passes", "graph passes in order, with the reason for each", list_passes},
    {"backends", "engines, the formats that they read, and their packages", list_backends},
    {"engines",
     "facts about engines: licence, hardware, tuning, dynamic shapes, reference, variants",
     list_engines},
    {"errors", "error ids, their exit codes and remedies", list_errors},
    {"limits", "limits on the resources of a model, for --limit", list_limits},
    {"columns", "columns of a result: key, unit, meaning", list_columns},
    {"statuses", "statuses and marks of a row", list_statuses},
    {"suites", "named lists of models, for --suite", print_suites},
    {"verbs", "verbs of hone", list_verbs}};

void put_list_words(void (*put)(const char *word)) {
  for (size_t i = 0; i < COUNT(lists); i++) put(lists[i].name);
}

static hone_status unknown_list(struct ctx *ctx, const char *what) {
  struct strbuf names = {0};
  for (size_t i = 0; i < COUNT(lists); i++)
    strbuf_printf(&names, "%s%s", i ? ", " : "", lists[i].name);
  const hone_status status =
      fail(ctx, HONE_E_USAGE, place_name(what), "no such table%s; there are %s",
           verb_find(what) ? "; that is a verb of hone" : "", names.at ? names.at : "");
  strbuf_deinit(&names);
  return status;
}

int verb_list(struct ctx *ctx, struct args *args) {
  static struct sinks sinks;
  const char *what;
  if (sinks_read_flags(ctx, args, &sinks)) return report_failure(ctx);
  if (!args->word_count && !sinks.count) {
    for (size_t i = 0; i < COUNT(lists); i++)
      printf("hone list %-10s %s\n", lists[i].name, lists[i].help);
    return 0;
  }
  if (one_word(ctx, args, "table", &what)) return report_failure(ctx);
  if (sinks.count && !strcmp(what, "engines"))
    return sinks_write(ctx, &sinks, render_engines, NULL);
  for (size_t i = 0; !sinks.count && i < COUNT(lists); i++)
    if (!strcmp(lists[i].name, what)) {
      lists[i].print();
      return 0;
    }
  if (sinks.count)
    REFUSE(ctx, HONE_E_USAGE, place_name(what), "only 'hone list engines' is written as a file");
  else
    (void)!unknown_list(ctx, what);
  return report_failure(ctx);
}

static const struct {
  int code;
  const char *verbs, *meaning;
} exits[] = {
#define EXIT(code, verbs, meaning) {code, verbs, meaning},
#include "exits.def"
#undef EXIT
};

/* Explains an exit code: its meaning for each verb, and the errors that have it. */
static bool explain_code(const char *word) {
  int64_t code;
  bool found = false;
  if (!parse_i64(word, 0, 255, &code)) return false;
  for (size_t i = 0; i < COUNT(exits); i++)
    if (exits[i].code == code) {
      printf("exit code %d of %s: %s\n", exits[i].code, exits[i].verbs, exits[i].meaning);
      found = true;
    }
  for (int i = 1; i < HONE_STATUS_COUNT; i++)
    if (status_exit_code((hone_status)i) == code) {
      printf("exit code %d: %s, %s\n", status_exit_code((hone_status)i),
             hone_status_name((hone_status)i), status_meaning((hone_status)i));
      found = true;
    }
  return found;
}

/* Explains the status or the mark of a row. */
static bool explain_row(const char *word) {
  for (int i = 0; i < STATUS_COUNT; i++)
    if (!strcmp(status_text((enum record_status)i), word))
      return printf("a row that is %s: %s\n", word, status_help((enum record_status)i)) > 0;
  for (int i = 0; i < FLAG_BIT_COUNT; i++)
    if (!strcmp(flag_text((enum record_flag)i), word))
      return printf("a row with the mark %s: %s\n", word, flag_help((enum record_flag)i)) > 0;
  return false;
}

/* Accepts "E_SHAPE" and "shape". */
static bool explain_error(const char *word) {
  for (int i = 1; i < HONE_STATUS_COUNT; i++) {
    const char *name = hone_status_name((hone_status)i);
    if (strcasecmp(name, word) != 0 && strcasecmp(name + 2, word) != 0) continue;
    printf("%s (exit code %d): %s\n", name, status_exit_code((hone_status)i),
           status_meaning((hone_status)i));
    if (*status_remedy((hone_status)i)) printf("  %s\n", status_remedy((hone_status)i));
    return true;
  }
  return false;
}

void put_explained_words(void (*put)(const char *word)) {
  for (int i = 1; i < HONE_STATUS_COUNT; i++) put(hone_status_name((hone_status)i));
  for (int i = 0; i < STATUS_COUNT; i++) put(status_text((enum record_status)i));
  for (int i = 0; i < FLAG_BIT_COUNT; i++) put(flag_text((enum record_flag)i));
}

static void put_line(const char *word) { printf("  %s\n", word); }

int verb_explain(struct ctx *ctx, struct args *args) {
  const char *what;
  if (!args->word_count) {
    printf("'hone explain' accepts one of these, or an exit code:\n");
    put_explained_words(put_line);
    return 0;
  }
  if (one_word(ctx, args, "error id", &what)) return report_failure(ctx);
  if (explain_code(what) || explain_row(what) || explain_error(what)) return 0;
  REFUSE(ctx, HONE_E_USAGE, place_name(what),
         "no such error, status or mark; 'hone list errors' and 'hone list statuses' print them");
  return report_failure(ctx);
}

static void print_exits(const char *verb) {
  bool has_any = false;
  for (size_t i = 0; i < COUNT(exits); i++) {
    char code[16];
    if (strcmp(exits[i].verbs, verb)) continue;
    if (!has_any) printf("\n");
    if (!has_any) print_beside("", 0, "Exit codes, besides those of errors ('hone list errors'):");
    has_any = true;
    snprintf(code, sizeof code, "  %d", exits[i].code);
    print_beside(code, 6, exits[i].meaning);
  }
}

static void print_examples(const char *verb) {
  static const struct {
    const char *command, *what;
  } examples[] = {
#define EXAMPLE(command, what) {command, what},
#include "examples.def"
#undef EXAMPLE
  };
  bool has_any = false;
  size_t n = strlen(verb);
  for (size_t i = 0; i < COUNT(examples); i++) {
    const char *own = examples[i].command + strlen("hone ");
    if (strncmp(own, verb, n) || (own[n] && own[n] != ' ')) continue;
    if (!has_any) printf("\nExamples:\n");
    has_any = true;
    printf("  %s\n", examples[i].command); /* on one line, so that it can be copied */
    print_beside("", 6, examples[i].what);
  }
}

int verb_help(struct ctx *ctx, struct args *args) {
  const struct verb *verb = args->word_count ? verb_find(args->words[0]) : NULL;
  if (args->word_count && !verb) {
    const char *best = nearest_verb(args->words[0]);
    REFUSE(ctx, HONE_E_USAGE, place_name(args->words[0]), "no such verb%s%s%s",
           best ? "; did you mean " : "", best ? best : "", best ? "?" : "");
    hint(ctx, "'hone help' lists them");
    return report_failure(ctx);
  }
  if (verb) {
    char name[64];
    snprintf(name, sizeof name, "hone %s", verb->name);
    print_beside(name, 6, verb->usage);
    print_beside("", 2, verb->help);
    print_flags(verb->name);
    print_examples(verb->name);
    print_exits(verb->name);
    return 0;
  }
  print_beside(
      "hone " HONE_VERSION ":", 0,
      "measure, compile and choose the fastest correct way to run a model on this machine");
  printf("\n");
  for (size_t i = 0; i < verb_count; i++) {
    char name[64];
    snprintf(name, sizeof name, "  hone %s", verbs[i].name);
    print_beside(name, 18, verbs[i].help);
  }
  printf("\n");
  print_beside("", 0,
               "'hone help VERB' prints its flags. A model is a file (ONNX, TFLite, "
               "torch.export's .pt2, GGUF) or zoo:NAME ('hone zoo list').");
  return 0;
}
