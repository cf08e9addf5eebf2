// The curves of some runs: fetched as they grow, drawn as charts over a common axis. Smoothing is
// computed by the studio; the cursor of each run says what the page already has.

import { get, poll } from "./api.js";
import { makeChart, tone } from "./chart.js";
import { choice, field, h, path } from "./dom.js";

const AXES = ["steps", "minutes", "tokens"];
const LIVE = 2000, REST = 15000;
const FIRST = ["training loss"], LAST = ["learning rate", "gradient norm", "tokens per second"];

const append = (kept, more) => {
  for (const part of ["x", "y", "smooth"]) {
    for (const [name, values] of Object.entries(more[part])) {
      const before = (kept[part][name] ??= []);
      const length = kept.x.steps.length - (part === "x" && name === "steps" ? 0 : more.x.steps.length);
      while (part !== "x" && before.length < length) before.push(null);
      before.push(...values);
    }
  }
};
const empty = () => ({ x: { steps: [], minutes: [], tokens: [] }, y: {}, smooth: {} });

/** Show the curves of runs; `tell` receives the new states and samples. */
export const showCurves = (names, address, tell = () => {}) => {
  const runs = names.map((name) => ({ name, cursor: "", state: "", steps: empty(), evaluations: empty() }));
  const charts = new Map(), grid = h("div", { class: "cards" });
  const setting = {
    x: AXES.includes(address.get("x")) ? address.get("x") : "steps",
    log: address.get("log") === "1",
    smoothing: Math.min(0.99, Number(address.get("smoothing")) || 0),
  };
  let range = address.get("zoom").split("~").map(Number);
  if (range.length !== 2 || !range.every(Number.isFinite)) range = null;

  const keep = (changes) => { Object.assign(setting, changes); address.set({ x: setting.x === "steps" ? "" : setting.x, log: setting.log ? "1" : "", smoothing: setting.smoothing || "" }); };
  const zoom = (next) => {
    range = next;
    address.set({ zoom: next ? next.map((one) => Number(one.toPrecision(6))).join("~") : "" });
    draw();
  };
  const series = () => {
    const found = new Map();
    for (const part of ["steps", "evaluations"]) {
      for (const run of runs) for (const name of Object.keys(run[part].y)) if (run[part].x.steps.length) found.set(name, part);
    }
    const rank = (name) => (FIRST.includes(name) ? 0 : LAST.includes(name) ? 2 : 1);
    return [...found].sort(([one], [other]) => rank(one) - rank(other));
  };
  const draw = () => {
    const wanted = series();
    for (const [name, part] of wanted) {
      if (!charts.has(name)) {
        charts.set(name, makeChart(name, zoom));
        grid.append(charts.get(name).element);
      }
      charts.get(name).update({
        axis: setting.x,
        log: setting.log,
        range,
        lines: runs.filter((run) => run[part].y[name]).map((run) => ({
          name: run.name,
          tone: tone(names.indexOf(run.name)),
          dashed: names.indexOf(run.name) >= 8,
          xs: run[part].x[setting.x],
          ys: setting.smoothing ? run[part].smooth[name] : run[part].y[name],
          raw: setting.smoothing ? run[part].y[name] : null,
        })),
      });
    }
    wanted.forEach(([name], n) => { if (grid.children[n] !== charts.get(name).element) grid.insertBefore(charts.get(name).element, grid.children[n] || null); });
  };
  const fetchNew = async () => {
    const used = setting.smoothing;
    const found = await get(path("/api/curves", { run: names, cursor: runs.map((run) => run.cursor || "0"), smoothing: used }));
    if (used !== setting.smoothing) return; // asked before the slider was moved
    found.runs.forEach((more, n) => {
      const run = runs[n];
      if (more.whole) Object.assign(run, { steps: empty(), evaluations: empty() });
      append(run.steps, more.steps);
      append(run.evaluations, more.evaluations);
      Object.assign(run, { cursor: more.cursor, state: more.state });
      tell({ run: run.name, state: more.state, samples: more.samples, whole: more.whole });
    });
    draw();
  };
  const again = () => {
    for (const run of runs) run.cursor = "";
    fetchNew();
  };
  const shown = h("output", {}, setting.smoothing.toFixed(2));
  const controls = h("div", { class: "row" },
    field("Against", choice(AXES, setting.x, (x) => { range = null; address.set({ zoom: "" }); keep({ x }); draw(); })),
    field("Smoothing", h("span", {}, h("input", {
      type: "range", min: "0", max: "0.99", step: "0.01", value: setting.smoothing, "aria-label": "Smoothing",
      oninput: (event) => { shown.textContent = Number(event.target.value).toFixed(2); },
      onchange: (event) => { keep({ smoothing: Number(event.target.value) }); again(); },
    }), " ", shown)),
    h("label", { class: "check" }, h("input", { type: "checkbox", checked: setting.log, onchange: (event) => { keep({ log: event.target.checked }); draw(); } }), "Logarithmic"));
  const stop = poll(fetchNew, () => (runs.some((run) => !run.state || run.state === "training") ? LIVE : REST));
  return {
    element: h("div", {}, controls, h("p", { class: "hint" }, "Drag across a chart to zoom in; all charts follow."), grid),
    end: () => { stop(); for (const chart of charts.values()) chart.end(); },
  };
};

/** Name the runs and the colours of their lines. */
export const legend = (names) => h("ul", { class: "legend" }, names.map((name, n) =>
  h("li", {}, h("i", { class: `swatch ${tone(n)}${n >= 8 ? " dashed" : ""}` }), h("a", { href: path("/run", { run: name }) }, name))));
