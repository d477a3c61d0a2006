import { expect } from "vitest";
import { type Channel, type EventBody, matchChannels } from "../../../src/base/protocol/index.ts";
import { decodeBody } from "../../../src/gateway/log/event-log.ts";
import { readEntry } from "../../../src/scale/cluster/entry-text.ts";
import { decodeContent } from "../../../src/scale/cluster/node/entry-body.ts";
import type { HoppingClient } from "../../support/clients/hopping-client.ts";
import { FOLLOWED } from "../../support/clients/independent-client.ts";
import { ask } from "./redis-servers.ts";

/** Reads the log on a server. Returns all events as JSON text, by `epoch-seq`. */
export async function eventsOnServer(port: number): Promise<ReadonlyMap<string, string>> {
  const rows = await ask(port, (redis) => redis.xrangeBuffer("fw:{flarewire}:log", "-", "+"));
  const events = new Map<string, string>();
  for (const [id, fields] of rows) {
    const of = (name: string) => fields[fields.findIndex((field) => String(field) === name) + 1];
    const entry = readEntry(Number.parseInt(String(id), 10), {
      header: String(of("h")),
      body: of("b") ?? Buffer.alloc(0),
    });
    const update = decodeContent(entry)?.update;
    if (update?.type !== "batch") continue;
    for (const { seq, encoded } of update.records)
      events.set(`${entry.header.epoch}-${seq}`, JSON.stringify(decodeBody(encoded)));
  }
  return events;
}

const CHANNELS: ReadonlySet<Channel> = new Set(FOLLOWED.split(",").flatMap(matchChannels));

function isFollowed(event: string): boolean {
  const { channel }: EventBody = JSON.parse(event);
  return CHANNELS.has(channel);
}

/**
 * Expects that a client, all of whose events have one epoch, has each followed event of the log
 * between its own first and last event, once, and no other.
 */
export function expectSameEvents(
  { applied, delivered }: Pick<HoppingClient, "applied" | "delivered">,
  log: ReadonlyMap<string, string>,
): void {
  const seqOf = (at: string) => Number(at.split("-")[1]);
  const oldest = Math.min(...[...log.keys()].map(seqOf));
  const [first = 0, last = 0] = [applied[0], applied.at(-1)];
  const due = [...log].filter(([at, event]) => seqOf(at) >= first && seqOf(at) <= last && isFollowed(event));
  expect(due.filter(([at]) => !delivered.has(at))).toEqual([]);
  expect([...delivered].filter(([at, event]) => seqOf(at) >= oldest && log.get(at) !== event)).toEqual([]);
  expect(delivered.size).toBe(applied.length);
}
