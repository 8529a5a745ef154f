#!/bin/sh
# Distributes the jobs over hosts that share this folder: ssh.sh HOST... A host takes the next job when it is free. The next
# call runs failed jobs again. HONE_SSH is a program to use instead of ssh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || { echo "usage: ssh.sh HOST..." >&2; exit 2; }
case $here in *[!A-Za-z0-9._/-]*) echo "ssh.sh: the folder's path may only have letters, digits and ._/-: $here" >&2; exit 2 ;; esac
for host in "$@"; do
  case $host in -* | *[!A-Za-z0-9._@:%-]*) echo "ssh.sh: not a host name: $host" >&2; exit 2 ;; esac
done
run_on() { # HOST
  for file in "$here"/jobs/*; do
    id=${file##*/}
    [ ! -e "$here/spool/$id.db" ] || continue
    mkdir "$here/taken/$id" 2>/dev/null || continue
    "${HONE_SSH:-ssh}" -oBatchMode=yes "$1" "cd $here && ./job.sh $id" </dev/null >"$here/log/$id.out" 2>&1 ||
      echo "ssh.sh: job $id failed on $1: log/$id.out" >&2
    [ -e "$here/spool/$id.db" ] || rmdir "$here/taken/$id"
  done
}
rm -rf "$here/taken"
mkdir "$here/taken"
for host in "$@"; do run_on "$host" & done
wait
