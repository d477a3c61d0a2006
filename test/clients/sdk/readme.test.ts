import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spawnNode } from "../../app/cli/spawn-cli.ts";
import { startLedGateway } from "../../examples/led-gateway.ts";
import { blocksOf, readDocument } from "../../repository/documents.ts";

const ROOT = new URL("../../../", import.meta.url);
const CLIENT = new URL("src/clients/sdk/index.ts", ROOT).href;

/** The client's examples: from its document, and the bot of the README. */
const EXAMPLES = ["src/clients/sdk/README.md", "README.md"]
  .flatMap((file) => blocksOf(readDocument(file)))
  .filter(({ language }) => language === "ts");

/** What each example prints once it is connected. */
const READY = ["started", "live", "0 flares now"];

/** What each example prints when a flare starts. */
const PRINTED = [
  /^started 0 0\nONE price 8\.3 % above normal\n/,
  /live websocket \n1 [0-9a-z]+-\d+ \d\S*\nstarted ONE detected/,
  /^0 flares now\n\+ ONE price 8\.3 % above normal\n/,
];

test("the client's examples in the documents run, and print each flare that starts", async ({
  onTestFinished,
}) => {
  expect(EXAMPLES).toHaveLength(PRINTED.length);
  const folder = await mkdtemp(join(tmpdir(), "flarewire-readme-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [at, { code: example }] of EXAMPLES.entries()) {
    await using gateway = await startLedGateway();
    const path = join(folder, `example-${at}.mts`);
    const code = example
      .replace('"flarewire/client"', JSON.stringify(CLIENT))
      .replace("http://127.0.0.1:8080", gateway.url);
    await writeFile(path, code);
    await using program = spawnNode([path]);
    await program.said("stdout", READY[at] ?? "");
    gateway.start("ONE");
    await program.said("stdout", PRINTED[at] ?? "");
    gateway.cut();
    gateway.start("TWO");
    await program.said("stdout", "TWO");
    // Only the bot reports its connection there.
    expect(program.stderr()).toMatch(at === 2 ? /^connecting \nlive \nwaiting [^\n]/ : /^$/);
  }
});
