// One run, asked: an answer in the form of its task, a continuation that grows, a search, a table.

import { post, stream } from "../api.js";
import { download, field, h, path, percent, say, table } from "../dom.js";
import { exampleTexts, keepText, pickRun, readAsking, textField } from "../picker.js";

export const title = "Ask";

const LARGEST = 12e6; // characters of a file

const bars = (shares) => h("div", { class: "bars" }, Object.entries(shares).sort(([, one], [, other]) => other - one).slice(0, 30).map(([name, share]) => {
  const bar = h("i", { class: "bar" });
  bar.style.width = `${100 * share}%`;
  return h("div", {}, h("span", { dir: "auto" }, name), h("div", { class: "track", "aria-hidden": "true" }, bar), h("b", {}, percent(share)));
}));

const spans = (text, entities) => {
  const letters = [...text], parts = [];
  let at = 0;
  for (const one of [...entities].sort((a, b) => a.start - b.start)) {
    if (one.start < at) continue;
    parts.push(letters.slice(at, one.start).join(""), h("mark", { title: percent(one.score) }, letters.slice(one.start, one.end).join(""), h("small", {}, ` ${one.entity_group} ${percent(one.score)}`)));
    at = one.end;
  }
  return h("p", { class: "answer", dir: "auto" }, parts, letters.slice(at).join(""));
};

const drawAnswer = (asked, found) => {
  const { answer, alternatives } = found, parts = [];
  if (answer.truncated) parts.push(h("p", { class: "notice" }, `${answer.truncated.toLocaleString()} tokens did not fit and were not read.`));
  if (answer.entities) parts.push(spans(asked, answer.entities), answer.entities.length ? "" : h("p", { class: "hint" }, "No span was found."));
  else if (answer.vector) parts.push(h("p", { class: "hint" }, `A vector of ${answer.vector.length} numbers of length ${Math.hypot(...answer.vector).toFixed(3)}.`), h("p", {}, h("code", {}, answer.vector.slice(0, 12).map((one) => one.toFixed(3)).join(" "), " …")));
  else if (Object.keys(answer.probabilities || {}).length) parts.push(h("p", { class: "answer", dir: "auto" }, answer.text || "(no label)"), bars(answer.probabilities));
  else parts.push(h("p", { class: "answer", dir: "auto" }, answer.text || "(nothing)"), h("p", { class: "hint" }, `Probability of the whole answer: ${percent(answer.probability)}`));
  if (alternatives.length > 1) parts.push(h("h3", {}, "Alternatives"), table(["answer", "probability"], alternatives.slice(1).map((one) => [one.text, percent(one.probability)]), { "aria-label": "Alternatives" }));
  return parts;
};

const drawHits = (hits) => (hits.length ? h("ol", { class: "hits" }, hits.map((hit) => h("li", {}, h("b", { dir: "auto" }, hit.title || hit.id), " ", h("small", { class: "hint" }, hit.score.toFixed(3)), h("p", { dir: "auto" }, hit.snippet)))) : h("p", { class: "hint" }, "Nothing was found."));

