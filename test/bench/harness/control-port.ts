import { type AddressInfo, createServer } from "node:net";

/** What a server of a bench does on request. */
interface Control {
  /** `p`: publishes the next batch; how many deliveries that makes. */
  publish(): number | Promise<number>;
  /** Any other line, which is JSON. */
  configure(order: unknown): unknown;
}

/**
 * Opens a port of its own beside the one that is measured, on 127.0.0.1. Each line is answered by
 * one: `p` by the number of deliveries and the monotonic time in nanoseconds just before the batch
 * was published, JSON by JSON. Needs nothing but `node:net`, so that it runs in Bun as well.
 * `monotonicNs`: the system's monotonic clock, which the clients read too; default: that of Node.
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

/** Tells the parent, as one line, where the server listens, and ends with it; see startServer. */
export function sayReady(port: number, control: number): void {
  // Its parent is over, for whatever reason: so is this.
  process.stdin.on("end", () => process.exit(0)).resume();
  process.stdout.write(`${JSON.stringify({ port, control })}\n`);
}
