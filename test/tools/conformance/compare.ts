import { setTimeout as passing } from "node:timers/promises";
import { fetchResponse } from "./http.ts";
import { difference, show, valueAt } from "./json.ts";
import type { Line, TransportName } from "./line.ts";
import type { Run } from "./run.ts";
import { Failure, NotTried } from "./verdict.ts";
import { keyOf, plain, type View, viewOf } from "./view.ts";

/*
 * Comparisons of clients' state at one cursor. The market changes, so each comparison waits for a
 * cursor that both sides have reached.
 */

const TRIES = 10;
const PAUSE_MS = 100;

/** Compares REST with the line at the same cursor. */
export async function compareWithRest(line: Line, run: Run, patienceMs: number): Promise<void> {
  const [eventsBefore, positionBefore] = [line.events.length, line.position.cursor];
  let cursor = "";
  for (let tries = 0; tries < TRIES; tries += 1) {
    const rest = await readRest(run);
    cursor = rest.cursor;
    if (await line.until(() => line.views.has(rest.cursor), patienceMs / TRIES)) {
      const clientView = line.views.get(rest.cursor);
      if (clientView)
        return checkEqual(plain(partOf(rest.view, clientView)), plain(clientView), `REST at ${rest.cursor}`);
    }
  }
  if (line.events.length === eventsBefore && cursor !== positionBefore) {
    throw new Failure(`events up to ${cursor}, REST's cursor`, `nothing since ${positionBefore}`);
  }
  throw new NotTried(`the line was never at a cursor of a REST response, such as ${cursor}`);
}

/** Compares two lines over the same channels at a common cursor. */
export async function compareWithLine(line: Line, other: Line, patienceMs: number): Promise<void> {
  const common = () => [...line.views.keys()].findLast((cursor) => other.views.has(cursor));
  if (!(await line.until(() => common() !== undefined, patienceMs))) {
    throw new NotTried("the two lines were at no common cursor");
  }
  const cursor = common() ?? "";
  const [left, right] = [other.views.get(cursor), line.views.get(cursor)];
  if (left && right) checkEqual(plain(left), plain(right), `${other.name} at ${cursor}`);
}

/**
 * Compares a filtered line with `whole` at each common cursor: it must have exactly the items with
 * this symbol, in the same order.
 */
export async function compareSelection(
  line: Line,
  whole: Line,
  symbol: string,
  patienceMs: number,
): Promise<void> {
  const common = () => [...line.views.keys()].filter((cursor) => whole.views.has(cursor));
  if (!(await whole.until(() => common().length > 0, patienceMs))) {
    throw new NotTried("the two lines were at no common cursor");
  }
  for (const cursor of common()) {
    const [all, own] = [whole.views.get(cursor), line.views.get(cursor)];
    if (all && own)
      checkEqual(select(all, symbol), Object.fromEntries(own.lists), `the selection at ${cursor}`);
  }
}

/** Compares the first state of a line with REST at the same cursor. */
export async function compareInitialState(
  transport: TransportName,
  run: Run,
  patienceMs: number,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const line = run.open(`beginning ${tries}`, { transport, query: { channels: "*" } });
    const isAnswered = await line.until(() => line.view !== undefined || line.end !== undefined, patienceMs);
    const [initial] = line.views;
    if (!isAnswered || !initial) throw new Failure("a snapshot of all channels", show(line.messages.at(-1)));
    const rest = await readRest(run);
    line.close();
    if (rest.cursor === initial[0]) {
      return checkEqual(plain(partOf(rest.view, initial[1])), plain(initial[1]), `REST at ${rest.cursor}`);
    }
    await passing(PAUSE_MS, undefined, { signal: run.signal });
  }
  throw new NotTried(`the market changed between the two reads in all ${TRIES} tries`);
}

/**
 * Returns the part of REST's state that a client's lists cover. Other lists must be empty, as lists
 * outside the client's plan are. Explanations are those of the remaining flares.
 */
function partOf(rest: View, clientView: View): View {
  const lists = new Map(
    [...rest.lists].filter(([name, items]) => clientView.lists.has(name) || items.length > 0),
  );
  const flares = [...lists].filter(([name]) => name.startsWith("flares.")).flatMap(([, items]) => items);
  const ids = new Set(flares.map(keyOf));
  const explanations = Object.entries(rest.explanations).filter(([id]) => ids.has(id));
  const finished = lists.has("flares.finished_trending");
  return {
    lists,
    explanations: Object.fromEntries(explanations),
    outcomes: finished ? rest.outcomes : {},
  };
}

async function readRest(run: Run): Promise<{ readonly cursor: string; readonly view: View }> {
  const { status, body } = await fetchResponse(run.context.target, { path: "/api/v1/snapshot" }, run.signal);
  const cursor = valueAt(body, "/cursor");
  if (status === 200 && typeof cursor === "string") return { cursor, view: viewOf(body) };
  throw new Failure("200 with a cursor of GET /api/v1/snapshot", `${status} ${show(body)}`, ["rest/shapes"]);
}

function select({ lists }: View, symbol: string): Record<string, readonly unknown[]> {
  const matches = (item: unknown) =>
    SYMBOLS.some((pointer) => {
      const own = valueAt(item, pointer);
      return typeof own === "string" && own.toLowerCase() === symbol.toLowerCase();
    });
  return Object.fromEntries([...lists].map(([name, items]) => [name, items.filter(matches)]));
}

/** Pointers to the symbol of the lists' items. */
const SYMBOLS = ["/token/symbol", "/flare/token/symbol", "/object/token/symbol", "/object/symbol"];

function checkEqual(left: unknown, right: unknown, what: string): void {
  const found = difference(left, right);
  if (found) throw new Failure(`${show(found.left)} at ${found.path}, as of ${what}`, show(found.right));
}
