import fc from "fast-check";
import { expect, test } from "vitest";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { digestOf, hideSecrets, idOf, isSecretOf, mintSecret } from "../../../src/gateway/keys/index.ts";

test("a key has 256 random bits after a recognizable prefix, and no two are equal", () => {
  const made = Array.from({ length: 100 }, () => mintSecret("fw"));
  for (const { text, id, digest } of made) {
    expect(text).toMatch(/^fw_[0-9a-f]{8}_[\w-]{43}$/);
    expect(Buffer.from(text.slice(12), "base64url")).toHaveLength(32);
    expect([idOf("fw", text), idOf("fwt", text)]).toEqual([id, undefined]);
    expect(digest).toEqual(digestOf(text));
  }
  expect(new Set(made.map(({ text }) => text)).size).toBe(made.length);
});

test("only the whole text matches its digest, and no text matches a missing digest", () => {
  const { text, digest } = mintSecret("fwt");
  expect(isSecretOf(digest, text)).toBe(true);
  expect(isSecretOf(undefined, text)).toBe(false);
  const wrong = fc.oneof(
    fc.string(),
    fc.nat(text.length - 1).map((at) => text.slice(0, at)),
    fc
      .nat(text.length - 1)
      .map((at) => text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1)),
  );
  fc.assert(fc.property(wrong, (other) => !isSecretOf(digest, other)));
});

test("the log masks keys and tickets in fields, messages, errors and child loggers", () => {
  const lines: string[] = [];
  const logger = createLogger("trace", { write: (line) => lines.push(line) });
  const [key, ticket] = [mintSecret("fw"), mintSecret("fwt")];
  logger.info({
    authorization: "Bearer something else",
    req: { headers: { authorization: "other" } },
  });
  logger.info({ url: `/api/v1/events?ticket=${ticket.text}&key=${key.text}` }, `asked with ${key.text}`);
  logger.error({ err: new Error(`bad ${key.text}`, { cause: new Error(ticket.text) }) }, "failed");
  logger.child({ key: key.text }).warn({ deep: { ticket: ticket.text } });
  const text = lines.join("");
  for (const secret of [key, ticket]) {
    expect(text).not.toContain(secret.text.slice(13));
    expect(text).toContain(`${secret.text.split("_")[0]}_${secret.id}_***`);
  }
  expect(text).not.toMatch(/something else|other"/);
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  expect(hideSecrets("no secret here")).toBe("no secret here");
});
