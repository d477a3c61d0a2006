import type { z } from "zod";
import { firstIssue } from "../../../base/lib/text/first-issue.ts";
import { unknownName } from "../../../base/lib/text/nearest.ts";
import { Command, CommandId, Filter, FlarewireError } from "../../../base/protocol/index.ts";

/** A command, or the reason that the frame was rejected. `id` is the frame's own, if readable. */
export type Inbound =
  | { readonly kind: "command"; readonly command: Command }
  | { readonly kind: "refused"; readonly id: CommandId | undefined; readonly error: FlarewireError };

/** Maximum number of characters quoted from a client's value. */
const MAX_QUOTED = 64;

const COMMAND_TYPES: readonly string[] = Command.options.map((option) => option.shape.type.value);
const KNOWN_TYPES = COMMAND_TYPES.join(", ");

/** Parses a text frame. Accepts any input and never throws. */
export function readCommand(text: string): Inbound {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return refuse(undefined, "invalid-message", `the frame ${quote(text)} is not JSON`);
  }
  if (typeof frame !== "object" || frame === null || Array.isArray(frame)) {
    return refuse(undefined, "invalid-message", `the frame is ${quote(frame)}; it must be a JSON object`);
  }
  const id = "id" in frame ? CommandId.safeParse(frame.id).data : undefined;
  const type = "type" in frame ? frame.type : undefined;
  if (typeof type !== "string") {
    return refuse(id, "invalid-message", `type is ${quote(type)}; it must be one of ${KNOWN_TYPES}`, "type");
  }
  if (!COMMAND_TYPES.includes(type)) {
    return refuse(id, "unknown-command", `type is ${quote(type)}; it must be one of ${KNOWN_TYPES}`, "type");
  }
  const parsed = Command.safeParse(frame);
  if (parsed.success) return { kind: "command", command: parsed.data };
  return { kind: "refused", id, error: explain(frame, parsed.error) };
}

export function refuseBinary(): Inbound {
  return refuse(undefined, "invalid-message", "the frame is binary; commands are text frames");
}

function refuse(
  id: CommandId | undefined,
  code: "invalid-message" | "unknown-command" | "invalid-parameter",
  message: string,
  field?: string,
): Inbound {
  return { kind: "refused", id, error: new FlarewireError(code, message, { field }) };
}

/** Describes the first issue: its field, value and bound. */
function explain(frame: object, error: z.ZodError): FlarewireError {
  const [issue] = error.issues;
  if (issue?.code === "unrecognized_keys") return unknownField(frame, issue);
  const { field: path, found, message: bound } = firstIssue(error, frame);
  const field = path || "type";
  return new FlarewireError("invalid-parameter", `${field} is ${quote(found)}: ${bound}`, { field, bound });
}

/** Reports the first unknown field of the command or its filter, with the nearest known name. */
function unknownField(
  frame: object,
  { keys, path }: { readonly keys: readonly string[]; readonly path: readonly PropertyKey[] },
): FlarewireError {
  const [given = ""] = keys;
  const command = Command.options.find(
    ({ shape }) => "type" in frame && shape.type.safeParse(frame.type).success,
  );
  const nameOf = (name: string) => [...path.map(String), name].join(".");
  const known = Object.keys(path[0] === "filter" ? Filter.shape : (command?.shape ?? {})).map(nameOf);
  const field = nameOf(given.slice(0, MAX_QUOTED));
  const message = unknownName("field", field, known);
  return new FlarewireError("invalid-parameter", message, { field, bound: `one of ${known.join(", ")}` });
}

/** Formats a client's value as JSON, truncated for use in a message; `undefined` as "missing". */
export function quote(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "string" && value.length > MAX_QUOTED)
    return `${JSON.stringify(value.slice(0, MAX_QUOTED))}…`;
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
}
