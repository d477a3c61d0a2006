import { Redis, type RedisOptions } from "ioredis";
import type { Notify } from "../../../base/lib/notify.ts";
import { parseJson } from "../../../base/lib/parse-json.ts";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import type { AppendResult } from "../effect.ts";
import { type Checkpoint, type Engine, type LogNews, Notice } from "../engine.ts";
import type { Entry, Position } from "../entry.ts";
import { readEntry, toStoredEntry, UnreadableEntry } from "../entry-text.ts";
import { AGREE_SCRIPT, APPEND_SCRIPT, HEAD_SCRIPT, HEADER_START, STORE_SCRIPT } from "./redis-scripts.ts";

export interface RedisEngineOptions {
  /** Addresses and credentials of the servers, or of their Sentinels. */
  readonly connection: Omit<RedisOptions, "replyMapping">;
  /** Name of the cluster, part of every key. */
  readonly name: string;
  /** Number of replicas that must have an entry before it counts as appended. */
  readonly acknowledgements: number;
  /** Number of entries that the log retains. */
  readonly retained: number;
  readonly clock: Clock;
  /**
   * Reports a change of the server's state. The fact `fault` is "" if the server works; otherwise
   * it is {@link REJECTS} or another description.
   */
  readonly notify: Notify;
}

/** How long one attempt waits for the replicas. */
const WAIT_MS = 300;
/** The server answers, but has too little memory or disk, too few replicas or no permission. */
export const REJECTS = "rejects a command";
const SILENT = "does not answer";
/** Minimum time between two warnings that another program writes to the log. */
const FOREIGN_EVERY_MS = 60_000;
/** Pause between two attempts. */
const RETRY_MS = 200;
/** How long a read waits for the next entry before it asks for the log's end. */
const IDLE_MS = 200;
/** A connection that does not answer for this long is dead. */
const SILENCE_MS = 2_000;
/** A Sentinel that does not answer for this long is skipped. */
const SENTINEL_MS = 500;
/** Connection errors that only the operator can correct. */
const REFUSAL = /WRONGPASS|NOAUTH|certificate|wrong version number/;
/** Timeout for reading or storing a checkpoint, which has megabytes. */
const CHECKPOINT_MS = 30_000;
/** Maximum entries per read. */
const BATCH = 64;

/** Returns a key of a cluster. All of them are in one slot. */
export function keyOf(name: string, what: string): string {
  return `fw:{${name}}:${what}`;
}

/** What may fail while the rest works. */
type Command = "append" | "read" | "load" | "facts" | "connection";

