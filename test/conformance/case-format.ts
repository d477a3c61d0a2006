import { z } from "zod";

const Rules = z.array(z.string()).min(1);
const Saves = z.record(z.string(), z.string());
const Texts = z.record(z.string(), z.string());
/** A number, or what `fill` makes one of. */
const Amount = z.union([z.number(), z.string(), z.strictObject({ $sum: z.array(z.unknown()) })]);
const common = { rules: Rules.optional(), within_ms: Amount.optional() };

const Request = z.strictObject({
  do: z.literal("request"),
  method: z.string().optional(),
  path: z.string(),
  query: Texts.optional(),
  headers: Texts.optional(),
  /** Without the key that the runner was given. */
  anonymous: z.boolean().optional(),
  /** Matchers of the answer: `status`, `headers`, `body`, `bytes`. */
  is: z.record(z.string(), z.unknown()).optional(),
  save: Saves.optional(),
  /** The link of this `rel` in the field `Link`, under a name. */
  link: z.strictObject({ rel: z.string(), save: z.string() }).optional(),
  /** Ask again until the answer is so, for answers that need a market that moves. */
  until: z.boolean().optional(),
  /** What it means that it never is: `fail`, or `quiet` where it may be the market's doing. */
  none: z.enum(["fail", "quiet"]).optional(),
  ...common,
});

const Open = z.strictObject({
  do: z.literal("open"),
  line: z.string(),
  transport: z.string().optional(),
  query: Texts.optional(),
  headers: Texts.optional(),
  /** Without the key that the runner was given. */
  anonymous: z.boolean().optional(),
  protocols: z.array(z.string()).optional(),
  /** The line whose view at `after` the client brings along. */
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
  /** How often; `#` in the message is which time it is, from 1. */
  times: Amount.optional(),
  /** All at once, whatever `hello` says of the rate of commands. */
  hurry: z.boolean().optional(),
  ...common,
});

const Expect = z.strictObject({
  do: z.literal("expect"),
  line: z.string(),
  /**
   * The first message behind the last one taken for which this holds; without it, the next of
   * whatever kind.
   */
  where: z.record(z.string(), z.unknown()).optional(),
  is: z.unknown().optional(),
  frame: z.record(z.string(), z.unknown()).optional(),
  save: Saves.optional(),
  /** What it means that none comes: `fail`, or `quiet` where it may be the market's doing. */
  none: z.enum(["fail", "quiet"]).optional(),
  ...common,
});

const Follow = z.strictObject({
  do: z.literal("follow"),
  line: z.string(),
  /** So many events more; or all up to this cursor. */
  events: z.number().optional(),
  until: z.string().optional(),
  save: z.strictObject({ events: z.string().optional(), cursor: z.string().optional() }).optional(),
  /** Each event has to be like this. */
  each: z.unknown().optional(),
  none: z.enum(["fail", "quiet"]).optional(),
  ...common,
});

const Same = z.strictObject({
  do: z.literal("same"),
  line: z.string(),
  /** Compared with what REST serves, or with the view of another line, at one cursor. */
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
  /** Otherwise nothing can be tried, and this is why. */
  else: z.string().optional(),
  /** That is the market's doing: run the case again, a few times. */
  again: z.boolean().optional(),
  ...common,
});
const Silent = z.strictObject({
  do: z.literal("silent"),
  line: z.string(),
  where: z.record(z.string(), z.unknown()),
  /** Nor did one before. */
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
/** Opens lines until one begins at the cursor at which REST was read, and compares the two. */
const Snapshot = z.strictObject({
  do: z.literal("snapshot"),
  transport: z.string().optional(),
  ...common,
});

/** One step of a case. README.md says what each means. */
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

/** A case: what it proves, and what is done. */
export const Case = z.strictObject({
  name: z.string(),
  rules: Rules,
  /** Run once for each of these, which is `${transport}`. Left out: run once. */
  for: z.array(TransportName).min(1).optional(),
  /** Transports that it uses whatever it is run for. */
  needs: z.array(TransportName).optional(),
  steps: z.array(Step).min(1),
});
export type Case = z.infer<typeof Case>;

/** A file of cases. */
export const CaseFile = z.strictObject({ about: z.string(), cases: z.array(Case).min(1) });
