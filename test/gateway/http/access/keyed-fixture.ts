import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "../../../../src/app/server/create-logger.ts";
import { openTokenSource } from "../../../../src/app/server/token-source.ts";
import { formatKeys, type Key, mintSecret, type TokenConfig } from "../../../../src/gateway/keys/index.ts";
import { type Keys, openKeys } from "../../../../src/gateway/start/open-keys.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";
import { eventually } from "../../../support/time/waiters.ts";
import { test as base, type ConnectionHandle } from "../stream/websocket-fixture.ts";

/** Keys by the test's own names, each with its fields besides the secret. */
export type KeySpecs = Readonly<Record<string, Partial<Key>>>;

/** A server with keys on a real port. The test moves the clock for keys. */
export interface Keyed {
  readonly wire: ConnectionHandle;
  /** Clock of key and ticket ends, rates, and checks of the file. */
  readonly clock: ManualClock;
  readonly file: string;
  /** Log output, one object per line. */
  readonly lines: string[];
  /** The text of the key of this name. */
  secret(name: string): string;
  id(name: string): string;
  /** Returns the text of the key with this name. */
  bearer(name: string): Record<string, string>;
  /** Replaces the key file. A known name keeps its secret. The server has not read the file yet. */
  write(keys: KeySpecs): void;
  /** Advances the clock. The server checks the file every second. */
  pass(seconds: number): Promise<void>;
  /** Resolves when this many slots are taken, by streams and waiting requests. */
  holdsSlot(count: number): Promise<void>;
  /** Returns the trouble that the server reports about its keys. */
  trouble(): string | undefined;
  /** Issues a ticket for the key. */
  ticket(name: string): Promise<string>;
}

type KeyedFactory = (options?: {
  readonly keys?: KeySpecs;
  readonly anonymous?: "free" | "off";
  readonly maxSockets?: number;
  readonly tokens?: TokenConfig;
}) => Promise<Keyed>;

const DEFAULTS: KeySpecs = { pro: { plan: "pro" }, free: { plan: "free" } };

/** {@link base} with `makeKeyed`, and `keyed`: a server with the keys `pro` and `free`. */
export const test = base.extend<{ makeKeyed: KeyedFactory; keyed: Keyed }>({
  makeKeyed: async ({ makeWire }, use) => {
    const directory = mkdtempSync(join(tmpdir(), "flarewire-keys-"));
    const opened: Keys[] = [];
    await use(async ({ keys = DEFAULTS, anonymous = "free", maxSockets = 100, tokens = {} } = {}) => {
      const file = join(directory, `${opened.length}.json`);
      const secrets = new Map<string, ReturnType<typeof mintSecret>>();
      const secretOf = (name: string) => {
        const secret = secrets.get(name) ?? mintSecret("fw");
        secrets.set(name, secret);
        return secret;
      };
      const write = (wanted: KeySpecs) => {
        const held = Object.entries(wanted).map(([name, rest]): Key => {
          const { id, digest } = secretOf(name);
          return { id, sha256: digest.toString("hex"), plan: "pro", ...rest };
        });
        writeFileSync(`${file}.new`, formatKeys(held));
        renameSync(`${file}.new`, file);
      };
      write(keys);
      const clock = new ManualClock();
      const lines: string[] = [];
      const logger = createLogger("trace", { write: (line) => lines.push(line) });
      const config = { ...tokens, keys: file, anonymous, maxSockets, maxSocketsPerIp: 100 };
      const made = await openKeys(config, { clock, logger, openTokenSource });
      opened.push(made);
      const wire = await makeWire({ stream: { policy: made.policy, registry: made.registry } });
      const bearer = (name: string) => ({ authorization: `Bearer ${secretOf(name).text}` });
      return {
        wire,
        clock,
        file,
        lines,
        secret: (name) => secretOf(name).text,
        id: (name) => secretOf(name).id,
        bearer,
        write,
        pass: async (seconds) => {
          await made.looked();
          for (let second = 0; second < seconds; second++) {
            clock.advance(1_000);
            await made.looked();
          }
        },
        holdsSlot: async (count) => {
          const { limiter } = made.registry;
          await eventually(
            () => limiter.taken === count,
            () => limiter.taken,
            { what: `${count} limiter` },
          );
        },
        trouble: () => made.trouble,
        ticket: async (name) => {
          const { body } = await wire.ask("/api/v1/tickets", bearer(name), "POST");
          return JSON.parse(body).ticket;
        },
      };
    });
    for (const { stop } of opened) stop();
    rmSync(directory, { recursive: true, force: true });
  },
  keyed: async ({ makeKeyed }, use) => use(await makeKeyed()),
});
