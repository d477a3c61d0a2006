import { expect, test } from "vitest";
import { botSamples } from "../../src/clients/dashboard/parts/bot/bot-samples.ts";
import { DEFAULT_QUERY } from "../../src/clients/dashboard/state/flare-query.ts";
import { spawnCommand } from "../app/cli/spawn-cli.ts";
import { hasPython, PYTHON } from "../clients/python/python-client.ts";
import { startRefusing } from "../support/servers/refusing-server.ts";

const SHELL = ["bash", "-o", "pipefail", "-c"] as const;
const COMMANDS = { curl: SHELL, ...(hasPython && { python: [PYTHON, "-c"] as const }) };

test.each(Object.keys(COMMANDS) as (keyof typeof COMMANDS)[])(
  "[K1] the dashboard's sample for %s sends the key of FLAREWIRE_CLIENT_KEY on a server with keys, if set, and prints the reason of a refusal",
  async (kind) => {
    await using server = await startRefusing(403, "the plan lacks this channel");
    const [command = "", ...args] = COMMANDS[kind] ?? [];
    const run = async (hasKeys: boolean, environment: Record<string, string>) => {
      const { text } = botSamples(DEFAULT_QUERY, new URL(server.url), hasKeys)[kind];
      await using sample = spawnCommand(command, [...args, text], environment);
      expect(await sample.ended()).not.toBe(0);
      expect(sample.stdout() + sample.stderr()).toContain("the plan lacks this channel");
      if (kind === "curl") expect(sample.stderr()).toContain("403");
    };
    await run(true, { FLAREWIRE_CLIENT_KEY: "some-key" });
    await run(true, {});
    await run(false, { FLAREWIRE_CLIENT_KEY: "some-key" });
    expect(server.sent).toEqual(["Bearer some-key", undefined, undefined]);
  },
);
