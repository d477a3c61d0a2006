import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { test as base } from "vitest";
import type { Snapshot } from "../../../src/base/model/index.ts";
import { neverFlaredId } from "../../../src/engine/index.ts";
import type { UpstreamReport } from "../../../src/feeds/upstream/upstream-reports.ts";
import { type UpstreamOptions, UpstreamSource } from "../../../src/feeds/upstream/upstream-source.ts";
import type { Poll } from "../../../src/gateway/source/snapshot-source.ts";
import { ManualClock } from "../time/manual-clock.ts";
import { Waiters } from "../time/waiters.ts";
import { freePort } from "./free-port.ts";

/** Responds to one request. */
export type Script = (response: ServerResponse, headers: IncomingHttpHeaders) => void;
type Path = "snapshot" | "flares" | "newest" | "charts" | "leaderboards";

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

/** Responds 200 with this value as JSON. */
export const json =
  (body: unknown, headers: Record<string, string> = {}): Script =>
  (response) =>
    response.writeHead(200, { ...JSON_TYPE, ...headers }).end(JSON.stringify(body));

/** Responds with this status and text. */
export const text =
  (status: number, body: string, headers: Record<string, string> = JSON_TYPE): Script =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** Responds 200 with `body`, or 304 if the request has its ETag. */
export const tagged =
  (etag: string, body: unknown, headers: Record<string, string> = {}): Script =>
  (response, requestHeaders) => {
    if (requestHeaders["if-none-match"] === etag) response.writeHead(304, { etag, ...headers }).end();
    else json(body, { etag, ...headers })(response, requestHeaders);
  };

/** Accepts the request and never responds. */
export const silent: Script = () => {};

/** Sends the headers and the start of a body, then nothing. */
export const slowBody: Script = (response) => {
  response.writeHead(200, JSON_TYPE).write('{"flares":');
};

/** Sends the start of a body, then drops the connection. */
export const cutBody: Script = (response) => {
  response.writeHead(200, JSON_TYPE).write('{"flares":', () => response.destroy());
};

/** Returns the body of `/snapshot`. */
export function wholeOf(
  snapshot: Snapshot,
  observedAt = "2017-11-12T08:30:00.000Z",
): Record<string, unknown> {
  return { cursor: "abcd1234-7", observed_at: observedAt, ...snapshot };
}

/**
 * An HTTP server on a free loopback port that responds to each path by its script, and with 404 to
 * other paths.
 */
export class ScriptedUpstream {
  readonly asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  readonly #scripts = new Map<string, Script[]>();
  #server: Server | undefined;
  #port = 0;
  readonly #waiters = new Waiters(() => this.paths);

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /**
   * Sets the scripts of `path`, used in turn. The last one is then used for all further requests.
   */
  on(path: Path, ...scripts: Script[]): this {
    this.#scripts.set(`/api/v1/${path}`, scripts);
    return this;
  }

  /** Serves the four resources of `snapshot`, but no `/snapshot`. */
  onFour({ flares, newest, charts, leaderboards }: Snapshot): this {
    this.#scripts.delete("/api/v1/snapshot");
    return this.on("flares", json(flares))
      .on("newest", json(newest))
      .on("charts", json(charts))
      .on("leaderboards", json(leaderboards));
  }

  /** The requested paths so far, without `/api/v1/`. */
  get paths(): readonly string[] {
    return this.asked.map(({ path }) => path.replace("/api/v1/", ""));
  }

  /** Resolves once `count` requests have arrived in total. */
  requested(count: number): Promise<void> {
    return this.#waiters.until(() => this.asked.length >= count, `${count} requests`);
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      this.asked.push({ path: request.url ?? "", headers: request.headers });
      const scripts = this.#scripts.get(request.url ?? "") ?? [];
      const script = scripts.length > 1 ? scripts.shift() : scripts[0];
      (script ?? text(404, "{}"))(response, request.headers);
      this.#waiters.look();
    });
    this.#server = server;
    this.#port ||= await freePort();
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (!server?.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }
}

/**
 * A timeout that differs from every interval and back-off of the tests, so that tests can tell
 * these sleeps apart.
 */
export const TIMEOUT_MS = 5_003;

/** Creates a source that polls a scripted upstream on a manual clock. */
export function follow(url: string, options: Partial<UpstreamOptions> = {}) {
  const clock = new ManualClock();
  const reports: UpstreamReport[] = [];
  const controller = new AbortController();
  const source = new UpstreamSource({
    neverFlaredId,
    url,
    clock,
    timeoutMs: TIMEOUT_MS,
    random: () => 0,
    onInvalid: (report) => reports.push(report),
    ...options,
  });
  /** Returns the waits between polls so far, in order. */
  const waits = () => clock.slept.filter((ms) => ms !== TIMEOUT_MS);

  let passed = 0;

  /** Resolves with the next wait that has not elapsed yet. */
  async function untilWait(): Promise<number> {
    for (;;) {
      const waitMs = waits()[passed];
      if (waitMs !== undefined) return waitMs;
      await clock.nextSleep();
    }
  }

  function pass(waitMs: number): void {
    passed += 1;
    clock.advance(waitMs);
  }

  async function settle(poll: Promise<Poll | undefined>): Promise<Poll> {
    for (;;) {
      const waitMs = await Promise.race([poll.then(() => undefined), untilWait()]);
      if (waitMs !== undefined) pass(waitMs);
      else {
        const result = await poll;
        if (!result) throw new Error("the upstream source ended");
        return result;
      }
    }
  }

  /** Polls once, and advances the time whenever the source waits. */
  const next = () => settle(source.poll(controller.signal));

  /**
   * Polls until a poll has failed and the source waits. `resume` advances the time until the next
   * good poll.
   */
  async function fail(): Promise<{ waitMs: number; resume: () => Promise<Poll> }> {
    const { failed } = source.stats();
    const poll = source.poll(controller.signal);
    poll.catch(() => {});
    for (;;) {
      const waitMs = await untilWait();
      if (source.stats().failed > failed) return { waitMs, resume: () => settle(poll) };
      pass(waitMs);
    }
  }

  return { source, clock, reports, controller, waits, untilWait, next, fail };
}

/** Tests with a running scripted upstream, which is stopped after each. */
export const test = base.extend<{ upstream: ScriptedUpstream }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  upstream: async ({}, use) => {
    const upstream = new ScriptedUpstream();
    await upstream.start();
    await use(upstream);
    await upstream.stop();
  },
});
