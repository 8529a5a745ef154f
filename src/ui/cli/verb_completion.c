/* hone completion: scripts for bash, zsh and fish, made from the tables of verbs and flags. */
#include "cli.h"

static void put_word(const char *word) { printf("%s ", word); }
static void put_verbs(void) {
  for (size_t i = 0; i < verb_count; i++) printf("%s%s", i ? " " : "", verbs[i].name);
}

static int found;
static void count_word(const char *word) {
  (void)word;
  found++;
}
static bool has_values(enum flag_id flag) {
  found = 0;
  put_flag_values(flag, count_word);
  return found > 0;
}
static bool has_first_words(const char *verb) {
  found = 0;
  put_first_words(verb, count_word);
  return found > 0;
}
static bool has_second_words(const char *verb) {
  found = 0;
  put_second_words(verb, count_word);
  return found > 0;
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

/* Escapes text inside single quotes of a shell. */
static void put_quoted(const char *text, const char *quote) {
  for (; *text; text++)
    if (*text == '\'')
      printf("%s", quote);
    else
      putchar(*text);
}

/* A flag means the same for every verb, so its values do not depend on the verb. */
static void put_cases(const char *end) {
  char spelling[64];
  for (int f = 0; f < FLAG_ID_COUNT; f++) {
    if (!has_values((enum flag_id)f)) continue;
    printf("    %s", flag_spelling((enum flag_id)f, spelling));
    if (flag_letter((enum flag_id)f)) printf("|-%c", flag_letter((enum flag_id)f));
    printf(") values=%c", *end == ')' ? '(' : '\'');
    put_flag_values((enum flag_id)f, put_word);
    printf("%s ;;\n", end);
  }
}

/* bash completes file names itself (-o default), including blanks and quotes. It may split words at ':' and '='. They are
   joined again, and only what follows the last of those is offered. */
static void bash(void) {
  printf(
      "# Made by 'hone completion bash'.\n_hone() {\n"
      "  local i=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev= flags= words= seconds= models= "
      "values= before= dash=-\n"
      "  COMPREPLY=()\n"
      "  while [ \"$i\" -gt 1 ]; do\n"
      "    case ${COMP_WORDS[i]}/${COMP_WORDS[i-1]} in [:=]*|*/*[:=]) ;; *) break ;; esac\n"
      "    i=$((i-1))\n    cur=${COMP_WORDS[i]}$cur\n"
      "  done\n"
      "  if [ \"$i\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '");
  put_verbs();
  printf(
      "' -- \"$cur\"))\n    return\n  fi\n"
      "  prev=${COMP_WORDS[i-1]:-}\n"
      "  case $cur in --*=*) prev=${cur%%%%=*} cur=${cur#*=} dash=none ;; esac\n"
      "  case ${COMP_WORDS[1]} in\n");
  for (size_t i = 0; i < verb_count; i++) {
    printf("    %s) flags='", verbs[i].name);
    put_flags(verbs[i].name);
    printf("' words='");
    put_first_words(verbs[i].name, put_word);
    printf("'");
    if (flag_is_of(FLAG_model, verbs[i].name)) printf(" models=1");
    if (has_second_words(verbs[i].name)) {
      printf(" seconds='");
      put_second_words(verbs[i].name, put_word);
      printf("'");
    }
    printf(" ;;\n");
  }
  printf("  esac\n  case $prev in\n");
  put_cases("'");
  printf("  esac\n  case $cur in zo*) [ -z \"$models\" ] || [ -n \"$values\" ] || values='");
  put_models(put_word);
  printf(
      "' ;; esac\n"
      "  [ \"$i\" -ne 2 ] || values=${values:-$words}\n"
      "  [ \"$i\" -le 2 ] || [ -z \"$words\" ] || values=${values:-$seconds}\n"
      "  case $cur in $dash*) values=$flags ;; esac\n"
      "  case $cur in *,*) before=${cur%%,*}, ;; esac\n"
      "  COMPREPLY=($(compgen -P \"$before\" -W \"$values\" -- \"${cur#\"$before\"}\"))\n"
      "  before=${cur%%\"${cur##*:}\"}\n"
      "  [ -z \"$before\" ] || COMPREPLY=(\"${COMPREPLY[@]#\"$before\"}\")\n"
      "}\n"
      "complete -o default -F _hone hone\n");
}

static void zsh(void) {
  printf(
      "#compdef hone\n# Made by 'hone completion zsh'.\n_hone() {\n"
      "  local -a verbs flags words_here seconds values\n"
      "  local prev=$words[CURRENT-1] models=\n"
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
    put_first_words(verbs[i].name, put_word);
    printf(")");
    if (flag_is_of(FLAG_model, verbs[i].name)) printf(" models=1");
    if (has_second_words(verbs[i].name)) {
      printf(" seconds=(");
      put_second_words(verbs[i].name, put_word);
      printf(")");
    }
    printf(" ;;\n");
  }
  printf(
      "  esac\n"
      "  if [[ $PREFIX == --*=* ]]; then\n    prev=${PREFIX%%%%=*}\n    compset -P '*='\n"
      "  elif [[ $PREFIX == -* ]]; then\n    compadd -- $flags\n    return\n  fi\n"
      "  case $prev in\n");
  put_cases(")");
  printf(
      "  esac\n"
      "  if (( $#values )); then\n    compset -P '*,'\n    compadd -- $values\n    return\n  fi\n"
      "  (( CURRENT == 3 )) && compadd -- $words_here\n"
      "  (( CURRENT > 3 )) && compadd -- $seconds\n"
      "  [[ -n $models && $PREFIX == zo* ]] && compadd -- ");
  put_models(put_word);
  printf(
      "\n  _files\n"
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
    if (has_values(flag)) printf(" -a '(__hone_values %s)'", spelling);
    printf(" -d '");
    put_quoted(flag_help_text(flag), "\\'");
    printf("'\n");
  }
}

/* Values of every flag, after the last comma of a list. */
static void fish_values(void) {
  char spelling[64];
  printf(
      "function __hone_values\n  set -l before (string replace -rf '^(-.*=)?(.*,)[^,]*$' '$2' -- "
      "(commandline -ct))\n"
      "  set -l values\n  switch $argv[1]\n");
  for (int f = 0; f < FLAG_ID_COUNT; f++) {
    if (!has_values((enum flag_id)f)) continue;
    printf("    case %s\n      set values ", flag_spelling((enum flag_id)f, spelling));
    put_flag_values((enum flag_id)f, put_word);
    printf("\n");
  }
  printf("  end\n  printf '%%s\\n' \"$before\"$values\nend\n");
}

/* The verb is the first word; fish's own __fish_seen_subcommand_from accepts any word, so 'hone studies export' would be
   'export'. */
static void fish(void) {
  printf(
      "# Made by 'hone completion fish'.\n"
      "function __hone_is\n  set -l words (commandline -opc)\n"
      "  test (count $words) -ge 2; and test $words[2] = $argv[1]\nend\n"
      "function __hone_begins\n  __hone_is $argv[1]; and test (count (commandline -opc)) -eq "
      "2\nend\n"
      "function __hone_goes_on\n  __hone_is $argv[1]; and test (count (commandline -opc)) -gt "
      "2\nend\n");
  fish_values();
  for (size_t i = 0; i < verb_count; i++) {
    const char *verb = verbs[i].name;
    printf("complete -c hone -n 'test (count (commandline -opc)) -eq 1' -f -a %s -d '", verb);
    put_quoted(verbs[i].help, "\\'");
    printf("'\n");
    if (has_first_words(verb)) {
      printf("complete -c hone -n '__hone_begins %s' -a '", verb);
      put_first_words(verb, put_word);
      printf("'\n");
    }
    if (has_second_words(verb)) {
      printf("complete -c hone -n '__hone_goes_on %s' -a '", verb);
      put_second_words(verb, put_word);
      printf("'\n");
    }
    if (flag_is_of(FLAG_model, verb))
      printf(
          "complete -c hone -n '__hone_is %s; and string match -q \"zo*\" -- (commandline -ct)' "
          "-a '(__hone_values --model)'\n",
          verb);
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
