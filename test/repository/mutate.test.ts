import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "vite";
import { expect, test } from "vitest";
import { applyFault, parseFaults, placeOf, readFaults } from "../tools/mutate/fault-list.ts";

const ROOT = join(import.meta.dirname, "../..");
const FAULTS = readFaults();

test("the text of each fault occurs once in its source file, and its tests exist", () => {
  const wrong = FAULTS.flatMap((fault) => {
    try {
      const source = readFileSync(join(ROOT, fault.file), "utf8");
      const isChanged = applyFault(fault, source) !== source;
      const absent = fault.tests.filter((path) => !existsSync(join(ROOT, path)));
      return [...(isChanged ? [] : [`no change: ${fault.breaks}`]), ...absent];
    } catch (error) {
      return [String(error)];
    }
  });
  expect(wrong).toEqual([]);
});

test("each source file still parses with a fault in it, so that tests find the fault and not a syntax error", () => {
  const broken = FAULTS.flatMap((fault) => {
    const { errors } = parseSync(fault.file, applyFault(fault, readFileSync(join(ROOT, fault.file), "utf8")));
    return errors.map(({ message }) => `${fault.file}: ${fault.breaks} ${message}`);
  });
  expect(broken).toEqual([]);
});

test("no fault is listed twice", () => {
  const all = FAULTS.map(({ file, text, replacement }) => JSON.stringify([file, text, replacement]));
  expect(all.filter((one, at) => all.indexOf(one) !== at)).toEqual([]);
});

test("a list is parsed into faults, whose text is found in the source whatever its indentation", () => {
  const list = "@ test/a test/b\n# src/a.ts\nIt never ends.\n- stop();\n- end();\n+\n? nobody waits for it\n";
  const [fault, ...others] = parseFaults("a", list);
  expect(others).toEqual([]);
  if (!fault) throw new Error("no fault was parsed");
  expect(fault).toMatchObject({
    file: "src/a.ts",
    tests: ["test/a", "test/b"],
    accepted: "nobody waits for it",
  });
  const source = "begin();\n  stop();\n  end();\n";
  expect(applyFault(fault, source)).toBe("begin();\n  \n");
  expect(placeOf(fault, source)).toBe("src/a.ts:2");
});

test("applying a fault throws if its text is missing or occurs twice", () => {
  const [fault] = parseFaults("a", "@ test/a\n# src/a.ts\nIt never ends.\n- stop();\n+\n");
  if (!fault) throw new Error("no fault was parsed");
  expect(() => applyFault(fault, "begin();")).toThrow("stale fault: src/a.ts has this text 0 times");
  expect(() => applyFault(fault, "stop(); stop();")).toThrow("stale fault: src/a.ts has this text 2 times");
});
