import { EventEmitter } from "node:events";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ConnectionLimiter, ConnectionRegistry } from "../../src/gateway/http/index.ts";
import { RemoteState } from "../../src/workers/index.ts";
import { ManualClock } from "../support/time/manual-clock.ts";
import { linked } from "./linked.ts";

const ACCESS = { plan: undefined, key: undefined, ticket: undefined };
const KEY_ID = "0a0a0a0a";

/** A fake connection for the registry. */
class FakeConnection extends EventEmitter<{ close: [] }> {
  isOpen = true;

  destroy(): void {
    this.isOpen = false;
    this.emit("close");
  }
}

/** Creates a worker's state with the registry of its connections. */
function createWorker() {
  const { link, sent } = linked();
  const clock = new ManualClock();
  const state = new RemoteState(link, clock);
  const registry = new ConnectionRegistry(new ConnectionLimiter(99, 99), undefined, (client) =>
    state.claim(client),
  );
  state.onClaimed((client) => registry.supersede(client));
  const connect = () => {
    const connection = new FakeConnection();
    expect(registry.admit(connection, "192.0.2.7", "mine", ACCESS)).toBeUndefined();
    return connection;
  };
  return { state, sent, clock, registry, connect };
}

test("[W32] a lost claim does not keep an old connection open forever", () => {
  const { state, clock, connect } = createWorker();
  const connection = connect();
  clock.advance(11_000);
  state.claimed({ type: "claimed", client: "address 192.0.2.7 mine", isOwn: false });
  expect(connection.isOpen).toBe(false);
  state.stop();
});

test("[W32] of a client's connections at several workers only the one claimed last stays, in whatever order the claims arrive", () => {
  const step = fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("connect" as const), at: fc.nat(2) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("relay" as const), at: fc.nat(2) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("deliver" as const), at: fc.nat(2) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const workers = [createWorker(), createWorker(), createWorker()];
      const connections: FakeConnection[][] = workers.map(() => []);
      const relayed = workers.map(() => 0);
      const delivered = workers.map(() => 0);
      /** Workers in the order in which their claims reached the primary. */
      const order: number[] = [];
      const relay = (at: number) => {
        if ((relayed[at] ?? 0) >= (workers[at]?.sent.length ?? 0)) return false;
        relayed[at] = (relayed[at] ?? 0) + 1;
        order.push(at);
        return true;
      };
      const deliver = (at: number) => {
        const from = order[delivered[at] ?? 0];
        if (from === undefined) return false;
        delivered[at] = (delivered[at] ?? 0) + 1;
        const client = "address 192.0.2.7 mine";
        workers[at]?.state.claimed({ type: "claimed", client, isOwn: from === at });
        return true;
      };
      for (const { kind, at } of steps) {
        const worker = workers[at];
        if (kind === "connect" && worker) connections[at]?.push(worker.connect());
        if (kind === "relay") relay(at);
        if (kind === "deliver") deliver(at);
      }
      for (const at of workers.keys()) while (relay(at));
      for (const at of workers.keys()) while (deliver(at));
      const open = connections.map((all) => all.filter(({ isOpen }) => isOpen).length);
      const last = order.at(-1);
      expect(open).toEqual(workers.map((_, at) => (at === last ? 1 : 0)));
      expect(workers.map(({ registry }) => registry.limiter.taken)).toEqual(open);
      for (const { state } of workers) state.stop();
    }),
  );
});

test("[K6] a key's requests are reported every 50 ms, each once, until the worker stops", () => {
  const { link, sent } = linked();
  const clock = new ManualClock();
  const state = new RemoteState(link, clock);
  const report = (requests: number) => ({ type: "counted", keyId: KEY_ID, requests });
  state.count(KEY_ID);
  state.count(KEY_ID);
  clock.advance(49);
  expect(sent).toEqual([]);
  clock.advance(1);
  expect(sent).toEqual([report(2)]);
  clock.advance(50);
  state.count(KEY_ID);
  clock.advance(50);
  expect(sent).toEqual([report(2), report(1)]);
  state.stop();
  state.count(KEY_ID);
  clock.advance(1_000);
  expect(sent).toHaveLength(2);
});
