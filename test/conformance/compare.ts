import { setTimeout as passing } from "node:timers/promises";
import { ask } from "./http.ts";
import { difference, show, valueAt } from "./json.ts";
import type { Line, TransportName } from "./line.ts";
import type { Run } from "./run.ts";
import { Failure, NotTried } from "./verdict.ts";
import { keyOf, plain, type View, viewOf } from "./view.ts";

/*
 * Comparisons of what clients hold at one cursor. A market moves, so each waits until both sides
 * stand, or stood, at the same place.
 */

const TRIES = 10;
const PAUSE_MS = 100;

/** REST at a cursor and the line that followed everything up to it hold equal values. */
export async function compareWithRest(line: Line, run: Run, patienceMs: number): Promise<void> {
  const [eventsBefore, placeBefore] = [line.events.length, line.place.cursor];
  let cursor = "";
  for (let tries = 0; tries < TRIES; tries += 1) {
    const rest = await readRest(run);
    cursor = rest.cursor;
    if (await line.until(() => line.views.has(rest.cursor), patienceMs / TRIES)) {
      const held = line.views.get(rest.cursor);
      if (held) return hold(plain(partOf(rest.view, held)), plain(held), `REST at ${rest.cursor}`);
    }
  }
  if (line.events.length === eventsBefore && cursor !== placeBefore) {
    throw new Failure(`to be brought to ${cursor}, where REST is`, `nothing since ${placeBefore}`);
  }
  throw new NotTried(`the line never stood at a cursor at which REST was read, such as ${cursor}`);
}

/** Two lines over the same channels hold equal values where they both stood. */
export async function compareWithLine(line: Line, other: Line, patienceMs: number): Promise<void> {
  const common = () => [...line.views.keys()].findLast((cursor) => other.views.has(cursor));
  if (!(await line.until(() => common() !== undefined, patienceMs))) {
    throw new NotTried("the two lines were at no common cursor");
  }
  const cursor = common() ?? "";
  const [left, right] = [other.views.get(cursor), line.views.get(cursor)];
  if (left && right) hold(plain(left), plain(right), `${other.name} at ${cursor}`);
}

/**
 * At each cursor at which both stood the line holds the items of `whole` with one of these symbols,
 * in their order, and no others.
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
    if (all && own) hold(select(all, symbol), Object.fromEntries(own.lists), `the selection at ${cursor}`);
  }
}

/** A line that begins where REST was read begins with what REST serves. */
export async function compareBeginning(
  transport: TransportName,
  run: Run,
  patienceMs: number,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const line = run.open(`beginning ${tries}`, { transport, query: { channels: "*" } });
    const isAnswered = await line.until(() => line.view !== undefined || line.end !== undefined, patienceMs);
    const [begun] = line.views;
    if (!isAnswered || !begun) throw new Failure("a snapshot of all channels", show(line.messages.at(-1)));
    const rest = await readRest(run);
    line.close();
    if (rest.cursor === begun[0]) {
      return hold(plain(partOf(rest.view, begun[1])), plain(begun[1]), `REST at ${rest.cursor}`);
    }
    await passing(PAUSE_MS, undefined, { signal: run.signal });
  }
  throw new NotTried(`in ${TRIES} tries the market moved between the two`);
}

/**
 * What REST serves, as far as the lists go that a client holds; the others have to be empty, as
 * those are which a client's plan does not give. Explanations are those of the flares that are
 * left.
 */
function partOf(rest: View, held: View): View {
  const lists = new Map([...rest.lists].filter(([name, items]) => held.lists.has(name) || items.length > 0));
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
  const { status, body } = await ask(run.surroundings.target, { path: "/api/v1/snapshot" }, run.signal);
  const cursor = valueAt(body, "/cursor");
  if (status === 200 && typeof cursor === "string") return { cursor, view: viewOf(body) };
  throw new Failure("200 with a cursor of GET /api/v1/snapshot", `${status} ${show(body)}`, ["rest/shapes"]);
}

function select({ lists }: View, symbol: string): Record<string, readonly unknown[]> {
  const isMet = (item: unknown) =>
    SYMBOLS.some((pointer) => {
      const own = valueAt(item, pointer);
      return typeof own === "string" && own.toLowerCase() === symbol.toLowerCase();
    });
  return Object.fromEntries([...lists].map(([name, items]) => [name, items.filter(isMet)]));
}

/** Where the items of the lists have their symbol. */
const SYMBOLS = ["/token/symbol", "/flare/token/symbol", "/object/token/symbol", "/object/symbol"];

function hold(left: unknown, right: unknown, what: string): void {
  const found = difference(left, right);
  if (found) throw new Failure(`${show(found.left)} at ${found.path}, as of ${what}`, show(found.right));
}
