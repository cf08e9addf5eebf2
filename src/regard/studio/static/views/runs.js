// Every run below the studio's folder: filtered, grouped, sorted, chosen to be compared.

import { get, poll } from "../api.js";
import { choice, duration, field, h, number, path } from "../dom.js";

export const title = "Runs";

const COLUMNS = [
  ["run", "Run", (row) => row.name],
  ["task", "Task", (row) => row.task],
  ["state", "State", (row) => row.state],
  ["score", "Score", (row) => (row.score ? (row.score.lower ? -1 : 1) * row.score.value : null)],
  ["baseline", "Baseline", null],
  ["steps", "Steps", (row) => row.steps ?? null],
  ["seconds", "Time", (row) => row.seconds ?? null],
  ["parameters", "Parameters", (row) => row.parameters ?? null],
  ["made", "Started", (row) => row.made ?? null],
];
const RIGHT = new Set(["score", "baseline", "steps", "seconds", "parameters"]);
const GROUPS = [["", "nothing"], ["group", "recipe (seeds together)"], ["task", "task"], ["state", "state"], ["folder", "folder"]];
const PAUSE = 2500;

const compare = (one, other) => {
  if (one === null || other === null) return (one === null) - (other === null);
  return typeof one === "string" ? one.localeCompare(other, undefined, { numeric: true }) : one - other;
};

