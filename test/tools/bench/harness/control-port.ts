import { type AddressInfo, createServer } from "node:net";

/** A bench server's handlers of requests on its control port. */
interface Control {
  /** `p`: publishes the next batch. Returns the number of deliveries. */
  publish(): number | Promise<number>;
  /** Handles any other line, which is JSON. */
  configure(order: unknown): unknown;
}

/**
 * Opens a control port on 127.0.0.1, apart from the measured one. Each line gets a line in
 * response: `p` the number of deliveries and the monotonic time in nanoseconds just before the
 * batch was published, JSON gets JSON. Needs only `node:net`, so that it also runs in Bun.
 * `monotonicNs`: the system's monotonic clock, which the clients read too. Default: Node's.
 */
export async function openControl(
  control: Control,
  monotonicNs = () => process.hrtime.bigint(),
): Promise<number> {
  const answer = async (line: string) => {
    if (line !== "p") return JSON.stringify((await control.configure(JSON.parse(line))) ?? null);
    const began = monotonicNs();
    return `${await control.publish()} ${began}`;
  };
  const server = createServer((socket) => {
    let rest = "";
    let last: Promise<unknown> = Promise.resolve();
    socket.setNoDelay(true);
    socket.on("data", (bytes) => {
      const lines = (rest + bytes).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) last = last.then(async () => socket.write(`${await answer(line)}\n`));
    });
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/**
 * Prints where the server listens, as one line for the parent, and exits with it; see startServer.
 */
export function sayReady(port: number, control: number): void {
  // The parent has exited, for whatever reason.
  process.stdin.on("end", () => process.exit(0)).resume();
  process.stdout.write(`${JSON.stringify({ port, control })}\n`);
}
