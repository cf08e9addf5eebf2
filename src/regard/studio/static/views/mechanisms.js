// The teaching side: numbered chapters, each with controls, what they change, and what to try.
// Every number is computed by the package; the address holds the chapter and its controls.

import { get } from "../api.js";
import { choice, field, h, path } from "../dom.js";
import { drawPanels } from "../panels.js";
import { drawVerdict } from "./claims.js";

export const title = "Mechanisms";

const PAUSE = 90; // milliseconds between the last move of a slider and its request
const written = (control, value) => (control.kind === "switch" ? (value ? "on" : "off") : String(value));

const makeControl = (control, value, change) => {
  if (control.kind === "choice") return { element: field(control.label, choice(control.options, value, change)) };
  if (control.kind === "switch") {
    const box = h("input", { type: "checkbox", checked: value === "on", onchange: () => change(box.checked ? "on" : "off") });
    return { element: h("label", { class: "check" }, box, control.label) };
  }
  if (control.kind === "words") {
    const line = h("input", { type: "text", value, maxlength: String(40 * control.most), oninput: () => change(line.value) });
    return { element: field(control.label, line) };
  }
  const shown = h("output", {}, value);
  const slider = h("input", { type: "range", min: String(control.low), max: String(control.high), step: String(control.step),
    oninput: () => { shown.textContent = slider.value; change(slider.value); } });
  slider.value = value;
  return { element: h("label", { class: "field" }, h("span", {}, control.label, " ", shown), slider) };
};

const showContents = (home, chapters) => home.append(
  h("h1", {}, "Mechanisms"),
  h("p", { class: "lead" }, "How a transformer works, in the order of the course documents. Move a control and see what the package computes; each chapter ends in the claims that measure it."),
  h("ol", { class: "contents" }, chapters.map((one) => h("li", {},
    h("a", { href: path("/mechanisms", { chapter: one.name }) }, one.title), h("small", { class: "hint" }, one.source)))));

const showChapter = (home, address, chapters, chapter) => {
  const known = Object.fromEntries(chapter.controls.map((control) => [control.name, written(control, control.default)]));
  const values = () => Object.fromEntries(Object.keys(known).map((name) => [name, address.get(name) || known[name]]));
  const controls = h("div", { class: "row controls" }), panels = h("div", { class: "cards panels" }), problem = h("p", { class: "notice", role: "alert", hidden: true });
  let timer = 0, asked = new AbortController(), end = () => {};

  const compute = async () => {
    asked.abort();
    asked = new AbortController();
    const changed = Object.fromEntries(Object.entries(values()).filter(([name, value]) => value !== known[name]));
    try {
      const found = await get(path("/api/chapter", { chapter: chapter.name, ...changed }), asked.signal);
      const drawn = drawPanels(found.panels);
      end();
      end = drawn.end;
      problem.hidden = true;
      panels.replaceChildren(...drawn.elements);
      panels.removeAttribute("aria-busy");
    } catch (error) {
      if (error.name === "AbortError") return;
      problem.hidden = false;
      problem.textContent = error.message;
    }
  };
  const change = (name, value) => {
    address.set({ [name]: value === known[name] ? "" : value });
    clearTimeout(timer);
    timer = setTimeout(compute, PAUSE);
  };
  const drawControls = () => controls.replaceChildren(...chapter.controls.map((control) =>
    makeControl(control, values()[control.name], (value) => change(control.name, value)).element));
  const attempt = (one) => {
    address.set({ ...Object.fromEntries(Object.keys(known).map((name) => [name, ""])), ...one.values });
    drawControls();
    compute();
  };
  const place = chapters.indexOf(chapter), before = chapters[place - 1], after = chapters[place + 1];
  const link = (one, arrow) => (one ? h("a", { href: path("/mechanisms", { chapter: one.name }) }, arrow === "←" ? `← ${one.number}. ${one.title}` : `${one.number}. ${one.title} →`) : h("span"));
  home.append(
    h("p", { class: "hint" }, h("a", { href: "/mechanisms" }, "Mechanisms"), ` · chapter ${chapter.number} of ${chapters.length}`),
    h("h1", {}, `${chapter.number}. ${chapter.title}`),
    h("p", { class: "hint" }, chapter.source),
    ...chapter.text.map((text) => h("p", { class: "prose" }, text)),
    h("p", { class: "equation" }, chapter.equation),
    h("section", {}, h("h2", {}, "Play"), controls, problem, panels,
      h("p", { class: "hint" }, "Computed by ", h("code", {}, `src/regard/${chapter.layer}`), ".")),
    h("section", {}, h("h2", {}, "Try"), h("ol", { class: "attempts" }, chapter.attempts.map((one) => h("li", {},
      Object.keys(one.values).length ? h("button", { type: "button", onclick: () => attempt(one) }, "Show") : "", " ", one.sentence)))),
    h("section", {}, h("h2", {}, "Is it true?"), h("p", { class: "hint" }, "What the documents say about it, measured by the package."),
      h("div", { class: "cards" }, chapter.claims.map(drawVerdict))),
    h("nav", { class: "row between turn", "aria-label": "Chapters" }, link(before, "←"), link(after, "→")));
  panels.setAttribute("aria-busy", "true");
  drawControls();
  compute();
  return () => { clearTimeout(timer); asked.abort(); end(); };
};

export const show = (home, address) => {
  let end = () => {}, gone = false;
  get("/api/chapters").then(({ chapters }) => {
    if (gone) return;
    const chapter = chapters.find((one) => one.name === address.get("chapter"));
    if (chapter) end = showChapter(home, address, chapters, chapter);
    else showContents(home, chapters);
  }).catch((error) => home.append(h("h1", {}, "Mechanisms"), h("p", { class: "notice" }, error.message)));
  return () => { gone = true; end(); };
};
