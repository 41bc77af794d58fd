"use strict";
// Filters and sorts the table of scenarios. Without it, the table stands there in sections, one for each state.
(() => {
  const toolbar = document.getElementById("toolbar");
  const table = document.getElementById("scenarios");
  if (!toolbar || !table) return;

  const byId = (id) => document.getElementById(id);
  const find = byId("find");
  const sort = byId("sort");
  const shown = byId("shown");
  const chips = Array.from(toolbar.querySelectorAll("[data-state]"));
  // The lists to choose from, each with the letter of the rows' own list.
  const lists = [["tag", "g"], ["server", "v"], ["tool", "o"]]
    .map(([id, letter]) => ({ id, letter, select: byId(id) }))
    .filter((it) => it.select);

  const numberIn = (text) => {
    const number = parseFloat(text.split("→").pop());
    return Number.isNaN(number) ? null : number;
  };
  const rows = Array.from(table.querySelectorAll("tr[data-s]"), (element, at) => {
    const cells = element.cells;
    // Several that were left out for one reason share a row, and are found by what is their own.
    const several = Array.from(element.querySelectorAll(".left-out .of"));
    const summary = element.querySelector("summary");
    const scenario = (of, text) => ({
      element: of,
      text: text.toLowerCase(),
      lists: Object.fromEntries(lists.map((it) => [it.id, (of.dataset[it.letter] || "").split(" ")])),
    });
    return {
      element,
      at,
      home: element.parentNode,
      state: element.dataset.s,
      scenarios: several.length
        ? several.map((of) => scenario(of, `${element.cells[0].textContent} ${summary.textContent} ${of.title} ${of.textContent}`))
        : [scenario(element, element.textContent)],
      number: several.length ? summary.querySelector(".n") : null,
      name: (element.querySelector("th a, summary") || element).textContent,
      score: cells[2] ? numberIn(cells[2].textContent) : null,
      calls: cells[3] ? numberIn(cells[3].textContent) : null,
      duration: element.dataset.d ? Number(element.dataset.d) : null,
    };
  });
  const all = rows.reduce((sum, it) => sum + it.scenarios.length, 0);
  const groups = Array.from(table.tBodies);
  const sorted = document.createElement("tbody");
  sorted.hidden = true;
  table.append(sorted);

  // Rows that lack the value come last, whatever the order.
  const byNumber = (key, sign) => (a, b) => {
    if (a[key] === null || b[key] === null) return (a[key] === null) - (b[key] === null) || a.at - b.at;
    return sign * (a[key] - b[key]) || a.at - b.at;
  };
  const orders = {
    name: (a, b) => a.name.localeCompare(b.name) || a.at - b.at,
    score: byNumber("score", 1),
    duration: byNumber("duration", -1),
    calls: byNumber("calls", -1),
  };
  let order = "";
  const arrange = () => {
    if (sort.value === order) return;
    order = sort.value;
    const compare = orders[order];
    sorted.hidden = !compare;
    if (compare) {
      sorted.append(...rows.slice().sort(compare).map((it) => it.element));
    } else {
      for (const row of rows) row.home.append(row.element);
    }
  };

  const pressed = () => new Set(chips.filter((it) => it.getAttribute("aria-pressed") === "true").map((it) => it.dataset.state));

  const apply = () => {
    arrange();
    const states = pressed();
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = lists.filter((it) => it.select.value !== "");
    const counts = new Map(chips.map((it) => [it.dataset.state, 0]));
    const seen = new Map(groups.map((it) => [it, 0]));
    let count = 0;
    for (const row of rows) {
      let fitting = 0;
      for (const { element, text, lists: of } of row.scenarios) {
        const fits = words.every((word) => text.includes(word)) &&
          chosen.every((it) => of[it.id].includes(it.select.value));
        fitting += fits;
        element.hidden = !fits;
      }
      counts.set(row.state, counts.get(row.state) + fitting);
      const isSeen = fitting > 0 && (states.size === 0 || states.has(row.state));
      row.element.hidden = !isSeen;
      if (row.number) row.number.textContent = fitting === 1 ? "1 scenario" : `${fitting} scenarios`;
      if (isSeen) {
        count += fitting;
        seen.set(row.home, seen.get(row.home) + fitting);
      }
    }
    for (const chip of chips) chip.querySelector(".n").textContent = counts.get(chip.dataset.state);
    for (const group of groups) {
      group.hidden = order !== "" || seen.get(group) === 0;
      group.querySelector(".group .n").textContent = seen.get(group);
    }
    shown.textContent = count === all ? `All ${all} scenarios are shown.`
      : count === 0 ? "No scenario fits. “Show all” takes all filters away."
      : `${count} of ${all} scenarios are shown.`;
    remember(states);
  };

  // The address names what is shown, so that it can be handed on.
  const remember = (states) => {
    const kept = new URLSearchParams();
    if (states.size) kept.set("state", [...states].join(","));
    if (find.value) kept.set("find", find.value);
    for (const it of lists) {
      if (it.select.value !== "") kept.set(it.id, it.select.selectedOptions[0].textContent);
    }
    if (order) kept.set("sort", order);
    const text = kept.toString();
    const isOurs = location.hash.startsWith("#?");
    if (text ? location.hash !== "#?" + text : isOurs) {
      try {
        history.replaceState(null, "", text ? "#?" + text : location.pathname + location.search);
      } catch {
        // Some browsers keep no history for files; what is shown is the same.
      }
    }
  };
  const recall = () => {
    if (!location.hash.startsWith("#?")) return;
    const kept = new URLSearchParams(location.hash.slice(2));
    const states = (kept.get("state") || "").split(",");
    for (const chip of chips) chip.setAttribute("aria-pressed", String(states.includes(chip.dataset.state)));
    find.value = kept.get("find") || "";
    for (const it of lists) {
      const option = Array.from(it.select.options).find((of) => of.value !== "" && of.textContent === kept.get(it.id));
      it.select.value = option ? option.value : "";
    }
    sort.value = kept.get("sort") in orders ? kept.get("sort") : "";
  };

  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  }
  let waiting;
  find.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, rows.length > 300 ? 120 : 0);
  });
  toolbar.addEventListener("change", (event) => {
    if (event.target !== find) apply();
  });
  toolbar.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
  });
  toolbar.addEventListener("reset", () => {
    for (const chip of chips) chip.setAttribute("aria-pressed", "false");
    setTimeout(apply);
  });
  // `/` leads to the search, Escape empties it.
  addEventListener("keydown", (event) => {
    const isTyping = event.target.closest && event.target.closest("input, textarea, select");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      find.focus();
    } else if (event.key === "Escape" && event.target === find && find.value) {
      event.preventDefault();
      find.value = "";
      apply();
    }
  });
  addEventListener("hashchange", () => {
    if (!location.hash.startsWith("#?")) return;
    recall();
    apply();
  });

  toolbar.hidden = false;
  recall();
  apply();
})();
