import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Receiver, status, webhookFile } from "../extensions/alerts/webhook-fixture.ts";
import { ProcessCluster } from "../scale/cluster/process-cluster.ts";
import { HAS_REDIS } from "../scale/cluster/redis-servers.ts";
import { newDirectory } from "../support/servers/edges.ts";
import { writePumpedMarket } from "../support/world/pumped-market.ts";

const MARKET = ["--drain", "0", "--group", "bsc", "--loop", "--speed", "600", "--warmup", "1h"];

describe.skipIf(!HAS_REDIS)("the webhooks of a cluster", () => {
  test("[L3] receive each message once, in order, from the leader alone, even if it is killed while it sends", async ({
    onTestFinished,
  }) => {
    await using receiver = new Receiver();
    await receiver.up();
    const directory = newDirectory(onTestFinished);
    const file = join(directory, "alerts.json");
    const recording = writePumpedMarket(join(directory, "market.csv"), 6);
    const rules = [{ name: "all", channels: ["flares.pro"] }];
    writeFileSync(file, webhookFile({ url: receiver.url, rules }));
    await using cluster = await ProcessCluster.start(2, [...MARKET, "--file", recording, "--alerts", file]);
    await receiver.until(() => receiver.taken.length >= 2);
    const { leader } = cluster;
    if (!leader) throw new Error("no node leads");
    // The message arrives, but its sender never receives the acceptance.
    receiver.answer = () => {};
    const { length } = receiver.attempts;
    await receiver.until(() => receiver.attempts.length > length);
    leader.cli.child.kill("SIGKILL");
    await leader.cli.ended();
    receiver.answer = status(204);
    await receiver.until(() => receiver.taken.length >= 5);
    const messages = receiver.taken.map(({ id, data }) => ({ id, cursor: cursorOf(data.event) }));
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
    expect(receiver.attempts.filter(({ id }) => id === messages[length]?.id)).toHaveLength(2);
    const cursors = messages.map(({ cursor }) => cursor);
    const log = await startsAndFinishesAfter(cluster.running[0]?.url ?? "", cursors[0] ?? "");
    expect(cursors.slice(1)).toEqual(log.slice(0, cursors.length - 1));
  });
});

const cursorOf = (event: unknown): string => Object(event).cursor;

/** Returns the cursors of the flares' starts and finishes after this cursor, from one page. */
async function startsAndFinishesAfter(url: string, cursor: string): Promise<readonly string[]> {
  const response = await fetch(`${url}/api/v1/events?channels=flares.pro&limit=1000&after=${cursor}`);
  const { events } = Object(await response.json());
  const selected: unknown[] = events.filter((event: unknown) =>
    /^flare-(started|finished)$/.test(Object(event).name),
  );
  return selected.map(cursorOf);
}
