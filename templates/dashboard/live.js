"use strict";
// Shows what happens while it happens. Without it, the page says what was when it was loaded.
(() => {
  const byId = (id) => document.getElementById(id);
  const live = byId("live");
  const list = byId("running");
  const latest = byId("latest");
  if (!live || !list || !window.EventSource) return;

  // Whatever is shown comes from elsewhere: it becomes text alone, and what would be invisible in it is made visible.
  const visible = (text) => String(text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (it) => `\\u{${it.codePointAt(0).toString(16)}}`);
  const write = (element, text) => {
    const shown = visible(text);
    if (element.textContent !== shown) element.textContent = shown;
  };
  const made = (tag, name, text) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) write(element, text);
    return element;
  };
  const duration = (ms) => {
    if (ms < 9.95) return `${ms.toFixed(1)} ms`;
    if (ms < 999.5) return `${ms.toFixed(0)} ms`;
    if (ms < 59950) return `${(ms / 1000).toFixed(1)} s`;
    const seconds = Math.round(ms / 1000);
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  };

  // When each of what runs has begun, by our own clock.
  const begun = new Map();
  for (const row of list.children) begun.set(row.dataset.key, performance.now() - Number(row.dataset.for));
  const tick = () => {
    for (const row of list.children) {
      const since = begun.get(row.dataset.key);
      if (since !== undefined) write(row.querySelector(".elapsed"), duration(Math.floor((performance.now() - since) / 100) * 100));
    }
  };
  setInterval(tick, 500);

  const now = (state) => {
    const rows = new Map(Array.from(list.children, (it) => [it.dataset.key, it]));
    for (const it of state.running) {
      let row = rows.get(it.key);
      rows.delete(it.key);
      if (!row) {
        row = made("li");
        row.dataset.key = it.key;
        for (const [tag, name] of [["strong", "name"], ["span", "tag"], ["span", "doing"], ["span", "elapsed quiet"]]) row.append(made(tag, name), " ");
        begun.set(it.key, performance.now() - it.forMs);
        list.append(row);
      }
      write(row.querySelector(".name"), it.name);
      write(row.querySelector(".tag"), it.command);
      write(row.querySelector(".doing"), it.doing);
    }
    for (const [key, row] of rows) {
      begun.delete(key);
      row.remove();
    }
    tick();
    byId("idle").hidden = state.running.length > 0;
    write(byId("state"), `${state.state}.`);
    document.title = visible(`${state.state} · mcp-eval serve`);
    write(byId("waiting"), state.waiting);
    byId("waiting").hidden = state.waiting === "";
    byId("lost").hidden = true;
  };

  const signs = { passed: "✓", failed: "✗", inconclusive: "?", skipped: "-", recorded: "●" };
  const badge = (status) => {
    const element = made("span", "badge");
    element.classList.add(`status-${String(status).replace(/[^a-z]/g, "")}`);
    const sign = made("span", "", signs[status] || "!");
    sign.setAttribute("aria-hidden", "true");
    element.append(sign, ` ${visible(status)}`);
    return element;
  };
  const page = (it) => `/results/${encodeURIComponent(it.resultId)}`;
  // The latest result of a scenario of the folder, and how many of them are bad.
  const scenario = (it) => {
    const rows = Array.from(document.querySelectorAll(".served tr[data-scenario]"));
    const row = rows.find((row) => row.dataset.scenario === it.scenario);
    if (!row) return;
    row.dataset.status = it.status;
    const link = made("a");
    link.href = page(it);
    link.setAttribute("aria-label", visible(`${it.status}: latest result of ${row.dataset.name}`));
    link.append(badge(it.status));
    row.cells[0].replaceChildren(latest ? link : badge(it.status));
    const tried = rows.filter((row) => row.dataset.status);
    const bad = tried.filter((row) => row.dataset.status !== "passed" && row.dataset.status !== "recorded");
    const tally = byId("tally");
    tally.className = bad.length ? "bad" : "good";
    tally.hidden = false;
    tally.firstElementChild.replaceChildren(
      made("strong", "", bad.length || tried.length),
      ` of the scenarios below ${bad.length ? "currently failing" : "passed lately, and none failed"}`,
    );
  };
  const result = (it) => {
    const known = Array.from(latest ? latest.children : []).some((row) => row.dataset.id === it.resultId);
    if (known) return;
    byId("heard").textContent = visible(`${it.name}: ${it.status}`);
    scenario(it);
    if (it.command !== "run") byId("again").hidden = false;
    if (!latest) {
      // Nothing is kept: this line is all that is told of it.
      byId("heard").className = "";
      return;
    }
    const row = made("tr", "new");
    row.dataset.id = it.resultId;
    const state = made("td");
    state.append(badge(it.status));
    const name = made("th");
    name.scope = "row";
    const link = made("a", "", it.name);
    link.href = page(it);
    name.append(link);
    if (it.reason) name.append(made("span", "under", it.reason));
    row.append(
      state,
      name,
      made("td", "number", typeof it.score === "number" ? it.score.toFixed(2) : ""),
      made("td", "number", typeof it.duration === "number" ? duration(it.duration) : ""),
      made("td", "", it.command),
      made("td", "when", "just now"),
    );
    latest.prepend(row);
    byId("results-table").hidden = false;
    const none = byId("no-results");
    if (none) none.hidden = true;
    while (latest.children.length > 50) latest.lastElementChild.remove();
  };

  const lost = (text) => {
    write(byId("lost"), text);
    byId("lost").hidden = false;
  };
  // The browser asks again by itself, with the last id that it has heard, for as long as the server is only out of reach.
  const source = new EventSource(`/live?after=${encodeURIComponent(live.dataset.after)}`);
  source.addEventListener("now", (event) => now(JSON.parse(event.data)));
  source.addEventListener("verdict", (event) => result(JSON.parse(event.data)));
  // What was missed is not known any more, or it is another server: the page looks anew.
  source.addEventListener("reset", () => location.reload());
  source.addEventListener("error", () => {
    lost(source.readyState === EventSource.CLOSED
      ? "The server does not tell any more what happens: load this page again."
      : "The server cannot be reached. This page goes on as soon as it can.");
  });
})();
