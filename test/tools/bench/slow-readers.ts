/*
 * Runs the readers of the bench `slow` in their own process: healthy, throttled or frozen, as the
 * parent orders.
 */
import { WebSocket } from "ws";

/** An order of the parent. */
export type Order =
  | {
      readonly do: "open";
      readonly count: number;
      readonly kind: Kind;
      readonly port: number;
      /** Cursor to begin at. Default: the head. */
      readonly after?: string | undefined;
    }
  | { readonly do: "release" }
  | { readonly do: "report"; readonly head: number };
export type Kind = "healthy" | "throttled" | "frozen";

/** Measurements of the readers since the previous report. */
export interface Report {
  /** Delays from append to receipt, in milliseconds, of all healthy readers. */
  readonly delaysMs: readonly number[];
  readonly opened: number;
  /** Holes, repeats, and resumes that were not full. */
  readonly faults: readonly string[];
  /** Number of closes by code. */
  readonly closes: Readonly<Record<string, number>>;
  /** Number of readers at the head that the order named. */
  readonly atHead: number;
}

/**
 * Bytes that a throttled reader reads per second: more than is sent, so that it slowly approaches
 * the head.
 */
const THROTTLED_BYTES = 150_000;
const CYCLE_MS = 1_000;
/**
 * Parts of a cycle. Readers read in different parts, because real clients are not synchronous
 * either.
 */
const PARTS = 50;

const readers: Reader[] = [];
const delaysMs: number[] = [];
const faults: string[] = [];
const closes: Record<string, number> = {};

/** Follows `status` and compares each event with the previous one. */
class Reader {
  cursor: string | undefined;
  seq = 0;
  isOpen = false;
  readonly #port: number;
  #kind: Kind;
  #socket: WebSocket | undefined;
  #read = 0;

  constructor(port: number, kind: Kind, after: string | undefined) {
    this.cursor = after;
    this.#port = port;
    this.#kind = kind;
    this.#connect();
  }

  /** Makes the reader read as fast as it can from now on, and reconnect if it was closed. */
  release(): void {
    this.#kind = "healthy";
    if (this.#socket?.readyState === WebSocket.CLOSED) this.#connect();
    else this.#socket?.resume();
  }

  /** Reads another part of the bytes for this second. */
  feed(): void {
    if (this.#kind !== "throttled") return;
    this.#read = 0;
    this.#socket?.resume();
  }

  #connect(): void {
    const after = this.cursor === undefined ? "" : `&after=${this.cursor}`;
    const socket = new WebSocket(`ws://127.0.0.1:${this.#port}/api/v1/stream?channels=status${after}`, {
      perMessageDeflate: false,
    });
    this.#socket = socket;
    socket.on("message", (data: Buffer) => this.#take(data));
    socket.on("error", () => {});
    socket.on("close", (code) => {
      closes[code] = (closes[code] ?? 0) + 1;
    });
  }

  #take(data: Buffer): void {
    const text = data.toString("latin1", 0, 320);
    const type = /^\{"type":"(\w+)"/.exec(text)?.[1];
    const cursor = /"cursor":"([^"]+)"/.exec(text)?.[1];
    if (type === "subscribed") this.#answered(text);
    if (type === "event") this.#event(text, Number(/"seq":(\d+)/.exec(text)?.[1]));
    if (type !== "hello" && cursor !== undefined) this.cursor = cursor;
    this.#read += data.length;
    if (this.#kind === "throttled" && this.#read > THROTTLED_BYTES) this.#socket?.pause();
  }

  #answered(text: string): void {
    if (this.cursor !== undefined && !text.includes('"resumed":"full"')) faults.push(text.slice(0, 200));
    if (this.cursor === undefined) this.seq = Number(/"cursor":"\w+-(\d+)"/.exec(text)?.[1]);
    this.isOpen = true;
    if (this.#kind === "frozen") this.#socket?.pause();
  }

  #event(text: string, seq: number): void {
    if (seq !== this.seq + 1) faults.push(`${seq} after ${this.seq}`);
    this.seq = seq;
    const at = /"reason":"at (\d+)"/.exec(text)?.[1];
    if (at !== undefined) delaysMs.push(Number(process.hrtime.bigint() - BigInt(at)) / 1e6);
  }
}

let part = 0;
setInterval(() => {
  part = (part + 1) % PARTS;
  for (let at = part; at < readers.length; at += PARTS) readers[at]?.feed();
}, CYCLE_MS / PARTS).unref();

process.on("message", (order: Order) => {
  if (order.do === "open") {
    for (let n = 0; n < order.count; n += 1) readers.push(new Reader(order.port, order.kind, order.after));
  }
  if (order.do === "release") for (const reader of readers) reader.release();
  if (order.do !== "report") return;
  const report: Report = {
    delaysMs: delaysMs.splice(0),
    opened: readers.filter(({ isOpen }) => isOpen).length,
    faults: faults.splice(0),
    closes: { ...closes },
    atHead: readers.filter(({ seq }) => seq >= order.head).length,
  };
  process.send?.(report);
});
process.on("disconnect", () => process.exit(0));
