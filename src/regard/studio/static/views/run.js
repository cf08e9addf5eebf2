// One run: how it does, its curves while it trains, samples over time, what it costs.

import { get } from "../api.js";
import { showCurves } from "../curves.js";
import { facts, h, path, table } from "../dom.js";

export const title = "Run";

const SIDES = ["asked", "expected", "answered"];

/** Join evaluations at which the answer was the same. */
const stretches = (over, place) => {
  const found = [];
  for (const { step, samples } of over) {
    const answer = samples[place]?.answered, last = found.at(-1);
    if (answer === undefined) continue;
    if (last?.answer === answer) last.end = step;
    else found.push({ begin: step, end: step, answer });
  }
  return found.map(({ begin, end, answer }) => [begin === end ? String(begin) : `${begin} to ${end}`, answer]);
};

export const show = (home, address) => {
  const name = address.get("run"), about = h("div"), details = h("div"), state = h("span", { class: "state" }), samples = h("section", { hidden: true });
  const over = [];
  let described = "";

  const describe = async () => {
    try {
      const found = await get(path("/api/run", { run: name }));
      about.replaceChildren(
        h("p", { class: "lead" }, found.summary),
        h("div", { class: "cards three" }, found.scores.slice(0, 3).map((score) => h("div", { class: "card" },
          h("div", { class: "hint" }, `${score.name} · ${score.note}`),
          h("div", { class: "value" }, `${score.value.toFixed(score.digits)}${score.unit}`),
          score.baseline !== null && h("div", { class: "hint" }, `${score.baseline.toFixed(score.digits)}${score.unit}: ${score.baseline_name}`)))),
      );
      details.replaceChildren(
        h("section", { class: "cards" }, [["Recipe", found.recipe], ["Cost", found.cost], ["Data", found.data], ["Made with", found.environment]]
          .filter(([, rows]) => rows.length).map(([label, rows]) => h("div", { class: "card" }, h("h2", {}, label), facts(rows)))),
        found.samples.length ? h("section", {}, h("h2", {}, "Answers"), h("p", { class: "hint" }, found.sample_words.hint),
          table([found.sample_words.source, found.sample_words.reference, found.sample_words.answer, ""], found.samples.map((one) => [one.source, one.reference, one.answer, h("a", { href: path("/explain", { run: name, text: one.source }) }, "explain")]), { class: "texts stack", "aria-label": "Answers" })) : "");
    } catch (error) {
      about.replaceChildren(h("p", { class: "notice" }, error.message));
    }
  };
  const drawSamples = () => {
    samples.hidden = !over.some((one) => one.samples.length);
    const first = over.find((one) => one.samples.length);
    if (!first) return;
    const shown = first.samples.map((sample, n) => h("div", { class: "card" },
      h("p", { dir: "auto" }, h("b", {}, sample.asked)), h("p", { class: "hint", dir: "auto" }, `Expected: ${sample.expected}`),
      table(["steps", "answer"], stretches(over, n), { class: "texts", "aria-label": `Answers to ${sample.asked}` })));
    samples.replaceChildren(h("h2", {}, "Samples over time"), h("p", { class: "hint" }, "The same held-out texts at every evaluation."), h("div", { class: "cards" }, shown));
  };
  const curves = showCurves([name], address, (news) => {
    state.textContent = news.state;
    state.className = `state ${news.state}`;
    if (news.whole) over.length = 0;
    over.push(...news.samples.filter((one) => one.samples.every((sample) => SIDES.every((side) => typeof sample[side] === "string"))));
    if (news.samples.length || news.whole) drawSamples();
    if (news.state !== described) {
      described = news.state;
      if (news.state === "finished") describe();
      else about.replaceChildren(h("p", { class: "lead" }, news.state === "training" ? "It is being trained; the curves follow." : "It was stopped before its end. Go on with --resume."));
    }
  });

  home.append(h("h1", {}, name), h("div", { class: "row" }, state,
    h("a", { href: path("/ask", { run: name }) }, "Ask it"), h("a", { href: path("/explain", { run: name }) }, "Explain an answer"),
    h("a", { href: path("/api/report", { run: name }), target: "_blank", rel: "noopener" }, "Report"), h("a", { href: path("/compare", { run: name }) }, "Compare")),
  h("section", {}, about), h("section", {}, h("h2", {}, "Curves"), curves.element), samples, details);
  return curves.end;
};

