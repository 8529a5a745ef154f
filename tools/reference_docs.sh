#!/bin/sh
# docs/reference/ from hone's own tables: reference_docs.sh HONE [--check]; --check fails where a page is not current.
set -eu
hone=$1
unset COLUMNS # lines are as long as they are
check=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

page() { # NAME TITLE
  {
    printf '# %s\nMade by `make docs` from `hone list %s`; the source is the table, not this page.\n\n```\n' "$2" "$1"
    "$hone" list "$1" | sed 's/ *$//'
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
{
  printf '# Verbs and flags\nMade by `make docs` from `hone help`; the source is `src/cli/verbs.def` and `flags.def`.\n'
  "$hone" list verbs | while read -r verb rest; do
    printf '\n## %s\n```\n' "$verb"
    "$hone" help "$verb" | sed 's/ *$//'
    printf '```\n'
  done
} >"$work/verbs.md"

for made in "$work"/*.md; do
  [ -s "$made" ]
  kept=docs/reference/$(basename "$made")
  if [ "$check" != --check ]; then
    mkdir -p docs/reference
    cp "$made" "$kept"
  elif ! diff -u "$kept" "$made"; then
    echo "$kept is not current; repeat: make docs" >&2
    exit 1
  fi
done
[ "$check" != --check ] || echo "docs/reference is current"
