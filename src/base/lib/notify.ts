/** Reports to the operator: a sentence, and the facts that belong to it. Must not throw. */
export type Notify = (level: Level, message: string, facts?: Readonly<Record<string, unknown>>) => void;

type Level = "info" | "warn" | "error";

/** Returns a {@link Notify} that writes to a log, with these facts in each line. */
export function notifyLog(
  logger: Readonly<Record<Level, (facts: object, message: string) => void>>,
  facts: object = {},
): Notify {
  return (level, message, more) => logger[level]({ ...facts, ...more }, message);
}
