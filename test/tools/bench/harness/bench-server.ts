import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { LineProcess } from "./line-process.ts";

/** A bench's server in its own process, on the servers' core. */
export interface BenchServer {
  readonly pid: number;
  readonly port: number;
  /** See openControl. */
  readonly control: number;
  /** Sends an order to the control port, and resolves with the response. */
  order(order: object): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts a program that calls `sayReady`, and resolves after that call. */
export async function startServer(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<BenchServer> {
  const child = new LineProcess("server", program, args, env);
  const { port, control }: { port: number; control: number } = JSON.parse(await child.line());
  return {
    ...{ pid: child.pid, port, control },
    order: (order) => askPort(control, JSON.stringify(order)),
    stop: () => child.stop(),
  };
}

/** Starts a file of this project, with the same runtime as the bench. */
export function startNodeServer(
  file: URL,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<BenchServer> {
  return startServer(process.execPath, [...flags, file.pathname, ...args]);
}

async function askPort(port: number, line: string): Promise<unknown> {
  const socket = connect(port, "127.0.0.1");
  try {
    socket.write(`${line}\n`);
    const [answer] = await once(createInterface(socket), "line");
    return JSON.parse(answer);
  } finally {
    socket.destroy();
  }
}
