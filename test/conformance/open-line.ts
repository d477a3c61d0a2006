import { setTimeout as passing } from "node:timers/promises";
import { addressOf, ask, credentials, fieldsOf, openAnswer, type Target } from "./http.ts";
import { isObject, parseJson, show, valueAt } from "./json.ts";
import { Line, type LineOptions } from "./line.ts";
import { match, type Shapes } from "./match.ts";
import { Failure } from "./verdict.ts";

/** How a line is opened. */
interface Opening extends LineOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly protocols?: readonly string[] | undefined;
  /** Without the key. */
  readonly anonymous?: boolean | undefined;
}

/** A long poll asks again no faster than this, and waits no longer than that. */
const POLL_PAUSE_MS = 50;
const POLL_WAIT_S = "2";

/** Opens a line; what becomes of it the line tells. `signal` ends it. */
export function openLine(target: Target, opening: Opening, signal: AbortSignal): Line {
  const line = new Line(opening);
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  line.close = () => over.abort();
  if (opening.transport === "websocket") openWebSocket(target, opening, line, ended);
  else {
    const run = opening.transport === "sse" ? streamEvents : pollEvents;
    run(target, opening, line, ended).catch((error: unknown) => {
      if (ended.aborted) line.ended(-1, "closed from this side");
      else line.fail(error);
    });
  }
  return line;
}

/** The runtime's own WebSocket, which the servers that are tried hardly run on. */
function openWebSocket(target: Target, opening: Opening, line: Line, signal: AbortSignal): void {
  const address = addressOf(target, { path: "/api/v1/stream", query: opening.query }, "ws");
  const socket = new WebSocket(address, {
    protocols: [...(opening.protocols ?? ["flarewire.v1"])],
    headers: { ...credentials(target, opening), ...opening.headers },
  });
  const close = () => socket.close(1000);
  signal.addEventListener("abort", close, { once: true });
  line.close = close;
  line.send = (message) => socket.send(typeof message === "string" ? message : new Uint8Array(message));
  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") line.fail(new Failure("text frames", "a binary one", ["messages"]));
    else line.receive(parseJson(data));
  });
  socket.addEventListener("close", ({ code, reason }) => {
    signal.removeEventListener("abort", close);
    line.ended(code, reason);
  });
}

async function streamEvents(target: Target, opening: Opening, line: Line, signal: AbortSignal) {
  const headers = { accept: "text/event-stream", ...opening.headers };
  const { query, anonymous } = opening;
  const answer = await openAnswer(target, { path: "/api/v1/events", query, headers, anonymous }, signal);
  const fields = fieldsOf(answer);
  if (answer.statusCode !== 200 || !fields["content-type"]?.startsWith("text/event-stream")) {
    answer.destroy();
    const came = `${answer.statusCode} ${fields["content-type"]}`;
    throw new Failure("200 text/event-stream", came, ["S1"]);
  }
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of answer) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) readBlock(block, line);
    }
  } catch (error) {
    if (signal.aborted) throw error;
  }
  line.ended(-1, "cut");
}

function readBlock(block: string, line: Line): void {
  const fields = new Map<string, string>();
  for (const text of block.split("\n")) {
    const [name = "", value = ""] = text.split(/: ?(.*)/s);
    if (name !== "") fields.set(name, value);
  }
  const data = fields.get("data");
  if (data === undefined) return;
  const id = fields.get("id");
  const message = parseJson(data);
  line.receive(message, { event: fields.get("event") ?? "message", ...(id === undefined ? {} : { id }) });
  if (isObject(message) && message.type === "close") line.ended(Number(message.code), String(message.reason));
}

/**
 * A client that polls, told as the other transports are: an answer with `snapshot`, a first one
 * after a cursor, and a 410 are a `subscribed`; its end is a `page`, which moves the place.
 */
async function pollEvents(target: Target, opening: Opening, line: Line, signal: AbortSignal): Promise<void> {
  const { after, ...query } = opening.query;
  const { anonymous } = opening;
  let cursor = after;
  if (cursor === undefined) cursor = await begin(target, { query, anonymous }, line, signal);
  while (!signal.aborted) {
    const answer = await ask(
      target,
      { path: "/api/v1/events", query: { ...query, after: cursor, wait: POLL_WAIT_S }, anonymous },
      signal,
    );
    if (answer.status === 410) {
      hold({ $shape: "problem" }, answer.body, opening.shapes, "P6");
      const lost = valueAt(answer.body, "/lost");
      line.receive({ type: "subscribed", id: "url", resumed: "reset", channels: [], cursor, lost });
      return line.ended(410, "cursor-gone");
    }
    if (line.messages.length === 0) {
      line.receive({ type: "subscribed", id: "url", resumed: "full", channels: [], cursor });
    }
    if (answer.status === 204) {
      cursor = answer.headers["flarewire-cursor"];
      if (cursor === undefined) throw new Failure("Flarewire-Cursor with 204", "no such field", ["P5"]);
    } else {
      if (answer.status !== 200) throw new Failure("200, 204 or 410", `${answer.status}`, ["P1"]);
      hold({ $shape: "page" }, answer.body, opening.shapes, "P1");
      const events = valueAt(answer.body, "/events");
      for (const event of Array.isArray(events) ? events : []) line.receive(event);
      cursor = String(valueAt(answer.body, "/cursor"));
    }
    line.receive({ type: "page", cursor });
    await passing(POLL_PAUSE_MS, undefined, { signal });
  }
}

async function begin(
  target: Target,
  { query, anonymous }: Pick<Opening, "query" | "anonymous">,
  line: Line,
  signal: AbortSignal,
) {
  const question = { path: "/api/v1/events", query: { ...query, snapshot: "true" }, anonymous };
  const { status, body } = await ask(target, question, signal);
  const [cursor, snapshot] = [valueAt(body, "/cursor"), valueAt(body, "/snapshot")];
  if (status !== 200 || typeof cursor !== "string" || !isObject(snapshot)) {
    throw new Failure("200 with cursor and snapshot", `${status} ${show(body)}`, ["P12"]);
  }
  const filter = valueAt(body, "/filter");
  const asked = filter === undefined ? {} : { filter };
  line.receive({ type: "subscribed", id: "url", resumed: "reset", channels: [], ...asked, cursor, snapshot });
  return cursor;
}

function hold(matcher: unknown, value: unknown, shapes: Shapes, rule: string): void {
  const found = match(matcher, value, shapes);
  if (found) throw new Failure(`${found.expected} at ${found.path}`, show(found.came), [rule]);
}
