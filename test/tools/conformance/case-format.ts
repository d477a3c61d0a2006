import { z } from "zod";

const Rules = z.array(z.string()).min(1);
const Saves = z.record(z.string(), z.string());
const Texts = z.record(z.string(), z.string());
/** A number, or a value that `fill` converts to one. */
const Amount = z.union([z.number(), z.string(), z.strictObject({ $sum: z.array(z.unknown()) })]);
const common = { rules: Rules.optional(), within_ms: Amount.optional() };

const Request = z.strictObject({
  do: z.literal("request"),
  method: z.string().optional(),
  path: z.string(),
  query: Texts.optional(),
  headers: Texts.optional(),
  /** Without the runner's key. */
  anonymous: z.boolean().optional(),
  /** Matchers of the response: `status`, `headers`, `body`, `bytes`. */
  is: z.record(z.string(), z.unknown()).optional(),
  save: Saves.optional(),
  /** The name under which the `Link` with this `rel` is saved. */
  link: z.strictObject({ rel: z.string(), save: z.string() }).optional(),
  /** Repeats the request until the response matches, for responses that need a changing market. */
  until: z.boolean().optional(),
  /** The result if it never matches: `fail`, or `quiet` if a quiet market may be the reason. */
  none: z.enum(["fail", "quiet"]).optional(),
  ...common,
});

const Open = z.strictObject({
  do: z.literal("open"),
  line: z.string(),
  transport: z.string().optional(),
  query: Texts.optional(),
  headers: Texts.optional(),
  /** Without the runner's key. */
  anonymous: z.boolean().optional(),
  protocols: z.array(z.string()).optional(),
  /** The line whose lists at `after` the client starts with. */
  holding: z.string().optional(),
  ...common,
});

const Send = z.strictObject({
  do: z.literal("send"),
  line: z.string(),
  /** Exactly one of these four. */
  message: z.record(z.string(), z.unknown()).optional(),
  text: z.string().optional(),
  binary: z.string().optional(),
  bytes: Amount.optional(),
  /** Number of times. `#` in the message is replaced by the count, from 1. */
  times: Amount.optional(),
  /** Sends all at once, regardless of the command rate in `hello`. */
  hurry: z.boolean().optional(),
  ...common,
});

const Expect = z.strictObject({
  do: z.literal("expect"),
  line: z.string(),
  /** Selects the first message after the last one taken that matches. Default: the next message. */
  where: z.record(z.string(), z.unknown()).optional(),
  is: z.unknown().optional(),
  frame: z.record(z.string(), z.unknown()).optional(),
  save: Saves.optional(),
  /** The result if no message matches: `fail`, or `quiet` if a quiet market may be the reason. */
  none: z.enum(["fail", "quiet"]).optional(),
  ...common,
});

const Follow = z.strictObject({
  do: z.literal("follow"),
  line: z.string(),
  /** Waits for this number of events, or for all up to this cursor. */
  events: z.number().optional(),
  until: z.string().optional(),
  save: z.strictObject({ events: z.string().optional(), cursor: z.string().optional() }).optional(),
  /** Each event must match this. */
  each: z.unknown().optional(),
  none: z.enum(["fail", "quiet"]).optional(),
  ...common,
});

const Same = z.strictObject({
  do: z.literal("same"),
  line: z.string(),
  /** The line to compare with. Default: REST. */
  as: z.string().optional(),
  ...common,
});

const Selected = z.strictObject({
  do: z.literal("selected"),
  line: z.string(),
  of: z.string(),
  symbols: z.string(),
  ...common,
});

const History = z.strictObject({
  do: z.literal("history"),
  after: z.string(),
  until: z.string().optional(),
  query: Texts.optional(),
  save: z.string(),
  ...common,
});

const Equal = z.strictObject({
  do: z.literal("equal"),
  left: z.unknown(),
  right: z.unknown(),
  /** Fields of the items that may differ. */
  but: z.array(z.string()).optional(),
  ...common,
});
const Differ = z.strictObject({ do: z.literal("differ"), left: z.unknown(), right: z.unknown(), ...common });
const Holds = z.strictObject({
  do: z.literal("holds"),
  value: z.unknown(),
  is: z.unknown(),
  /** If the value does not match, the case is not tried, for this reason. */
  else: z.string().optional(),
  /** The market changed at the wrong moment, so run the case again, up to a limit. */
  again: z.boolean().optional(),
  ...common,
});
const Silent = z.strictObject({
  do: z.literal("silent"),
  line: z.string(),
  where: z.record(z.string(), z.unknown()),
  /** No earlier message may match either. */
  ever: z.boolean().optional(),
  ...common,
});
const Closed = z.strictObject({
  do: z.literal("closed"),
  line: z.string(),
  code: z.number(),
  reason: z.string(),
  ...common,
});
const Close = z.strictObject({ do: z.literal("close"), line: z.string(), ...common });
/** Opens lines until one starts at the cursor of REST's response, and compares the two. */
const Snapshot = z.strictObject({
  do: z.literal("snapshot"),
  transport: z.string().optional(),
  ...common,
});

/** One step of a case. README.md explains each. */
export const Step = z.discriminatedUnion("do", [
  Request,
  Open,
  Send,
  Expect,
  Follow,
  Same,
  Selected,
  History,
  Equal,
  Differ,
  Holds,
  Silent,
  Closed,
  Close,
  Snapshot,
]);
export type Step = z.infer<typeof Step>;
export type StepOf<D extends Step["do"]> = Extract<Step, { do: D }>;

const TransportName = z.enum(["websocket", "sse", "poll"]);

/** A case, with the rules that it proves and its steps. */
export const Case = z.strictObject({
  name: z.string(),
  rules: Rules,
  /** Runs once for each of these transports, as `${transport}`. Default: runs once. */
  for: z.array(TransportName).min(1).optional(),
  /** Transports that the case uses in addition. */
  needs: z.array(TransportName).optional(),
  steps: z.array(Step).min(1),
});
export type Case = z.infer<typeof Case>;

/** A file of cases. */
export const CaseFile = z.strictObject({ about: z.string(), cases: z.array(Case).min(1) });
