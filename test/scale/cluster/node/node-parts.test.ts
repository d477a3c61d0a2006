import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { toEpoch, toRun, toSeq } from "../../../../src/base/protocol/index.ts";
import { clusterMetrics } from "../../../../src/scale/cluster/cluster-metrics.ts";
import { CLUSTER_SETTINGS } from "../../../../src/scale/cluster/cluster-settings.ts";
import { readEntry, seal, toStoredEntry, UnreadableEntry } from "../../../../src/scale/cluster/entry-text.ts";
import { ClusterTask, type TaskChange } from "../../../../src/scale/cluster/node/cluster-task.ts";
import { engineAddress } from "../../../../src/scale/cluster/node/engine-address.ts";
import {
  decodeContent,
  type EntryContent,
  encodeContent,
} from "../../../../src/scale/cluster/node/entry-body.ts";
import { SharedMarket } from "../../../../src/scale/cluster/node/shared-market.ts";
import { FRESH, INFO } from "../../../gateway/hub/hub-fixture.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";

const TLS = { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true };
const SECRET = { username: "me", password: "pw", sentinelPassword: "pw" };
const one = { host: "a", port: 26_379 };

const ADDRESSES: readonly (readonly [
  cluster: string,
  password: string | undefined,
  connection: object,
  acknowledgements: number,
])[] = [
  ["redis://a", undefined, { host: "a", port: 6_379 }, 0],
  ["redis://a:7", "pw", { host: "a", port: 7, ...SECRET }, 0],
  ["redis://[::1]:7", undefined, { host: "::1", port: 7 }, 0],
  ["rediss://a", undefined, { host: "a", port: 6_379, ...TLS }, 0],
  ["redis+sentinel://a,b:8/main", undefined, { sentinels: [one, { host: "b", port: 8 }], name: "main" }, 1],
  ["rediss+sentinel://a/main", "pw", { sentinels: [one], name: "main", ...TLS, ...SECRET }, 1],
];

test.each(ADDRESSES)(
  "the cluster %s with the password %s is reached there",
  (cluster, password, expected, acknowledgements) => {
    const address = engineAddress({ cluster, clusterUser: "me" }, password);
    const { Connector, ...connection } = { Connector: undefined, ...address.connection };
    expect([connection, address.acknowledgements, Connector !== undefined]).toEqual([
      expected,
      acknowledgements,
      acknowledgements === 1,
    ]);
  },
);

test("the settings of a cluster take the last good value, and not the first bad one", () => {
  const takes = (name: keyof typeof CLUSTER_SETTINGS, text: string) =>
    CLUSTER_SETTINGS[name].schema.safeParse(text).success;
  const good = [
    "none",
    "redis://a",
    "redis://a:12345",
    "redis://[::1]:7",
    "rediss://a.b-c",
    "redis+sentinel://a,b:1/main",
    `rediss+sentinel://a/${"n".repeat(64)}`,
  ];
  const bad = [
    "",
    "a",
    "redis://",
    "redis://a,b",
    "redis://a/name",
    "redis://me@a",
    "redis://a:123456",
    "http://a",
    "redis+sentinel://a",
    "redis+sentinel://a/",
    `redis+sentinel://a/${"n".repeat(65)}`,
    "redis+sentinel://a,/main",
  ];
  expect(good.filter((text) => !takes("cluster", text))).toEqual([]);
  expect(bad.filter((text) => takes("cluster", text))).toEqual([]);
  expect(
    ["a", "0-b", "a".repeat(32), "-a", "A", "", "a".repeat(33)].map((text) => takes("clusterName", text)),
  ).toEqual([true, true, true, false, false, false, false]);
  expect(
    ["a", "!~", "a".repeat(64), "", "a b", "ä", "a".repeat(65)].map((text) => takes("clusterUser", text)),
  ).toEqual([true, true, true, false, false, false, false]);
});

const HEADER = { kind: "batch", term: 2, by: "a", nonce: "n", prev: "p", committed: 3, epoch: "e1" } as const;

test("an entry is read as it was stored, and its hash covers every field of its header and its body", () => {
  const entry = seal(4, HEADER, Buffer.from("x"));
  expect(readEntry(4, toStoredEntry(entry))).toEqual(entry);
  expect(entry.hash).toHaveLength(12);
  const others = [
    ...Object.entries({
      kind: "alive",
      term: 3,
      by: "b",
      nonce: "m",
      prev: "q",
      committed: 4,
      epoch: "e2",
    } as const).map(([field, value]) => seal(4, { ...HEADER, [field]: value }, entry.body)),
    seal(4, HEADER, Buffer.from("y")),
  ];
  expect(new Set([entry, ...others].map(({ hash }) => hash)).size).toBe(9);
});

test("an entry of another version, or with a field that is missing or beyond its bound, is unreadable", () => {
  const stored = (part: object) => ({
    header: JSON.stringify({ v: 1, ...HEADER, ...part }),
    body: Buffer.alloc(0),
  });
  const read = (part: object) => {
    try {
      return readEntry(9, stored(part)).offset;
    } catch (error) {
      return error instanceof UnreadableEntry ? error.message : "another error";
    }
  };
  expect(read({ v: 2 })).toBe("entry 9: its version is 2; this node reads 1");
  expect([read({}), read({ by: "x".repeat(256) }), read({ term: 0, committed: 0 })]).toEqual([9, 9, 9]);
  for (const part of [
    { kind: "x" },
    { term: -1 },
    { term: 0.5 },
    { committed: -1 },
    { by: "x".repeat(257) },
    { epoch: 1 },
    { prev: undefined },
    { nonce: null },
  ])
    expect(read(part)).toBe("entry 9: it is malformed");
});