export const show = (home, address) => {
  const pick = h("div", { class: "row" }), about = h("p", { class: "hint" }), place = h("div"), answer = h("section", { class: "answers", "aria-live": "polite" }), batch = h("section");
  let asking = null, text = null, running = null;

  const busy = (words) => answer.replaceChildren(h("p", { class: "hint" }, words));
  const failed = (error, where = answer) => { if (error.name !== "AbortError") where.replaceChildren(h("p", { class: "notice", role: "alert" }, error.message)); };
  const submit = async () => {
    const asked = text.get();
    keepText(address, asked);
    running?.abort();
    running = new AbortController();
    if (!asked.trim() && asking.task !== "language-modelling") return answer.replaceChildren();
    busy(asking.ready ? "Asking…" : "Opening the run…");
    try {
      if (asking.task === "language-modelling") await complete(asked, running.signal);
      else if (asking.kind === "index") answer.replaceChildren(h("h2", {}, "Found"), drawHits((await post("/api/search", { run: asking.run, text: asked }, running.signal)).results));
      else {
        const found = await post("/api/ask", { run: asking.run, text: asked }, running.signal);
        answer.replaceChildren(h("h2", {}, "Answer"), ...drawAnswer(asked, found), h("p", {}, h("a", { href: path("/explain", { run: asking.run, text: asked }) }, "Explain this answer")));
      }
    } catch (error) { failed(error); }
    return undefined;
  };
  const settings = { tokens: 100, temperature: 0.8, top_p: 1, seed: "" };
  const knob = (name, label, properties) => field(label, h("input", { type: "number", value: address.get(name) || settings[name], oninput: (event) => { settings[name] = event.target.value; address.set({ [name]: event.target.value }); }, ...properties }));
  const complete = async (asked, signal) => {
    const written = h("span"), candidates = h("div", { class: "candidates", "aria-live": "off" }, h("p", { class: "hint" }, "Point at a token, or tab to it, to see what else could have stood there."));
    const stop = h("button", { type: "button", onclick: () => running.abort() }, "Stop");
    answer.replaceChildren(h("h2", {}, "Continuation"), h("p", { class: "answer text", dir: "auto", "aria-live": "off" }, h("span", { class: "hint" }, asked), written), stop, candidates);
    const list = (one) => candidates.replaceChildren(h("h3", {}, "Likeliest tokens here"), bars(Object.fromEntries(one.candidates.map(([token, share]) => [JSON.stringify(token).slice(1, -1) || "(end)", share]))));
    const place = (one) => {
      const token = h("span", { class: "token", tabindex: "0", onpointerenter: () => list(one), onfocus: () => list(one) }, one.token);
      token.style.setProperty("--sure", one.probability ?? 1);
      return token;
    };
    const body = { run: asking.run, text: asked, tokens: Number(settings.tokens), temperature: Number(settings.temperature), top_p: Number(settings.top_p), seed: settings.seed === "" ? null : Number(settings.seed) };
    try {
      await stream("/api/complete", body, (part) => {
        if (part.tokens) written.append(...part.tokens.map(place));
        if (part.finish) say(part.finish === "stop" ? "It ended its text." : "The limit of tokens is reached.");
      }, signal);
    } finally { stop.remove(); }
  };
  const answerFile = async (file) => {
    if (!file) return;
    const home = h("div");
    batch.replaceChildren(...batchControls(), home);
    if (file.size > LARGEST) return failed(new Error(`A file has at most ${LARGEST / 1e6} MB here. For larger ones: regard predict RUN --input FILE --output FILE`), home);
    home.replaceChildren(h("p", { class: "hint", role: "status" }, `Answering ${file.name}…`));
    try {
      const found = await post("/api/table", { run: asking.run, name: file.name, content: await file.text() });
      home.replaceChildren(h("p", {}, `${found.count.toLocaleString()} rows answered. `, h("button", { type: "button", class: "main", onclick: () => download(found.name, [found.content], "text/plain") }, `Download ${found.name}`)),
        ...found.columns.map((said) => h("p", { class: "hint" }, said.split(";")[0])),
        found.truncated ? h("p", { class: "notice" }, `${found.truncated.toLocaleString()} tokens did not fit and were not read.`) : "",
        table(["text", "answer", ...(found.shown[0]?.length > 2 ? ["probability"] : [])], found.shown, { class: "texts", "aria-label": "Answers" }),
        found.count > found.shown.length ? h("p", { class: "hint" }, `The first ${found.shown.length} rows.`) : "");
    } catch (error) { failed(error, home); }
    return undefined;
  };
  const batchControls = () => [h("h2", {}, "A whole file"), h("p", { class: "hint" }, "A csv, tsv or jsonl file keeps its columns and gets the answers as more; of a text every line is answered."),
    field("File", h("input", { type: "file", accept: ".csv,.tsv,.tab,.jsonl,.ndjson,.txt", onchange: (event) => answerFile(event.target.files[0]) }))];

  const open = async (name) => {
    running?.abort();
    answer.replaceChildren();
    batch.replaceChildren();
    place.replaceChildren(h("p", { class: "hint", role: "status" }, "Opening the run…"));
    try {
      asking = { ...(await readAsking(name)), ready: true };
    } catch (error) { return failed(error, place); }
    const writes = asking.task === "language-modelling";
    for (const part of Object.keys(settings)) if (address.get(part)) settings[part] = address.get(part);
    about.textContent = asking.kind === "index" ? `An index of ${asking.documents?.toLocaleString()} documents.` : [asking.task, asking.labels?.length ? `labels: ${asking.labels.slice(0, 12).join(", ")}${asking.labels.length > 12 ? " …" : ""}` : "", asking.max_length ? `at most ${asking.max_length} tokens` : ""].filter(Boolean).join(" · ");
    text = textField(asking.task === "sentence-pair", address.get("text"), submit);
    const take = (example) => { text.set(example); submit(); };
    place.replaceChildren(text.element,
      writes ? h("div", { class: "row" }, knob("tokens", "Tokens", { min: 1, max: 2000 }), knob("temperature", "Temperature", { min: 0, max: 2, step: 0.1 }), knob("top_p", "Top p", { min: 0.05, max: 1, step: 0.05 }), knob("seed", "Seed", { placeholder: "new each time" })) : "",
      h("div", { class: "row asked" }, h("button", { type: "button", class: "main", onclick: submit }, writes ? "Continue" : asking.kind === "index" ? "Search" : "Ask"), h("span", { class: "hint" }, "Ctrl + Enter")),
      exampleTexts(asking.examples, take));
    if (asking.kind !== "index") batch.replaceChildren(...batchControls());
    if (address.get("text")) submit();
    return undefined;
  };

  home.append(h("h1", {}, "Ask"), pick, about, place, answer, batch);
  pickRun(address, () => true, (name) => open(name)).then((found) => {
    pick.append(found.element);
    if (found.name) open(found.name);
  }, (error) => failed(error, place));
  return () => running?.abort();
};
