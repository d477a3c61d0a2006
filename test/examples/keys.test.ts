import { expect, test } from "vitest";
import { spawnCommand, spawnNode } from "../app/cli/spawn-cli.ts";
import { hasPython, PYTHON } from "../clients/python/python-client.ts";
import { startRefusing } from "../support/servers/refusing-server.ts";

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
    await using server = await startRefusing(401, "no such key");
    await using example = start(file, server.url);
    expect(await example.ended()).toBe(1);
    expect(example.stderr().match(/no such key/g)).toHaveLength(1);
    expect([...new Set(server.sent)]).toEqual(["Bearer some-key"]);
  },
);
