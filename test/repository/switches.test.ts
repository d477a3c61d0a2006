import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

/** Files whose `default:` handles values that no union of ours covers, and what these are. */
const OPEN: Readonly<Record<string, string>> = {
  "app/build/type-text.ts": "kinds of schemas of zod that no type uses yet: throws",
  "app/cli/tail/event-lines.ts": "event names of a newer server",
  "gateway/start/listen-problem.ts": "error codes of the system",
  "gateway/http/stream/websocket-extensions.ts": "parameters that a client sends",
  "base/lib/io/json-file.ts": "issue codes of zod",
  "base/protocol/view/change.ts": "operations of a newer server: throws ChangeMismatch",
  "scale/follow/leader-message.ts": "messages of a newer leader",
};

function defaults(): readonly { readonly file: string; readonly statement: string }[] {
  return readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((file) => {
      const text = readFileSync(SRC + file, "utf8");
      return [...text.matchAll(/^ *default:\n *(.*)$/gm)].map(([, statement = ""]) => ({ file, statement }));
    });
}

test("a default case calls assertNever, so that a new member of a union is an error, except in listed files", () => {
  const found = defaults();
  expect(found.length).toBeGreaterThan(10);
  const others = found.filter(({ statement }) => !/^(return )?assertNever\(/.test(statement));
  expect([...new Set(others.map(({ file }) => file))].sort()).toEqual(Object.keys(OPEN).sort());
});
