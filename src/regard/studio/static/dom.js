// Elements made of plain data. Words are only ever set as text; nothing is ever parsed as markup.

const SPACE = "http://www.w3.org/2000/svg";

const fill = (element, properties, children) => {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name in { value: 1, checked: 1, disabled: 1, hidden: 1, selected: 1 }) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
};

/** Make an element; `on…` properties are listeners, children are elements or texts. */
export const h = (tag, properties = {}, ...children) => fill(document.createElement(tag), properties, children);

/** Make an element of a drawing. */
export const svg = (tag, properties = {}, ...children) => fill(document.createElementNS(SPACE, tag), properties, children);

/** Make a link within the studio; parameters that are empty are left out. */
export const path = (view, parameters = {}) => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat()) if (one !== undefined && one !== null && one !== "") query.append(name, one);
  }
  const written = query.toString();
  return written ? `${view}?${written}` : view;
};

/** Say something to screen readers, without showing it. */
export const say = (text) => { document.getElementById("said").textContent = text; };

/** Draw a table: heads are texts or elements, rows are arrays of cells. */
export const table = (heads, rows, properties = {}) =>
  h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": properties["aria-label"] || "Table" },
    h("table", properties,
      h("thead", {}, h("tr", {}, heads.map((head) => (head === "" ? h("td") : h("th", { scope: "col" }, head))))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", { dir: "auto" }, cell)))))));

/** Draw names and what is known under them. */
export const facts = (rows) => h("dl", { class: "facts" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));

/** Draw a labelled control. */
export const field = (name, control) => h("label", { class: "field" }, h("span", {}, name), control);

/** Draw a choice; options are values or pairs of value and name. */
export const choice = (options, chosen, change, properties = {}) =>
  h("select", { ...properties, onchange: (event) => change(event.target.value) },
    options.map((option) => {
      const [value, name] = Array.isArray(option) ? option : [option, option];
      return h("option", { value, selected: value === chosen }, name);
    }));

/** Save texts as a file of the reader's. */
export const download = (name, texts, type) => {
  const address = URL.createObjectURL(new Blob(texts, { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};

/** Write a number as short as it can be read. */
export const number = (value) => {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  if (size > 0 && size < 1e-3) return value.toExponential(1).replace("e-", "e−");
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(size >= 1000 ? 4 : 3)));
};

/** Write a duration in seconds. */
export const duration = (seconds) => {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 120) return `${Number(seconds.toPrecision(2))} s`;
  return seconds < 7200 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3600).toFixed(1)} h`;
};

/** Write a probability. */
export const percent = (share) => {
  if (share > 0 && share < 0.001) return share < 1e-6 ? "< 0.0001%" : `${Number((100 * share).toPrecision(1))}%`;
  return `${(100 * share).toFixed(share < 0.0995 || (share > 0.995 && share < 1) ? 1 : 0)}%`;
};
