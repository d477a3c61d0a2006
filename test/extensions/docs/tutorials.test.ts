import { expect, test } from "vitest";
import { TUTORIALS } from "../../../src/extensions/docs/index.ts";
import { startLedGateway } from "../../examples/led-gateway.ts";
import { blocksOf, readDocument } from "../../repository/documents.ts";
import { isInstalled } from "../../scale/cluster/redis-servers.ts";
import { findInstalled } from "../../support/setup/debian-package.ts";
import { ADMITTED, deploy } from "../../support/tutorials/deploy-host.ts";
import { PROGRAM, readersFolder, runTutorial } from "../../support/tutorials/run-tutorial.ts";

/** What npm and npx run in a clone, without their start. */
const COMMANDS = {
  npx: `shift; exec node "$@"`,
  npm: `shift 4; exec node ${PROGRAM} "$@"`,
};

test("each tutorial has at most 120 lines, and runs most of its code", () => {
  for (const { file } of TUTORIALS) {
    const text = readDocument(file);
    expect(text.split("\n").length - 1, file).toBeLessThanOrEqual(120);
    expect(blocksOf(text).filter(({ language }) => language === "bash").length, file).toBeGreaterThan(1);
  }
});

for (const name of ["FIRST-BOT", "WORTH-IT"])
  test(`a reader who follows ${name} gets what it shows`, async ({ onTestFinished }) => {
    await using gateway = await startLedGateway();
    await runTutorial(`examples/${name}.md`, {
      folder: readersFolder(onTestFinished),
      localize: (code) => code.replaceAll("http://127.0.0.1:8080", gateway.url),
      commands: COMMANDS,
      following: /my-bot/,
      before: (line) => {
        const [, what = "", symbol = ""] = /^(started|finished|buy|sell) (\w+)/.exec(line) ?? [];
        if (what === "started" || what === "buy") gateway.start(symbol);
        if (what === "finished" || what === "sell") gateway.finish(symbol);
      },
    });
  });

const HAS_NGINX = findInstalled(() => isInstalled("nginx", "-v"), "nginx-light");

test.runIf(HAS_NGINX && isInstalled("openssl", "version"))(
  "an operator who follows DEPLOY gets what it shows: a client with a key behind nginx, a backup, and an upgrade",
  async () => {
    const log = await deploy({ isPacked: false });
    expect(log).toMatch(ADMITTED);
    for (const message of ["stopped", "resuming the stored log"]) expect(log).toContain(`"msg":"${message}"`);
  },
);
