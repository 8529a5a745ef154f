#!/bin/sh
# Copies what `make install` installs: install.sh BUILD DESTDIR PREFIX VERSION "PACKAGES"; see make/install.mk.
set -eu
build=$1 root=$2$3 prefix=$3 version=$4 packages=$5
put() { # MODE FILE TARGET
  install -D -m "$1" "$2" "$root/$3"
}
put 755 "$build/hone" bin/hone
put 644 include/hone.h include/hone.h
put 644 "$build/libhone.a" lib/libhone.a
put 755 "$build/libhone.so" lib/libhone.so.0
ln -sf libhone.so.0 "$root/lib/libhone.so"
put 644 "$build/hone.1" share/man/man1/hone.1
for pair in bash:share/bash-completion/completions/hone zsh:share/zsh/site-functions/_hone \
  fish:share/fish/vendor_completions.d/hone.fish; do
  "$build/hone" completion "${pair%%:*}" >"$build/completion.${pair%%:*}"
  put 644 "$build/completion.${pair%%:*}" "${pair#*:}"
done
put 644 LICENSE share/doc/hone/LICENSE
put 644 README.md share/doc/hone/README.md
install -d "$root/lib/pkgconfig"
cat >"$root/lib/pkgconfig/hone.pc" <<PC
prefix=$prefix
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: hone
Description: benchmark of machine-learning compilers, and a compiler from ONNX to C
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lhone
Libs.private: -ldl -lm -pthread
Requires.private: $packages
PC
