/* hone completion: scripts for bash, zsh and fish from the tables of verbs and flags. */
#include "cli.h"

/* Words that a verb takes in its first place. */
static const struct {
  const char *verb, *words;
} first_words[] = {
    {"backends", "install remove"},
    {"completion", "bash zsh fish"},
    {"dataset", "export"},
    {"fleet", "slurm ssh merge"},
    {"list", "ops kernels passes backends engines errors limits columns statuses suites verbs"},
    {"studies", "rm export import"},
    {"zoo", "list write"},
};

static const char *words_of(const char *verb) {
  for (size_t i = 0; i < COUNT(first_words); i++)
    if (!strcmp(first_words[i].verb, verb)) return first_words[i].words;
  return "";
}

static void put_verbs(void) {
  for (size_t i = 0; i < verb_count; i++) printf("%s%s", i ? " " : "", verbs[i].name);
}

static void put_words(const char *verb) {
  if (strcmp(verb, "help"))
    printf("%s", words_of(verb));
  else
    put_verbs();
}

static void put_flags(const char *verb) {
  bool has_any = false;
  for (int f = 0; f < FLAG_ID_COUNT; f++) {
    char spelling[64];
    if (!flag_is_of((enum flag_id)f, verb)) continue;
    printf("%s%s", has_any ? " " : "", flag_spelling((enum flag_id)f, spelling));
    has_any = true;
  }
}

/* Inside single quotes of a shell. */
static void put_quoted(const char *text, const char *quote) {
  for (; *text; text++)
    if (*text == '\'')
      printf("%s", quote);
    else
      putchar(*text);
}

/* Files are bash's own matter (-o default): it knows blanks in their names and words in quotes. */
static void bash(void) {
  printf(
      "# Made by 'hone completion bash'.\n_hone() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} flags= words=\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '");
  put_verbs();
  printf("' -- \"$cur\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n");
  for (size_t i = 0; i < verb_count; i++) {
    printf("    %s) flags='", verbs[i].name);
    put_flags(verbs[i].name);
    printf("' words='");
    put_words(verbs[i].name);
    printf("' ;;\n");
  }
  printf(
      "  esac\n"
      "  case $cur in\n"
      "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\")) ;;\n"
      "    *) [ \"$COMP_CWORD\" -ne 2 ] || COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
      "  esac\n"
      "}\n"
      "complete -o default -F _hone hone\n");
}

static void zsh(void) {
  printf(
      "#compdef hone\n# Made by 'hone completion zsh'.\n_hone() {\n"
      "  local -a verbs flags words_here\n"
      "  verbs=(\n");
  for (size_t i = 0; i < verb_count; i++) {
    printf("    '%s:", verbs[i].name);
    put_quoted(verbs[i].help, "'\\''");
    printf("'\n");
  }
  printf(
      "  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n"
      "  case $words[2] in\n");
  for (size_t i = 0; i < verb_count; i++) {
    printf("    %s) flags=(", verbs[i].name);
    put_flags(verbs[i].name);
    printf(") words_here=(");
    put_words(verbs[i].name);
    printf(") ;;\n");
  }
  printf(
      "  esac\n"
      "  if [[ $PREFIX == -* ]]; then\n    compadd -- $flags\n  else\n"
      "    (( CURRENT == 3 )) && compadd -- $words_here\n    _files\n  fi\n"
      "}\n"
      "if [ \"$funcstack[1]\" = _hone ]; then _hone \"$@\"; else compdef _hone hone; fi\n");
}

static void fish_flags(const char *verb) {
  for (int f = 0; f < FLAG_ID_COUNT; f++) {
    char spelling[64];
    enum flag_id flag = (enum flag_id)f;
    if (!flag_is_of(flag, verb)) continue;
    printf("complete -c hone -n '__hone_is %s' -l %s", verb, flag_spelling(flag, spelling) + 2);
    if (flag_letter(flag)) printf(" -s %c", flag_letter(flag));
    if (flag_argument(flag)) printf(" -r");
    printf(" -d '");
    put_quoted(flag_help_text(flag), "\\'");
    printf("'\n");
  }
}

/* The verb is the first word; fish's own __fish_seen_subcommand_from takes any: 'hone studies export' is no export. */
static void fish(void) {
  printf(
      "# Made by 'hone completion fish'.\n"
      "function __hone_is\n  set -l words (commandline -opc)\n"
      "  test (count $words) -ge 2; and test $words[2] = $argv[1]\nend\n"
      "function __hone_begins\n  __hone_is $argv[1]; and test (count (commandline -opc)) -eq "
      "2\nend\n");
  for (size_t i = 0; i < verb_count; i++) {
    const char *verb = verbs[i].name;
    printf("complete -c hone -n 'test (count (commandline -opc)) -eq 1' -f -a %s -d '", verb);
    put_quoted(verbs[i].help, "\\'");
    printf("'\n");
    if (!*words_of(verb) && strcmp(verb, "help")) {
      fish_flags(verb);
      continue;
    }
    printf("complete -c hone -n '__hone_begins %s' -a '", verb);
    put_words(verb);
    printf("'\n");
    fish_flags(verb);
  }
}

int verb_completion(struct ctx *ctx, struct args *args) {
  static const struct {
    const char *shell;
    void (*print)(void);
  } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  const char *shell;
  if (one_word(ctx, args, "shell", &shell)) return report_failure(ctx);
  for (size_t i = 0; i < COUNT(shells); i++)
    if (!strcmp(shells[i].shell, shell)) {
      shells[i].print();
      return 0;
    }
  REFUSE(ctx, HONE_E_USAGE, place_name(shell), "no such shell; there are bash, zsh and fish");
  return report_failure(ctx);
}
