import { setTimeout as passing } from "node:timers/promises";
import type { Step, StepOf } from "./case-format.ts";
import { compareInitialState, compareSelection, compareWithLine, compareWithRest } from "./compare.ts";
import { fetchResponse, type HttpResponse } from "./http.ts";
import { difference, isObject, type JsonObject, show, valueAt } from "./json.ts";
import { type Line, readTransport } from "./line.ts";
import { match } from "./match.ts";
import type { Run } from "./run.ts";
import { Failure, NotTried } from "./verdict.ts";

/** Pause between two requests that are repeated until the response matches. */
const RETRY_MS = 200;

type Performed = { readonly [D in Step["do"]]: (step: StepOf<D>, run: Run) => Promise<void> | void };

const PERFORMED: Performed = {
  async request(step, run) {
    const deadline = performance.now() + patience(step, run);
    for (;;) {
      const response = await fetchResponse(run.context.target, step, run.signal);
      const isLast = !step.until || performance.now() > deadline;
      const found = match(step.is ?? {}, response, run.context.shapes);
      if (!found) return saveResponse(step, response, run);
      if (isLast) {
        if (step.none === "quiet") throw new NotTried(`${step.path} has no suitable response yet`);
        const asked = `${step.method ?? "GET"} ${step.path}`;
        throw new Failure(`${found.expected} at ${found.path} of ${asked}`, show(found.came));
      }
      await passing(RETRY_MS, undefined, { signal: run.signal });
    }
  },

  async open(step, run) {
    const { query = {}, headers, protocols, anonymous, holding } = step;
    const view = holding === undefined ? undefined : run.line(holding).views.get(query.after ?? "");
    run.open(step.line, {
      transport: readTransport(step.transport ?? "websocket"),
      ...{ query, headers, protocols, anonymous, view },
    });
  },

  async send(step, run) {
    const line = run.line(step.line);
    await line.until(() => line.messages.length > 0 || line.end !== undefined, patience(step, run));
    for (let at = 1; at <= Number(step.times ?? 1); at += 1) {
      if (!step.hurry) await line.waitForCommandSlot(run.signal);
      if (step.binary !== undefined) line.send(new TextEncoder().encode(step.binary));
      else if (step.bytes !== undefined) line.send("x".repeat(Number(step.bytes)));
      else line.send(step.text ?? JSON.stringify(step.message).replaceAll("#", `${at}`));
      const filter = step.message?.filter;
      if (filter !== undefined) line.isFiltered = true;
      if (isObject(filter) && "names" in filter) line.keepsLists = false;
    }
  },

  async expect(step, run) {
    const line = run.line(step.line);
    const { where = {}, none = "fail" } = step;
    let at = -1;
    const find = () => {
      at = line.messages.findIndex(
        (message, index) => index >= line.taken && !match(where, message, run.context.shapes),
      );
      return at >= 0;
    };
    const came = await line.until(() => find() || line.end !== undefined, patience(step, run));
    if (at < 0) throw missing(`a message like ${show(where)}`, line, came, none);
    line.taken = at + 1;
    const message = line.messages[at];
    run.check(step.is ?? {}, message, `${line.transport} message `);
    if (step.frame) run.check(step.frame, line.frames[at], "server-sent event ");
    run.save(step.save, message);
  },

  async follow(step, run) {
    const line = run.line(step.line);
    const { none = "quiet", until } = step;
    const first = line.events.length;
    const hasArrived = () =>
      until === undefined
        ? line.events.length >= first + (step.events ?? 1)
        : line.views.has(until) || line.events.some(({ cursor }) => cursor === until);
    const came = await line.until(() => hasArrived() || line.end !== undefined, patience(step, run));
    if (!hasArrived()) throw missing(until ?? `${step.events ?? 1} events`, line, came, none);
    const events = step.until === undefined ? line.events.slice(first) : eventsUpTo(line, step.until);
    for (const event of events) if (step.each !== undefined) run.check(step.each, event, "event ");
    if (step.save?.events) run.saved.set(step.save.events, events);
    if (step.save?.cursor) run.saved.set(step.save.cursor, events.at(-1)?.cursor);
  },

  async same(step, run) {
    const line = run.line(step.line);
    if (step.as === undefined) await compareWithRest(line, run, patience(step, run));
    else await compareWithLine(line, run.line(step.as), patience(step, run));
  },

  async selected(step, run) {
    await compareSelection(run.line(step.line), run.line(step.of), step.symbols, patience(step, run));
  },

  async snapshot(step, run) {
    await compareInitialState(readTransport(step.transport ?? "websocket"), run, patience(step, run));
  },

  async history(step, run) {
    const events: unknown[] = [];
    let after = step.after;
    for (let more = true; more; ) {
      const query = { ...step.query, after };
      const request = { path: "/api/v1/events", query };
      const { status, body } = await fetchResponse(run.context.target, request, run.signal);
      if (status !== 200) throw new Failure("200", `${status} ${show(body)}`, ["P1"]);
      run.check({ $shape: "page" }, body, "history ");
      const page = valueAt(body, "/events");
      for (const event of Array.isArray(page) ? page : []) {
        events.push(event);
        if (step.until !== undefined && valueAt(event, "/cursor") === step.until) {
          run.saved.set(step.save, events);
          return;
        }
      }
      more = valueAt(body, "/more") === true;
      after = String(valueAt(body, "/cursor"));
    }
    if (step.until !== undefined)
      throw new Failure(`an event with the cursor ${step.until}`, "none up to the head");
    run.saved.set(step.save, events);
  },

  equal({ left, right, but = [] }) {
    const found = difference(without(left, but), without(right, but));
    if (found) throw new Failure(`${show(found.left)} at ${found.path || "/"}`, show(found.right));
  },

  differ({ left, right }) {
    if (!difference(left, right)) throw new Failure("two different values", `${show(left)} twice`);
  },

  holds({ value, is, else: why, again = false }, run) {
    if (why !== undefined && match(is, value, run.context.shapes)) throw new NotTried(why, again);
    run.check(is, value, "value ");
  },

  async silent(step, run) {
    const line = run.line(step.line);
    const from = step.ever ? 0 : line.messages.length;
    const find = () =>
      line.messages.slice(from).find((message) => !match(step.where, message, run.context.shapes));
    await line.until(() => find() !== undefined, Number(step.within_ms ?? 1_000));
    const found = find();
    if (found) throw new Failure(`no message like ${show(step.where)}`, show(found));
  },

  async closed(step, run) {
    const line = run.line(step.line);
    await line.until(() => line.end !== undefined, patience(step, run));
    const expected = `the end with ${step.code} ${step.reason}`;
    if (!line.end) throw new Failure(expected, "no end in time");
    const { code, reason } = line.end;
    if (code !== step.code || reason !== step.reason) throw new Failure(expected, `${code} ${reason}`);
  },

  async close(step, run) {
    const line = run.line(step.line);
    line.close();
    await line.until(() => line.end !== undefined, patience(step, run));
  },
};

