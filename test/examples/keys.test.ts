import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { spawnNode } from "../cli/spawn-cli.ts";

const CHATS = {
  ...{ TELEGRAM_BOT_TOKEN: "1:token", TELEGRAM_CHAT_ID: "1" },
  DISCORD_WEBHOOK_URL: "http://127.0.0.1:9/webhook",
};

test.each(["bot", "poll", "telegram", "discord"])(
  "%s.ts sends the key of FLAREWIRE_CLIENT_KEY, and ends with the server's reason if it is refused",
  async (name) => {
    const sent: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      sent.push(request.headers.authorization);
      response.writeHead(401, { "content-type": "application/problem+json" });
      response.end('{"detail":"no such key"}');
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const environment = { FLAREWIRE_CLIENT_KEY: "some-key", ...CHATS };
      await using example = spawnNode([`examples/${name}.ts`, url], environment);
      expect(await example.ended()).toBe(1);
      expect(example.stderr()).toContain("no such key");
      expect(sent).toEqual(["Bearer some-key"]);
    } finally {
      server.close();
    }
  },
);
