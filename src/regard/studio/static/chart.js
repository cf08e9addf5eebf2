// One chart on a canvas: lines over a common axis, zoomed by dragging, read under the pointer or
// with the keyboard. It only draws: every number comes from the studio.

import { h, number, say } from "./dom.js";

const PAD = { left: 54, right: 14, top: 10, bottom: 30 };
const ratio = () => window.devicePixelRatio || 1;
const finite = (value) => value !== null && value !== undefined && Number.isFinite(value);

/** The colour of a line by its place among the lines. */
export const tone = (place) => `s${place % 8}`;

const ticks = (low, high, most) => {
  const rough = (high - low) / most || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10].find((times) => power * times >= rough);
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n++) found.push(Number((n * step).toPrecision(12)));
  return found;
};
const logTicks = (low, high) => {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const times of high / low > 50 ? [1] : [1, 2, 5]) {
      const value = times * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  }
  return found.length ? found : [low, high];
};

/** Make a chart; `zoomed` receives the range of x that is shown, or null for all of it. */
export const makeChart = (title, zoomed = () => {}) => {
  const canvas = h("canvas", { tabindex: "0", role: "img" });
  const tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  const reset = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => zoom(null) }, "Show all");
  const element = h("div", { class: "card chart" }, h("div", { class: "row between" }, h("h3", {}, title), reset), canvas, tip);
  let data = { lines: [], axis: "", log: false, range: null }, frame = null, drag = null, cursor = null, waiting = 0;

  const colour = (name) => getComputedStyle(element).getPropertyValue(`--${name}`).trim();
  const shown = (line, n) => finite(line.xs[n]) && finite(line.ys[n]) && (!data.log || line.ys[n] > 0)
    && (!data.range || (line.xs[n] >= data.range[0] && line.xs[n] <= data.range[1]));
  const bounds = () => {
    let [left, right, low, high, edge] = [Infinity, -Infinity, Infinity, -Infinity, 0];
    for (const line of data.lines) {
      for (let n = 0; n < line.xs.length; n++) {
        if (!shown(line, n)) continue;
        left = Math.min(left, line.xs[n]);
        right = Math.max(right, line.xs[n]);
        const raw = finite(line.raw?.[n]) && (!data.log || line.raw[n] > 0) ? line.raw[n] : line.ys[n];
        low = Math.min(low, line.ys[n], raw);
        high = Math.max(high, line.ys[n], raw);
        edge = Math.max(edge, line.halves?.[n] ?? 0);
      }
    }
    if (left > right) return null;
    if (data.range) [left, right] = data.range;
    if (left === right) { left -= 0.5; right += 0.5; }
    if (edge && !data.log) { // a band may leave the chart; the lines fill at least a third of it
      const room = Math.min(edge, high - low || edge);
      [low, high] = [low - room, high + room];
    }
    if (low === high) { const spare = Math.abs(low) * 0.1 || 1; low -= data.log ? low * 0.1 : spare; high += spare; }
    const spare = data.log ? 0 : (high - low) * 0.05;
    return { left, right, low: low - spare, high: high + spare };
  };
  const schedule = () => { if (!waiting) waiting = requestAnimationFrame(draw); };

  const draw = () => {
    waiting = 0;
    const wide = canvas.clientWidth, high = canvas.clientHeight;
    if (!wide) return;
    canvas.width = wide * ratio();
    canvas.height = high * ratio();
    const brush = canvas.getContext("2d");
    brush.setTransform(ratio(), 0, 0, ratio(), 0, 0);
    brush.font = getComputedStyle(canvas).font;
    const limits = bounds();
    reset.hidden = !data.range;
    brush.fillStyle = colour("soft");
    if (!limits) {
      frame = null;
      brush.fillText("Nothing recorded yet", PAD.left, high / 2);
      return;
    }
    const up = data.log ? Math.log : (value) => value;
    const x = (value) => PAD.left + (value - limits.left) / (limits.right - limits.left) * (wide - PAD.left - PAD.right);
    const y = (value) => high - PAD.bottom - (up(value) - up(limits.low)) / (up(limits.high) - up(limits.low)) * (high - PAD.bottom - PAD.top);
    frame = { ...limits, x, y, wide };
    brush.textAlign = "right";
    for (const tick of data.log ? logTicks(limits.low, limits.high) : ticks(limits.low, limits.high, 5)) {
      brush.fillStyle = colour("line");
      brush.fillRect(PAD.left, Math.round(y(tick)), wide - PAD.left - PAD.right, 1);
      brush.fillStyle = colour("soft");
      brush.fillText(number(tick), PAD.left - 8, y(tick) + 4);
    }
    brush.textAlign = "center";
    for (const tick of ticks(limits.left, limits.right, Math.max(2, wide / 110))) brush.fillText(number(tick), x(tick), high - PAD.bottom + 17);
    brush.textAlign = "right";
    brush.fillText(data.axis, wide - PAD.right, high - 2);
    brush.save();
    brush.beginPath();
    brush.rect(PAD.left, 0, wide - PAD.left, high - PAD.bottom + 2);
    brush.clip();
    for (const line of data.lines) drawLine(brush, line);
    if (drag) {
      brush.fillStyle = colour("accent");
      brush.globalAlpha = 0.14;
      brush.fillRect(Math.min(drag.from, drag.to), PAD.top, Math.abs(drag.to - drag.from), high - PAD.bottom - PAD.top);
    } else if (cursor !== null) {
      brush.fillStyle = colour("soft");
      brush.fillRect(Math.round(x(cursor)), PAD.top, 1, high - PAD.bottom - PAD.top);
    }
    brush.restore();
  };
  const trace = (brush, line, ys) => {
    brush.beginPath();
    let pen = false;
    for (let n = 0; n < line.xs.length; n++) {
      const there = finite(line.xs[n]) && finite(ys[n]) && (!data.log || ys[n] > 0);
      if (there && pen) brush.lineTo(frame.x(line.xs[n]), frame.y(ys[n]));
      else if (there) brush.moveTo(frame.x(line.xs[n]), frame.y(ys[n]));
      pen = there;
    }
    brush.stroke();
  };
  const drawLine = (brush, line) => {
    brush.strokeStyle = brush.fillStyle = colour(line.tone);
    brush.lineJoin = "round";
    brush.setLineDash(line.dashed ? [6, 4] : []);
    if (line.raw) {
      brush.globalAlpha = 0.22;
      brush.lineWidth = 1;
      trace(brush, line, line.raw);
    }
    if (line.halves) {
      brush.globalAlpha = 0.16;
      brush.beginPath();
      const edge = (n, side) => [frame.x(line.xs[n]), frame.y(line.ys[n] + side * (line.halves[n] ?? 0))];
      line.xs.forEach((_, n) => brush.lineTo(...edge(n, 1)));
      for (let n = line.xs.length - 1; n >= 0; n--) brush.lineTo(...edge(n, -1));
      brush.fill();
    }
    brush.globalAlpha = 1;
    brush.lineWidth = 1.8;
    trace(brush, line, line.ys);
    if (line.xs.length < 25) line.xs.forEach((_, n) => {
      if (!shown(line, n)) return;
      brush.beginPath();
      brush.arc(frame.x(line.xs[n]), frame.y(line.ys[n]), 2.6, 0, 7);
      brush.fill();
    });
  };

  const nearest = (line, at) => {
    let best = -1;
    line.xs.forEach((x, n) => { if (shown(line, n) && (best < 0 || Math.abs(x - at) < Math.abs(line.xs[best] - at))) best = n; });
    return best;
  };
  const point = (at, spoken) => {
    if (!frame) return;
    cursor = at;
    const found = data.lines.map((line) => [line, nearest(line, at)]).filter(([, n]) => n >= 0);
    found.sort(([one, n], [other, m]) => other.ys[m] - one.ys[n]);
    const rows = found.slice(0, 12).map(([line, n]) => {
      const half = line.halves?.[n];
      return [line, `${number(line.ys[n])}${finite(half) ? ` ± ${number(half)}` : ""}`];
    });
    const place = found.length ? found[0][0].xs[found[0][1]] : at;
    tip.replaceChildren(h("div", {}, `${number(place)} ${data.axis}`), ...rows.map(([line, value]) =>
      h("div", {}, h("span", {}, h("i", { class: `swatch ${line.tone}` }), line.name), h("b", {}, value))));
    tip.hidden = false;
    const left = frame.x(at), box = tip.offsetWidth;
    tip.style.left = `${Math.max(4, left + box + 30 > frame.wide ? left - box - 4 : left + 26)}px`;
    tip.style.top = "3.6rem";
    if (spoken) say(`${number(place)} ${data.axis}: ${rows.map(([line, value]) => `${line.name} ${value}`).join(", ")}`);
    schedule();
  };
  const leave = () => { cursor = null; tip.hidden = true; schedule(); };
  const zoom = (range) => { data.range = range; zoomed(range); leave(); };
  const place = (event) => event.clientX - canvas.getBoundingClientRect().left;
  const value = (px) => frame.left + (px - PAD.left) / (frame.wide - PAD.left - PAD.right) * (frame.right - frame.left);

  canvas.addEventListener("pointerdown", (event) => {
    if (!frame || event.button) return;
    if (event.pointerType === "mouse") drag = { from: place(event), to: place(event) };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!frame) return;
    if (drag) { drag.to = place(event); schedule(); }
    point(Math.min(frame.right, Math.max(frame.left, value(place(event)))));
  });
  canvas.addEventListener("pointerup", () => {
    const done = drag;
    drag = null;
    if (done && frame && Math.abs(done.to - done.from) > 8) zoom([value(done.from), value(done.to)].sort((a, b) => a - b));
    schedule();
  });
  canvas.addEventListener("pointerleave", () => { if (!drag) leave(); });
  canvas.addEventListener("dblclick", () => zoom(null));
  canvas.addEventListener("blur", leave);
  canvas.addEventListener("keydown", (event) => {
    if (!frame || event.ctrlKey || event.metaKey || event.altKey) return;
    const span = frame.right - frame.left, at = cursor ?? frame.right;
    const moves = {
      ArrowLeft: () => point(Math.max(frame.left, at - span / 40), true),
      ArrowRight: () => point(Math.min(frame.right, at + span / 40), true),
      "+": () => zoom([at - span / 4, at + span / 4]),
      "-": () => zoom([at - span, at + span]),
      0: () => zoom(null),
      Escape: () => zoom(null),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  });
  const watch = new ResizeObserver(schedule);
  watch.observe(canvas);
  window.addEventListener("themechange", schedule);

  return {
    element,
    title,
    update: (changes) => {
      data = { ...data, ...changes };
      const last = data.lines.map((line) => `${line.name} ${number(line.ys.findLast(finite) ?? NaN)}`).slice(0, 8);
      canvas.setAttribute("aria-label", `${title} against ${data.axis}. Latest: ${last.join(", ")}. Arrow keys read values, plus and minus zoom.`);
      schedule();
    },
    end: () => { watch.disconnect(); window.removeEventListener("themechange", schedule); },
  };
};
