// The frame of every view: addresses, navigation, light and dark. A view is a module with
// `title` and `show(home, address)`, which may return a function that ends what it started.

import { takeToken } from "./api.js";
import { h, say } from "./dom.js";
import * as ask from "./views/ask.js";
import * as claims from "./views/claims.js";
import * as compare from "./views/compare.js";
import * as explain from "./views/explain.js";
import * as mechanisms from "./views/mechanisms.js";
import * as run from "./views/run.js";
import * as runs from "./views/runs.js";

const VIEWS = { "/": runs, "/run": run, "/compare": compare, "/ask": ask, "/explain": explain, "/mechanisms": mechanisms, "/claims": claims };
const NAVIGATION = [["/", "Runs"], ["/ask", "Ask"], ["/explain", "Explain"], ["/mechanisms", "Mechanisms"], ["/claims", "Claims"]];
const THEMES = { auto: "Light or dark: as the system", light: "Light", dark: "Dark" };
const home = document.getElementById("main");
let end = () => {};

/** The parameters of the address: what a view shows is all in there, so that it can be shared. */
const address = () => ({
  get: (name) => new URLSearchParams(location.search).get(name) || "",
  all: (name) => new URLSearchParams(location.search).getAll(name),
  set: (changes) => {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) {
      query.delete(name);
      for (const one of [value].flat()) if (one !== "" && one !== null && one !== undefined && one !== false) query.append(name, one);
    }
    const written = query.toString();
    history.replaceState(null, "", written ? `${location.pathname}?${written}` : location.pathname);
  },
});

const navigate = () => {
  const here = location.pathname;
  document.getElementById("views").replaceChildren(...NAVIGATION.map(([place, name]) => {
    const current = place === here || (place === "/" && (here === "/run" || here === "/compare"));
    return h("a", { href: place, "aria-current": current ? "page" : null }, name);
  }));
};

const show = ({ focus }) => {
  end();
  navigate();
  const view = VIEWS[location.pathname];
  home.replaceChildren();
  document.title = `${view ? view.title : "Not found"} · regard studio`;
  end = () => {};
  if (!view) home.append(h("h1", {}, "There is no such page"));
  else end = view.show(home, address()) || end;
  if (focus) {
    home.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    say(document.title);
  }
};

/** Go to a view of the studio. */
export const go = (place) => {
  history.pushState(null, "", place);
  show({ focus: true });
};

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const ours = link && link.origin === location.origin && link.pathname in VIEWS && !link.hash && !link.target;
  if (!ours || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.href);
});
window.addEventListener("popstate", () => show({ focus: false }));

const theme = document.getElementById("theme");
const paint = (chosen) => {
  if (chosen === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  theme.textContent = { auto: "◐", light: "☀", dark: "☾" }[chosen];
  theme.setAttribute("aria-label", THEMES[chosen]);
  theme.title = THEMES[chosen];
  window.dispatchEvent(new Event("themechange"));
};
const kept = () => (localStorage.getItem("regard-theme") in THEMES ? localStorage.getItem("regard-theme") : "auto");
theme.addEventListener("click", () => {
  const names = Object.keys(THEMES), next = names[(names.indexOf(kept()) + 1) % names.length];
  localStorage.setItem("regard-theme", next);
  paint(next);
  say(THEMES[next]);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => window.dispatchEvent(new Event("themechange")));

takeToken();
paint(kept());
show({ focus: false });
