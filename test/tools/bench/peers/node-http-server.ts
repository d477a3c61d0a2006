/*
 * Runs plain node:http with prepared bytes and the minimum of header fields. Serves the file in the
 * argument at every URL.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { sayReady } from "../harness/control-port.ts";

const bytes = readFileSync(process.argv[2] ?? "");
const form = (body: Buffer, etag: string, coding: object) => ({
  etag,
  body,
  fields: { etag, "content-type": "application/json", "content-length": body.length, ...coding },
});
const forms = {
  identity: form(bytes, '"1"', {}),
  gzip: form(gzipSync(bytes), '"1-gzip"', { "content-encoding": "gzip" }),
  br: form(brotliCompressSync(bytes), '"1-br"', { "content-encoding": "br" }),
};

const server = createServer(({ headers }, response) => {
  const accepted = headers["accept-encoding"];
  const { etag, body, fields } = forms[accepted === "gzip" || accepted === "br" ? accepted : "identity"];
  if (headers["if-none-match"] === etag) response.writeHead(304, { etag }).end();
  else response.writeHead(200, fields).end(body);
});
server.listen(0, "127.0.0.1", () => sayReady((server.address() as AddressInfo).port, 0));
