// One answer, explained: every head, the alignment, documents, attributions side by side with their
// tests, and words left out by clicking them.

import { post } from "../api.js";
import { drawAttention } from "../attention.js";
import { choice, field, h, path, percent, say, svg } from "../dom.js";
import { exampleTexts, keepText, pickRun, readAsking, textField } from "../picker.js";

export const title = "Explain";

const METHODS = { weights: "Attention weights", rollout: "Attention rollout", gradient: "Gradient × input", "integrated-gradients": "Integrated gradients", occlusion: "Occlusion" };
const MOST_LINKED = 60; // words on a side of the drawn alignment

const shaded = (words, scores) => {
  const peak = Math.max(...scores.map(Math.abs), 1e-12);
  return h("p", { class: "read", dir: "auto" }, words.map((word, n) => {
    const part = h("span", { class: scores[n] >= 0 ? "for" : "against", title: scores[n].toPrecision(3) }, word);
    part.style.setProperty("--part", `${(45 * Math.abs(scores[n])) / peak}%`);
    return [part, " "];
  }));
};

const drawAlignment = (found) => {
  if (found.source.length > MOST_LINKED || found.target.length > MOST_LINKED) return h("p", { class: "hint" }, "Too many words to be drawn; the maps above have them all.");
  const room = (list) => Math.min(24, Math.max(...list.map((word) => word.length))) * 8 + 12;
  const left = room(found.source), right = left + 180, wide = right + room(found.target), step = 27, rows = Math.max(found.source.length, found.target.length), y = (n) => 16 + n * step;
  const lines = found.links.map(([target, source, weight]) => {
    const line = svg("path", { d: `M ${left + 8} ${y(source)} C ${left + 90} ${y(source)} ${left + 90} ${y(target)} ${right - 8} ${y(target)}`, class: "link", "stroke-width": (0.6 + 3 * weight).toFixed(2) },
      svg("title", {}, `${found.target[target]} ← ${found.source[source]}: ${percent(weight)}`));
    line.style.opacity = 0.25 + 0.75 * weight;
    return line;
  });
  const words = (list, x, anchor) => list.map((word, n) => svg("text", { x, y: y(n) + 4, "text-anchor": anchor }, word.length > 24 ? `${word.slice(0, 23)}…` : word));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Alignment" }, svg("svg", { viewBox: `0 0 ${wide} ${rows * step + 8}`, width: wide, height: rows * step + 8, class: "alignment", role: "img", "aria-label": `Each written word and the source word it attends to most: ${found.links.map(([target, source]) => `${found.target[target]} from ${found.source[source]}`).join(", ")}` },
    lines, words(found.source, left, "end"), words(found.target, right, "start")));
};

const drawDocument = (found) => {
  const place = h("div");
  const draw = (view) => {
    const shade = (sentence, n) => sentence.weights[n] * Math.sqrt(sentence.weight ?? 1);
    const peak = Math.max(...view.sentences.flatMap((sentence) => sentence.weights.map((_, n) => shade(sentence, n))), 1e-12);
    place.replaceChildren(...view.sentences.map((sentence) => {
      const bar = h("i", { class: "bar", "aria-hidden": "true" });
      bar.style.width = `${100 * (sentence.weight ?? 0)}%`;
      return h("div", { class: sentence.weight === null ? "sentence whole" : "sentence" },
        sentence.weight === null ? "" : h("div", { class: "share" }, h("div", { class: "track" }, bar), percent(sentence.weight)),
        h("p", { class: "read", dir: "auto" }, sentence.words.map((word, n) => {
          const part = h("span", { class: "for", title: percent(sentence.weights[n]) }, word);
          part.style.setProperty("--part", `${(45 * shade(sentence, n)) / peak}%`);
          return [part, " "];
        })));
    }));
  };
  draw(found.views[0]);
  return [found.views.length > 1 ? field("View", choice(found.views.map((view, n) => [String(n), view.name]), "0", (n) => draw(found.views[Number(n)]))) : "", place, h("p", { class: "notice" }, found.verdict)];
};

