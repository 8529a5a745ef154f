/* The report's page: theme, sorting, folding, copying. All of it is comfort; the page reads without. */
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");
  try {
    var stored = localStorage.getItem("hone-theme");
    if (stored === "light" || stored === "dark") root.setAttribute("data-theme", stored);
  } catch (e) { /* no storage for files here */ }

  function isDark() {
    var theme = root.getAttribute("data-theme");
    return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }
  function switchTheme() {
    var theme = isDark() ? "light" : "dark";
    root.setAttribute("data-theme", theme);
    try { localStorage.setItem("hone-theme", theme); } catch (e) { /* as above */ }
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

  function fold(button) {
    var isOpen = button.closest("tbody").classList.toggle("is-open");
    button.setAttribute("aria-expanded", String(isOpen));
  }

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
    if (!button && row && getSelection().isCollapsed) button = row.querySelector(".open");
    if (!button) return;
    if (button.id === "theme") switchTheme();
    else if (button.classList.contains("sort")) sortBy(button);
    else if (button.classList.contains("open")) fold(button);
    else if (button.classList.contains("copy")) copy(button);
  });
})();
