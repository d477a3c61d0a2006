import { Redis, type RedisOptions } from "ioredis";
import type { Notify } from "../../lib/notify.ts";
import { messageOf } from "../../lib/text/message-of.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { AppendResult } from "../effect.ts";
import type { Checkpoint, Engine, LogNews, Notice } from "../engine.ts";
import { type Entry, LOG_START, type Position } from "../entry.ts";
import { readEntry, storedForm } from "../entry-text.ts";
import { APPEND_SCRIPT } from "./append-script.ts";
import { STORE_SCRIPT } from "./store-script.ts";

/** Address and credentials, in ioredis' terms. */
type Connection = Pick<
  RedisOptions,
  "host" | "port" | "username" | "password" | "tls" | "sentinels" | "name" | "sentinelPassword"
>;

export interface RedisEngineOptions {
  /** Where the servers or their Sentinels are. */
  readonly connection: Connection;
  /** Name of the cluster, part of every key. */
  readonly name: string;
  /** Replicas that must have an entry before it counts as appended. */
  readonly acknowledgements: number;
  /** Entries that the log retains. */
  readonly retained: number;
  readonly clock: Clock;
  /** Receives a sentence for the log, and whether it reports trouble. */
  readonly notify: Notify;
}

/** How long the server waits for replicas at a time. */
const WAIT_MS = 300;
/** Pause between two attempts. */
const RETRY_MS = 200;
/** A reader asks for the log's end after this much silence. */
const IDLE_MS = 200;
/** A connection without an answer for longer than this is dead. */
const SILENCE_MS = 2_000;
/** A checkpoint has megabytes. */
const CHECKPOINT_MS = 30_000;
/** Entries read at a time. */
const BATCH = 64;

/** The replicated log on Redis or Valkey: a stream whose ids are the entries' offsets. */
export function createRedisEngine(options: RedisEngineOptions): Engine {
  return new RedisEngine(options);
}

class RedisEngine implements Engine {
  readonly #options: RedisEngineOptions;
  readonly #writer: Redis;
  readonly #subscriber: Redis;
  readonly #listeners = new Set<(notice: Notice) => void>();
  readonly #log: string;
  readonly #touch: string;
  readonly #channel: string;
  readonly #checkpoint: string;
  /** Apart from the log's, which a large value would delay. */
  #bulk: Redis | undefined;
  #isDown = false;

  constructor(options: RedisEngineOptions) {
    this.#options = options;
    const prefix = `fw:{${options.name}}`;
    this.#log = `${prefix}:log`;
    this.#touch = `${prefix}:touch`;
    this.#channel = `${prefix}:notices`;
    this.#checkpoint = `${prefix}:checkpoint`;
    this.#writer = this.#connect();
    this.#subscriber = this.#connect();
    this.#subscriber.on("message", (_channel: string, text: string) => this.#hear(text));
    // On each connection: the first one may fail before it could subscribe.
    this.#subscriber.on("ready", () => void this.#subscriber.subscribe(this.#channel).catch(() => {}));
  }

  async append(entry: Entry, signal: AbortSignal): Promise<AppendResult> {
    for (;;) {
      signal.throwIfAborted();
      try {
        const result = await this.#tryAppend(entry);
        this.#note(undefined);
        if (result) return result;
      } catch (error) {
        this.#note(error);
        await this.#options.clock.sleep(RETRY_MS, signal);
      }
    }
  }

