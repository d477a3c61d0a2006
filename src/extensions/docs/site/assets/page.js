/* Sends requests and opens streams. Responses contain untrusted names, so insert them as text. */

const MAX_MESSAGES = 200;
const MAX_CHARACTERS = 100_000;

/** Returns the filled-in fields of a form for one part of a request: path, query or header. */
function valuesOf(form, part) {
  const fields = [...form.elements].filter(({ dataset, value }) => dataset.in === part && value !== "");
  return fields.map(({ name, value }) => [name, value]);
}

function cut(text) {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS)}\n… ${text.length - MAX_CHARACTERS} characters more`;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function element(tag, text, ...children) {
  const made = document.createElement(tag);
  made.textContent = text;
  made.append(...children);
  return made;
}

/** Returns the typed key as a header field, because a URL must not contain it. */
function authorization() {
  const key = document.querySelector("#key")?.value.trim();
  return key ? { authorization: `Bearer ${key}` } : {};
}

document.querySelector("#key")?.form.addEventListener("submit", (event) => event.preventDefault());
for (const form of document.querySelectorAll("form.try")) prepareTry(form);

function prepareTry(form) {
  const [status, cancel] = ["output", "[data-cancel]"].map((name) => form.querySelector(name));
  let current = new AbortController();
  cancel.addEventListener("click", () => current.abort());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    current.abort();
    current = new AbortController();
    const { signal } = current;
    cancel.hidden = false;
    status.textContent = "Requesting …";
    try {
      await sendRequest(form, signal, status);
    } catch (error) {
      if (!signal.aborted || error.name !== "AbortError") status.textContent = `Failed: ${error.message}`;
      else if (current.signal === signal) status.textContent = "Canceled.";
    }
    if (current.signal === signal) cancel.hidden = true;
  });
}

async function sendRequest(form, signal, status) {
  const parts = new Map(valuesOf(form, "path").map(([name, value]) => [name, encodeURIComponent(value)]));
  const path = form.dataset.address.replace(/\{(\w+)\}/g, (part, name) => parts.get(name) ?? part);
  const address = new URL(path, location.href);
  address.search = new URLSearchParams(valuesOf(form, "query"));
  const begun = performance.now();
  const headers = { ...authorization(), ...Object.fromEntries(valuesOf(form, "header")) };
  const { method } = form.dataset;
  const response = await fetch(address, { method, signal, headers, cache: "no-store" });
  const body = await response.text();
  const took = Math.round(performance.now() - begun);
  status.textContent = `${response.status} ${response.statusText}, ${body.length} characters, ${took} ms`;
  const fields = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  const [shown, details] = ["pre", "[data-fields]"].map((name) => form.querySelector(name));
  shown.textContent = cut(pretty(body)) || "No body.";
  details.querySelector("pre").textContent = `${method} ${address.pathname}${address.search}\n\n${fields}`;
  shown.hidden = details.hidden = false;
  // The next request then gets a 304.
  const known = form.elements["If-None-Match"];
  if (known && response.headers.has("etag")) known.value = response.headers.get("etag");
}

/** Lets the keyboard reach a table while it is wide enough to scroll. */
const scrolling = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const isWide = target.scrollWidth > target.clientWidth;
    for (const [name, value] of Object.entries({ tabindex: "0", role: "region", "aria-label": "Table" }))
      if (isWide) target.setAttribute(name, value);
      else target.removeAttribute(name);
  }
});
for (const table of document.querySelectorAll(".wide")) scrolling.observe(table);

/** Opens the folded section that the address names. */
function unfold() {
  const section = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (section?.tagName !== "DETAILS" || section.open) return;
  section.open = true;
  section.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();

/** Marks the section in view in the map of pages. */
function followSections() {
  const links = new Map(
    [...document.querySelectorAll("#map .sections a")].map((link) => [link.hash.slice(1), link]),
  );
  const headings = [...links.keys()].map((id) => document.getElementById(id)).filter((one) => one !== null);
  const mark = () => {
    const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const passed = headings.filter((one) => one.getBoundingClientRect().top < 120);
    const here = isAtEnd ? headings.at(-1) : passed.at(-1);
    for (const [id, link] of links) {
      if (id === here?.id) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
  };
  if (headings.length > 0) {
    addEventListener("scroll", mark, { passive: true });
    addEventListener("resize", mark);
    mark();
  }
  const map = document.querySelector("#map");
  const here = map.querySelector('a[aria-current="page"]');
  const side = map.parentElement;
  // Unlike scrollIntoView(), this never scrolls the window.
  if (here) side.scrollTop = here.offsetTop - side.clientHeight / 2;
}

followSections();

const stream = document.querySelector("#stream");
if (stream) prepareStream(stream);

function prepareStream(form) {
  const [state, log, command, disconnect] = ["#state", "#log", "#command", "#disconnect"].map((name) =>
    document.querySelector(name),
  );
  const send = command.querySelector("button");
  /** The latest attempt, while it connects and while it is open. */
  let current;
  let count = 0;

  const show = (direction, text) => {
    const summary = element("summary", `${utcTime()} ${direction} ${outline(text)}`);
    const shown = element("pre", cut(pretty(text)));
    // To scroll it by keyboard, it needs the focus and a name.
    shown.tabIndex = 0;
    shown.role = "region";
    shown.ariaLabel = summary.textContent;
    const entry = element("li", "", element("details", "", summary, shown));
    entry.value = ++count;
    log.prepend(entry);
    while (log.children.length > MAX_MESSAGES) log.lastElementChild.remove();
  };
  const report = (text, { open, commands = false }) => {
    state.textContent = text;
    disconnect.disabled = !open;
    send.disabled = !commands;
  };
  const closeCurrent = () => {
    current?.connection?.close();
    current = undefined;
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    closeCurrent();
    const mine = {};
    current = mine;
    const reportMine = (...news) => {
      if (current === mine) report(...news);
    };
    const open = form.elements.transport.value === "events" ? openEvents : openWebSocket;
    report("Connecting …", { open: true });
    try {
      const ticket = await fetchTicket(form);
      if (current === mine) mine.connection = open(form, ticket, { show, report: reportMine });
    } catch (error) {
      reportMine(`Failed: ${error.message}`, { open: false });
    }
  });
  disconnect.addEventListener("click", () => {
    closeCurrent();
    report("Disconnected.", { open: false });
  });
  document.querySelector("#clear").addEventListener("click", () => log.replaceChildren());
  command.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = command.querySelector("textarea").value;
    current.connection.send(text);
    show("→", text);
  });
}

/**
 * Fetches a ticket for the key, which neither WebSocket nor EventSource can send. Resolves to `{}`
 * without a key, or if the server has no tickets.
 */
async function fetchTicket(form) {
  const headers = authorization();
  if (!headers.authorization) return {};
  const response = await fetch(form.dataset.tickets, { method: "POST", headers, cache: "no-store" });
  if (response.status === 404) return {};
  const { ticket, status, title, detail } = await response.json();
  if (ticket) return { ticket };
  throw new Error(`${status}, ${title}: ${detail}`);
}

function openWebSocket(form, ticket, { show, report }) {
  const address = streamAddress(form, form.dataset.websocket, ticket);
  address.protocol = address.protocol.replace("http", "ws");
  const socket = new WebSocket(address, "flarewire.v1");
  let opened = false;
  socket.addEventListener("open", () => {
    opened = true;
    report("Connected.", { open: true, commands: true });
  });
  socket.addEventListener("message", ({ data }) => show("←", data));
  socket.addEventListener("close", async ({ code, reason }) => {
    if (!opened) return report(await refusal(form), { open: false });
    const [, , action, meaning] = document.querySelector(`#close-codes tr[data-code="${code}"]`)?.cells ?? [];
    const words = meaning ? `: ${meaning.textContent}; ${action.textContent}` : "";
    report(`Closed with ${code} ${reason}${words}.`, { open: false });
  });
  return socket;
}

