"use strict";
// Attention maps: an overview of all heads, one of them large, words under the pointer. `data` is what
// draw/viewer.py writes; `place` gives the elements to draw in; `tell` hears what is chosen. Words are
// only ever set as text. A report has this in its page, before viewer.js; the studio as a module.
const drawAttention = async (data, place, tell = () => {}) => {
  const { grid, map, tip, name, rows: fromWords, columns: toWords } = place;
  const chosen = { stack: 0, layer: data.start[0], head: data.start[1], row: -1 };
  const ended = new AbortController(), { signal } = ended;
  const THUMB = 56, GAP = 8, LABEL = 30;

  // ── data ────────────────────────────────────────────────────────────────────────────────────
  const inflate = async (text) => {
    const letters = atob(text), raw = new Uint8Array(letters.length);
    for (let n = 0; n < raw.length; n++) raw[n] = letters.charCodeAt(n);
    const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };
  for (const stack of data.stacks) {
    const bytes = await inflate(stack.data);
    const count = stack.layers * stack.heads * stack.rows.length * stack.kept;
    stack.codes = new Uint16Array(count);
    for (let n = 0; n < count; n++) stack.codes[n] = (bytes[n] << 8) | bytes[count + n];
    if (stack.kept < stack.columns.length) {
      stack.places = new Uint16Array(count);
      for (let n = 0; n < count; n++) {
        const step = (bytes[2 * count + n] << 8) | bytes[3 * count + n];
        stack.places[n] = step + (n % stack.kept ? stack.places[n - 1] : 0);
      }
    }
  }
  const stackNow = () => data.stacks[chosen.stack];
  const each = (stack, layer, head, row, use) => {
    const begin = ((layer * stack.heads + head) * stack.rows.length + row) * stack.kept;
    for (let n = 0; n < stack.kept; n++) {
      const share = stack.codes[begin + n] / stack.full;
      if (share) use(stack.places ? stack.places[begin + n] : n, share * share, share);
    }
  };

  // ── colours ─────────────────────────────────────────────────────────────────────────────────
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    const rgb = (variable) => {
      const hex = style.getPropertyValue(variable).trim().slice(1);
      const full = hex.length === 3 ? [...hex].map((one) => one + one).join("") : hex;
      return [0, 2, 4].map((n) => parseInt(full.slice(n, n + 2), 16));
    };
    return { heat: rgb("--accent"), ink: style.getPropertyValue("--ink"), soft: style.getPropertyValue("--soft"), line: style.getPropertyValue("--line") };
  };
  let paint = colours();
  const sized = (canvas, width, height) => {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const brush = canvas.getContext("2d");
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    brush.font = getComputedStyle(canvas).font;
    return brush;
  };
  const picture = (stack, layer, head, wide, high) => {
    const levels = new Float32Array(wide * high);
    const across = stack.columns.length / wide, down = stack.rows.length / high;
    for (let row = 0; row < stack.rows.length; row++) {
      const y = Math.min(high - 1, Math.floor(row / down));
      each(stack, layer, head, row, (column, weight, share) => {
        const place = y * wide + Math.min(wide - 1, Math.floor(column / across));
        if (share > levels[place]) levels[place] = share;
      });
    }
    const image = document.createElement("canvas");
    image.width = wide;
    image.height = high;
    const pixels = new ImageData(wide, high), whole = new Uint32Array(pixels.data.buffer);
    const colour = (paint.heat[2] << 16) | (paint.heat[1] << 8) | paint.heat[0];
    for (let n = 0; n < levels.length; n++) whole[n] = (Math.round(255 * levels[n]) << 24) | colour;
    image.getContext("2d").putImageData(pixels, 0, 0);
    return image;
  };

  // ── all heads ───────────────────────────────────────────────────────────────────────────────
  const thumbs = new Map();
  const drawGrid = () => {
    const stack = stackNow(), side = THUMB + GAP;
    const brush = sized(grid, LABEL + stack.heads * side, 18 + stack.layers * side);
    brush.imageSmoothingEnabled = false;
    brush.fillStyle = paint.soft;
    brush.textAlign = "center";
    for (let head = 0; head < stack.heads; head++) brush.fillText(head + 1, LABEL + head * side + THUMB / 2, 11);
    for (let layer = 0; layer < stack.layers; layer++) {
      brush.fillText(layer + 1, LABEL / 2 - 4, 18 + layer * side + THUMB / 2 + 4);
      for (let head = 0; head < stack.heads; head++) {
        const key = `${chosen.stack} ${layer} ${head}`, x = LABEL + head * side, y = 18 + layer * side;
        if (!thumbs.has(key)) {
          const wide = Math.min(THUMB, stack.columns.length), high = Math.min(THUMB, stack.rows.length);
          thumbs.set(key, picture(stack, layer, head, wide, high));
        }
        brush.drawImage(thumbs.get(key), x, y, THUMB, THUMB);
        const now = layer === chosen.layer && head === chosen.head;
        brush.strokeStyle = now ? paint.ink : paint.line;
        brush.lineWidth = now ? 2 : 1;
        brush.strokeRect(x - 0.5, y - 0.5, THUMB + 1, THUMB + 1);
      }
    }
  };

  // ── one head ────────────────────────────────────────────────────────────────────────────────
  let frame = { left: 0, top: 0, cell: 1 };
  const short = (word, most) => (word.length > most ? `${word.slice(0, most - 1)}…` : word);
  const drawMap = () => {
    const stack = stackNow(), rows = stack.rows.length, columns = stack.columns.length;
    const longest = Math.max(rows, columns);
    const cell = longest <= 24 ? 24 : longest <= 60 ? 16 : longest <= 120 ? 12 : Math.max(1.5, 860 / longest);
    const legible = cell >= 11;
    const room = (words) => legible ? Math.min(22, Math.max(...words.map((word) => word.length))) * 7.2 + 14 : 10;
    frame = { cell, left: room(stack.rows), top: legible ? room(stack.columns) * 0.8 + 12 : 10 };
    const wide = columns * cell, high = rows * cell;
    const brush = sized(map, frame.left + wide + (legible ? room(stack.columns) * 0.6 : 4), frame.top + high + 6);
    brush.imageSmoothingEnabled = false;
    brush.drawImage(picture(stack, chosen.layer, chosen.head, columns, rows), frame.left, frame.top, wide, high);
    brush.strokeStyle = paint.line;
    brush.strokeRect(frame.left, frame.top, wide, high);
    if (chosen.row >= 0) {
      brush.strokeStyle = paint.ink;
      brush.strokeRect(frame.left, frame.top + chosen.row * cell, wide, cell);
    }
    if (legible) {
      brush.fillStyle = paint.ink;
      brush.textAlign = "right";
      stack.rows.forEach((word, n) => brush.fillText(short(word, 22), frame.left - 6, frame.top + (n + 0.5) * cell + 4));
      brush.textAlign = "left";
      stack.columns.forEach((word, n) => {
        brush.save();
        brush.translate(frame.left + (n + 0.5) * cell + 3, frame.top - 6);
        brush.rotate(-0.9);
        brush.fillText(short(word, 22), 0, 0);
        brush.restore();
      });
    }
    name.textContent = `${stack.title}: layer ${chosen.layer + 1}, head ${chosen.head + 1}`;
    map.setAttribute("aria-label", name.textContent);
  };

  // ── words ───────────────────────────────────────────────────────────────────────────────────
  const spans = (home, words, use) => {
    home.replaceChildren(...words.flatMap((word, n) => {
      const span = document.createElement("span");
      span.textContent = word;
      if (use) span.addEventListener("pointerenter", () => use(n));
      return [span, " "];
    }));
  };
  const shade = () => {
    const stack = stackNow();
    [...toWords.children].forEach((span) => { span.style.backgroundColor = ""; span.title = ""; });
    [...fromWords.children].forEach((span, n) => span.classList.toggle("now", n === chosen.row));
    if (chosen.row < 0) return;
    each(stack, chosen.layer, chosen.head, chosen.row, (column, weight, share) => {
      const span = toWords.children[column];
      span.style.backgroundColor = `rgb(${paint.heat.join(" ")} / ${share.toFixed(3)})`;
      span.title = `${(100 * weight).toFixed(1)}%`;
    });
  };
  const mark = (row) => { if (row !== chosen.row) { chosen.row = row; drawMap(); shade(); tell(chosen); } };
  const words = () => {
    spans(fromWords, stackNow().rows, mark);
    spans(toWords, stackNow().columns);
    place.note.textContent = stackNow().note;
    place.caption.textContent = stackNow().caption;
  };

  // ── hands ───────────────────────────────────────────────────────────────────────────────────
  const go = (layer, head) => {
    const stack = stackNow();
    chosen.layer = (layer + stack.layers) % stack.layers;
    chosen.head = (head + stack.heads) % stack.heads;
    drawGrid();
    drawMap();
    shade();
    tell(chosen);
  };
  const over = (large) => document.body.classList.toggle("large", large);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.activeElement.closest("input,select,textarea")) return;
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (event.key in steps) {
      event.preventDefault();
      go(chosen.layer + steps[event.key][0], chosen.head + steps[event.key][1]);
    } else if (event.key === "n" || event.key === "p") {
      const count = stackNow().rows.length, step = event.key === "n" ? 1 : -1;
      mark((Math.max(chosen.row, step > 0 ? -1 : 0) + step + count) % count);
    } else if (event.key === "Enter" && document.activeElement === document.body) {
      over(true);
      map.scrollIntoView({ block: "start" });
    } else if (event.key === "Escape") {
      over(false);
      mark(-1);
      grid.scrollIntoView({ block: "nearest" });
    }
  }, { signal });
  grid.addEventListener("click", (event) => {
    const box = grid.getBoundingClientRect(), side = THUMB + GAP, stack = stackNow();
    const head = Math.floor((event.clientX - box.left - LABEL) / side);
    const layer = Math.floor((event.clientY - box.top - 18) / side);
    if (head >= 0 && head < stack.heads && layer >= 0 && layer < stack.layers) go(layer, head);
  });
  map.addEventListener("pointermove", (event) => {
    const box = map.getBoundingClientRect(), stack = stackNow();
    const column = Math.floor((event.clientX - box.left - frame.left) / frame.cell);
    const row = Math.floor((event.clientY - box.top - frame.top) / frame.cell);
    const inside = row >= 0 && row < stack.rows.length && column >= 0 && column < stack.columns.length;
    tip.hidden = !inside;
    if (!inside) return;
    let found = null;
    each(stack, chosen.layer, chosen.head, row, (place, weight) => { if (place === column) found = weight; });
    const figure = found === null ? (stack.kept < stack.columns.length ? "not among the strongest" : "0%") : `${(100 * found).toFixed(1)}%`;
    tip.textContent = `${stack.rows[row]} ← ${stack.columns[column]}: ${figure}`;
    tip.style.left = `${Math.min(event.pageX + 14, window.innerWidth - 220)}px`;
    tip.style.top = `${event.pageY + 14}px`;
    mark(row);
  });
  map.addEventListener("pointerleave", () => { tip.hidden = true; });
  const repaint = () => {
    paint = colours();
    thumbs.clear();
    go(chosen.layer, chosen.head);
  };
  const choose = (stack, layer, head) => {
    if (stack !== chosen.stack) Object.assign(chosen, { stack, row: -1 });
    words();
    go(layer ?? stackNow().layers - 1, head ?? 0);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint, { signal });
  window.addEventListener("themechange", repaint, { signal });
  const { select } = place;
  select.replaceChildren(...data.stacks.map((stack, n) => new Option(stack.title, n)));
  select.hidden = data.stacks.length < 2;
  select.addEventListener("change", () => {
    choose(Number(select.value));
    select.blur();
  });

  words();
  go(chosen.layer, chosen.head);
  return { choose, mark, end: () => ended.abort() };
};
