#!/bin/sh
# Judges a commit of hone for hone bisect, in the folder where that commit lies: builds it, and its programs take turns with
# those of a build of the good end.
#   GOOD=/elsewhere/build/hone MODELS=zoo:conv hone bisect v1.0..main --run examples/is-fast.sh
# shellcheck disable=SC2086 # several models, several flags
make -s build/hone >&2 || exit 125
"${HONE:-$GOOD}" gate ${MODELS:-zoo:mlp} --base-build "$GOOD" --new-build build/hone --budget "${BUDGET:-3%}" -q \
  ${GATE_FLAGS:-} >&2
case $? in
  0 | 1) exit $? ;;
  *) exit 125 ;; # nothing could be decided, or the gate itself failed: that says nothing of the commit
esac
