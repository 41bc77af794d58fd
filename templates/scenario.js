"use strict";
(() => {
  const stops = Array.from(document.querySelectorAll("[data-change]"));

  // A link leads into what is folded, too.
  const reveal = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    let folded = target && target.closest("details:not([open])");
    while (folded) {
      folded.open = true;
      folded = folded.parentElement.closest("details:not([open])");
    }
    if (target) target.scrollIntoView();
  };

  // Of several pages in one file, one is shown.
  const isOnPage = (it) => {
    const page = it.closest("[data-page]");
    return !page || page.getClientRects().length > 0;
  };

  // The change one is at: the one the address names while it is to be seen, else the last that began above.
  const next = (step) => {
    const here = stops.filter(isOnPage);
    const named = here.findIndex((it) => "#" + it.id === location.hash);
    const isSeen = (it) => {
      const box = it.getBoundingClientRect();
      return box.bottom > 0 && box.top < innerHeight;
    };
    if (named >= 0 && isSeen(here[named])) return here[named + step];
    const above = here.filter((it) => it.getBoundingClientRect().top < 60);
    return step > 0 ? here[above.length] : above[above.length - 1];
  };

  const go = (stop) => {
    if (!stop) return;
    stop.tabIndex = -1;
    location.replace("#" + stop.id);
    stop.focus({ preventScroll: true });
  };

  addEventListener("hashchange", reveal);
  reveal();
  addEventListener("keydown", (event) => {
    const isTyping = event.target.closest && event.target.closest("input:not([type=radio]), textarea, select");
    if (event.ctrlKey || event.altKey || event.metaKey || isTyping) return;
    if (event.key === "n") go(next(1));
    if (event.key === "p") go(next(-1));
  });
  for (const hint of document.querySelectorAll(".keys")) hint.hidden = stops.length === 0;

  const copied = (code) => {
    getSelection().selectAllChildren(code);
    return document.execCommand("copy");
  };
  for (const code of document.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      let isDone = false;
      try {
        await navigator.clipboard.writeText(code.textContent);
        isDone = true;
      } catch {
        isDone = copied(code);
      }
      button.textContent = isDone ? "Copied" : "Not copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    code.after(button);
  }
})();
