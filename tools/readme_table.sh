#!/bin/sh
# The result in README from the last `make bench`: readme_table.sh BENCH_DIR README.md PICTURE.png
set -eu
bench=$1 readme=$2 picture=$3
[ -s "$bench/bench.md" ] || { echo "no $bench/bench.md: run make bench first" >&2; exit 1; }
machine=$(python3 -c 'import json, sys
m = json.load(open(sys.argv[1]))["machine"]
print("%s, %s cores, %.0f GB, %s, %s" % (m["cpu"], m["cores_usable"], m["ram_bytes"] / 1e9, m["kernel"], m["compiler"]))
' "$bench/bench.json")
awk -v machine="On $machine:" -v table="$bench/bench.md" '
  /<!-- bench -->/ { print; print machine; print ""; while ((getline line < table) > 0) { sub(/^## /, "### ", line); print line }; inside = 1 }
  /<!-- \/bench -->/ { inside = 0 }
  !inside && !/<!-- bench -->/' "$readme" >"$readme.tmp"
mv "$readme.tmp" "$readme"
for browser in chromium chromium-browser google-chrome; do
  command -v "$browser" >/dev/null 2>&1 || continue
  profile=$(mktemp -d)
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$profile" \
    --window-size=1200,1000 --screenshot="$PWD/$picture" "file://$(realpath "$bench")/bench.html" >/dev/null 2>&1
  rm -rf "$profile"
  echo "$picture: $(wc -c <"$picture") bytes"
  exit 0
done
echo "no browser here: $picture stays as it is" >&2