  async *read(from: number, signal: AbortSignal): AsyncGenerator<LogNews> {
    const reader = this.#connect();
    const stop = () => reader.disconnect();
    signal.addEventListener("abort", stop);
    try {
      let after = Math.max(0, from - 1);
      while (!signal.aborted) {
        const entries = await this.#readAfter(reader, after);
        this.#note(undefined);
        for (const entry of entries) yield { kind: "entry", entry };
        const { offset, hash } = entries.at(-1) ?? (await this.#head(reader));
        if (entries.length > 0) after = offset;
        if (entries.length < BATCH) yield { kind: "idle", head: { offset, hash } };
      }
    } catch (error) {
      if (!signal.aborted) this.#note(error);
    } finally {
      signal.removeEventListener("abort", stop);
      reader.disconnect();
    }
  }

  notify(notice: Notice): void {
    this.#writer.publish(this.#channel, JSON.stringify(notice)).catch(() => {});
  }

  onNotice(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async store({ position, epoch, term, values }: Checkpoint): Promise<"stored" | "fenced"> {
    const { offset, hash } = position;
    const all = Object.entries({ ...values, hash: Buffer.from(hash), epoch: Buffer.from(epoch) }).flat();
    const answer = await this.#checkpoints().eval(STORE_SCRIPT, 1, this.#checkpoint, term, offset, ...all);
    return answer === "stored" ? "stored" : "fenced";
  }

  async load(names: readonly string[], signal: AbortSignal): Promise<Checkpoint | undefined> {
    const fields = ["term", "offset", "hash", "epoch", ...names];
    for (;;) {
      signal.throwIfAborted();
      try {
        const found = await this.#checkpoints().hmgetBuffer(this.#checkpoint, ...fields);
        this.#note(undefined);
        return checkpointOf(found, names);
      } catch (error) {
        this.#note(error);
        await this.#options.clock.sleep(RETRY_MS, signal);
      }
    }
  }

  async put(name: string, value: string, forMs: number): Promise<void> {
    await this.#writer.set(this.#nameOf(name), value, "PX", forMs);
  }

  async get(name: string): Promise<string | undefined> {
    return (await this.#writer.get(this.#nameOf(name))) ?? undefined;
  }

  async take(name: string): Promise<string | undefined> {
    return (await this.#writer.getdel(this.#nameOf(name))) ?? undefined;
  }

  async facts(): Promise<ReadonlyMap<string, string>> {
    const lines = (await this.#writer.info().catch(() => "")).matchAll(/^(\w+):(.*?)\r?$/gm);
    return new Map([...lines].map(([, name = "", value = ""]) => [name, value]));
  }

  async close(): Promise<void> {
    this.#bulk?.disconnect();
    this.#writer.disconnect();
    this.#subscriber.disconnect();
  }

  #nameOf(value: string): string {
    return `fw:{${this.#options.name}}:value:${value}`;
  }

  #checkpoints(): Redis {
    this.#bulk ??= this.#connect(CHECKPOINT_MS);
    return this.#bulk;
  }

  #connect(commandTimeout = SILENCE_MS): Redis {
    const redis = new Redis({
      ...this.#options.connection,
      // A command that may have been lost is repeated here, where it is known what it means.
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      commandTimeout,
      retryStrategy: () => RETRY_MS,
      reconnectOnError: ({ message }: Error) => message.startsWith("READONLY"),
    });
    redis.on("error", (error: Error) => this.#note(error));
    return redis;
  }

  /** Returns `undefined` if too few replicas have the entry yet. */
  async #tryAppend(entry: Entry): Promise<AppendResult | undefined> {
    const { acknowledgements, retained } = this.#options;
    const { header, body } = storedForm(entry);
    const { offset, hash } = entry;
    const oldest = Math.max(0, offset - retained);
    const keys = [this.#log, this.#touch];
    const pipeline = this.#writer
      .pipeline()
      .eval(APPEND_SCRIPT, 2, ...keys, offset, entry.header.prev, hash, header, body, oldest);
    // On the same connection, because a connection that has not written proves nothing.
    if (acknowledgements > 0) pipeline.wait(acknowledgements, WAIT_MS);
    const [[error, answer] = [], [waitError, count] = []] = (await pipeline.exec()) ?? [];
    if (error ?? waitError) throw error ?? waitError;
    const result = appendResult(answer);
    const isThere = result.kind !== "appended" || acknowledgements === 0 || Number(count) >= acknowledgements;
    return isThere ? result : undefined;
  }

  async #readAfter(reader: Redis, after: number): Promise<readonly Entry[]> {
    const answer: unknown = await reader.xreadBuffer(
      ...(["COUNT", BATCH, "BLOCK", IDLE_MS, "STREAMS", this.#log, `${after}-0`] as const),
    );
    const [stream]: unknown[] = Array.isArray(answer) ? answer : [];
    const rows: unknown[] = Array.isArray(stream) && Array.isArray(stream[1]) ? stream[1] : [];
    return rows.map(entryOf);
  }

  async #head(reader: Redis): Promise<Position> {
    const rows: unknown = await reader.xrevrangeBuffer(this.#log, "+", "-", "COUNT", 1);
    const [row]: unknown[] = Array.isArray(rows) ? rows : [];
    return row === undefined ? LOG_START : positionOf(row);
  }

  #hear(text: string): void {
    const notice = readNotice(text);
    if (notice) for (const listener of this.#listeners) listener(notice);
  }

  #note(error: unknown): void {
    const isDown = error !== undefined;
    if (isDown === this.#isDown) return;
    this.#isDown = isDown;
    const words = isDown ? `does not answer: ${messageOf(error)}` : "answers again";
    this.#options.notify(isDown ? "warn" : "info", `the cluster's engine ${words}`);
  }
}

function appendResult(answer: unknown): AppendResult {
  const [kind, offset, hash]: unknown[] = Array.isArray(answer) ? answer : [];
  if (kind === "appended" || kind === "fenced") return { kind };
  if (kind === "truncated" && typeof offset === "number" && typeof hash === "string")
    return { kind, head: { offset, hash } };
  throw new Error("it answered an append with something else");
}

function checkpointOf(
  [term, offset, hash, epoch, ...found]: readonly (Buffer | null)[],
  names: readonly string[],
): Checkpoint | undefined {
  if (!term || !offset || !hash || !epoch) return undefined;
  const position = { offset: Number(offset), hash: String(hash) };
  const held = names.flatMap((name, index) => {
    const value = found[index];
    return value ? [[name, value] as const] : [];
  });
  return { position, epoch: String(epoch), term: Number(term), values: Object.fromEntries(held) };
}

interface Row {
  readonly offset: number;
  readonly fields: ReadonlyMap<string, Buffer>;
}

function rowOf(row: unknown): Row {
  const [id, values]: unknown[] = Array.isArray(row) ? row : [];
  if (!Buffer.isBuffer(id) || !Array.isArray(values)) throw new Error("the log has an entry that is none");
  const fields = new Map<string, Buffer>();
  for (let index = 0; index + 1 < values.length; index += 2) {
    const value: unknown = values[index + 1];
    if (Buffer.isBuffer(value)) fields.set(String(values[index]), value);
  }
  return { offset: Number.parseInt(id.toString(), 10), fields };
}

function entryOf(row: unknown): Entry {
  const { offset, fields } = rowOf(row);
  const [header, body] = [fields.get("h"), fields.get("b")];
  if (!header || !body) throw new Error("the log has an entry that is none");
  return readEntry(offset, { header: header.toString(), body });
}

function positionOf(row: unknown): Position {
  const { offset, fields } = rowOf(row);
  return { offset, hash: fields.get("x")?.toString() ?? "" };
}

function readNotice(text: string): Notice | undefined {
  let value: Readonly<Record<string, unknown>>;
  try {
    value = Object(JSON.parse(text));
  } catch {
    return undefined;
  }
  if (value.kind === "fork" && typeof value.epoch === "string") return { kind: "fork", epoch: value.epoch };
  if (value.kind === "shared" && typeof value.text === "string") return { kind: "shared", text: value.text };
  const { offset, hash }: Readonly<Record<string, unknown>> = Object(value.position);
  if (value.kind !== "commit" || typeof offset !== "number" || typeof hash !== "string") return undefined;
  return { kind: "commit", position: { offset, hash } };
}
