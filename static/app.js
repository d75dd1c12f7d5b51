// Small conveniences on pages that work without them: the viewer's time zone, copy
// buttons, keys, and plots. No inline script, no eval.
"use strict";

(() => {
  const exact = new Intl.DateTimeFormat(undefined, {
    dateStyle: "medium",
    timeStyle: "long",
  });

  function enliven(root) {
    // A day alone has no zone to be shown in.
    for (const time of root.querySelectorAll("time[datetime*=T]")) {
      time.title = exact.format(new Date(time.dateTime));
    }
    for (const button of root.querySelectorAll("button[data-copy]")) {
      button.hidden = false;
    }
    for (const control of root.querySelectorAll("[data-needs-js]")) {
      control.hidden = false;
    }
  }

  async function copy(button) {
    const done = document.getElementById("announce");
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.classList.add("copied");
      done.textContent = "Copied.";
    } catch {
      done.textContent = "The browser did not allow copying.";
    }
    setTimeout(() => button.classList.remove("copied"), 1500);
  }

  // The rows that j and k walk through: of the first list on the page.
  function rows() {
    const list = document.querySelector("[data-rows]");
    return list ? [...list.querySelectorAll("a[data-row]")] : [];
  }

  function move(step) {
    const links = rows();
    if (!links.length) return;
    const at = links.indexOf(document.activeElement);
    const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : at + step;
    links[Math.min(Math.max(next, 0), links.length - 1)].focus();
  }

  const keys = {
    "/": () => document.getElementById("search").focus(),
    "?": () => document.getElementById("keys").showModal(),
    j: () => move(1),
    k: () => move(-1),
  };

  document.addEventListener("keydown", (event) => {
    const target = event.target;
    const typing = target.closest("input, textarea, select, dialog[open]");
    if (event.key === "Escape" && target.id === "search") target.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-copy]");
    if (button) copy(button);
    const opener = event.target.closest("button[data-dialog]");
    if (opener) document.getElementById(opener.dataset.dialog).showModal();
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });

  document.addEventListener("htmx:load", (event) => enliven(event.detail.elt));
  enliven(document);
})();
