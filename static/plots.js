// Draws the figures of a page. Colours come from the stylesheet, so that a figure
// follows light and dark; the table under each is folded once its figure is drawn.
"use strict";

(() => {
  const style = () => getComputedStyle(document.documentElement);
  const token = /^var\((--[a-z-]+)\)$/;

  // Figures name colours as var(--…); plotly wants them resolved.
  function resolve(value, css) {
    if (typeof value === "string") {
      const match = token.exec(value);
      return match ? css.getPropertyValue(match[1]).trim() : value;
    }
    if (Array.isArray(value)) return value.map((item) => resolve(item, css));
    if (value && typeof value === "object") {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, resolve(item, css)]),
      );
    }
    return value;
  }

  function draw(plot) {
    const figure = JSON.parse(document.getElementById(plot.dataset.plot).textContent);
    const { data, layout } = resolve(figure, style());
    Plotly.react(plot, data, layout, { displayModeBar: false, responsive: true });
    plot.removeAllListeners?.("plotly_click");
    plot.on("plotly_click", (event) => {
      const url = event.points[0].customdata;
      if (typeof url === "string" && url.startsWith("/")) location.assign(url);
    });
  }

  const plots = [...document.querySelectorAll("[data-plot]")];
  for (const plot of plots) {
    plot.hidden = false;
    // Narrower, its names would lie on each other: it scrolls instead.
    if (plot.dataset.minWidth) plot.style.minWidth = `${plot.dataset.minWidth}px`;
    draw(plot);
    const table = plot.closest("figure").querySelector("details");
    if (table) table.open = false;
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    plots.forEach(draw),
  );
})();
