/* Script of the dashboard: uploads a model, follows its job, buttons of a job. Pages are readable without it. */
(function () {
  "use strict";

  function begin() {
    var form = document.getElementById("upload"), log = document.getElementById("log");
    if (form) form.addEventListener("submit", function (event) { event.preventDefault(); send(form); });
    if (log && log.hasAttribute("data-live")) follow(log);
  }

  function send(form) {
    var file = document.getElementById("file").files[0], said = document.getElementById("said");
    var bar = document.getElementById("sent"), button = form.querySelector("button"), request = new XMLHttpRequest();
    if (!file) return;
    if (file.size > parseFloat(form.dataset.most)) { said.textContent = "This file is larger than is allowed here."; return; }
    var query = "name=" + encodeURIComponent(file.name);
    new FormData(form).forEach(function (value, name) {
      if (typeof value === "string" && value) query += "&" + encodeURIComponent(name) + "=" + encodeURIComponent(value);
    });
    function failed(text) {
      button.disabled = false;
      bar.hidden = true;
      said.textContent = text || "The connection broke. Nothing was kept; try again.";
    }
    request.open("POST", "/jobs?" + query);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.setRequestHeader("X-Hone-Token", form.dataset.token);
    request.upload.onprogress = function (event) { if (event.lengthComputable) bar.value = event.loaded / event.total; };
    request.onerror = function () { failed(""); };
    request.onload = function () {
      if (request.status === 201) location.href = JSON.parse(request.responseText).job;
      else failed(reason(request.responseText));
    };
    button.disabled = true;
    bar.hidden = false;
    said.textContent = "Sending " + file.name;
    request.send(file);
  }
  /* The message of an error page, or the whole text of a plain response. */
  function reason(text) {
    var notice = new DOMParser().parseFromString(text, "text/html").querySelector(".notice");
    return notice ? notice.textContent : text.slice(0, 300);
  }

  function follow(log) {
    var source = new EventSource("/job/" + log.dataset.job + "/events"), state = document.getElementById("state"), seen = false;
    source.addEventListener("log", function (event) {
      if (!seen) { log.textContent = ""; seen = true; }
      log.textContent += JSON.parse(event.data);
      log.scrollTop = log.scrollHeight;
    });
    source.addEventListener("state", function (event) {
      var now = JSON.parse(event.data);
      state.textContent = now;
      if (now !== "queued" && now !== "running") { source.close(); location.reload(); }
    });
  }

  document.addEventListener("click", function (event) {
    var button = event.target.closest("[data-post]");
    if (!button) return;
    button.disabled = true;
    fetch(button.dataset.post, { method: "POST", headers: { "Content-Type": "application/json", "X-Hone-Token": button.dataset.token } })
      .then(function (reply) {
        if (!reply.ok) { button.disabled = false; button.textContent = "This failed; reload the page"; }
        else if (/remove$/.test(button.dataset.post)) location.href = "/jobs";
      });
  });
  document.addEventListener("DOMContentLoaded", begin);
})();