export const show = (home, address) => {
  const pick = h("div", { class: "row" }), place = h("div"), answer = h("section", { "aria-live": "polite" });
  const maps = h("section"), erasing = h("section"), attributions = h("section");
  let asking = null, text = null, running = new AbortController(), viewer = null;

  const failed = (error, where) => { if (error.name !== "AbortError") where.replaceChildren(h("p", { class: "notice", role: "alert" }, error.message)); };
  const options = () => {
    const found = { run: asking.run, text: text.get() };
    if (address.get("label")) found.label = address.get("label");
    if (address.get("target")) found.target = address.get("target");
    if (address.get("continue")) found.continue_text = true;
    return found;
  };
  const submit = async () => {
    running.abort();
    running = new AbortController();
    viewer?.end();
    viewer = null;
    const { signal } = running, asked = text.get();
    keepText(address, asked);
    for (const part of [answer, maps, erasing, attributions]) part.replaceChildren();
    if (!asked.trim()) return;
    answer.replaceChildren(h("p", { class: "hint" }, "Answering…"));
    try {
      const found = await post("/api/explain/attention", { ...options(), sinks: address.get("sinks") || "keep", pieces: address.get("pieces") === "1" }, signal);
      answer.replaceChildren(h("p", { class: "hint" }, "Answer"), h("p", { class: "answer", dir: "auto" }, found.answer || "(nothing)"));
      await drawMaps(found);
    } catch (error) { return failed(error, answer); }
    await erase([], signal);
    await attribute(signal);
  };

  const drawMaps = async (found) => {
    const parts = [];
    if (found.document) parts.push(h("h2", {}, "Document"), ...drawDocument(found.document));
    if (found.view) {
      const at = { grid: h("canvas", { role: "img", "aria-label": "All heads" }), map: h("canvas", { role: "img" }), tip: h("div", { class: "tip page-tip", hidden: true, role: "tooltip" }), name: h("h3", { "aria-live": "polite" }), rows: h("p", { class: "words", dir: "auto", tabindex: "0" }), columns: h("p", { class: "words", dir: "auto", tabindex: "0" }), note: h("p", { class: "hint" }), caption: h("span"), select: h("select", { "aria-label": "Which attention" }) };
      const start = [Number(address.get("layer")) - 1, Number(address.get("head")) - 1], stack = Number(address.get("stack") || 1) - 1;
      const inside = found.view.stacks[stack] && start[0] >= 0 && start[0] < found.view.stacks[stack].layers && start[1] >= 0 && start[1] < found.view.stacks[stack].heads;
      if (inside && stack === 0) found.view.start = start;
      const box = (name, value, note) => h("label", { class: "check" }, h("input", { type: "checkbox", checked: address.get(name) === value, onchange: (event) => { address.set({ [name]: event.target.checked ? value : "" }); submit(); } }), note);
      parts.push(h("h2", {}, "Attention"), h("div", { class: "row" }, at.select, box("sinks", "renormalise", "Without special tokens"), box("pieces", "1", "Tokens instead of words")),
        ...found.notes.map((note) => h("p", { class: "hint" }, note)),
        h("p", { class: "hint keys" }, h("kbd", {}, "←"), " ", h("kbd", {}, "→"), " change the head, ", h("kbd", {}, "↑"), " ", h("kbd", {}, "↓"), " the layer, ", h("kbd", {}, "N"), " ", h("kbd", {}, "P"), " the word. Point at a cell or a word for its figures."),
        h("div", { class: "bench" }, h("div", {}, h("h3", {}, "All heads: layers downwards, heads across"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All heads" }, at.grid)), h("div", {}, at.name, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "One head" }, at.map))),
        at.tip, h("h3", {}, "From: point at a word"), at.rows, h("h3", {}, "To"), at.columns, at.note,
        h("p", { class: "notice" }, h("b", {}, "What this shows. "), at.caption, " Attention weights are not the reason for an answer; the tests below say what it depends on."));
      maps.replaceChildren(...parts);
      viewer = await drawAttention(found.view, at, (chosen) => address.set({ stack: chosen.stack ? chosen.stack + 1 : "", layer: chosen.layer + 1, head: chosen.head + 1, word: chosen.row >= 0 ? chosen.row + 1 : "" }));
      if (inside && stack > 0) viewer.choose(stack, ...start);
    } else {
      maps.replaceChildren(...parts, h("p", { class: "hint" }, "This model has no attention over the words; the tests below need none."));
    }
    if (found.alignment) maps.append(h("h2", {}, "Alignment"), h("p", { class: "hint" }, `For each written word the source word with the highest cross-attention (${found.alignment.map}).`), drawAlignment(found.alignment));
  };

  const erase = async (erased, signal = running.signal) => {
    try {
      const found = await post("/api/explain/erase", { ...options(), erased }, signal);
      const gone = new Set(found.erased), allowed = new Set(found.erasable);
      const words = found.words.map((word, n) => [allowed.has(n) ? h("button", { type: "button", class: "word", dir: "auto", "aria-pressed": String(gone.has(n)), onclick: () => erase(gone.has(n) ? erased.filter((one) => one !== n) : [...erased, n]) }, word) : h("span", { class: "hint" }, word), " "]);
      const outputs = found.outputs.length ? h("p", { class: "read", dir: "auto" }, found.outputs.map((one) => {
        const lost = Math.max(0, one.before - one.after), part = h("span", { class: "against", title: `${percent(one.before)} → ${percent(one.after)}` }, one.name);
        part.style.setProperty("--part", `${45 * lost}%`);
        return [part, " "];
      })) : "";
      const changed = found.instead !== null && erased.length;
      erasing.replaceChildren(h("h2", {}, "Leave words out"), h("p", { class: "hint" }, "Click words to erase them from what the model reads."), h("div", { class: "erase" }, words),
        erased.length ? h("div", { class: "cards three" }, h("div", { class: "card" }, h("div", { class: "hint" }, found.outputs.length ? "Mean probability of a token of " : "Probability of ", h("b", { dir: "auto" }, found.answer.length > 60 ? "the answer" : found.answer)), h("div", { class: "value" }, `${percent(found.before)} → ${percent(found.after)}`)),
          changed ? h("div", { class: "card" }, h("div", { class: "hint" }, "Answer to what is left"), h("p", { class: "answer", dir: "auto" }, found.instead || "(nothing)")) : "") : "",
        erased.length && outputs ? h("div", {}, h("p", { class: "hint" }, "Written words, the darker the more probability they lost:"), outputs) : "",
        erased.length ? h("button", { type: "button", onclick: () => erase([]) }, "Put all back") : "");
      if (erased.length) say(`Probability ${percent(found.before)}, without ${erased.length} words ${percent(found.after)}.${changed ? ` Answer: ${found.instead}` : ""}`);
      address.set({ erased: erased.map(String) });
      erasing.querySelectorAll("button.word")[[...found.erasable].indexOf(erased.at(-1))]?.focus({ preventScroll: true });
    } catch (error) { if (error.kind === "invalid" && !erased.length) erasing.replaceChildren(); else failed(error, erasing); }
  };

  const attribute = async (signal) => {
    const cards = Object.fromEntries(Object.entries(METHODS).map(([name, label]) => [name, h("div", { class: "card" }, h("h3", {}, label), h("p", { class: "hint" }, "…"))]));
    attributions.replaceChildren(h("h2", {}, "Which words the answer comes from"), h("p", { class: "hint" }, "Each method beside its test: the words it ranks highest are erased, and as many others drawn at random. Believe those that the answer depends on."), h("div", { class: "cards" }, Object.values(cards)));
    for (const [name, card] of Object.entries(cards)) {
      try {
        const found = await post("/api/explain/attribution", { ...options(), attribution: name }, signal);
        const words = h("div", {}, shaded(found.words, found.total));
        const several = found.answers.length > 1 ? field("For", choice([["", "the whole answer"], ...found.answers.map((word, n) => [String(n), word])], "", (n) => words.replaceChildren(shaded(found.words, n === "" ? found.total : found.scores[Number(n)])))) : "";
        card.replaceChildren(h("div", { class: "row between" }, h("h3", {}, METHODS[name]), h("span", { class: `badge ${found.verdict === "faithful" ? "difference" : "chance"}` }, found.verdict)), several, words, h("p", { class: "hint" }, found.sentence), h("p", { class: "hint" }, `${found.description}.`), name === "weights" && found.members ? h("p", { class: "hint" }, found.members) : "");
      } catch (error) {
        if (error.name === "AbortError") return;
        card.replaceChildren(h("h3", {}, METHODS[name]), h("p", { class: "hint" }, error.message));
      }
    }
  };

  const open = async (name) => {
    place.replaceChildren(h("p", { class: "hint", role: "status" }, "Opening the run…"));
    try { asking = await readAsking(name); } catch (error) { return failed(error, place); }
    text = textField(asking.task === "sentence-pair", address.get("text"), submit);
    const take = (example) => { text.set(example); address.set({ layer: "", head: "", stack: "", word: "", erased: "" }); submit(); };
    const labels = asking.labels?.length && asking.task !== "tagging" ? field("Explain", choice([["", "the answer"], ...asking.labels.map((label) => [label, `label ${label}`])], address.get("label"), (label) => { address.set({ label }); submit(); })) : "";
    const writes = asking.task === "language-modelling" ? h("label", { class: "check" }, h("input", { type: "checkbox", checked: address.get("continue") === "1", onchange: (event) => { address.set({ continue: event.target.checked ? "1" : "" }); submit(); } }), "Let it go on first") : "";
    place.replaceChildren(text.element, h("div", { class: "row asked" }, h("button", { type: "button", class: "main", onclick: submit }, "Explain"), labels, writes,
      h("button", { type: "button", onclick: async () => { await navigator.clipboard.writeText(location.href); say("The address was copied."); } }, "Copy the address"), h("a", { href: path("/ask", { run: name }) }, "Ask")), exampleTexts(asking.examples, take));
    const erased = address.all("erased").map(Number);
    if (address.get("text")) {
      await submit();
      if (erased.length && erased.every(Number.isInteger)) await erase(erased);
    }
    return undefined;
  };

  home.append(h("h1", {}, "Explain"), pick, place, answer, maps, erasing, attributions);
  pickRun(address, (row) => row.kind === "run", (name) => { for (const part of [answer, maps, erasing, attributions]) part.replaceChildren(); running.abort(); open(name); }).then((found) => {
    pick.append(found.element);
    if (found.name) open(found.name);
  }, (error) => failed(error, place));
  return () => { running.abort(); viewer?.end(); };
};
