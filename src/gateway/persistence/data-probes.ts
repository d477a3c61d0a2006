import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { Probe } from "../../feed/index.ts";
import { messageOf } from "../../lib/text/message-of.ts";
import { faultOf, holderOf } from "../../log/index.ts";
import { type PersistenceOptions, storedPath } from "./persistence.ts";

/** What the probes of a data directory name as their service. */
export const DATA_SERVICE = "data";

const MIB = 1_024 * 1_024;

/**
 * Tests the config's data directory, and the log in it that `serve` would resume, for `flarewire
 * doctor`. Writes and locks nothing. Requires a data directory.
 */
export function dataProbes(config: PersistenceOptions["config"]): readonly Probe[] {
  const log = storedPath({ config }, "events");
  const probe = (what: string, judge: () => string, isOptional = false): Probe => ({
    ...{ service: DATA_SERVICE, what, host: "localhost", isOptional },
    run: async () => judge(),
  });
  return [
    probe("directory", () => judgeDirectory(config.data)),
    probe("space", () => judgeSpace(existing(config.data), config.logBytes), true),
    probe("lock", () => judgeLock(log), true),
    probe("log", () => judgeLog(log)),
  ];
}

/** Returns the path, or the nearest directory above it that exists. */
function existing(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path));
}

function judgeDirectory(path: string): string {
  const found = existing(path);
  const where = found === path ? "" : `, because of ${found}`;
  if (!statSync(found).isDirectory()) throw new Error(`cannot be used${where}: not a directory`);
  try {
    accessSync(found, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const advice = "choose a directory that this user can write to";
    throw new Error(`cannot be ${found === path ? "written" : "created"}${where}: ${advice}`, { cause });
  }
  return found === path ? "can be written" : "will be created";
}

function judgeSpace(path: string, logBytes: number): string {
  const { bavail, bsize } = statfsSync(path);
  const words = (bytes: number) => `${Math.floor(bytes / MIB)} MiB`;
  const free = bavail * bsize;
  if (free >= logBytes) return `${words(free)} free`;
  throw new Error(`${words(free)} free, less than logBytes, ${words(logBytes)}: make room`);
}

function judgeLock(path: string): string {
  const holder = existsSync(path) ? holderOf(path) : "";
  if (holder === "") return "not in use by another process, as far as the system says";
  throw new Error(`in use by another process${holder}; only one may use the directory`);
}

/** Reads only a closed file: an open one's newest pages are in its write-ahead file. */
function judgeLog(path: string): string {
  const name = basename(path);
  if (!existsSync(path)) return "none of this market yet";
  if (existsSync(`${path}-wal`)) return "open, or not closed in order; not checked";
  const url = pathToFileURL(path);
  // Otherwise SQLite would create files beside it.
  url.searchParams.set("immutable", "1");
  let state: unknown;
  try {
    const db = new DatabaseSync(url, { readOnly: true });
    try {
      state = Object.values(db.prepare("PRAGMA quick_check(1)").get() ?? {})[0];
    } finally {
      db.close();
    }
  } catch (error) {
    state = messageOf(error);
    if (faultOf(error) !== "damaged") throw new Error(`${name} cannot be read (${state})`, { cause: error });
  }
  if (state === "ok") return `${name} is intact`;
  throw new Error(`${name} is damaged (${state}): serve would move it aside and start a new log`);
}
