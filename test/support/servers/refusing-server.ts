import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that refuses every request, and records what each sent as `Authorization`. */
export interface RefusingServer extends AsyncDisposable {
  readonly url: string;
  readonly sent: readonly (string | undefined)[];
}

export async function startRefusing(status: number, detail: string): Promise<RefusingServer> {
  const sent: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    sent.push(request.headers.authorization);
    response.writeHead(status, { "content-type": "application/problem+json" });
    response.end(JSON.stringify({ detail }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    sent,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
