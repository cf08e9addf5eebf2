// Requests to the studio. The token comes with the address that it printed and stays in this browser.

const KEY = "regard-token";

/** Take the token out of the address, so that an address that is shared does not have it. */
export const takeToken = () => {
  const given = /^#token=([\w-]+)$/.exec(location.hash);
  if (!given) return;
  localStorage.setItem(KEY, given[1]);
  history.replaceState(null, "", location.pathname + location.search);
};

/** Why something was not answered, in a sentence for people. */
export class Refused extends Error {
  constructor(status, kind, message) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

const check = async (response) => {
  if (response.ok) return response;
  let error = { kind: "failed", message: `The studio answered with status ${response.status}.` };
  try { error = (await response.json()).error; } catch { /* not JSON: the sentence above */ }
  throw new Refused(response.status, error.kind, error.message);
};

const ask = async (address, settings) => {
  try {
    return await check(await fetch(address, settings));
  } catch (error) {
    if (error instanceof Refused || error.name === "AbortError") throw error;
    throw new Refused(0, "gone", "The studio does not answer. Is it still running?");
  }
};

/** Read something. */
export const get = async (address, signal) => (await ask(address, { signal })).json();

const send = (address, body, signal) => ask(address, {
  method: "POST",
  signal,
  headers: { "content-type": "application/json", "x-studio-token": localStorage.getItem(KEY) || "" },
  body: JSON.stringify(body),
});

/** Have something computed. */
export const post = async (address, body, signal) => (await send(address, body, signal)).json();

/** Have something computed, and take its parts while it grows. */
export const stream = async (address, body, take, signal) => {
  const reader = (await send(address, body, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event.replace(/^data: /, "");
      if (data === "[DONE]") return;
      const part = JSON.parse(data);
      if (part.error) throw new Refused(422, part.error.kind, part.error.message);
      take(part);
    }
  }
};

/** Call again and again, as often as a page that is seen needs it; returns how to stop. */
export const poll = (call, pause) => {
  let timer = 0, stopped = false;
  const turn = async () => {
    clearTimeout(timer);
    let wait = pause();
    if (!document.hidden) {
      try { await call(); } catch { wait = Math.max(wait, 5000); }
    }
    if (!stopped) timer = setTimeout(turn, wait);
  };
  const seen = () => { if (!document.hidden) turn(); };
  document.addEventListener("visibilitychange", seen);
  turn();
  return () => {
    stopped = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", seen);
  };
};
