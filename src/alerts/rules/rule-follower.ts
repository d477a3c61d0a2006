import { createHash } from "node:crypto";
import type { Head, LongPoll, PollAnswer } from "../../hub/index.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { type EventMessage, type Filter, formatCursor, type Lost, type View } from "../../protocol/index.ts";
import { type AlertContent, formAlert } from "../alert.ts";
import type { AlertStore, RulePlace } from "../store/alert-store.ts";
import type { GroupCommit } from "../store/group-commit.ts";
import { type AlertRule, newsOf } from "./alert-rule.ts";
import { createRuleJudge, type RuleJudge } from "./rule-judge.ts";
import { NEW_RULE } from "./rule-state.ts";

/** What a rule is followed with. */
interface RuleFollowing {
  /** Id of the webhook that the rule is of. */
  readonly webhook: string;
  readonly rule: AlertRule;
  /** A rule reads the log as every client does: by its cursor. */
  readonly poll: Pick<LongPoll, "take">;
  readonly head: Pick<Head, "ready" | "observedAtMs">;
  readonly store: Pick<AlertStore, "place">;
  /** Keeps places and messages, those of all rules together. */
  readonly commits: Pick<GroupCommit, "commit">;
  readonly clock: Clock;
  readonly steadyMs: () => number;
  /** True while the webhook is disabled: what the rule finds is not kept for it. */
  readonly isDisabled: () => boolean;
  /** Something was put into the webhook's queue. */
  readonly onAlerts: () => void;
  /** Told in a sentence what an operator has to know. */
  readonly onNotice: (sentence: string, isTrouble: boolean) => void;
  readonly signal: AbortSignal;
}

const PAGE_EVENTS = 200;
const WAIT_MS = 30_000;
const READY_LOOK_MS = 200;
/** Time between two tries to go on after a fault, such as a full disk. */
const FAULT_REST_MS = 5_000;
/** A place is kept with each message, and without one as often as this. */
const KEEP_EVERY_MS = 60_000;

/**
 * Name of a rule's place in the store. A level that was changed is another rule: what had risen to the old one has not risen to it, and of what had not there is no
 * telling when it did.
 */
export function nameOfRule(webhook: string, { name, channels, filter, edge }: AlertRule): string {
  if (!edge) return `${webhook}/${name}`;
  const level = createHash("sha256").update(JSON.stringify([channels, filter, edge]));
  return `${webhook}/${name}/${level.digest("base64url").slice(0, 16)}`;
}

/**
 * Follows the log for one rule, from where it was kept on, and puts what there is to tell into the webhook's queue, until the signal aborts. Never rejects. Events that the log does not
 * hold any more are told as `alerts-lost`.
 */
export async function followRule(following: RuleFollowing): Promise<void> {
  const { head, clock, signal, onNotice, rule } = following;
  while (!signal.aborted) {
    try {
      while (!head.ready) await clock.sleep(READY_LOOK_MS, signal);
      await new RuleRun(following).run();
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      onNotice(`the rule ${rule.name} goes on from what it kept last, since it could not: ${reason}`, true);
      await clock.sleep(FAULT_REST_MS, signal).catch(() => {});
    }
  }
}

type Page = Extract<PollAnswer, { kind: "page" }>;

/** One run of a rule, from the place that is kept: what is only in memory is dropped with it. */
class RuleRun {
  readonly #following: RuleFollowing;
  readonly #name: string;
  readonly #judge: RuleJudge;
  readonly #query: { readonly channels: readonly string[]; readonly filter: Filter };
  #place: RulePlace | undefined;
  #keptAtMs = Number.NEGATIVE_INFINITY;

  constructor(following: RuleFollowing) {
    const { webhook, rule, store } = following;
    this.#following = following;
    this.#name = nameOfRule(webhook, rule);
    this.#place = store.place(this.#name);
    this.#judge = createRuleJudge(rule, this.#place?.state ?? NEW_RULE);
    const { channels, filter, edge } = rule;
    this.#query = { channels, filter: edge ? { ...filter } : { ...filter, names: newsOf(filter) } };
  }

  async run(): Promise<void> {
    const { rule, signal } = this.#following;
    // A number's level is seen in the lists as they are; only of news every single event counts.
    if (rule.edge || !this.#place) await this.#begin([]);
    while (!signal.aborted) {
      const answer = await this.#take({ after: this.#place?.cursor, waitMs: WAIT_MS });
      if (answer.kind === "lost") await this.#begin(this.#lostContents(answer.lost));
      else if (answer.kind === "nothing") await this.#keep(formatCursor(answer.cursor), []);
      else await this.#read(answer);
    }
  }

  #take(ask: { readonly after: string | undefined; readonly waitMs: number; readonly snapshot?: boolean }) {
    const { poll, signal } = this.#following;
    return poll.take({ ...this.#query, ...ask, limit: PAGE_EVENTS }, signal);
  }

  async #begin(before: readonly AlertContent[]): Promise<void> {
    const { head, rule } = this.#following;
    const answer = await this.#take({ after: undefined, waitMs: 0, snapshot: rule.edge !== undefined });
    if (answer.kind !== "page") throw new Error(`the head gave no place, but ${answer.kind}`);
    const cursor = formatCursor(answer.cursor);
    const at = { cursor, observed_at: new Date(head.observedAtMs).toISOString() };
    const known = this.#place !== undefined;
    const risen =
      answer.snapshot === undefined ? [] : this.#judge.begin(parseView(answer.snapshot), at, known);
    await this.#keep(cursor, [...before, ...risen], true);
  }

  #read({ bytes, cursor }: Page): Promise<void> {
    return this.#keep(
      formatCursor(cursor),
      parseMessages(bytes).flatMap((message) => this.#judge.take(message)),
    );
  }

  #lostContents({ reason, events }: Lost): readonly AlertContent[] {
    const after = this.#place?.cursor ?? "";
    // Whoever looks at levels sees in the lists what they are now.
    if (this.#following.rule.edge) return [];
    return [{ type: "alerts-lost", key: after, data: { after, reason, events } }];
  }

  async #keep(cursor: string, contents: readonly AlertContent[], always = false): Promise<void> {
    const { commits, webhook, rule, clock, steadyMs, isDisabled, onAlerts } = this.#following;
    this.#place = { cursor, state: this.#judge.state };
    const nowMs = clock.monotonic();
    if (contents.length === 0 && !always && nowMs - this.#keptAtMs < KEEP_EVERY_MS) return;
    const madeAtMs = steadyMs();
    const told = isDisabled() ? [] : contents;
    const alerts = told.map((content) => formAlert(webhook, rule.name, content, madeAtMs));
    await commits.commit(this.#name, this.#place, alerts);
    this.#keptAtMs = nowMs;
    if (alerts.length > 0) onAlerts();
  }
}

/** The messages of a page, which this process made itself. */
function parseMessages(bytes: Buffer): readonly EventMessage[] {
  return JSON.parse(`[${bytes.toString()}]`) as EventMessage[];
}

/** The lists of a page, likewise. */
function parseView(text: string): View {
  return JSON.parse(text) as View;
}
