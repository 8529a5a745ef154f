/* Script of the report page: theme, engine switches, sorting, folding, copying. The page is readable without it. */
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");
  try {
    var stored = localStorage.getItem("hone-theme");
    if (stored === "light" || stored === "dark") root.setAttribute("data-theme", stored);
  } catch (e) { /* files have no storage in some browsers */ }

  function isDark() {
    var theme = root.getAttribute("data-theme");
    return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }
  function switchTheme() {
    var theme = isDark() ? "light" : "dark";
    root.setAttribute("data-theme", theme);
    try { localStorage.setItem("hone-theme", theme); } catch (e) { /* no storage */ }
  }

  function valueOf(body, column) {
    var text = body.rows[0].cells[column].getAttribute("data-value");
    var number = parseFloat(text);
    return text === "" || text === null ? null : isNaN(number) ? text : number;
  }
  function compare(a, b, sign) {
    if (a === null || b === null) return (a === null) - (b === null);
    return (a > b ? 1 : a < b ? -1 : 0) * sign;
  }
  function sortBy(button) {
    var heading = button.closest("th"), table = button.closest("table");
    var ascending = heading.getAttribute("aria-sort") !== "ascending";
    var column = heading.cellIndex;
    table.querySelectorAll("th[aria-sort]").forEach(function (th) { th.removeAttribute("aria-sort"); });
    heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    Array.prototype.slice.call(table.tBodies)
      .sort(function (a, b) { return compare(valueOf(a, column), valueOf(b, column), ascending ? 1 : -1); })
      .forEach(function (body) { table.appendChild(body); });
  }

  /* -- engine switches: hide columns, rows and points; ratios are to the fastest shown engine -- */

  var heats = [[1.1, "h1"], [1.5, "h2"], [2.5, "h3"], [5, "h4"], [Infinity, "h5"]];
  function heatOf(ratio) {
    if (ratio < 1.005) return "h0";
    for (var i = 0; i < heats.length; i++) if (ratio < heats[i][0] || i === heats.length - 1) return heats[i][1];
  }
  function textOf(ratio) { return ratio.toFixed(ratio < 1.1 ? 3 : ratio < 10 ? 2 : ratio < 100 ? 1 : 0) + "x"; }
  function toArray(list) { return Array.prototype.slice.call(list); }
  function remember(cell) {
    if (cell.honeHtml === undefined) { cell.honeHtml = cell.innerHTML; cell.honeClass = cell.className; }
  }
  function restore(cell) {
    remember(cell);
    cell.innerHTML = cell.honeHtml;
    cell.className = cell.honeClass;
  }
  /* The fastest of the row is hidden: ratios are to the next one, without verdicts, because those were not measured. */
  function rateRow(row, sums) {
    var cells = toArray(row.querySelectorAll("td[data-ms]")).filter(function (c) { return !c.hidden; });
    var all = row.querySelectorAll("td[data-ms]");
    var fastest = Math.min.apply(null, cells.map(function (c) { return parseFloat(c.dataset.ms); }));
    var first = Math.min.apply(null, toArray(all).map(function (c) { return parseFloat(c.dataset.ms); }));
    cells.forEach(function (cell) {
      var ratio = fastest === first ? parseFloat(cell.dataset.ratio) : parseFloat(cell.dataset.ms) / fastest, sum = sums[cell.dataset.engine];
      restore(cell);
      sum.log += Math.log(ratio);
      sum.count++;
      if (fastest === first) return;
      cell.className = heatOf(ratio);
      cell.querySelector("a").firstChild.textContent = ratio === 1 ? "first of these" : textOf(ratio);
      toArray(cell.querySelector("a").childNodes).slice(1).forEach(function (n) {
        if (n.nodeName !== "SMALL") n.remove();
      });
    });
  }
  function rate() {
    var table = document.querySelector(".matrix table"), sums = {};
    table.querySelectorAll(".mean td").forEach(function (cell) { sums[cell.dataset.engine] = { log: 0, count: 0 }; });
    table.querySelectorAll("tbody tr").forEach(function (row) { rateRow(row, sums); });
    table.querySelectorAll(".mean td").forEach(function (cell) {
      var sum = sums[cell.dataset.engine];
      restore(cell);
      if (!sum.count) return;
      cell.querySelector("b").textContent = textOf(Math.exp(sum.log / sum.count));
      cell.className = heatOf(Math.exp(sum.log / sum.count));
    });
  }
  function switchEngine(button) {
    var shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(shown));
    document.querySelectorAll('[data-engine="' + button.dataset.switch + '"]').forEach(function (element) {
      if (shown) element.removeAttribute("hidden");
      else element.setAttribute("hidden", "");
    });
    rate();
  }

  function setOpen(body, isOpen) {
    body.classList.toggle("is-open", isOpen);
    body.querySelector(".open").setAttribute("aria-expanded", String(isOpen));
  }
  function fold(button) {
    var body = button.closest("tbody");
    setOpen(body, !body.classList.contains("is-open"));
  }
  /* Unfolds the row that the address names. */
  function openTarget() {
    var id = location.hash.slice(1), body = id && document.getElementById(id);
    if (body && body.tagName === "TBODY") {
      setOpen(body, true);
      body.scrollIntoView();
    }
  }
  document.addEventListener("DOMContentLoaded", openTarget);
  addEventListener("hashchange", openTarget);

  function select(code) {
    var range = document.createRange();
    range.selectNodeContents(code);
    var selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  }
  function copy(button) {
    var code = button.parentNode.querySelector("code");
    function done() {
      button.textContent = "copied";
      setTimeout(function () { button.textContent = "copy"; }, 1500);
    }
    function byHand() {
      select(code);
      if (document.execCommand("copy")) done();
    }
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, byHand);
    else byHand();
  }

  document.addEventListener("click", function (event) {
    var button = event.target.closest("button"), row = event.target.closest("tr.row");
    if (event.target.closest("a")) return;
    if (!button && row && getSelection().isCollapsed) button = row.querySelector(".open");
    if (!button) return;
    if (button.id === "theme") switchTheme();
    else if (button.classList.contains("switch")) switchEngine(button);
    else if (button.classList.contains("sort")) sortBy(button);
    else if (button.classList.contains("open")) fold(button);
    else if (button.classList.contains("copy")) copy(button);
  });
})();
