#!/bin/sh
# Installs the engines that are not ready, and says how long that took: setup_engines.sh HONE NAME...
set -eu
hone=$1
shift
missing=
for name in "$@"; do
  "$hone" backends | grep -q "^$name  *ready" || missing="$missing $name"
done
[ -n "$missing" ] || exit 0
start=$(date +%s)
# shellcheck disable=SC2086 # names, one word each
"$hone" backends install $missing
echo "engines installed in $(($(date +%s) - start)) s:$missing (downloads are no part of any figure)"
