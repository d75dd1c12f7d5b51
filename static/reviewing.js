// The weekly review by keys alone: d opens the decision of the row that one is on.
"use strict";

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog[open]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key !== "d") return;
  const row = document.activeElement.closest(".agenda-item");
  const decision = row && row.querySelector("details");
  if (!decision) return;
  event.preventDefault();
  decision.open = true;
  decision.querySelector("select").focus();
});
