#!/bin/sh
# The HTML report in a real browser: its policy lets exactly its own script run; sorting, folding, the theme and the
# engine switches work; text has contrast in both themes, all that can be clicked has the keyboard's focus, links lead
# somewhere; it is not wider than a phone, prints on two pages, and hostile names stay text. usage: page.sh [BUILD]; without chromium it
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
  timeout 600 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" \
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
  function shown(list) { return Array.prototype.filter.call(list, function (e) { return e.getClientRects().length > 0; }); }
  var table = document.querySelector("table.rows"), heads = table.querySelectorAll("th .sort");
  function names() {
    return Array.prototype.map.call(table.tBodies, function (b) { return b.querySelector("b").textContent; }).join();
  }
  function column(n) {
    return Array.prototype.map.call(table.tBodies, function (b) { return parseFloat(b.rows[0].cells[n].dataset.value); });
  }
  /* WCAG 2.1, 1.4.3: 4.5 to 1, for large text 3 to 1. */
  function color(text) {
    var n = text.match(/[0-9.]+/g).map(Number), s = text.indexOf("color(srgb") === 0 ? 255 : 1;
    return [n[0] * s, n[1] * s, n[2] * s, n.length > 3 ? n[3] : 1];
  }
  function over(top, below) { return top.slice(0, 3).map(function (v, i) { return v * top[3] + below[i] * (1 - top[3]); }); }
  function background(e) {
    var layers = [];
    for (; e && e.nodeType === 1; e = e.parentNode) layers.push(color(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce(function (below, top) { return over(top, below); }, [255, 255, 255]);
  }
  function luminance(c) {
    var l = c.map(function (v) { v /= 255; return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); });
    return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2];
  }
  function contrasts() {
    var low = [];
    document.body.querySelectorAll("*").forEach(function (e) {
      var own = Array.prototype.some.call(e.childNodes, function (n) { return n.nodeType === 3 && n.textContent.trim(); });
      if (!own || !e.getClientRects().length || e.closest("script, style, title, .link, .sr")) return;
      var style = getComputedStyle(e), below = background(e);
      var text = over(color(e.ownerSVGElement ? style.fill : style.color), below);
      var a = luminance(text), b = luminance(below), size = parseFloat(style.fontSize);
      var ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      var large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
      if (ratio < (large ? 3 : 4.5)) low.push(e.tagName + "." + (e.className.baseVal || e.className) + " " + ratio.toFixed(2));
    });
    if (low.length) found.push("low: " + low.slice(0, 8).join(", "));
    return low.length === 0;
  }
  function ascends(x) { return x.every(function (v, i) { return i === 0 || isNaN(v) || x[i - 1] <= v; }); }
  var first = names(), compile = Array.prototype.filter.call(heads, function (b) { return b.textContent === "start-up"; })[0];
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
  say("contrast", contrasts());
  document.getElementById("theme").click();
  say("contrast-other", contrasts());
  var matrix = document.querySelector(".matrix table"), pressed = document.querySelectorAll("[data-switch]")[0];
  var firstCell = matrix.querySelector("tbody td"), was = matrix.innerText;
  pressed.click();
  say("switch-off", firstCell.hidden && pressed.getAttribute("aria-pressed") === "false" && matrix.innerText !== was &&
    matrix.innerText.indexOf("first of these") > 0);
  say("switch-charts", document.querySelectorAll('.charts [data-engine]').length > 0);
  say("switch-rows", shown(document.querySelectorAll('[data-engine="' + pressed.dataset.switch + '"]')).length === 0);
  pressed.click();
  say("switch-on", matrix.innerText === was);
  say("links", Array.prototype.every.call(document.querySelectorAll('a[href^="#"]'), function (a) {
    return document.getElementById(a.getAttribute("href").slice(1));
  }));
  location.hash = matrix.querySelectorAll("tbody td a")[1].getAttribute("href");
  say("downloads", document.querySelectorAll("a[download]").length === 2);
  say("keyboard", shown(document.querySelectorAll("a[href], button")).every(function (e) { e.focus(); return document.activeElement === e; }));
  say("fits", document.documentElement.scrollWidth <= window.innerWidth);
  say("focusable", document.querySelectorAll("button:not([aria-label]):empty").length === 0);
  document.body.setAttribute("data-found", found.join("; "));
})();
</script>
PROBE
for width in 1200 400; do
  open_page "$work/used.html" $width >"$work/dom"
  check "used at $width" "$work/dom" 'data-found='
  [ -z "${HONE_TEST_SHOW:-}" ] || grep -o 'data-found="[^"]*"' "$work/dom"
  refuse "used at $width: $(grep -o 'data-found="[^"]*"' "$work/dom")" "$work/dom" 'data-found="[^"]* NO'
done

# On paper: a study of a few models is two pages.
timeout 600 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --no-pdf-header-footer \
  --print-to-pdf="$work/page.pdf" "file://$work/page.html" >/dev/null 2>&1
pages=$(grep -ac '/Type /Page$' "$work/page.pdf" || true)
[ "$pages" = 2 ] || { echo "tests/report/page.sh: $pages pages on paper, not 2" >&2; exit 1; }

HONE_TEST_PAGE="$work/hostile.html" HONE_TEST_PAGE_HOSTILE=1 "$build/tests/test_report" >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
open_page "$work/hostile.html" 1200 >"$work/dom"
refuse "hostile names do not run" "$work/dom" '<title>owned'
check "hostile names are shown" "$work/dom" "&lt;script&gt;document.title='owned'"
refuse "no script but our own was tried" "$work/stderr.log" 'Refused to'
echo "tests/report/page.sh: the page works in $browser"