function openEvents(form, ticket, { show, report }) {
  const source = new EventSource(streamAddress(form, form.dataset.events, ticket));
  source.addEventListener("open", () => report("Connected.", { open: true }));
  for (const name of form.dataset.names.split(" "))
    source.addEventListener(name, ({ data }) => show("←", data));
  source.addEventListener("error", async () => {
    if (source.readyState === EventSource.CLOSED) return report(await refusal(form), { open: false });
    if (!ticket.ticket) return report("Connection lost; the browser reconnects.", { open: true });
    // The browser would reconnect with the same ticket, which is valid only once.
    source.close();
    report("Connection lost.", { open: false });
  });
  return source;
}

/** Requests events to learn why a stream was refused, because browsers do not report it. */
async function refusal(form) {
  const given = new AbortController();
  try {
    const headers = { ...authorization(), accept: "text/event-stream" };
    const response = await fetch(streamAddress(form, form.dataset.events), { headers, signal: given.signal });
    if (response.ok) return "No stream was opened.";
    const { status, title, detail } = await response.json();
    return `Refused with ${status}, ${title}: ${detail}.`;
  } catch {
    return "The server cannot be reached.";
  } finally {
    given.abort();
  }
}

function streamAddress(form, path, ticket = {}) {
  const address = new URL(path, location.href);
  const given = Object.fromEntries(valuesOf(form, "query"));
  // Events over HTTP have no such parameter.
  if (path === form.dataset.events) delete given.mirror;
  address.search = new URLSearchParams({ channels: "*", ...given, ...ticket });
  return address;
}

function utcTime() {
  return new Date().toISOString().slice(11, 19);
}

/** Describes a message on one line. */
function outline(text) {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    return text.slice(0, 80);
  }
  const parts = [
    message?.type,
    message?.name,
    message?.channel,
    message?.resumed,
    message?.cursor,
    message?.code,
  ];
  return parts.filter((part) => part !== undefined && part !== "event").join(" · ");
}
