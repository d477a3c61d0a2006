import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "./compile.ts";
import { LineProcess } from "./line-process.ts";

/**
 * How connections are opened, and which messages count as deliveries. The top of load-client.c
 * describes each field.
 */
export interface LoadOptions {
  readonly kind: "ws" | "sse" | "poll" | "socketio" | "nats";
  readonly port: number;
  /** Request targets; connection i uses the one at i modulo their number. */
  readonly paths: readonly string[];
  /** Raw header lines without line ends. */
  readonly headers?: readonly string[];
  readonly hello?: readonly string[];
  readonly prefix?: string;
  /** The events state when they were appended. {@link LoadClient.watch} reports delays from it. */
  readonly emitted?: boolean;
  /** Counts compressed messages as deliveries, regardless of their beginning. */
  readonly deflated?: boolean;
  /**
   * Polls between naps of 0.1 ms even while batches are spaced, so that the server pays for no
   * wakeups. A delay is then longer by up to that.
   */
  readonly naps?: boolean;
  readonly drivePort?: number;
  /** Number of source addresses, starting with 127.0.0.1. Default 1. */
  readonly sources?: number;
  /** Of this many connections, one uses another source than 127.0.0.1. Default: all in turn. */
  readonly skew?: number;
}

/**
 * Result of opening connections: how many were opened, and the duration of a handshake from its
 * connect.
 */
export interface Opened {
  readonly opened: number;
  readonly failed: number;
  readonly ms: number;
  /** CPU time of the client. */
  readonly cpuUs: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
}

/**
 * Result of a run. Latencies are measured if batches are spaced and the server reports the time of
 * each append, or if the events state it; otherwise 0.
 */
export interface Run {
  readonly batches: number;
  readonly deliveries: number;
  /** All received bytes, including headers. */
  readonly bytes: number;
  readonly wallUs: number;
  /** CPU time of the client. If it is near the wall time, the client is the bottleneck. */
  readonly cpuUs: number;
  /** Connections that ended during the run. */
  readonly lost: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
  /** With `emitted`: from the append until the kernel has the server's bytes. */
  readonly turnP50Us: number;
  readonly turnP99Us: number;
  /** With `emitted`: from then until the client has read them. */
  readonly socketP50Us: number;
  readonly socketP99Us: number;
}

/** When clients were back, in microseconds since the first of all connections ended. */
interface BackTimes {
  readonly count: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
}

/** How the clients came back after their connections ended. */
export interface Returned {
  /** The clients from 127.0.0.1. */
  readonly one: BackTimes;
  /** The clients from the other sources. */
  readonly others: BackTimes;
  /** Clients that continued after their cursor. */
  readonly resumed: number;
  /** Clients that started at the head, with lists. */
  readonly reset: number;
  /** Responses that asked a client to retry later. */
  readonly refusals: number;
  /** CPU time of the client. */
  readonly cpuUs: number;
}

/** Options to drive the server: see `drive` in load-client.c. */
export interface Drive {
  readonly ms: number;
  /** Ends the run earlier, after this many batches. Default: never. */
  readonly batches?: number;
  /** Maximum batches in flight. Default 1. */
  readonly window?: number;
  /** Minimum time between two triggers. Default 0: as fast as the server can. */
  readonly everyUs?: number;
  /** Deliveries of a trigger. Default: the server reports them. */
  readonly expect?: number;
  /** Bytes to send to the trigger's port. Default: a line for {@link openControl}. */
  readonly trigger?: string;
  /** Bytes of a delivery if bytes instead of messages are counted, as for `nats`. */
  readonly messageBytes?: number;
}

/** The load client of a bench, in its own process. */
export class LoadClient {
  readonly #process: LineProcess;
  readonly #directory = mkdtempSync(join(tmpdir(), "flarewire-load-"));

  /** Throws if there is no compiler. */
  constructor(options: LoadOptions) {
    const { kind, port, paths, headers, hello, prefix, deflated, naps } = options;
    const { drivePort, sources, skew, emitted } = options;
    const args = [`kind=${kind}`, `port=${port}`, `paths=${this.#file("paths", `${paths.join("\n")}\n`)}`];
    if (headers) args.push(`headers=${this.#file("headers", headers.map((line) => `${line}\r\n`).join(""))}`);
    if (hello) args.push(`hello=${this.#file("hello", `${hello.join("\n")}\n`)}`);
    if (prefix !== undefined) args.push(`prefix=${prefix}`);
    if (emitted) args.push("emitted=1");
    if (deflated) args.push("deflated=1");
    if (naps) args.push("naps=1");
    if (sources !== undefined) args.push(`sources=${sources}`);
    if (skew !== undefined) args.push(`skew=${skew}`);
    if (drivePort !== undefined) args.push(`drive=${drivePort}`);
    this.#process = new LineProcess("load", compile(new URL("load-client.c", import.meta.url)), args);
  }

  get pid(): number {
    return this.#process.pid;
  }

  /**
   * Opens this many connections in addition to the existing ones. Rejects if one of them fails,
   * unless `mayFail`.
   */
  async open(count: number, concurrency = 64, mayFail = false): Promise<Opened> {
    const opened: Opened = JSON.parse(await this.#process.ask(`open ${count} ${concurrency}`));
    if (opened.failed > 0 && !mayFail)
      throw new Error(`${opened.failed} of ${count} connections were not opened`);
    return opened;
  }

  /** Rejects if a delivery is missing or a connection is lost. */
  async drive(drive: Drive): Promise<Run> {
    const { ms, batches = 1e9, window = 1, everyUs = 0, expect = 0 } = drive;
    const { trigger = "p\n", messageBytes = 0 } = drive;
    const file = this.#file("trigger", trigger);
    return this.#run(`drive ${ms} ${batches} ${window} ${everyUs} ${expect} ${messageBytes} ${file}`);
  }

  /** Counts messages for this time without driving. */
  watch(ms: number): Promise<Run> {
    return this.#run(`watch ${ms}`);
  }

  /**
   * Waits until all connections have ended and are back with this request target, each with the
   * whole answer to its subscription. A client whose connection ends or can't be opened tries again
   * after a random time between these bounds. Rejects if a client that was back was lost again.
   */
  async comeBack(path: string, betweenMs: readonly [number, number]): Promise<Returned> {
    const command = `return ${betweenMs.join(" ")} ${this.#file("return", `${path}\n`)}`;
    const { lostAgain, ...back }: Returned & { lostAgain: number } = JSON.parse(
      await this.#process.ask(command),
    );
    if (lostAgain > 0) throw new Error(`${lostAgain} connections were lost again`);
    return back;
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
