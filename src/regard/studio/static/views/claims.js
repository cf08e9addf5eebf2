// What the course and the papers say: each statement with its verdict, measured when asked for.

import { get, post } from "../api.js";
import { h, path } from "../dom.js";
import { drawPanels } from "../panels.js";

export const title = "Claims";

const TONES = { "holds": "difference", "fails": "chance", "holds if": "", "not measured": "" };
const badge = (kind) => h("span", { class: `badge ${TONES[kind] || ""}` }, kind);

/** Draw a claim with a button that measures it. */
export const drawVerdict = ({ name, statement, source }) => {
  const result = h("div", { "aria-live": "polite" });
  const button = h("button", { type: "button", onclick: async () => {
    button.disabled = true;
    result.replaceChildren(h("p", { class: "hint" }, "Measuring…"));
    try {
      const found = await post("/api/claim", { name });
      result.replaceChildren(h("p", {}, badge(found.kind), " ", found.answer || found.problem || "It trains models: ", !found.answer && h("code", {}, `regard claims ${name} --slow`)),
        found.summary ? h("p", { class: "hint" }, found.summary) : "");
    } catch (error) {
      result.replaceChildren(h("p", { class: "notice" }, error.message));
    }
    button.disabled = false;
  } }, "Measure");
  return h("div", { class: "card" }, h("p", {}, h("a", { href: path("/claims", { claim: name }) }, statement)),
    h("div", { class: "row between" }, h("span", { class: "hint" }, source), button), result);
};

const showOne = (home, claim) => {
  const result = h("section", { "aria-live": "polite" }), about = [
    ["How it is measured", claim.method], ["How to read it", claim.meaning], ["What to try next", claim.next_step]];
  let end = () => {};
  const measure = async () => {
    button.disabled = true;
    result.replaceChildren(h("p", { class: "hint" }, "Measuring…"));
    try {
      const found = await post("/api/claim", { name: claim.name });
      const drawn = drawPanels(found.panels || []);
      end();
      end = drawn.end;
      result.replaceChildren(
        h("p", { class: "lead" }, badge(found.kind), " ", found.answer || found.problem || ""),
        found.summary ? h("p", {}, found.summary) : h("p", {}, "It trains models, which takes minutes: ", h("code", {}, `regard claims ${claim.name} --slow`), ". What that finds is kept, and shown here."),
        h("div", { class: "cards panels" }, drawn.elements), h("p", { class: "hint" }, `${found.seconds} s`));
    } catch (error) {
      result.replaceChildren(h("p", { class: "notice" }, error.message));
    }
    button.disabled = false;
  };
  const button = h("button", { type: "button", class: "main", onclick: measure }, "Measure");
  home.append(h("p", { class: "hint" }, h("a", { href: "/claims" }, "Claims"), ` · ${claim.source} · no. ${claim.numbers.join(", ")}`),
    h("h1", {}, claim.name), h("blockquote", { class: "prose" }, claim.statement),
    claim.correction ? h("p", { class: "prose" }, h("b", {}, "The right value. "), claim.correction) : "",
    button, result,
    ...about.map(([name, text]) => h("section", {}, h("h2", {}, name), h("p", { class: "prose" }, text))),
    h("p", { class: "hint" }, "About ", h("code", {}, `src/regard/${claim.layer}`)));
  if (!claim.slow) measure();
  return () => end();
};

const showAll = (home, address, families, claims) => {
  const rows = h("div"), verdicts = new Map();
  let stopped = false;
  const fits = (claim) => {
    const words = address.get("filter").toLowerCase().split(/\s+/).filter(Boolean);
    const text = `${claim.name} ${claim.source} ${claim.statement} ${claim.correction} ${claim.family}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const draw = () => rows.replaceChildren(...Object.entries(families).map(([family, name]) => {
    const mine = claims.filter((claim) => claim.family === family && fits(claim));
    if (!mine.length) return "";
    return h("section", {}, h("h2", {}, name), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, h("table", { class: "texts stack" },
      h("thead", {}, h("tr", {}, ["no.", "statement", "source", "verdict"].map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, mine.map((claim) => h("tr", {},
        h("td", {}, String(claim.numbers[0])), h("td", {}, h("a", { href: path("/claims", { claim: claim.name }) }, claim.statement)),
        h("td", {}, claim.source), h("td", {}, verdicts.has(claim.name) ? badge(verdicts.get(claim.name)) : claim.slow ? h("span", { class: "hint" }, "trains models") : h("span", { class: "hint" }, "not measured yet"))))))));
  }));
  const measureAll = async () => {
    button.disabled = true;
    for (const claim of claims.filter((one) => !one.slow && fits(one))) {
      if (stopped) return;
      try { verdicts.set(claim.name, (await post("/api/claim", { name: claim.name })).kind); } catch (error) {
        home.append(h("p", { class: "notice" }, error.message));
        break;
      }
      draw();
    }
    button.disabled = false;
  };
  const filter = h("input", { type: "search", value: address.get("filter"), placeholder: "D2, mask, Vaswani …", "aria-label": "Filter", oninput: () => { address.set({ filter: filter.value }); draw(); } });
  const button = h("button", { type: "button", onclick: measureAll }, "Measure those shown");
  home.append(h("h1", {}, "Claims"), h("p", { class: "lead" }, `What the course and the papers say about attention: ${claims.length} statements. A verdict is computed from figures.`),
    h("div", { class: "row" }, filter, button), rows);
  draw();
  return () => { stopped = true; };
};

export const show = (home, address) => {
  let end = () => {}, gone = false;
  get("/api/claims").then(({ families, claims }) => {
    if (gone) return;
    const claim = claims.find((one) => one.name === address.get("claim"));
    end = claim ? showOne(home, claim) : showAll(home, address, families, claims);
  }).catch((error) => home.append(h("h1", {}, "Claims"), h("p", { class: "notice" }, error.message)));
  return () => { gone = true; end(); };
};
