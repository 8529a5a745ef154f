#!/bin/sh
# Writes a C file that embeds the given files verbatim: embed.sh OUT FILE... ; FILE is src/WING/ROOM/embedded/NAME or
# src/WING/ROOM/NAME, and is found by ROOM/NAME; any other file by its own name.
set -eu
out=$1
shift
{
  echo '/* Made by tools/embed.sh; do not edit. */'
  echo '#include <stddef.h>'
  echo '#include <string.h>'
  n=0
  for file in "$@"; do
    printf '__asm__(".section .rodata,\\"a\\",@progbits\\n.global hone_embedded_%d\\nhone_embedded_%d:\\n.incbin \\"%s\\"\\n.global hone_embedded_end_%d\\nhone_embedded_end_%d:\\n.byte 0\\n.previous\\n");\n' $n $n "$file" $n $n
    printf 'extern const char hone_embedded_%d[], hone_embedded_end_%d[];\n' $n $n
    n=$((n + 1))
  done
  echo 'static const struct { const char *name, *begin, *end; } files[] = {'
  n=0
  for file in "$@"; do
    name=$(printf '%s' "$file" | sed 's#^src/[a-z]*/##; s#/embedded/#/#')
    printf '  {"%s", hone_embedded_%d, hone_embedded_end_%d},\n' "$name" $n $n
    n=$((n + 1))
  done
  echo '};'
  cat <<'C'
const char *hone_embedded_text(const char *name, size_t *out_length);
const char *hone_embedded_text(const char *name, size_t *out_length) {
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    if (!strcmp(files[i].name, name)) {
      if (out_length) *out_length = (size_t)(files[i].end - files[i].begin);
      return files[i].begin;
    }
  return NULL;
}
C
} > "$out.tmp"
mv "$out.tmp" "$out"
