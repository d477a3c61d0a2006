import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "./compile.ts";
import { LineProcess } from "./line-process.ts";

/**
 * How connections are opened, and what counts as a delivery. What each field means stands at the
 * top of load-client.c.
 */
export interface LoadOptions {
  readonly kind: "ws" | "sse" | "socketio" | "nats";
  readonly port: number;
  /** Request targets; connection i asks for the one at i modulo their number. */
  readonly paths: readonly string[];
  /** Raw header lines, each without its line end. */
  readonly headers?: readonly string[];
  readonly hello?: readonly string[];
  readonly prefix?: string;
  /** Compressed messages are deliveries, whatever they begin with. */
  readonly deflated?: boolean;
  readonly drivePort?: number;
  /** Addresses from which it connects, from 127.0.0.1 on; default 1. */
  readonly sources?: number;
  /**
   * Who is refused comes again on request, as often as it takes; the time of its handshake
   * runs on meanwhile.
   */
  readonly patient?: boolean;
}

/** Handshakes: how many came about, and how long one took from its connect. */
export interface Opened {
  readonly opened: number;
  readonly failed: number;
  /** Answers that told a patient one to come again. */
  readonly refusals: number;
  readonly ms: number;
  /** The client's own. */
  readonly cpuUs: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
}

/**
 * What was counted in a run. Latencies are there when batches are spaced and the server tells when
 * it appended each; else 0.
 */
export interface Run {
  readonly batches: number;
  readonly deliveries: number;
  /** All that came in, headers included. */
  readonly bytes: number;
  readonly wallUs: number;
  /** The client's own: when it is near the wall time, the client is the bottleneck. */
  readonly cpuUs: number;
  /** Connections that ended meanwhile. */
  readonly lost: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
}

/** What drives the server: see `drive` in load-client.c. */
export interface Drive {
  readonly ms: number;
  /** Ends it before, when this many were sent; default: never. */
  readonly batches?: number;
  /** Batches on their way at a time; default 1. */
  readonly window?: number;
  /** Time between two triggers at least; default 0: as fast as the server can. */
  readonly everyUs?: number;
  /** Deliveries of a trigger; default: the server tells. */
  readonly expect?: number;
  /** What is sent to the trigger's port; default a line for {@link openControl}. */
  readonly trigger?: string;
  /** Bytes of a delivery, where they and not the messages have to be counted: for `nats`. */
  readonly messageBytes?: number;
}

/** The client of a bench, in a process of its own. */
export class LoadClient {
  readonly #process: LineProcess;
  readonly #directory = mkdtempSync(join(tmpdir(), "flarewire-load-"));

  /** Throws where there is no compiler. */
  constructor(options: LoadOptions) {
    const { kind, port, paths, headers, hello, prefix, deflated, drivePort, patient, sources } = options;
    const args = [`kind=${kind}`, `port=${port}`, `paths=${this.#file("paths", `${paths.join("\n")}\n`)}`];
    if (headers) args.push(`headers=${this.#file("headers", headers.map((line) => `${line}\r\n`).join(""))}`);
    if (hello) args.push(`hello=${this.#file("hello", `${hello.join("\n")}\n`)}`);
    if (prefix !== undefined) args.push(`prefix=${prefix}`);
    if (deflated) args.push("deflated=1");
    if (patient) args.push("patient=1");
    if (sources !== undefined) args.push(`sources=${sources}`);
    if (drivePort !== undefined) args.push(`drive=${drivePort}`);
    this.#process = new LineProcess("load", compile(new URL("load-client.c", import.meta.url)), args);
  }

  get pid(): number {
    return this.#process.pid;
  }

  /**
   * Opens this many connections beside those that are there. Rejects when one of them fails, unless
   * `mayFail`.
   */
  async open(count: number, concurrency = 64, mayFail = false): Promise<Opened> {
    const opened: Opened = JSON.parse(await this.#process.ask(`open ${count} ${concurrency}`));
    if (opened.failed > 0 && !mayFail)
      throw new Error(`${opened.failed} of ${count} connections were not opened`);
    return opened;
  }

  /** Rejects when a delivery does not come, and when a connection is lost. */
  async drive(drive: Drive): Promise<Run> {
    const { ms, batches = 1e9, window = 1, everyUs = 0, expect = 0 } = drive;
    const { trigger = "p\n", messageBytes = 0 } = drive;
    const file = this.#file("trigger", trigger);
    return this.#run(`drive ${ms} ${batches} ${window} ${everyUs} ${expect} ${messageBytes} ${file}`);
  }

  /** Only counts, for so long. */
  watch(ms: number): Promise<Run> {
    return this.#run(`watch ${ms}`);
  }

  /** Ends all connections with a reset. */
  async close(): Promise<void> {
    await this.#process.ask("close");
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #run(command: string): Promise<Run> {
    const { error, ...run }: Run & { error: string } = JSON.parse(await this.#process.ask(command));
    if (error !== "") throw new Error(error);
    if (run.lost > 0) throw new Error(`${run.lost} connections were lost`);
    return run;
  }

  #file(name: string, text: string): string {
    const path = join(this.#directory, name);
    writeFileSync(path, text);
    return path;
  }
}
