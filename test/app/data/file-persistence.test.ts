import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createConfig } from "../../../src/app/config/config.ts";
import { openPersistence } from "../../../src/app/data/file-persistence.ts";
import { identityOf } from "../../../src/app/open-source.ts";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { EMPTY_SNAPSHOT } from "../../../src/base/model/index.ts";
import { type EventBody, formatMarks, type Lists, toSeq } from "../../../src/base/protocol/index.ts";
import { Head, Hub } from "../../../src/gateway/hub/index.ts";
import { decodeBody, type EventLog } from "../../../src/gateway/log/index.ts";
import { prepareSource } from "../../../src/gateway/start/run-source.ts";
import { createReplicaSink } from "../../../src/scale/follow/log-replica.ts";
import { createHubUnderTest, FRESH, INFO } from "../../gateway/hub/hub-fixture.ts";
import { type Step, TestMarket } from "../../gateway/hub/test-market.ts";
import { newDirectory } from "../../support/servers/edges.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

const IDENTITY = { name: "a test", fingerprint: "a test", needsEngine: false };

const textOf = (lists: Lists) => JSON.stringify([lists.snapshot, formatMarks(lists)]);

const logger = createLogger("silent");

/** Opens the persistence of a source without an engine, in this directory. */
const open = (data: string, clock = new ManualClock()) =>
  openPersistence({ config: createConfig({ data }), clock, logger, identity: IDENTITY });

/** Creates the head and the lists of a log. */
function headOf(log: EventLog, clock: ManualClock, snapshot = EMPTY_SNAPSHOT) {
  const market = new TestMarket();
  const head = new Head({ log, initial: { snapshot, observedAtMs: 1 } });
  const hub = new Hub({
    ...{ log, head, clock, info: () => INFO, freshness: () => FRESH, serverName: "flarewire/test" },
    onError: (error) => {
      throw error;
    },
  });
  const publish = (...steps: Step[]) => head.publish({ observedAtMs: 1_000, ...market.poll(steps) });
  return { head, hub, history: hub.history, publish };
}

test("the state is stored at the first poll, then every 30 seconds, or after 5,000 events", async ({
  onTestFinished,
}) => {
  const clock = new ManualClock();
  const persistence = open(newDirectory(onTestFinished), clock);
  const { head, history, hub, publish } = headOf(persistence.createLog(), clock);
  let states = 0;
  const poll = async (...steps: Step[]) => {
    await publish(...steps);
    await persistence.onPublished({ head, history }, () => {
      states += 1;
      return undefined;
    });
    return states;
  };
  expect([await poll("list"), await poll("list")]).toEqual([1, 1]);
  for (let round = 1; round <= 2; round += 1) {
    clock.advance(29_999);
    expect(await poll("refresh")).toBe(round);
    clock.advance(1);
    expect([await poll("refresh"), await poll("refresh")]).toEqual([round + 1, round + 1]);
  }
  const many = Array.from({ length: 4_990 }, (_, at): Step => (at % 2 ? "unlist" : "list"));
  expect(await poll(...many)).toBe(3);
  expect(await poll(...many.slice(0, 20))).toBe(4);
  await hub.close();
  await persistence.close();
});

