#!/bin/sh
# One job of a fleet: job.sh ID. Its arguments stand one a line in jobs/ID, where no shell reads them as its own. It
# measures into a store on the node's own disk and hands that over whole as spool/ID.db; a link is made once, so that a job
# that ran twice counts once. HONE names another hone, TMPDIR another disk.
set -eu
case ${1:-} in *[!0-9]* | '') echo "usage: job.sh ID" >&2; exit 2 ;; esac
id=$1
here=$(cd "$(dirname "$0")" && pwd)
[ ! -e "$here/spool/$id.db" ] || exit 0
set --
while IFS= read -r word; do set -- "$@" "$word"; done <"$here/jobs/$id"
work=$(mktemp -d)
part=
trap 'rm -rf "$work" ${part:+"$part"}' EXIT
trap 'exit 130' INT TERM HUP
code=0
"${HONE:-hone}" "$@" --store "$work/$id.db" || code=$?
case $code in 0 | 1 | 3 | 4 | 5) ;; *) exit "$code" ;; esac # measured, whatever came of it
[ -s "$work/$id.db" ] || exit 1
part=$(mktemp "$here/spool/.$id.XXXXXX")
cp "$work/$id.db" "$part"
chmod =rw "$part" # mktemp's is for its owner alone; who merges may be somebody else, as far as the umask allows
sync "$part" 2>/dev/null || sync
ln "$part" "$here/spool/$id.db" 2>/dev/null || [ -e "$here/spool/$id.db" ]