export const show = (home, address) => {
  const rows = new Map(), chosen = new Set(address.all("run"));
  const state = { version: 0, root: "", columns: [], loaded: false };
  const body = h("tbody"), head = h("tr"), count = h("p", { class: "hint", role: "status" });
  const filter = h("input", { type: "search", value: address.get("filter"), placeholder: "words of name, task or setting", oninput: () => { address.set({ filter: filter.value }); draw(); } });
  const groups = h("span");
  const comparing = h("a", { class: "main", href: "/compare" }, "Compare");
  const place = h("div");

  const sort = () => { const given = address.get("sort"); return given ? [given.replace(/^-/, ""), given.startsWith("-")] : ["made", true]; };
  const text = (row) => [row.name, row.task, row.state, ...Object.entries(row.settings || {}).map(([name, value]) => `${name}=${value}`)].join(" ").toLowerCase();
  const found = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean), [column, down] = sort();
    const value = (COLUMNS.find(([name]) => name === column) || COLUMNS[0])[2] || (() => null);
    return [...rows.values()].filter((row) => words.every((word) => text(row).includes(word)))
      .sort((one, other) => {
        const order = compare(value(one), value(other)), missing = value(one) === null || value(other) === null;
        return (down && !missing ? -order : order) || compare(one.name, other.name);
      });
  };
  const key = (row) => {
    const by = address.get("by");
    if (!by) return "";
    if (by === "folder") return row.name.includes("/") ? row.name.slice(0, row.name.lastIndexOf("/")) : state.root;
    if (by === "group" || by === "task" || by === "state") return row[by] || "other";
    return `${by} = ${row.settings?.[by] ?? "other"}`;
  };
  const caption = (name, members) => {
    const scores = members.filter((row) => row.score).map((row) => row.score);
    const same = scores.length > 1 && scores.every((score) => score.metric === scores[0].metric);
    const label = address.get("by") === "group" ? shared(members) : name;
    const detail = `${members.length} ${members.length === 1 ? "run" : "runs"}${same ? `, ${scores[0].metric} ${[...scores].sort((a, b) => a.value - b.value).map((score) => score.written).filter((_, n, all) => n === 0 || n === all.length - 1).join(" to ")}` : ""}`;
    const names = members.filter((row) => row.state === "finished" && row.kind === "run").map((row) => row.name);
    return h("tr", { class: "group" }, h("th", { colspan: String(COLUMNS.length + 1), scope: "rowgroup" }, label, h("small", {}, detail),
      names.length > 1 && h("small", {}, h("a", { href: path("/compare", { run: names.slice(0, 100) }) }, "compare"))));
  };
  const shared = (members) => {
    if (members.length === 1) return members[0].name;
    const [first, ...others] = members.map((row) => row.name);
    let length = first.length;
    for (const name of others) while (!name.startsWith(first.slice(0, length))) length--;
    return first.slice(0, length).replace(/[-_. /]+$/, "") || members[0].task;
  };
  const cell = (row, name) => ({
    run: () => h("a", { href: row.kind === "index" ? path("/ask", { run: row.name }) : path("/run", { run: row.name }) }, row.name),
    task: () => row.task,
    state: () => h("span", { class: `state ${row.state}`, title: row.problem }, row.kind === "index" ? "index" : row.imported ? "imported" : row.problem ? "unreadable" : row.state),
    score: () => (row.score ? h("span", { title: `${row.score.metric} on ${row.score.split}` }, `${row.score.written} `, h("small", {}, row.score.metric.replace(/_/g, " "))) : ""),
    baseline: () => row.score?.baseline ?? "",
    steps: () => (row.steps === undefined ? "" : row.of && row.of !== row.steps ? `${number(row.steps)} of ${number(row.of)}` : number(row.steps)),
    seconds: () => duration(row.seconds),
    parameters: () => number(row.parameters),
    made: () => (row.made ? h("time", {}, new Date(1000 * row.made).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })) : ""),
  })[name]();
  const line = (row) => h("tr", {},
    h("td", { class: "tick" }, row.kind === "run" && h("input", { type: "checkbox", checked: chosen.has(row.name), "aria-label": `Compare ${row.name}`, onchange: (event) => choose(row.name, event.target.checked) })),
    COLUMNS.map(([name]) => h("td", { class: RIGHT.has(name) ? "n" : null, dir: name === "run" ? "auto" : null }, cell(row, name))));
  const choose = (name, wanted) => {
    if (wanted) chosen.add(name);
    else chosen.delete(name);
    address.set({ run: [...chosen] });
    drawChosen();
  };
  const drawChosen = () => {
    comparing.hidden = !chosen.size;
    comparing.textContent = `Compare ${chosen.size} ${chosen.size === 1 ? "run" : "runs"}`;
    comparing.href = path("/compare", { run: [...chosen] });
  };
  const drawHead = () => {
    const [column, down] = sort();
    head.replaceChildren(h("th", { class: "tick" }, h("span", { class: "hidden" }, "Compare")), ...COLUMNS.map(([name, label, value]) =>
      h("th", { scope: "col", class: RIGHT.has(name) ? "n" : null, "aria-sort": name === column ? (down ? "descending" : "ascending") : null },
        value ? h("button", { type: "button", onclick: () => { address.set({ sort: name === column && down ? name : `-${name}` }); draw(); } }, label, name === column ? (down ? " ↓" : " ↑") : "") : label)));
    groups.replaceChildren(field("Group by", choice([...GROUPS, ...state.columns.map((name) => [name, name])], address.get("by"), (by) => { address.set({ by }); draw(); })));
  };
  const draw = () => {
    if (!state.loaded) return;
    drawHead();
    const listed = found(), members = new Map();
    for (const row of listed) members.set(key(row), [...(members.get(key(row)) || []), row]);
    body.replaceChildren(...[...members].flatMap(([name, own]) => [address.get("by") ? caption(name, own) : null, ...own.map(line)].filter(Boolean)));
    count.textContent = listed.length === rows.size ? `${rows.size} ${rows.size === 1 ? "run" : "runs"} in ${state.root}` : `${listed.length} of ${rows.size} runs in ${state.root}`;
    drawChosen();
    place.replaceChildren(rows.size ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Runs" }, h("table", { class: "runs" }, h("thead", {}, head), body)) : nothing());
  };
  const nothing = () => h("div", { class: "notice" }, h("p", {}, "There are no runs here yet."), h("p", {}, "Train one with ", h("code", {}, `regard train RECIPE --run ${state.root}/NAME`), ": it appears as soon as it begins."));
  const stop = poll(async () => {
    const news = await get(path("/api/runs", { since: state.version }));
    if (state.loaded && news.version === state.version) return;
    if (news.whole) rows.clear();
    for (const row of news.rows) rows.set(row.name, row);
    const there = new Set(news.names);
    for (const name of [...rows.keys()]) if (!there.has(name)) rows.delete(name);
    Object.assign(state, { version: news.version, root: news.root, columns: news.columns, loaded: true });
    draw();
  }, () => PAUSE);

  home.append(h("h1", {}, "Runs"), count, h("div", { class: "row" }, field("Filter", filter), groups, comparing), h("section", {}, place));
  drawChosen();
  return stop;
};
