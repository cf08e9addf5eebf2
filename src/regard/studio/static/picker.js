// The choice of a run, and a text to ask it: what the views Ask and Explain begin with.

import { get } from "./api.js";
import { choice, field, h, path } from "./dom.js";

const SHORT = 4000; // characters of a text that are kept in the address

/** Show a choice among the runs that can be asked; `pick` hears the chosen one and what it can be asked. */
export const pickRun = async (address, wanted, pick) => {
  const { rows } = await get("/api/runs");
  const names = rows.filter((row) => row.state === "finished" && !row.problem && wanted(row)).sort((one, other) => (other.made ?? 0) - (one.made ?? 0)).map((row) => row.name);
  const chosen = names.includes(address.get("run")) ? address.get("run") : address.get("run") ? "" : names[0] || "";
  if (address.get("run") && !chosen) return { element: h("p", { class: "notice" }, `There is no finished run called ${address.get("run")} here. `, h("a", { href: "/" }, "All runs")), name: "" };
  if (!names.length) return { element: h("p", { class: "notice" }, "There is no finished run yet. ", h("a", { href: "/" }, "All runs")), name: "" };
  return { element: field("Run", choice(names, chosen, (name) => { address.set({ run: name }); pick(name); })), name: chosen };
};

/** Read what a run can be asked. */
export const readAsking = (name) => get(path("/api/asking", { run: name }));

/** A field for a text, or for the two texts of a pair, which are separated by a tab. */
export const textField = (pair, text, submit) => {
  const parts = pair ? [text.split("\t")[0], text.split("\t").slice(1).join("\t")] : [text];
  const areas = parts.map((part, n) => h("textarea", {
    value: part, "aria-label": pair ? ["First text", "Second text"][n] : "Text", dir: "auto", spellcheck: "false",
    placeholder: pair ? ["First text", "Second text"][n] : "Type or paste a text",
    onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); submit(); } },
  }));
  return {
    element: h("div", { class: "texts-asked" }, areas),
    get: () => areas.map((area) => (pair ? area.value.replace(/\t/g, " ") : area.value)).join("\t"),
    set: (value) => { (pair ? [value.split("\t")[0], value.split("\t").slice(1).join(" ")] : [value]).forEach((part, n) => { areas[n].value = part; }); },
    focus: () => areas[0].focus(),
  };
};

/** Keep a text in the address, unless it is too long for one. */
export const keepText = (address, text) => address.set({ text: text.length <= SHORT ? text : "" });

/** Offer texts that the run was measured on. */
export const exampleTexts = (texts, take) => (texts.length ? h("div", { class: "examples" }, h("span", { class: "hint" }, "Held-out texts: "),
  texts.slice(0, 5).map((text) => h("button", { type: "button", dir: "auto", title: text, onclick: () => take(text) }, text.length > 48 ? `${text.slice(0, 47)}…` : text))) : "");
