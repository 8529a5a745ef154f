#!/bin/sh
# The result in README from the last `make bench`: readme_table.sh BENCH_DIR README.md PICTURE.png
# Writes the first table between README's marks, with the commit and the machine that it was measured on, and a picture of
# the page's first screen. Running it twice changes nothing. Without a browser the picture stays as it is.
set -eu
bench=$1 readme=$2 picture=$3
for file in bench.md bench.json bench.html; do
  [ -s "$bench/$file" ] || { echo "no $bench/$file: run make bench first" >&2; exit 1; }
done
grep -q '<!-- bench -->' "$readme" && grep -q '<!-- /bench -->' "$readme" ||
  { echo "$readme has no <!-- bench --> and <!-- /bench --> marks" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The commit that was built then, not the one that is checked out now.
commit=$(cat "$bench/commit" 2>/dev/null || echo "an unknown commit")
python3 - "$bench/bench.json" "$commit" >"$work/block" <<'PYTHON'
import datetime, json, sys
study, commit = json.load(open(sys.argv[1])), sys.argv[2]
machine, row = study["machine"], study["study"]
day = datetime.datetime.fromtimestamp(row["started_unix_ms"] / 1000, datetime.timezone.utc).strftime("%Y-%m-%d")
versions = sorted({(r["backend"], r["engine_version"]) for r in study["records"] if r["engine_version"]})
steal = [r["noise"]["steal_fraction"] for r in study["records"] if r["noise"]["steal_fraction"] is not None]
print("Measured %s at %s on %s (%s cores, %.0f GB, %s, %s): %s." % (
    day, commit, machine["cpu"], machine["cores_usable"], machine["ram_bytes"] / 1e9, machine["kernel"],
    machine["compiler"], ", ".join("%s %s" % v for v in versions)))
if steal:
    print("The hypervisor took at most %.1f %% of any slice." % (100 * max(steal)))
PYTHON
# The first table is the matrix of models and engines, if the study has several models; README has no room for more.
awk '/^## /{ exit } /^\|/{ inside = 1; print } inside && !/^\|/{ exit }' "$bench/bench.md" >"$work/matrix"
grep -q '^|' "$work/matrix" || { echo "$bench/bench.md has no table of models and engines: were there at least two models?" >&2; exit 1; }
{ echo; cat "$work/matrix"; } >>"$work/block"
awk -v block="$work/block" '
  /<!-- bench -->/ { print; while ((getline line < block) > 0) print line; inside = 1 }
  /<!-- \/bench -->/ { inside = 0 }
  !inside && !/<!-- bench -->/' "$readme" >"$work/readme"
cmp -s "$work/readme" "$readme" || cat "$work/readme" >"$readme"

for browser in chromium chromium-browser google-chrome; do
  command -v "$browser" >/dev/null 2>&1 || continue
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" \
    --window-size=1200,"${HONE_PICTURE_HEIGHT:-860}" --screenshot="$work/picture.png" \
    "file://$(realpath "$bench")/bench.html" >/dev/null 2>&1 || true
  [ -s "$work/picture.png" ] || { echo "$browser made no picture: $picture stays as it is" >&2; exit 1; }
  mkdir -p "$(dirname "$picture")"
  cmp -s "$work/picture.png" "$picture" || cp "$work/picture.png" "$picture"
  echo "$picture: $(wc -c <"$picture") bytes"
  exit 0
done
echo "no browser here: $picture stays as it is" >&2
