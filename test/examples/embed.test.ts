import { expect, test } from "vitest";
import { spawnNode } from "../cli/spawn-cli.ts";

test("a program that embeds Flarewire serves its own routes and Flarewire's, gets each flare in process, and stops cleanly", async () => {
  await using program = spawnNode(["examples/embed.ts", "0", "2000"]);
  await program.said("stdout", "flare-started");
  const url = /listening on (http:\S+)/.exec(program.stdout())?.[1];
  const line = /flare-started (.*)/.exec(program.stdout())?.[1];
  const lately = await fetch(`${url}/lately`);
  expect(await lately.json()).toContain(line);
  const flares = await fetch(`${url}/flarewire/api/v1/flares`);
  expect(flares.headers.get("flarewire-origin")).toBe("recorded");
  const body = JSON.stringify(await flares.json());
  expect(body).toContain(`"symbol":"${line?.split(" ")[1]}"`);
  program.child.kill("SIGTERM");
  expect(await program.ended()).toBe(0);
});
