import { h } from "../dom.js";
export const title = "Explain";
export const show = (home) => { home.append(h("h1", {}, title)); };
