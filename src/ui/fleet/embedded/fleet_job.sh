#!/bin/sh
# Runs one job of a fleet: job.sh ID. Its arguments are in jobs/ID, one a line, so that no shell parses them. It measures into
# a store on the machine's own disk, then links a complete copy as spool/ID.db. A link is made only once, so a job that ran
# twice counts once. HONE is the path of hone, TMPDIR the folder for temporary files.
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
case $code in 0 | 1 | 3 | 4 | 5) ;; *) exit "$code" ;; esac # measured, with any result
[ -s "$work/$id.db" ] || exit 1
part=$(mktemp "$here/spool/.$id.XXXXXX")
cp "$work/$id.db" "$part"
chmod =rw "$part" # mktemp's mode is for the owner only; another user may merge, if the umask allows it
sync "$part" 2>/dev/null || sync
ln "$part" "$here/spool/$id.db" 2>/dev/null || [ -e "$here/spool/$id.db" ]
