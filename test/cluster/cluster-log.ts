import { readEntry } from "../../src/cluster/entry-text.ts";
import { decodeContent } from "../../src/gateway/cluster/entry-body.ts";
import { decodeTail } from "../../src/log/encode-tail.ts";
import { ask } from "./redis-servers.ts";

/** Reads the log on a server. Returns all events as text, by epoch and seq. */
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
    for (const { seq, tail } of update.records)
      events.set(`${entry.header.epoch}-${seq}`, JSON.stringify(decodeTail(tail)));
  }
  return events;
}
