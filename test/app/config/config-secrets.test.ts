import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../../src/app/config/config.ts";
import { newDirectory } from "../../support/servers/edges.ts";

/** Returns the error message for these arguments. */
function refusal(args: readonly string[]): string {
  try {
    loadConfig({ args, environment: {}, directory: "." });
  } catch (error) {
    expect(error).toMatchObject({ name: "FlarewireError", code: "invalid-setting" });
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("the configuration was accepted");
}

describe("a secret", () => {
  const secret = "hunter2";
  test.each([
    [
      ["--source", `http://me:${secret}@x.example`],
      'source = "http://***@x.example" (flag --source) must be',
    ],
    [["--source", `http://me:a/b@${secret}@x.example`], '"http://***@x.example"'],
    [["--source", `me:${secret}@x.example`], '"***@x.example"'],
    [["--source", `http://x.example?key=${secret}`], '"http://x.example?***"'],
    [["--cluster", `redis://me:${secret}@x.example`], '"redis://***@x.example"'],
    [["--cors-origins", `https://me:${secret}@x.example`], '"https://***@x.example"'],
    [["--port", `http://me:${secret}@x.example`], '"http://***@x.example"'],
    [[`http://me:${secret}@x.example`], 'unexpected argument "http://***@x.example"'],
    [["--rpc", `htps://bsc.example.org/v1/${secret}`], '"htps://bsc.example.org/***"'],
    [["--rpc", `bsc.example.org/v1/${secret}`], '"bsc.example.org/***"'],
    [["--rpc", `bsc.example.org:443/v1/${secret}`], '"bsc.example.org:443/***"'],
    [["--rpc", `htps:\\\\bsc.example.org\\${secret}`], "bsc.example.org/***"],
    [["--rpc", `wss//bsc.example.org?key=${secret}`], "***"],
    [["--rpc", `https://a.example/${secret},https//b.example/${secret}`], '"https://a.example/***,***"'],
    [["--rpc", `https://a.example/v1 htps://b.example/${secret}`], "htps://b.example/***"],
    [["--rpc", secret], '"***"'],
    [["--bsc-rpc", `htps://bsc.example.org/${secret}`], '"htps://bsc.example.org/***"'],
    [["--rpc", "https://a.example", `https://b.example/${secret}`], 'argument "https://b.example/***"'],
    [[`--https://b.example/${secret}`], "unknown flag --https://b.example/***"],
  ])("in %j is not shown", (args, expected) => {
    const message = refusal(args);
    expect(message).toContain(expected);
    expect(message).not.toContain(secret);
  });

  test("in a file is not shown, whether the file is valid JSON or not", ({ onTestFinished }) => {
    const file = join(newDirectory(onTestFinished), "flarewire.json");
    const source = `http://me:${secret}@x.example`;
    for (const content of [
      { source },
      { rpc: [`htps://x.example/${secret}`] },
      { rpc: { url: secret } },
      { cluster: { password: secret } },
      { corsOrigins: [source] },
      `{"source":"${secret}" oops}`,
      secret,
    ]) {
      writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
      const message = refusal(["--config", file]);
      expect(message).not.toContain(secret);
    }
  });
});
