// Several runs: what sets them apart, their curves, and whether a difference may be chance.

import { get } from "../api.js";
import { makeChart, tone } from "../chart.js";
import { legend, showCurves } from "../curves.js";
import { choice, field, h, path, table } from "../dom.js";

export const title = "Compare";

const VERDICTS = { same: "the same", chance: "chance", difference: "a difference", unknown: "unknown" };

export const show = (home, address) => {
  const names = address.all("run"), ends = [];
  if (!names.length) {
    home.append(h("h1", {}, "Compare"), h("p", { class: "notice" }, "Choose runs in ", h("a", { href: "/" }, "the list"), " first."));
    return () => {};
  }
  const tests = h("section"), settings = h("section"), means = h("section"), answers = h("section");
  const curves = showCurves(names, address);
  ends.push(curves.end);

  const drawTests = (found) => {
    if (found.problem) {
      tests.replaceChildren(h("h2", {}, "Scores"), h("p", { class: "notice" }, found.problem));
      return;
    }
    const [heads, ...rows] = found.rows;
    const main = found.pairs.filter((pair) => pair.main);
    tests.replaceChildren(h("h2", {}, "Scores"),
      h("p", { class: "hint" }, `${found.count.toLocaleString()} examples of ${found.split}. A mean over seeds has its 95% interval. The baseline is ${found.baseline_name}.`),
      table(heads.map((name) => name.replace(/_/g, " ")), rows, { "aria-label": "Scores" }),
      main.length ? h("h3", {}, "Is it chance?") : "",
      ...main.map((pair) => h("p", { dir: "auto" }, h("span", { class: `badge ${pair.verdict}` }, VERDICTS[pair.verdict]), " ", pair.words)),
      new Set(main.map((pair) => pair.first + pair.second)).size > 1 ? h("p", { class: "hint" }, "Of many comparisons, one in twenty passes p = 0.05 by chance alone.") : "");
    drawMeans(found);
  };
  const drawMeans = (found) => {
    const several = found.groups.some((group) => group.runs.length > 1);
    if (!several) return;
    const grid = h("div", { class: "cards" });
    means.replaceChildren(h("h2", {}, "Means over seeds"), h("p", { class: "hint" }, "The band is the 95% interval of the mean, where there is more than one seed."),
      h("ul", { class: "legend" }, found.groups.map((group, n) => h("li", {}, h("i", { class: `swatch ${tone(n)}` }), `${group.name} (${group.runs.length})`))), grid);
    for (const [metric, lines] of Object.entries(found.curves)) {
      const chart = makeChart(`valid ${metric}`, (range) => chart.update({ range }));
      grid.append(chart.element);
      chart.update({ axis: "steps", lines: lines.map((line) => ({ name: line.group, tone: tone(found.groups.findIndex((group) => group.name === line.group)), xs: line.steps, ys: line.mean, halves: line.half })) });
      ends.push(chart.end);
    }
  };
  const drawSettings = (found) => settings.replaceChildren(h("h2", {}, "What sets them apart"), found.differences.length
    ? table(["setting", ...names], found.differences.map((row) => [h("code", {}, row.setting), ...row.values]), { "aria-label": "Settings that differ" })
    : h("p", { class: "hint" }, names.length > 1 ? "Nothing but the seed." : "One run alone."));

  const pair = () => (address.all("pair").length === 2 && address.all("pair").every((name) => names.includes(name)) ? address.all("pair") : names.slice(0, 2));
  const drawAnswers = async (begin = 0) => {
    if (names.length < 2) return;
    const chosen = pair();
    const pick = (place) => choice(names, chosen[place], (name) => { const next = pair(); next[place] = name; address.set({ pair: next }); drawAnswers(); });
    const picked = h("div", { class: "row" }, field("First", pick(0)), field("Second", pick(1)));
    const head = [h("h2", {}, "Answers that differ"), names.length > 2 ? picked : ""];
    try {
      const found = await get(path("/api/answers", { run: chosen, begin }));
      const rows = found.answers.map((one) => [one.asked, one.expected, ...one.answered.map((text, n) =>
        h("span", {}, text, " ", one.scores[n] !== null && h("small", { class: "hint" }, one.scores[n] === 1 ? "right" : one.scores[n] === 0 ? "wrong" : String(Number(one.scores[n].toPrecision(3)))))),
      h("span", {}, chosen.map((name, n) => [n ? " · " : "", h("a", { href: path("/explain", { run: name, text: one.asked, side: chosen[1 - n] }) }, n ? "second" : "first")]))]);
      answers.replaceChildren(...head, h("p", { class: "hint" }, `${found.differing.toLocaleString()} of ${found.of.toLocaleString()} answers differ.`),
        found.differing ? table(["text", "expected", ...chosen, "explain"], rows, { class: "texts stack", "aria-label": "Answers that differ" }) : "",
        found.differing > found.begin + rows.length ? h("button", { type: "button", onclick: () => drawAnswers(found.begin + rows.length) }, "The next ones") : "");
    } catch (error) {
      answers.replaceChildren(...head, h("p", { class: "notice" }, error.message));
    }
  };

  home.append(h("h1", {}, names.length === 1 ? names[0] : `${names.length} runs`), legend(names),
    settings, tests, h("section", {}, h("h2", {}, "Curves"), curves.element), means, answers);
  tests.append(h("h2", {}, "Scores"), h("p", { class: "hint", role: "status" }, "Comparing…"));
  get(path("/api/compare", { run: names })).then((found) => { drawSettings(found); drawTests(found); drawAnswers(); },
    (error) => tests.replaceChildren(h("p", { class: "notice" }, error.message)));
  return () => ends.forEach((end) => end());
};
