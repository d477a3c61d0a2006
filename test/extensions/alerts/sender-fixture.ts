import { setImmediate as turn } from "node:timers/promises";
import { type Alert, formAlert } from "../../../src/extensions/alerts/alert.ts";
import { AlertSender } from "../../../src/extensions/alerts/delivery/alert-sender.ts";
import { NEW_RULE } from "../../../src/extensions/alerts/rules/rule-state.ts";
import { type AlertStore, openAlertStore } from "../../../src/extensions/alerts/store/alert-store.ts";
import { GroupCommit } from "../../../src/extensions/alerts/store/group-commit.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { test as base } from "../../support/time/still-running.ts";
import { eventually } from "../../support/time/waiters.ts";
import { Receiver, webhookOf } from "./webhook-fixture.ts";

export const HOUR = 3_600_000;

interface SenderUnderTest {
  readonly clock: ManualClock;
  readonly store: AlertStore;
  readonly receiver: Receiver;
  readonly notices: string[];
  sender: AlertSender;
  /** Adds messages to the queue, and wakes the sender. */
  enqueue(count: number): readonly Alert[];
  /** Advances the clock until the sender has made `attempts` attempts in total. */
  tried(attempts: number): Promise<void>;
  /** Starts another sender on the same store, as after a restart. */
  restart(more?: object): void;
  /** Replaces the sender by another one for the same target, as when a visitor subscribes again. */
  replace(): void;
}

/** A sender to a webhook, whose receiver answers as the test says. */
export const test = base.extend<{ sut: SenderUnderTest }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  sut: async ({}, use) => {
    await using receiver = new Receiver();
    await receiver.up();
    const clock = new ManualClock();
    const store = openAlertStore();
    const notices: string[] = [];
    let stop = new AbortController();
    let count = 0;
    let running = Promise.resolve();
    const start = (more: object = {}, previous?: AlertSender) => {
      const target = {
        ...webhookOf({ url: receiver.url, ...more }, clock),
        limits: { maxAgeMs: 24 * HOUR, maxCount: 20 },
      };
      const sender = new AlertSender({
        target,
        store,
        clock,
        commits: new GroupCommit(store),
        random: () => 0.5,
        steadyMs: () => clock.monotonic(),
        notify: (_level, message) => notices.push(message),
        previous,
      });
      running = sender.run(stop.signal);
      return sender;
    };
    const sut: SenderUnderTest = {
      clock,
      store,
      receiver,
      notices,
      sender: start(),
      enqueue: (many) => {
        const alerts = Array.from({ length: many }, () => {
          count += 1;
          return formAlert(
            "desk",
            "all",
            { type: "flare-started", key: `${count}`, data: { count } },
            clock.monotonic(),
          );
        });
        store.commit("desk/all", { cursor: `test1-${count}`, state: NEW_RULE }, alerts);
        sut.sender.wake();
        return alerts;
      },
      tried: async (attempts) => {
        const made = () => receiver.attempts.length;
        const isMade = async () => {
          // A sleep that has just been ended by a message is no longer due after a turn.
          await turn();
          const before = made();
          if (before >= attempts) return true;
          if (clock.dueInMs === undefined)
            await Promise.race([receiver.until(() => made() > before), clock.nextSleep()]);
          if (made() === before) clock.advance(clock.dueInMs ?? 0);
          return made() >= attempts;
        };
        const seen = () => `${made()} attempts, sleeps of ${clock.slept.slice(-5).join(", ")} ms`;
        await eventually(isMade, seen, { what: `attempt ${attempts}` });
      },
      restart: (more) => {
        stop.abort();
        stop = new AbortController();
        sut.sender = start(more);
      },
      replace: () => {
        stop.abort();
        stop = new AbortController();
        sut.sender = start({}, sut.sender);
      },
    };
    await use(sut);
    stop.abort();
    await running;
  },
});

export const idsOf = (alerts: readonly { readonly id: string }[]) => alerts.map(({ id }) => id);