test("a start that published nothing, as with a port in use, causes no warning at the next start", async ({
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const config = createConfig({ data: directory });
  const start = async (): Promise<string> => {
    const spied = createLogger("info", destination);
    const options = { config, clock: new ManualClock(), logger: spied, identity: IDENTITY };
    const persistence = openPersistence(options);
    const { epoch } = persistence.createLog().head;
    await persistence.close();
    return epoch;
  };
  expect(await start()).not.toBe(await start());
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(["starting a new log", "starting a new log"]);
});

test("[L3] a process resumes at the previous one's last event and its lists, although the state was stored earlier", async ({
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  const clock = new ManualClock();
  const first = open(directory, clock);
  const { head, history, hub, publish } = headOf(first.createLog(), clock);
  await publish("list", "flare");
  await first.onPublished({ head, history });
  await publish("list", "refresh");
  await first.onPublished({ head, history });
  const lists = textOf(history.lists);
  await hub.close();
  await first.close();
  const second = open(directory, clock);
  expect(second.restored && textOf(second.restored.known.lists)).toBe(lists);
  expect(second.createLog().head.seq).toBe(4);
  await second.close();
});

test("[L3] a follower that starts over stores its state at once, and the next process resumes from it", async ({
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  const clock = new ManualClock();
  const leader = createHubUnderTest();
  const first = open(directory, clock);
  const log = first.createFollowerLog();
  const { head, history, hub } = headOf(log, clock);
  const sink = createReplicaSink({ log, head, history, persistence: first, onPublished: () => {} });
  for (const steps of [["list", "flare"], ["list"]] as const) {
    await leader.publish(...steps);
    const { cursor } = leader.head;
    const { lists } = leader.hub.history;
    await sink.begin(cursor, { observedAtMs: 1_000, positions: leader.log.positions, lists });
  }
  const lists = textOf(history.lists);
  await hub.close();
  await first.close();
  const second = open(directory, clock);
  expect(second.restored && textOf(second.restored.known.lists)).toBe(lists);
  expect(second.createFollowerLog().head.seq).toBe(3);
  await second.close();
});

test("[L3] a follower reports a leader's event and then stores it, both after the head has it", async () => {
  const clock = new ManualClock();
  const leader = createHubUnderTest();
  const log = openPersistence({
    config: createConfig({ data: "none" }),
    clock,
    logger,
    identity: IDENTITY,
  }).createFollowerLog();
  const { head, history, hub } = headOf(log, clock);
  const steps: string[] = [];
  const note = (name: string) => () => void steps.push(`${name} ${head.cursor.seq}`);
  const persistence = { onPublished: note("stored"), onReset: note("reset") };
  const sink = createReplicaSink({ log, head, history, persistence, onPublished: note("reported") });
  const { positions } = leader.log;
  await sink.begin(leader.head.cursor, { observedAtMs: 1_000, positions, lists: leader.hub.history.lists });
  for (let seq = 1; seq <= 2; seq += 1) {
    await leader.publish("list");
    const read = await leader.log.read(leader.log.cursorAt(toSeq(seq - 1)), 9);
    const records = read.kind === "records" ? read.records : [];
    const events = records.map(({ batch, emittedAtMs, encoded }) => ({
      ...{ seq, batch, emittedAtMs, encoded, run: undefined },
      body: decodeBody(encoded),
    }));
    await sink.publish({ events, snapshot: leader.head.snapshot, observedAtMs: 1_000 });
  }
  expect(steps).toEqual(["reset 0", "reported 1", "stored 1", "reported 2", "stored 2"]);
  await hub.close();
});

test("[L1] [L3] after a restart, a source publishes what changed in the meantime, and nothing twice", async () => {
  const clock = new ManualClock();
  const market = createHubUnderTest();
  await market.publish("list", "flare");
  const { lists } = market.hub.history;
  await market.publish("list");
  const missed = await market.log.read(market.log.cursorAt(toSeq(2)), 9);
  const polls = [{ observedAtMs: 2_000, snapshot: market.head.snapshot }];
  const source = { info: INFO, poll: async () => polls.shift(), freshness: () => FRESH };
  const persistence = openPersistence({
    config: createConfig({ data: "none" }),
    clock,
    logger,
    identity: IDENTITY,
  });
  const { snapshot } = lists;
  const known = { lists, checkpoints: [] };
  const resume = { snapshot, known, observedAtMs: 1_000, afterMs: Number.NEGATIVE_INFINITY };
  const { log, run } = prepareSource({ kind: "snapshots", source, resume }, persistence);
  const { head, hub } = headOf(log, clock, snapshot);
  const reported: string[] = [];
  const onPublished = (batch: readonly EventBody[]) => reported.push(...batch.map(({ name }) => name));
  await run({ head, hub, clock, logger, onPublished, signal: new AbortController().signal });
  expect(reported).toEqual(missed.kind === "records" ? missed.records.map(({ name }) => name) : "lost");
  expect(log.head.seq).toBe(1);
  await hub.close();
});

test("a process that ends before it creates its log frees the file for the next one", ({
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  const ends = [];
  for (let start = 0; start < 2; start += 1) ends.push(open(directory).close());
  return Promise.all(ends);
});

test("a copy of a recording with another path and time counts as the same source; another recording does not", ({
  onTestFinished,
}) => {
  const identify = (content: string, writtenAt: number) => {
    const file = join(newDirectory(onTestFinished), "market.csv");
    writeFileSync(file, content);
    utimesSync(file, writtenAt, writtenAt);
    return identityOf(createConfig({ feed: "replay", file }), undefined).fingerprint;
  };
  const original = identify("first", 1_000);
  expect(identify("first", 2_000)).toBe(original);
  expect(identify("other", 1_000)).not.toBe(original);
  const long = "x".repeat(100_000);
  expect(identify(`${long}y`, 1_000)).not.toBe(identify(long, 1_000));
});

/** Resolves after everything that waits for no timer. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Returns the progress of an engine whose state has these slices. */
const progressOf = (slices: Iterable<string>) => () => ({ afterMs: 1, checkpoint: "rest", slices });

test("a state's slices are read again in order, and those of an unfinished or failed one are not", async ({
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  const clock = new ManualClock();
  const texts: string[] = [];
  for (const round of [1, 2]) {
    const persistence = open(data, clock);
    texts.push(JSON.stringify([...(persistence.restored?.engine?.slices ?? [])]));
    const { head, history, publish } = headOf(persistence.createLog(), clock);
    await publish("list");
    clock.advance(30_000);
    await persistence.onPublished({ head, history }, progressOf([`a${round}`, `b${round}`]));
    await nextTurn();
    clock.advance(30_000);
    const broken = function* () {
      yield "half";
      throw new RangeError("Invalid string length");
    };
    await publish("list");
    await persistence.onPublished({ head, history }, progressOf(broken()));
    await nextTurn();
    await persistence.close();
  }
  const last = open(data, clock);
  texts.push(JSON.stringify([...(last.restored?.engine?.slices ?? [])]));
  await last.close();
  expect(texts).toEqual(["[]", '["a1","b1"]', '["a2","b2"]']);
});

test("while a state's slices are stored, events are, and no other state is begun; a close abandons it", async ({
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  const clock = new ManualClock();
  const persistence = open(data, clock);
  const { head, history, publish } = headOf(persistence.createLog(), clock);
  await publish("list");
  await persistence.onPublished({ head, history }, progressOf(["first"]));
  clock.advance(30_000);
  let isReleased = false;
  const slow = function* () {
    try {
      for (let slice = 0; ; slice += 1) {
        // Packing takes long, so that the next slice waits for another turn.
        clock.advance(100);
        yield `slice ${slice}`;
      }
    } finally {
      isReleased = true;
    }
  };
  const storing = persistence.onPublished({ head, history }, progressOf(slow()));
  const { seq } = head.cursor;
  await publish("list");
  expect(head.cursor.seq).toBeGreaterThan(seq);
  clock.advance(30_000);
  await persistence.onPublished({ head, history }, () => {
    throw new Error("another state was begun");
  });
  await Promise.all([persistence.close(), storing]);
  expect(isReleased).toBe(true);
  const next = open(data, clock);
  expect([...(next.restored?.engine?.slices ?? [])]).toEqual(["first"]);
  await next.close();
});
