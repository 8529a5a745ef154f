#!/bin/sh
# The manual page, made from the command's own help, so that both say the same: manpage.sh HONE >hone.1
set -eu
hone=$1
COLUMNS=72 # of a page that is 80 wide
export COLUMNS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
escape() { sed 's/\\/\\e/g; s/^\([.'"'"']\)/\\\&\1/; s/-/\\-/g'; }
# Into a file and not into a pipe, which would hide that it does not run.
said() { # ARGUMENT...
  "$hone" "$@" >"$work/said"
}

version=$("$hone" --version)
"$hone" list verbs >"$work/verbs"
printf '.\\" Made by tools/manpage.sh from `hone help`.\n'
printf '.TH HONE 1 "" "%s" "User Commands"\n' "$version"
printf '.SH NAME\nhone \\- measure machine\\-learning compilers side by side, and compile models to C\n'
printf '.SH SYNOPSIS\n.B hone\n.I VERB\n[...]\n'
printf '.SH DESCRIPTION\n'
printf 'hone answers with evidence: what is the fastest correct way to run this model on this machine?\n'
printf 'A model is a file, ONNX, TFLite or torch.export, or a built\\-in one, zoo:NAME.\n'
printf '.SH VERBS\n'
while read -r verb rest; do
  said help "$verb"
  printf '.SS %s\n.nf\n' "$verb"
  escape <"$work/said"
  sed -n '/^Examples:/,/^$/p' "$work/said" | sed 1d >>"$work/examples"
  printf '.fi\n'
done <"$work/verbs"
printf '.SH ERRORS\nEvery failure has an id, a place and a remedy; these are the ids and exit codes.\n.nf\n'
said list errors
escape <"$work/said"
printf '.fi\n'
printf '.SH EXIT STATUS\nThese, and those of errors above.\n.nf\n'
for code in 0 1 3 4; do
  said explain "$code"
  grep ' of ' "$work/said" | escape
done
printf '.fi\n'
printf '.SH EXAMPLES\n.nf\n'
escape <"$work/examples"
printf '.fi\n'
printf '.SH FILES\n.nf\n'
{
  echo '~/.local/share/hone/results.db   studies (or $XDG_DATA_HOME)'
  echo '~/.local/share/hone/engines/     engines that hone installed'
  echo '~/.cache/hone/                   compiled artifacts (or $XDG_CACHE_HOME)'
} | escape
printf '.fi\n'
