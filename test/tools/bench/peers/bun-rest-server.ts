/* Runs Bun's static route for the file in the argument. Run by Bun. */
import { readFileSync } from "node:fs";
import { sayReady } from "../harness/control-port.ts";

/** The used part of Bun. */
interface BunRuntime {
  serve(options: object): { readonly port: number };
}

const { Bun }: { Bun: BunRuntime } = globalThis as never;
const bytes = readFileSync(process.argv[2] ?? "");
const ready = new Response(bytes, { headers: { "content-type": "application/json" } });
const { port } = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  routes: { "/api/v1/snapshot": ready },
  fetch: () => new Response("nothing here", { status: 404 }),
});
sayReady(port, 0);
