// Choosing rows by keys: x chooses the row that one is on, d goes to the decision.
"use strict";

(() => {
  let empty = "";

  function count() {
    const said = document.querySelector("[data-chosen]");
    const chosen = document.querySelectorAll("[data-choose] input:checked").length;
    if (!said) return;
    empty ||= said.textContent;
    said.textContent = chosen ? `${chosen} chosen` : empty;
    said.closest(".decide-bar").classList.toggle("stuck", chosen > 0);
  }

  const keys = {
    x: () => {
      const row = document.activeElement.closest("[data-choose]");
      const box = row && row.querySelector("input[type=checkbox]");
      if (box) {
        box.checked = !box.checked;
        count();
      }
    },
    d: () => {
      const first = document.querySelector(
        "#decide select, #decide input:not([type=hidden])",
      );
      if (first) first.focus();
    },
  };

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest(
      "input:not([type=checkbox]), textarea, select, dialog",
    );
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  document.addEventListener("change", count);
})();
