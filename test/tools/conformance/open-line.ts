import { setTimeout as passing } from "node:timers/promises";
import { addressOf, credentials, fetchResponse, fieldsOf, openResponse, type Target } from "./http.ts";
import { isObject, parseJson, show, valueAt } from "./json.ts";
import { Line, type LineOptions } from "./line.ts";
import { match, type Shapes } from "./match.ts";
import { Failure } from "./verdict.ts";

/** Options for opening a line. */
interface Opening extends LineOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly protocols?: readonly string[] | undefined;
  /** Sends no key. */
  readonly anonymous?: boolean | undefined;
}

/** Minimum pause between two polls, and maximum wait of one. */
const POLL_PAUSE_MS = 50;
const POLL_WAIT_S = "2";

/** Opens a line, which reports its own end and faults. `signal` closes it. */
export function openLine(target: Target, opening: Opening, signal: AbortSignal): Line {
  const line = new Line(opening);
  const closing = new AbortController();
  const ended = AbortSignal.any([signal, closing.signal]);
  line.close = () => closing.abort();
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

/** Uses the runtime's WebSocket, which servers under test hardly use. */
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
    if (typeof data !== "string") line.fail(new Failure("text frames", "a binary frame", ["messages"]));
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
  const response = await openResponse(target, { path: "/api/v1/events", query, headers, anonymous }, signal);
  const fields = fieldsOf(response);
  if (response.statusCode !== 200 || !fields["content-type"]?.startsWith("text/event-stream")) {
    response.destroy();
    const came = `${response.statusCode} ${fields["content-type"]}`;
    throw new Failure("200 text/event-stream", came, ["S1"]);
  }
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response) {
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
 * Follows by polling, with the same messages as other transports. A response with `snapshot`, the
 * first one after a cursor, and a 410 become `subscribed`. The end of each response becomes `page`,
 * which moves the position.
 */
async function pollEvents(target: Target, opening: Opening, line: Line, signal: AbortSignal): Promise<void> {
  const { after, ...query } = opening.query;
  const { anonymous } = opening;
  let cursor = after;
  if (cursor === undefined) cursor = await fetchSnapshot(target, { query, anonymous }, line, signal);
  while (!signal.aborted) {
    const response = await fetchResponse(
      target,
      { path: "/api/v1/events", query: { ...query, after: cursor, wait: POLL_WAIT_S }, anonymous },
      signal,
    );
    if (response.status === 410) {
      checkShape({ $shape: "problem" }, response.body, opening.shapes, "P6");
      const lost = valueAt(response.body, "/lost");
      line.receive({ type: "subscribed", id: "url", resumed: "reset", channels: [], cursor, lost });
      return line.ended(410, "cursor-gone");
    }
    if (line.messages.length === 0) {
      line.receive({ type: "subscribed", id: "url", resumed: "full", channels: [], cursor });
    }
    if (response.status === 204) {
      cursor = response.headers["flarewire-cursor"];
      if (cursor === undefined)
        throw new Failure("Flarewire-Cursor with 204", "no such header field", ["P5"]);
    } else {
      if (response.status !== 200) throw new Failure("200, 204 or 410", `${response.status}`, ["P1"]);
      checkShape({ $shape: "page" }, response.body, opening.shapes, "P1");
      const events = valueAt(response.body, "/events");
      for (const event of Array.isArray(events) ? events : []) line.receive(event);
      cursor = String(valueAt(response.body, "/cursor"));
    }
    line.receive({ type: "page", cursor });
    await passing(POLL_PAUSE_MS, undefined, { signal });
  }
}

async function fetchSnapshot(
  target: Target,
  { query, anonymous }: Pick<Opening, "query" | "anonymous">,
  line: Line,
  signal: AbortSignal,
) {
  const options = { path: "/api/v1/events", query: { ...query, snapshot: "true" }, anonymous };
  const { status, body } = await fetchResponse(target, options, signal);
  const [cursor, snapshot] = [valueAt(body, "/cursor"), valueAt(body, "/snapshot")];
  if (status !== 200 || typeof cursor !== "string" || !isObject(snapshot)) {
    throw new Failure("200 with cursor and snapshot", `${status} ${show(body)}`, ["P12"]);
  }
  const filter = valueAt(body, "/filter");
  const echoed = filter === undefined ? {} : { filter };
  line.receive({
    type: "subscribed",
    id: "url",
    resumed: "reset",
    channels: [],
    ...echoed,
    cursor,
    snapshot,
  });
  return cursor;
}

function checkShape(matcher: unknown, value: unknown, shapes: Shapes, rule: string): void {
  const found = match(matcher, value, shapes);
  if (found) throw new Failure(`${found.expected} at ${found.path}`, show(found.came), [rule]);
}
