#!/bin/sh
# docs/reference/ from hone's own tables: reference_docs.sh HONE [--check]; --check fails where a page is not current.
set -eu
hone=$1
unset COLUMNS # lines are as long as they are
check=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Into a file and not into a pipe, which would hide that it does not run.
said() { # ARGUMENT...
  "$hone" "$@" >"$work/said"
}

page() { # NAME TITLE
  said list "$1"
  {
    printf '# %s\nMade by `make reference` from `hone list %s`; the source is the table, not this page.\n\n```\n' "$2" "$1"
    sed 's/ *$//' "$work/said"
    printf '```\n'
  } >"$work/$1.md"
}
page ops "Operators"
page kernels "Kernels"
page passes "Passes, in their order"
page backends "Backends"
page engines "Engines, as they describe themselves"
page errors "Errors, exit codes, remedies"
page limits "Limits on what a model may ask for"
page columns "Columns of a result"
"$hone" list verbs >"$work/verbs"
{
  printf '# Verbs and flags\nMade by `make reference` from `hone help`; the source is `src/ui/cli/verbs.def` and `flags.def`.\n'
  while read -r verb rest; do
    said help "$verb"
    printf '\n## %s\n```\n' "$verb"
    sed 's/ *$//' "$work/said"
    printf '```\n'
  done <"$work/verbs"
} >"$work/verbs.md"

for made in "$work"/*.md; do
  [ -s "$made" ]
  kept=docs/reference/$(basename "$made")
  if [ "$check" != --check ]; then
    mkdir -p docs/reference
    cp "$made" "$kept"
  elif ! diff -u "$kept" "$made"; then
    echo "$kept is not current; repeat: make reference" >&2
    exit 1
  fi
done
[ "$check" != --check ] || echo "docs/reference is current"
