import { type DestinationStream, type Logger, pino } from "pino";
import { hideSecrets } from "./keys/index.ts";

/** Fields in which a key or a ticket may stand, whatever its form. */
const SECRET_FIELDS = ["authorization", "key", "ticket"];

/**
 * The log: JSON, one object a line, on standard error. No key and no ticket gets into it: fields that are made for them are left out, and what has
 * their form, wherever in a line, is cut to the part that is no secret.
 */
export function createLogger(
  level: string,
  destination: DestinationStream = pino.destination({ dest: 2, sync: true }),
): Logger {
  const paths = SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  return pino(
    { level, redact: { paths, censor: "***" }, hooks: { streamWrite: (line) => hideSecrets(line) } },
    destination,
  );
}