/** The replicated log on Redis or Valkey: a stream whose ids are the entries' offsets. */
export class RedisEngine implements Engine {
  readonly #options: RedisEngineOptions;
  readonly #key = (what: string) => keyOf(this.#options.name, what);
  readonly #writer: Redis;
  readonly #subscriber: Redis;
  readonly #listeners = new Set<(notice: Notice) => void>();
  /** Connection for checkpoints, because such large values would delay the log. */
  #bulk: Redis | undefined;
  readonly #refused = new AbortController();
  /** The commands that fail, in the order in which they began to. */
  readonly #faults = new Map<Command, { readonly fault: string; readonly error: unknown }>();
  /** The fault that was reported last. */
  #fault = "";
  #foreignAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: RedisEngineOptions) {
    this.#options = options;
    this.#writer = this.#connect();
    this.#subscriber = this.#connect();
    this.#subscriber.on("message", (_channel: string, text: string) => {
      const notice = Notice.safeParse(parseJson(text)).data;
      if (notice) for (const listener of this.#listeners) listener(notice);
    });
    // Subscribe on each connection: the first one may fail before it has subscribed.
    this.#subscriber.on("ready", () => void this.#subscriber.subscribe(this.#key("notices")).catch(() => {}));
  }

  append(entry: Entry, signal: AbortSignal): Promise<AppendResult> {
    return this.#answerOf("append", () => this.#tryAppend(entry), signal);
  }

  async *read(from: number, signal: AbortSignal): AsyncGenerator<LogNews> {
    const reader = this.#connect();
    const stop = () => reader.disconnect();
    signal.addEventListener("abort", stop);
    try {
      let after = Math.max(0, from - 1);
      while (!signal.aborted) {
        const entries = await this.#readAfter(reader, after);
        this.#works("read");
        for (const entry of entries) yield { kind: "entry", entry };
        // Without a command, nothing would show that the subscription's connection is dead.
        if (entries.length === 0) this.#subscriber.ping().catch(() => {});
        const end = entries.at(-1) ?? (await this.#head(reader));
        if (!end) continue;
        const { offset, hash } = end;
        if (entries.length > 0) after = offset;
        const head = { offset, hash };
        if (entries.length < BATCH) yield { kind: "idle", head, isWritable: await this.#isWritable(reader) };
      }
    } catch (error) {
      if (error instanceof UnreadableEntry) throw error;
      if (!signal.aborted) this.#fails("read", error);
    } finally {
      signal.removeEventListener("abort", stop);
      reader.disconnect();
    }
  }

  notify(notice: Notice): void {
    this.#writer.publish(this.#key("notices"), JSON.stringify(notice)).catch(() => {});
  }

  onNotice(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async store({ position, epoch, term, values }: Checkpoint): Promise<"stored" | "fenced"> {
    const { offset, hash } = position;
    const all = Object.entries({ ...values, hash: Buffer.from(hash), epoch: Buffer.from(epoch) }).flat();
    const key = this.#key("checkpoint");
    const answer = await this.#checkpoints().eval(STORE_SCRIPT, 1, key, term, offset, ...all);
    return answer === "stored" ? "stored" : "fenced";
  }

  load(names: readonly string[], signal: AbortSignal): Promise<Checkpoint | undefined> {
    const fields = ["term", "offset", "hash", "epoch", ...names];
    const ask = () => unlessForeign(this.#checkpoints().hmgetBuffer(this.#key("checkpoint"), ...fields));
    return this.#answerOf("load", async () => checkpointOf((await ask()) ?? [], names), signal);
  }

  async put(name: string, value: string, forMs: number): Promise<void> {
    await this.#writer.set(this.#key(`value:${name}`), value, "PX", forMs);
  }

  async get(name: string): Promise<string | undefined> {
    return (await unlessForeign(this.#writer.get(this.#key(`value:${name}`)))) ?? undefined;
  }

  async take(name: string): Promise<string | undefined> {
    return (await unlessForeign(this.#writer.getdel(this.#key(`value:${name}`)))) ?? undefined;
  }

  async agree(value: string, forMs: number, isForced: boolean): Promise<string> {
    const key = this.#key("market");
    return String(await this.#writer.eval(AGREE_SCRIPT, 1, key, value, forMs, isForced ? 1 : 0));
  }

  async facts(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const ask = () =>
      this.#writer
        .info()
        .catch((error) => (messageOf(error).startsWith("NOPERM") ? "" : Promise.reject(error)));
    const text = await this.#answerOf("facts", ask, AbortSignal.any([signal, this.#refused.signal]));
    const lines = text.matchAll(/^(\w+):(.*?)\r?$/gm);
    return new Map([...lines].map(([, name = "", value = ""]) => [name, value]));
  }

  async close(): Promise<void> {
    this.#bulk?.disconnect();
    this.#writer.disconnect();
    this.#subscriber.disconnect();
  }

  #checkpoints(): Redis {
    this.#bulk ??= this.#connect(CHECKPOINT_MS);
    return this.#bulk;
  }

  /**
   * Repeats the attempt while the server answers `again` or `mending`. Only several `again` are a
   * fault.
   */
  async #answerOf<T>(
    command: Command,
    attempt: () => Promise<T | "again" | "mending">,
    signal: AbortSignal,
  ): Promise<T> {
    for (let waits = 0; ; ) {
      if (signal.aborted) this.#faults.delete(command);
      signal.throwIfAborted();
      try {
        const answer = await attempt();
        if (answer === "again") waits += 1;
        if (answer === "again" && waits > 3) this.#fails(command, "too few replicas have the entry", REJECTS);
        else this.#works(command);
        if (answer !== "again" && answer !== "mending") return answer;
      } catch (error) {
        this.#fails(command, error);
        await this.#options.clock.sleep(RETRY_MS, signal).catch(() => {});
      }
    }
  }

  #connect(commandTimeout = SILENCE_MS): Redis {
    const redis = new Redis({
      ...this.#options.connection,
      // The engine itself repeats commands that may be lost: the library cannot know whether that
      // is safe. Nor does it handle a failed subscription, which would end the process.
      autoResendUnfulfilledCommands: false,
      autoResubscribe: false,
      maxRetriesPerRequest: 0,
      commandTimeout,
      // Connections to a paused server stay open, although another server has replaced it.
      socketTimeout: commandTimeout,
      connectTimeout: SILENCE_MS,
      sentinelCommandTimeout: SENTINEL_MS,
      failoverDetector: true,
      retryStrategy: () => RETRY_MS,
      reconnectOnError: ({ message }: Error) => message.startsWith("READONLY"),
    });
    redis.on("error", (error: Error) => {
      this.#fails("connection", error, SILENT);
      if (REFUSAL.test(error.message)) this.#refused.abort(error);
    });
    return survivingDisconnects(redis);
  }

  /**
   * Returns `again` if too few replicas have the entry yet; `mending` if another program's entries
   * are still to be removed.
   */
  async #tryAppend(entry: Entry): Promise<AppendResult | "again" | "mending"> {
    const { acknowledgements, retained } = this.#options;
    const { header, body } = toStoredEntry(entry);
    const { offset, hash } = entry;
    const { kind, prev } = entry.header;
    const oldest = Math.max(0, offset - retained);
    const keys = [this.#key("log"), this.#key("touch"), this.#key("checkpoint")];
    const pipeline = this.#writer
      .pipeline()
      .eval(APPEND_SCRIPT, 3, ...keys, offset, prev, hash, header, body, oldest, kind === "base" ? 1 : 0);
    // WAIT covers only the writes of its own connection.
    if (acknowledgements > 0) pipeline.wait(acknowledgements, WAIT_MS);
    const [[error, answer] = [], [waitError, count] = []] = (await pipeline.exec()) ?? [];
    if (error ?? waitError) throw error ?? waitError;
    if (answer === null) return "mending";
    const result = appendResult(answer);
    const isDone = result.kind !== "appended" || acknowledgements === 0 || Number(count) >= acknowledgements;
    return isDone ? result : "again";
  }

  async #readAfter(reader: Redis, after: number): Promise<readonly Entry[]> {
    const answer: unknown = await unlessForeign(
      reader.xreadBuffer(
        ...(["COUNT", BATCH, "BLOCK", IDLE_MS, "STREAMS", this.#key("log"), `${after}-0`] as const),
      ),
    );
    const [stream]: unknown[] = Array.isArray(answer) ? answer : [];
    const rows: unknown[] = Array.isArray(stream) && Array.isArray(stream[1]) ? stream[1] : [];
    const entries = rows.flatMap((row) => entryOf(row) ?? []);
    if (entries.length < rows.length || answer === undefined) this.#noteForeign();
    return entries;
  }

  /** Whether the server has enough replicas to acknowledge an entry. */
  async #isWritable(reader: Redis): Promise<boolean> {
    const { acknowledgements } = this.#options;
    if (acknowledgements === 0) return true;
    const [, , replicas]: unknown[] = await reader.role();
    return Array.isArray(replicas) && replicas.length >= acknowledgements;
  }

  /** Returns the log's end; `undefined` if another program's entries are still to be removed. */
  async #head(reader: Redis): Promise<Position | undefined> {
    const answer: unknown = await reader.eval(HEAD_SCRIPT, 1, this.#key("log"));
    if (answer === null) return undefined;
    const [offset, hash]: unknown[] = Array.isArray(answer) ? answer : [];
    if (typeof offset !== "number" || typeof hash !== "string")
      throw new InvalidResult("unexpected end of the log");
    return { offset, hash };
  }

  /** Warns that another program writes to the log's key, at most once a minute. */
  #noteForeign(): void {
    const nowMs = this.#options.clock.monotonic();
    if (nowMs - this.#foreignAtMs < FOREIGN_EVERY_MS) return;
    this.#foreignAtMs = nowMs;
    this.#options.notify("warn", `another program wrote to ${this.#key("log")}; removing its entries`);
  }

  /** Records that the server answered. It may still reject other commands. */
  #works(command: Command): void {
    this.#faults.delete(command);
    for (const [name, { fault }] of this.#faults) if (fault === SILENT) this.#faults.delete(name);
    this.#report();
  }

  #fails(command: Command, error: unknown, fault = faultOf(error)): void {
    this.#faults.set(command, { fault, error });
    this.#report();
  }

  /** Reports the worst fault of all commands, if it has changed. */
  #report(): void {
    const all = [...this.#faults.values()];
    const worst = all.find(({ fault }) => fault !== SILENT) ?? all[0];
    const fault = worst?.fault ?? "";
    if (fault === this.#fault) return;
    this.#fault = fault;
    const reason = messageOf(worst?.error).replace(/^Reached the max retries.*/, "the connection was lost");
    const sentence = fault === "" ? "works again" : `${fault}: ${reason}`;
    this.#options.notify(fault === "" ? "info" : "warn", `the cluster's server ${sentence}`, { fault });
  }
}

class InvalidResult extends Error {}

/** Returns the fault that a command's error shows. */
function faultOf(error: unknown): string {
  if (error instanceof InvalidResult) return "gave an invalid answer";
  return String(error).startsWith("ReplyError") ? REJECTS : SILENT;
}

/** Resolves with `undefined` if the key has another type: another program wrote it. */
async function unlessForeign<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (messageOf(error).startsWith("WRONGTYPE")) return undefined;
    throw error;
  }
}

function appendResult(answer: unknown): AppendResult {
  const [kind, offset, hash]: unknown[] = Array.isArray(answer) ? answer : [];
  if (kind === "appended" || kind === "fenced") return { kind };
  if (kind === "truncated" && typeof offset === "number" && typeof hash === "string")
    return { kind, head: { offset, hash } };
  throw new InvalidResult("unexpected result of an append");
}

function checkpointOf(
  [term, offset, hash, epoch, ...found]: readonly (Buffer | null)[],
  names: readonly string[],
): Checkpoint | undefined {
  if (!term || !offset || !hash || !epoch) return undefined;
  const position = { offset: Number(offset), hash: String(hash) };
  if (!Number.isSafeInteger(Number(term)) || !Number.isSafeInteger(position.offset)) return undefined;
  const entries = names.flatMap((name, index) => {
    const value = found[index];
    return value ? [[name, value] as const] : [];
  });
  return { position, epoch: String(epoch), term: Number(term), values: Object.fromEntries(entries) };
}

/**
 * Reads an entry; `undefined` if another program wrote it. Throws {@link UnreadableEntry} if it is
 * a later version's.
 */
function entryOf(row: unknown): Entry | undefined {
  const [id, fields]: unknown[] = Array.isArray(row) ? row : [];
  const texts: unknown[] = Array.isArray(fields) ? fields : [];
  const named = texts.findIndex((name, index) => index % 2 === 0 && String(name) === "h");
  const header = named < 0 ? "" : String(texts[named + 1]);
  if (!header.startsWith(HEADER_START)) return undefined;
  const offset = Number.parseInt(String(id), 10);
  // The script writes names and values in this order.
  const [x, , h, , b, body, more] = texts;
  const isWhole = `${x}${h}${b}` === "xhb" && more === undefined && String(id).endsWith("-0");
  // Names the version, if that is why the form differs.
  const entry = readEntry(offset, { header, body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) });
  if (!isWhole) throw new UnreadableEntry(`entry ${offset}: it is malformed`);
  return entry;
}

/**
 * Makes disconnects safe, including disconnects by ioredis itself. A socket that is closed during
 * its TLS handshake may fail twice. Because ioredis listens for only one error, the second one
 * would end the process.
 */
export function survivingDisconnects(redis: Redis): Redis {
  const disconnect = redis.disconnect.bind(redis);
  redis.disconnect = (reconnect) => {
    redis.stream?.on("error", () => {});
    disconnect(reconnect);
  };
  return redis;
}
