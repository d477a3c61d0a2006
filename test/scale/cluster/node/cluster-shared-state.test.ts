import { EventEmitter } from "node:events";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ConnectionLimiter, ConnectionRegistry } from "../../../../src/gateway/http/index.ts";
import type { Notice } from "../../../../src/scale/cluster/engine.ts";
import { ClusterSharedState } from "../../../../src/scale/cluster/node/cluster-shared-state.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";

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

/** Creates a node's state, with the texts that it sent to the server. `say` plays the server. */
function createState() {
  const sent: string[] = [];
  const line = new EventEmitter<{ notice: [Notice] }>();
  const unused = async () => undefined;
  const servers = {
    put: unused,
    get: unused,
    take: unused,
    notify: (notice: Notice) => void (notice.kind === "shared" && sent.push(notice.text)),
    onNotice: (listener: (notice: Notice) => void) => {
      line.on("notice", listener);
      return () => {};
    },
  };
  const clock = new ManualClock();
  const state = new ClusterSharedState(servers, clock);
  const say = (text: string) => void line.emit("notice", { kind: "shared", text });
  return { state, sent, say, clock };
}

/** Creates a node's state with the registry of its connections. */
function createNode() {
  const { state, ...rest } = createState();
  const registry = new ConnectionRegistry(new ConnectionLimiter(99, 99), undefined, (client) =>
    state.claim(client),
  );
  state.onClaimed((client) => registry.supersede(client));
  const connect = () => {
    const connection = new FakeConnection();
    expect(registry.admit(connection, "192.0.2.7", "mine", ACCESS)).toBeUndefined();
    registry.slotOf(connection)?.attach({ close: () => connection.destroy() });
    return connection;
  };
  return { ...rest, state, registry, connect };
}

test("a node ignores messages that it cannot parse on the cluster's server, and takes the next valid one", () => {
  const { state, say } = createState();
  const claimed: string[] = [];
  state.onClaimed((client) => claimed.push(client));
  const other = JSON.stringify({ by: "another", message: { type: "claim", client: "mine" } });
  const malformed = ["", "claim", "null", "[]", "{}", '{"by":"a"}', '{"by":"a","message":{"type":"x"}}'];
  for (const text of [...malformed, other]) say(text);
  expect(claimed).toEqual(["mine"]);
  state.stop();
});

test("[W32] a lost claim does not keep an old connection open forever", () => {
  const [{ state, say, clock, connect }, other] = [createNode(), createNode()];
  const connection = connect();
  clock.advance(11_000);
  other.connect();
  for (const text of other.sent) say(text);
  expect(connection.isOpen).toBe(false);
  state.stop();
  other.state.stop();
});

test("[W32] of a client's connections at several nodes only the one claimed last stays, in whatever order the claims arrive", () => {
  const step = fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("connect" as const), at: fc.nat(2) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("relay" as const), at: fc.nat(2) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("deliver" as const), at: fc.nat(2) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const nodes = [createNode(), createNode(), createNode()];
      const connections: FakeConnection[][] = nodes.map(() => []);
      const relayed = nodes.map(() => 0);
      const delivered = nodes.map(() => 0);
      /** Claims and their nodes, in the order in which they reached the server. */
      const order: { readonly from: number; readonly text: string }[] = [];
      const relay = (at: number) => {
        const text = nodes[at]?.sent[relayed[at] ?? 0];
        if (text === undefined) return false;
        relayed[at] = (relayed[at] ?? 0) + 1;
        order.push({ from: at, text });
        return true;
      };
      const deliver = (at: number) => {
        const claim = order[delivered[at] ?? 0];
        if (!claim) return false;
        delivered[at] = (delivered[at] ?? 0) + 1;
        nodes[at]?.say(claim.text);
        return true;
      };
      for (const { kind, at } of steps) {
        const node = nodes[at];
        if (kind === "connect" && node) connections[at]?.push(node.connect());
        if (kind === "relay") relay(at);
        if (kind === "deliver") deliver(at);
      }
      for (const at of nodes.keys()) while (relay(at));
      for (const at of nodes.keys()) while (deliver(at));
      const open = connections.map((all) => all.filter(({ isOpen }) => isOpen).length);
      const last = order.at(-1)?.from;
      expect(open).toEqual(nodes.map((_, at) => (at === last ? 1 : 0)));
      expect(nodes.map(({ registry }) => registry.limiter.taken)).toEqual(open);
      for (const { state } of nodes) state.stop();
    }),
  );
});

test("[K6] a key's requests are reported every 50 ms, each once, until the node stops", () => {
  const { state, sent, clock } = createState();
  const reports = () => sent.map((text): unknown => JSON.parse(text).message);
  const report = (requests: number) => ({ type: "counted", keyId: KEY_ID, requests });
  state.count(KEY_ID);
  state.count(KEY_ID);
  clock.advance(49);
  expect(reports()).toEqual([]);
  clock.advance(1);
  expect(reports()).toEqual([report(2)]);
  clock.advance(50);
  state.count(KEY_ID);
  clock.advance(50);
  expect(reports()).toEqual([report(2), report(1)]);
  state.stop();
  state.count(KEY_ID);
  clock.advance(1_000);
  expect(reports()).toHaveLength(2);
});

test("[K6] a node counts the requests that a key made at other nodes, not its own again", () => {
  const [one, other] = [createState(), createState()];
  const counted: [string, number][] = [];
  one.state.onCounted((keyId, requests) => counted.push([keyId, requests]));
  one.state.count(KEY_ID);
  other.state.count(KEY_ID);
  other.state.count(KEY_ID);
  for (const { clock } of [one, other]) clock.advance(50);
  for (const text of [...one.sent, ...other.sent]) one.say(text);
  expect(counted).toEqual([[KEY_ID, 2]]);
  for (const { state } of [one, other]) state.stop();
});
