// What the package has computed, as pictures: matrices, charts, tables, marked words.

import { makeChart, tone } from "./chart.js";
import { h, say, table } from "./dom.js";

const LARGEST = 26, SMALLEST = 5, EDGE = 4;
const short = (text) => (text.length > 12 ? `${text.slice(0, 11)}…` : text);
const written = (value) => (value === null ? "masked" : String(value));

/** Draw numbers as colours, with what is under the pointer, or under the arrow keys, as a text. */
const drawMatrix = (panel) => {
  const { values, rows, columns, signed } = panel;
  const canvas = h("canvas", { tabindex: "0", role: "img" }), line = h("p", { class: "hint reads", "aria-hidden": "true" });
  const flat = values.flat().filter((value) => value !== null).map(Math.abs);
  const peak = Math.max(...flat, 1e-12);
  let at = null, box = null;
  canvas.setAttribute("aria-label", `${panel.title}: ${rows.length} rows, ${columns.length} columns, up to ${Number(peak.toPrecision(3))}. Arrow keys read the numbers.`);
  const colour = (name) => getComputedStyle(canvas).getPropertyValue(`--${name}`).trim();
  const draw = () => {
    const wide = canvas.parentElement ? canvas.parentElement.clientWidth : 0;
    if (!wide) return;
    const brush = canvas.getContext("2d"), font = "12px ui-sans-serif, system-ui, sans-serif";
    brush.font = font;
    const left = Math.ceil(Math.max(...rows.map((name) => brush.measureText(short(name)).width))) + 8;
    const size = Math.max(SMALLEST, Math.min(LARGEST, Math.floor((wide - left - EDGE) / columns.length)));
    const slanted = Math.max(...columns.map((name) => brush.measureText(short(name)).width));
    const top = slanted <= size - 2 ? 20 : Math.ceil(slanted * 0.75) + 12;
    const width = left + size * columns.length + EDGE + (slanted > size ? Math.ceil(slanted * 0.6) : 0), height = top + size * rows.length + EDGE;
    const scale = window.devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    brush.setTransform(scale, 0, 0, scale, 0, 0);
    brush.font = font;
    box = { left, top, size };
    const every = Math.max(1, Math.ceil(14 / size));
    brush.fillStyle = colour("soft");
    brush.textBaseline = "middle";
    brush.textAlign = "right";
    rows.forEach((name, n) => { if (n % every === 0) brush.fillText(short(name), left - 6, top + (n + 0.5) * size); });
    columns.forEach((name, n) => {
      if (n % every) return;
      brush.save();
      brush.translate(left + (n + 0.5) * size, top - 6);
      if (slanted > size - 2) { brush.rotate(-0.85); brush.textAlign = "left"; } else brush.textAlign = "center";
      brush.fillText(short(name), 0, 0);
      brush.restore();
    });
    const [positive, negative, empty] = [colour("accent"), colour("second"), colour("line")];
    values.forEach((row, y) => row.forEach((value, x) => {
      const gap = size > 8 ? 1 : 0;
      brush.globalAlpha = value === null ? 0.25 : Math.min(1, Math.abs(value) / peak);
      brush.fillStyle = value === null ? empty : signed && value < 0 ? negative : positive;
      brush.fillRect(left + x * size, top + y * size, size - gap, size - gap);
    }));
    brush.globalAlpha = 1;
    if (at) {
      brush.strokeStyle = colour("ink");
      brush.lineWidth = 1.5;
      brush.strokeRect(left + at[1] * size - 0.5, top + at[0] * size - 0.5, size, size);
    }
  };
  const point = (y, x, spoken) => {
    at = y === null ? null : [Math.max(0, Math.min(rows.length - 1, y)), Math.max(0, Math.min(columns.length - 1, x))];
    line.textContent = at ? `${rows[at[0]]} → ${columns[at[1]]}: ${written(values[at[0]][at[1]])}` : panel.note;
    if (spoken && at) say(line.textContent);
    draw();
  };
  canvas.addEventListener("pointermove", (event) => {
    if (!box) return;
    const y = Math.floor((event.offsetY - box.top) / box.size), x = Math.floor((event.offsetX - box.left) / box.size);
    if (y >= 0 && x >= 0 && y < rows.length && x < columns.length) point(y, x);
    else point(null);
  });
  canvas.addEventListener("pointerleave", () => point(null));
  canvas.addEventListener("blur", () => point(null));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    if (at) point(at[0] + step[0], at[1] + step[1], true);
    else point(0, 0, true);
  });
  line.textContent = panel.note;
  const area = h("div", { class: "scroll" }, canvas);
  const watch = new ResizeObserver(draw);
  watch.observe(area);
  window.addEventListener("themechange", draw);
  return {
    element: h("div", { class: "card matrix" }, h("h3", {}, panel.title), area, line),
    end: () => { watch.disconnect(); window.removeEventListener("themechange", draw); },
  };
};

const drawChart = (panel) => {
  const chart = makeChart(panel.title, (range) => chart.update({ range }));
  chart.update({ axis: panel.axis, log: panel.log, lines: panel.lines.map((line, n) => ({ ...line, tone: tone(n) })) });
  const legend = h("ul", { class: "legend" }, panel.lines.map((line, n) => h("li", {}, h("i", { class: `swatch ${tone(n)}` }), line.name)));
  chart.element.append(legend, panel.note ? h("p", { class: "hint" }, panel.note) : "");
  return chart;
};

const drawTable = (panel) => ({
  element: h("div", { class: "card" }, h("h3", {}, panel.title), table(panel.heads, panel.rows, { "aria-label": panel.title }), panel.note && h("p", { class: "hint" }, panel.note)),
  end: () => {},
});

const drawMarked = (panel) => ({
  element: h("div", { class: "card" }, h("h3", {}, panel.title),
    h("p", { class: "marked", dir: "auto" }, panel.words.map(([word, mark]) => [mark ? h("mark", { class: mark, title: mark }, word) : h("span", {}, word), " "])),
    panel.note && h("p", { class: "hint" }, panel.note)),
  end: () => {},
});

const DRAWN = { matrix: drawMatrix, chart: drawChart, table: drawTable, marked: drawMarked };

/** Draw panels; returns their elements, and what ends them. */
export const drawPanels = (panels) => {
  const drawn = panels.map((panel) => DRAWN[panel.kind](panel));
  return { elements: drawn.map((one) => one.element), end: () => drawn.forEach((one) => one.end()) };
};
