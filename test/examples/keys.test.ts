import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { spawnCommand, spawnNode } from "../cli/spawn-cli.ts";
import { hasPython, PYTHON } from "../client/python/python-client.ts";

const ENVIRONMENT = { FLAREWIRE_CLIENT_KEY: "some-key" };

function start(file: string, url: string) {
  const path = `examples/${file}`;
  if (file.endsWith(".ts")) return spawnNode([path, url], ENVIRONMENT);
  if (file.endsWith(".py")) return spawnCommand(PYTHON, [path, url], ENVIRONMENT);
  return spawnCommand("bash", [path, url], ENVIRONMENT);
}

const FILES = ["bot.ts", "poll.ts", "follow.sh", ...(hasPython ? ["follow.py"] : [])];

test.each(FILES)(
  "%s sends the key of FLAREWIRE_CLIENT_KEY, and ends with the server's reason, once, if it is refused",
  async (file) => {
    const sent = new Set<string | undefined>();
    const server = createServer((request, response) => {
      sent.add(request.headers.authorization);
      response.writeHead(401, { "content-type": "application/problem+json" });
      response.end('{"detail":"no such key"}');
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await using example = start(file, url);
      expect(await example.ended()).toBe(1);
      expect(example.stderr().match(/no such key/g)).toHaveLength(1);
      expect([...sent]).toEqual(["Bearer some-key"]);
    } finally {
      server.close();
    }
  },
);