const report = { info: INFO, freshness: FRESH };
const record = {
  seq: toSeq(7),
  batch: toSeq(8),
  emittedAtMs: 5,
  name: "source-status",
  channel: "status",
  encoded: Buffer.from('{"a":1}'),
} as const;
const cursor = { epoch: toEpoch("test1"), seq: toSeq(6) };

test.each<EntryContent>([
  { report },
  {
    report,
    update: {
      type: "begin",
      cursor,
      positions: { status: 3 },
      observedAtMs: 4,
      lists: Buffer.from([1, 2, 255]),
    },
  },
  { report, alerts: { kind: "content", text: "ä\n" } },
  { report, alerts: { kind: "changes", bytes: Buffer.from([0, 255]) } },
  { report, update: { type: "batch", records: [], observedAtMs: 4 } },
  { report, update: { type: "batch", records: [record, { ...record, seq: toSeq(8) }], observedAtMs: 4 } },
])("what a leader writes into an entry is read as it was: %j", (content) => {
  const read = decodeContent({ header: { epoch: "test1", term: 36 }, body: encodeContent(content) });
  const { update } = content;
  const records =
    update?.type === "batch" ? update.records.map((each) => ({ ...each, run: toRun("10") })) : [];
  expect(read).toEqual(update?.type === "batch" ? { ...content, update: { ...update, records } } : content);
});

test("an empty entry has no content, and one with an unknown event is refused", () => {
  const header = { epoch: "test1", term: 1 };
  expect(decodeContent({ header, body: Buffer.alloc(0) })).toBeUndefined();
  const content = (part: object) =>
    encodeContent({ report, update: { type: "batch", records: [{ ...record, ...part }], observedAtMs: 4 } });
  for (const part of [{ name: "later-event" }, { channel: "later" }])
    expect(() => decodeContent({ header, body: content(part as never) })).toThrow("event 7 is malformed");
});

test("the nodes of a cluster run one market: a difference is refused with both values, an unknown setting is none", async () => {
  const asked: unknown[] = [];
  let common = "{}";
  const engine = {
    agree: async (own: string, keepMs: number, isForced: boolean) => {
      asked.push([own, keepMs, isForced]);
      return common;
    },
  };
  const market = new SharedMarket(engine, { settings: { feed: "bsc", pairs: "a" } } as never, "main");
  await market.check();
  common = JSON.stringify({ feed: "bsc", later: "x" });
  await market.check();
  common = JSON.stringify({ feed: "bsc", pairs: "b" });
  await expect(market.check()).rejects.toMatchObject({
    code: "invalid-setting",
    field: "pairs",
    message:
      "cluster main runs another market: pairs is b there and a here; use its settings or another cluster-name; to change its market, stop all its nodes for 30 s",
  });
  const clock = new ManualClock();
  let isLeading = false;
  const forget = market.keep(clock, () => isLeading);
  asked.length = 0;
  clock.advance(9_999);
  isLeading = true;
  clock.advance(1);
  expect(asked).toEqual([false, true].map((isForced) => ['{"feed":"bsc","pairs":"a"}', 30_000, isForced]));
  forget();
  clock.advance(10_000);
  expect(asked).toHaveLength(2);
  const silent = new SharedMarket(
    { agree: () => Promise.reject(new Error("no")) },
    { settings: { feed: "x" } } as never,
    "main",
  );
  await silent.check();
});

test("a leader writes its task's changes every 100 ms; after a failure and in a new epoch it first writes the whole state", async () => {
  const clock = new ManualClock();
  const written: TaskChange[] = [];
  let fails = false;
  let pending: Uint8Array | undefined;
  const copy = {
    content: () => "all",
    changes: () => {
      const now = pending;
      pending = undefined;
      return now;
    },
    apply: () => undefined,
    close: () => undefined,
  };
  const task = new ClusterTask(clock, () => copy);
  const running = task.run({ openCopy: () => copy, start: () => ({ stop: async () => undefined }) } as never);
  const append = async (change: TaskChange) => {
    if (fails) throw new Error("fenced");
    written.push(change);
  };
  const change = async (byte: number | undefined) => {
    pending = byte === undefined ? undefined : Uint8Array.of(byte);
    clock.advance(100);
    await turn();
  };
  const kinds = () =>
    written.splice(0).map((each) => (each.kind === "changes" ? [...each.bytes] : each.text));
  task.lead(append, false);
  await change(1);
  await change(undefined);
  clock.advance(99);
  expect(kinds()).toEqual([[1]]);
  fails = true;
  await change(2);
  fails = false;
  await change(undefined);
  await change(3);
  expect(kinds()).toEqual(["all", [3]]);
  task.lead(append, true);
  await change(undefined);
  await change(4);
  expect(kinds()).toEqual(["all", [4]]);
  task.follow();
  await change(5);
  expect(kinds()).toEqual([]);
  await running.stop();
});

test("each metric of a cluster shows its own value", () => {
  const state = {
    isLeading: true,
    term: 2,
    entries: 3,
    silenceMs: 4_500,
    repairs: 5,
    epochs: 6,
    isForked: false,
    isRejected: true,
  };
  const metrics = Object.entries(clusterMetrics(() => state));
  expect(
    Object.fromEntries(
      metrics.map(([name, metric]) => [name.replace("flarewire_cluster_", ""), metric.read()]),
    ),
  ).toEqual({
    leader: 1,
    terms_total: 2,
    entries_total: 3,
    repairs_total: 5,
    epochs_total: 6,
    forked: 0,
    rejected: 1,
    silence_seconds: 4.5,
  });
});
