#!/bin/sh
# Tests `make install`: the example builds from the installed files alone, against the shared and the static
# library, and runs; uninstall removes every file. usage: install.sh [BUILD]
set -eu
build=${1:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make=${MAKE:-make}
"$make" -s install BUILD="$build" DESTDIR="$work/root" PREFIX=/opt/hone >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
at=$work/root/opt/hone

[ "$("$at/bin/hone" --version)" = "$("$build/hone" --version)" ]
PKG_CONFIG_PATH=$at/lib/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$work/root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
cp examples/run_artifact.c "$work/user.c"
flags=$(pkg-config --cflags --libs hone | sed "s#$work/root$work/root#$work/root#g")
# shellcheck disable=SC2086 # flags, one word each
${CC:-cc} "$work/user.c" -o "$work/shared" $flags
LD_LIBRARY_PATH=$at/lib "$work/shared" zoo:mlp "$work/mlp.so" >"$work/shared.out"
unset PKG_CONFIG_SYSROOT_DIR
libs=$(pkg-config --libs jansson sqlite3 libxxhash libcrypto)
# shellcheck disable=SC2086
${CC:-cc} "$work/user.c" -o "$work/static" -I"$at/include" "$at/lib/libhone.a" $libs -ldl -lm -pthread
"$work/static" zoo:mlp "$work/mlp2.so" >"$work/static.out"
cmp "$work/shared.out" "$work/static.out"
grep -q 'output 0' "$work/shared.out"
# both libraries export only the names that hone.h declares
nm -D --defined-only "$at/lib/libhone.so" | awk '{print $3}' | sort >"$work/shared.names"
nm -g --defined-only "$at/lib/libhone.a" | awk 'NF == 3 {print $3}' | sort >"$work/static.names"
grep -v '^hone_' "$work/shared.names" "$work/static.names" && exit 1
cmp "$work/shared.names" "$work/static.names"
# hone's names do not conflict with those of a static program or of glibc
cat >"$work/names.c" <<'END'
#include <err.h>
#include <hone.h>
int insert(void) { return 1; }
int login(void) { return 2; }
int fail(void) { return 3; }
int main(void) {
  warn("%s", hone_version());
  return insert() + login() + fail() - 6;
}
END
# shellcheck disable=SC2086
${CC:-cc} "$work/names.c" -o "$work/names" -I"$at/include" "$at/lib/libhone.a" $libs -ldl -lm -pthread
"$work/names" 2>&1 | grep -q "^names: $("$at/bin/hone" --version | cut -d' ' -f2)"
grep -q '^\.TH HONE 1' "$at/share/man/man1/hone.1"

"$make" -s uninstall BUILD="$build" DESTDIR="$work/root" PREFIX=/opt/hone >"$work/log" 2>&1
left=$(find "$work/root" ! -type d)
[ -z "$left" ] || { echo "uninstall left $left"; exit 1; }
echo "tests/install.sh: installed, used and removed"
