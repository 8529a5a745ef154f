#!/bin/sh
# The HTML report in a real browser: its policy lets exactly its own script run, sorting, folding and the theme
# work, it is not wider than a phone, and hostile names stay text. usage: page.sh [BUILD]; without chromium it
# says so and passes. Repeat one step: HONE_TEST_PAGE=page.html build/tests/test_report
set -eu
build=${1:-build}
browser=
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null 2>&1; then browser=$name; break; fi
done
if [ -z "$browser" ]; then
  echo "tests/report/page.sh: skipped: no chromium here (apt-get install chromium)"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

open_page() { # FILE WIDTH: the document after its script ran, console on stderr.log
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" \
    --enable-logging=stderr --v=0 --window-size="$2",900 --virtual-time-budget=2000 --dump-dom \
    "file://$1" 2>"$work/stderr.log"
}
check() { # NAME FILE PATTERN
  if ! grep -q -- "$3" "$2"; then
    echo "tests/report/page.sh: $1: '$3' not found" >&2
    cp "$2" "$work/../hone-page-failed.html"
    exit 1
  fi
}
refuse() {
  if grep -q -- "$3" "$2"; then
    echo "tests/report/page.sh: $1: '$3' found" >&2
    exit 1
  fi
}

HONE_TEST_PAGE="$work/page.html" "$build/tests/test_report" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
open_page "$work/page.html" 1200 >"$work/dom"
check "the page's script runs under its policy" "$work/dom" '<html lang="en" class="js"'
refuse "the policy refuses nothing of the page" "$work/stderr.log" 'Refused to'
refuse "no error in the script" "$work/stderr.log" 'Uncaught'

# The same page without its policy, and with a script that uses it as a reader would.
sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' "$work/page.html" >"$work/used.html"
cat >>"$work/used.html" <<'PROBE'
<script>
(function () {
  var found = [];
  function say(name, ok) { found.push(name + (ok ? " yes" : " NO")); }
  var table = document.querySelector("table"), heads = table.querySelectorAll("th .sort");
  function names() {
    return Array.prototype.map.call(table.tBodies, function (b) { return b.querySelector("b").textContent; }).join();
  }
  function column(n) {
    return Array.prototype.map.call(table.tBodies, function (b) { return parseFloat(b.rows[0].cells[n].dataset.value); });
  }
  function ascends(x) { return x.every(function (v, i) { return i === 0 || isNaN(v) || x[i - 1] <= v; }); }
  var first = names(), compile = Array.prototype.filter.call(heads, function (b) { return b.textContent === "compile"; })[0];
  compile.click();
  var at = compile.closest("th").cellIndex;
  say("sort-up", ascends(column(at)) && names() !== first);
  compile.click();
  say("sort-down", ascends(column(at).reverse()));
  heads[0].click();
  say("rank-again", names() === first);
  var open = table.querySelector(".open"), detail = document.getElementById(open.getAttribute("aria-controls"));
  var folded = getComputedStyle(detail).display === "none";
  open.click();
  say("fold", folded && getComputedStyle(detail).display !== "none" && open.getAttribute("aria-expanded") === "true");
  var before = getComputedStyle(document.body).backgroundColor;
  document.getElementById("theme").click();
  say("theme", getComputedStyle(document.body).backgroundColor !== before);
  say("fits", document.documentElement.scrollWidth <= window.innerWidth);
  say("focusable", document.querySelectorAll("button:not([aria-label]):empty").length === 0);
  document.body.setAttribute("data-found", found.join("; "));
})();
</script>
PROBE
for width in 1200 500; do
  open_page "$work/used.html" $width >"$work/dom"
  check "used at $width" "$work/dom" 'data-found='
  refuse "used at $width: $(grep -o 'data-found="[^"]*"' "$work/dom")" "$work/dom" 'data-found="[^"]* NO'
done

HONE_TEST_PAGE="$work/hostile.html" HONE_TEST_PAGE_HOSTILE=1 "$build/tests/test_report" >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
open_page "$work/hostile.html" 1200 >"$work/dom"
refuse "hostile names do not run" "$work/dom" '<title>owned'
check "hostile names are shown" "$work/dom" "&lt;script&gt;document.title='owned'"
refuse "no script but our own was tried" "$work/stderr.log" 'Refused to'
echo "tests/report/page.sh: the page works in $browser"
