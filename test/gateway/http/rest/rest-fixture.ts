import type { FastifyInstance, InjectOptions } from "fastify";
import { test as base } from "vitest";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../../src/base/model/index.ts";
import { type Freshness, type SourceInfo, toEpoch, toSeq } from "../../../../src/base/protocol/index.ts";
import { createHttpServer, type HeadLike } from "../../../../src/gateway/http/index.ts";
import { validateResponse } from "../../../support/expect/validate-response.ts";
import { type ServerOptions, withExtensions } from "../../../support/servers/with-extensions.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { SAMPLE_SNAPSHOT } from "../../../support/world/samples.ts";

/** A head that the test moves. */
export class HandHead implements HeadLike {
  ready = true;
  cursor = { epoch: toEpoch("test1"), seq: toSeq(0) };
  snapshot: Snapshot = EMPTY_SNAPSHOT;
  observedAtMs = Date.parse("2017-11-12T08:36:00.000Z");

  /** Replaces parts of the snapshot, `events` events and a second of event time later. */
  move(parts: Partial<Snapshot>, events = 1): void {
    this.snapshot = { ...this.snapshot, ...parts };
    this.cursor = { ...this.cursor, seq: toSeq(this.cursor.seq + events) };
    this.observedAtMs += 1_000;
  }
}

export const INFO: SourceInfo = {
  name: "replay",
  origin: "recorded",
  facts: { trades: false, liquidity: false, listings: false, profiles: true },
};

export const FRESH: Freshness = {
  state: "live",
  reason: "",
  observed_at: "2017-11-12T08:36:00.000Z",
  last_success_at: "2026-11-21T08:00:00.000Z",
  data_age_ms: 1_999,
};

/** A response, checked against its contract. */
export interface Checked {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  /** The body as received. */
  readonly body: Buffer;
  /** The decoded body; `undefined` if there is none. */
  readonly json: unknown;
}

/** A server with parts that a test can change. */
export interface Rest {
  readonly app: FastifyInstance;
  readonly head: HandHead;
  readonly clock: ManualClock;
  /** The source's state, which a test may replace. */
  freshness: Freshness;
  ready: boolean;
  ask(
    method: NonNullable<InjectOptions["method"]>,
    url: string,
    headers?: Record<string, string>,
  ): Promise<Checked>;
}

/** Creates servers and closes them. */
export type RestFactory = (options?: Partial<ServerOptions>) => Promise<Rest>;

/** Creates servers for `use`, and closes them after it. */
export async function useRests(use: (makeRest: RestFactory) => Promise<void>): Promise<void> {
  const made: FastifyInstance[] = [];
  await use(async (options = {}) => {
    const head = new HandHead();
    head.move(SAMPLE_SNAPSHOT, 7);
    const clock = new ManualClock();
    const state = { freshness: FRESH, ready: true };
    const app = await createHttpServer(
      withExtensions({
        head,
        freshness: () => state.freshness,
        info: () => INFO,
        ready: () => state.ready,
        clock,
        ...options,
      }),
    );
    made.push(app);
    return Object.assign(state, {
      app,
      head,
      clock,
      ask: async (method: NonNullable<InjectOptions["method"]>, url: string, headers = {}) => {
        const {
          statusCode: status,
          headers: fields,
          rawPayload: body,
        } = await app.inject({ method, url, headers });
        return {
          status,
          headers: fields,
          body,
          json: validateResponse(method, url, { status, headers: fields, body }),
        };
      },
    });
  });
  for (const app of made) await app.close();
}

/** {@link test} with `makeRest`, and `rest`: a server whose lists all have items. */
export const test = base.extend<{ makeRest: RestFactory; rest: Rest }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  makeRest: async ({}, use) => useRests(use),
  rest: async ({ makeRest }, use) => use(await makeRest()),
});
