import type { ServerResponse } from "node:http";

/** Faulty responses of a stand-in. */
export type Mischief = "429" | "429 after" | "500" | "hang" | "cut" | "html" | "types" | "missing";

/** Sends a faulty response, or none. */
export function misbehave(mischief: Mischief, response: ServerResponse): void {
  const json = { "content-type": "application/json" };
  switch (mischief) {
    case "429":
      response.writeHead(429, json).end('{"msg":"too many"}');
      return;
    case "429 after":
      response.writeHead(429, { ...json, "retry-after": "2" }).end('{"msg":"too many"}');
      return;
    case "500":
      response.writeHead(500, json).end('{"msg":"sorry"}');
      return;
    case "hang":
      return;
    case "cut":
      response.writeHead(200, { ...json, "content-length": "1000" });
      response.write('[{"symbol":');
      setImmediate(() => response.destroy());
      return;
    case "html":
      response.writeHead(200, { "content-type": "text/html" }).end("<html>Attention Required!</html>");
      return;
    case "types":
      response.writeHead(200, json).end('[{"symbol":7,"id":[],"currency_pair":null,"quoteVolume":{}}]');
      return;
    case "missing":
      response.writeHead(200, json).end('{"timezone":"UTC","code":"200000"}');
  }
}