/** Runs a step. Throws Failure and NotTried. */
export async function performStep(step: Step, run: Run): Promise<void> {
  switch (step.do) {
    case "request":
      return PERFORMED.request(step, run);
    case "open":
      return PERFORMED.open(step, run);
    case "send":
      return PERFORMED.send(step, run);
    case "expect":
      return PERFORMED.expect(step, run);
    case "follow":
      return PERFORMED.follow(step, run);
    case "same":
      return PERFORMED.same(step, run);
    case "selected":
      return PERFORMED.selected(step, run);
    case "history":
      return PERFORMED.history(step, run);
    case "equal":
      return PERFORMED.equal(step, run);
    case "differ":
      return PERFORMED.differ(step, run);
    case "holds":
      return PERFORMED.holds(step, run);
    case "silent":
      return PERFORMED.silent(step, run);
    case "closed":
      return PERFORMED.closed(step, run);
    case "close":
      return PERFORMED.close(step, run);
    case "snapshot":
      return PERFORMED.snapshot(step, run);
    default:
      return step satisfies never;
  }
}

function patience(step: Step, run: Run): number {
  return Number(step.within_ms ?? run.context.patienceMs);
}

/** Returns the error for messages that did not arrive. */
function missing(what: string, line: Line, isDone: boolean, none: "fail" | "quiet"): Error {
  if (line.end) return new Failure(what, `the end: ${line.end.code} ${line.end.reason}`);
  if (none === "quiet" && !isDone) return new NotTried(`no ${what} arrived in time: the market is quiet`);
  return new Failure(what, "no match in time");
}

/** Returns the items without these fields. */
function without(items: unknown, fields: readonly string[]): unknown {
  if (!Array.isArray(items) || fields.length === 0) return items;
  return items.map((item) =>
    isObject(item)
      ? Object.fromEntries(Object.entries(item).filter(([name]) => !fields.includes(name)))
      : item,
  );
}

function saveResponse({ save, link }: StepOf<"request">, response: HttpResponse, run: Run): void {
  run.save(save, response);
  if (!link) return;
  const links = (response.headers.link ?? "").split(/,\s*(?=<)/);
  const found = links.find((one) => one.includes(`rel="${link.rel}"`));
  const path = /^<([^>]+)>/.exec(found ?? "")?.[1];
  if (path === undefined) throw new Failure(`a Link of rel="${link.rel}"`, show(response.headers.link));
  run.saved.set(link.save, path);
}

function eventsUpTo(line: Line, cursor: string): readonly JsonObject[] {
  const { events } = line;
  const at = events.findIndex((event) => isObject(event) && event.cursor === cursor);
  return events.slice(0, at + 1);
}
