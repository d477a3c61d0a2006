import { createHash } from "node:crypto";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import {
  type EventMessage,
  type Filter,
  formatCursor,
  type Lost,
  parseCursor,
  type View,
} from "../../../base/protocol/index.ts";
import { type Head, keepFollowing, type PollAnswer } from "../../../gateway/hub/index.ts";
import { type AlertContent, formAlert } from "../alert.ts";
import type { AlertStore, RulePosition } from "../store/alert-store.ts";
import type { GroupCommit } from "../store/group-commit.ts";
import type { TargetContext } from "../targets/target.ts";
import { type AlertRule, newsOf } from "./alert-rule.ts";
import { createRuleJudge, type RuleJudge } from "./rule-judge.ts";
import { NEW_RULE } from "./rule-state.ts";

interface RuleFollowing extends TargetContext {
  readonly target: string;
  readonly rule: AlertRule;
  readonly head: Pick<Head, "ready" | "observedAtMs">;
  readonly store: Pick<AlertStore, "position">;
  /** Saves positions and messages of all rules together. */
  readonly commits: Pick<GroupCommit, "commit">;
  readonly steadyMs: () => number;
  /** Public URL of this server, for links. Default: alerts have no links. */
  readonly publicUrl?: string | undefined;
  /** True while the target is disabled. The rule's alerts are then discarded. */
  readonly isDisabled: () => boolean;
  readonly onAlerts: () => void;
  /**
   * Called whenever the rule starts or restarts, when it has a position and so misses no later
   * event.
   */
  readonly onFollowing?: () => void;
  readonly signal: AbortSignal;
}

const PAGE = { events: 200, waitMs: 30_000 };
/** A position is saved with each message, and otherwise at most this often. */
const SAVE_EVERY_MS = 60_000;

/**
 * Returns the rule's name in the store. An edge rule gets another name, and so starts over, when
 * its channels, filter or edge change.
 */
export function nameOfRule(target: string, { name, channels, filter, edge }: AlertRule): string {
  if (!edge) return `${target}/${name}`;
  const level = createHash("sha256").update(JSON.stringify([channels, filter, edge]));
  return `${target}/${name}/${level.digest("base64url").slice(0, 16)}`;
}

/**
 * Stores a rule's alerts until the signal aborts. Reports lost news as `alerts-lost`. Never
 * rejects.
 */
export async function followRule(following: RuleFollowing): Promise<void> {
  const { head, clock, signal, notify, rule } = following;
  const onFailure = (error: unknown) => {
    const reason = messageOf(error);
    notify("warn", `rule ${rule.name} failed; resuming from its last saved position: ${reason}`);
  };
  await keepFollowing(head, clock, signal, () => new RuleRun(following).run(), onFailure);
}

type Page = Extract<PollAnswer, { kind: "page" }>;

/**
 * Follows a rule from its saved position. After a failure, a new run discards the unsaved state.
 */
class RuleRun {
  readonly #following: RuleFollowing;
  readonly #name: string;
  readonly #judge: RuleJudge;
  readonly #query: { readonly channels: readonly string[]; readonly filter: Filter };
  #position: RulePosition | undefined;
  #savedAtMs = Number.NEGATIVE_INFINITY;

  constructor(following: RuleFollowing) {
    const { target, rule, store } = following;
    this.#following = following;
    this.#name = nameOfRule(target, rule);
    this.#position = store.position(this.#name);
    this.#judge = createRuleJudge(rule, this.#position?.state ?? NEW_RULE);
    const { channels, filter, edge } = rule;
    this.#query = { channels, filter: edge ? { ...filter } : { ...filter, names: newsOf(filter) } };
  }

  async run(): Promise<void> {
    const { rule, signal } = this.#following;
    // An edge rule needs only the current lists. A news rule needs every event.
    if (rule.edge || !this.#position) await this.#begin([]);
    // Only a damaged store has such a cursor. The events that were missed are unknown.
    else if (!parseCursor(this.#position.cursor))
      await this.#begin(this.#lostContents({ reason: "epoch-changed", events: null }));
    this.#following.onFollowing?.();
    while (!signal.aborted) {
      const answer = await this.#take({ after: this.#position?.cursor, waitMs: PAGE.waitMs });
      if (answer.kind === "lost") await this.#begin(this.#lostContents(answer.lost));
      else if (answer.kind === "nothing") await this.#save(formatCursor(answer.cursor), []);
      else await this.#read(answer);
    }
  }

  #take(from: { readonly after: string | undefined; readonly waitMs: number; readonly snapshot?: boolean }) {
    const { poll, signal } = this.#following;
    return poll.take({ ...this.#query, ...from, limit: PAGE.events }, signal);
  }

  async #begin(lost: readonly AlertContent[]): Promise<void> {
    const { head, rule } = this.#following;
    const answer = await this.#take({ after: undefined, waitMs: 0, snapshot: rule.edge !== undefined });
    if (answer.kind !== "page") throw new Error(`expected a page at the head of the log, got ${answer.kind}`);
    const cursor = formatCursor(answer.cursor);
    const at = { cursor, observed_at: new Date(head.observedAtMs).toISOString() };
    const known = this.#position !== undefined;
    const risen =
      answer.snapshot === undefined ? [] : this.#judge.begin(parseView(String(answer.snapshot)), at, known);
    await this.#save(cursor, [...lost, ...risen], true);
  }

  #read({ bytes, cursor }: Page): Promise<void> {
    return this.#save(
      formatCursor(cursor),
      parseMessages(bytes).flatMap((message) => this.#judge.take(message)),
    );
  }

  #lostContents({ reason, events }: Lost): readonly AlertContent[] {
    const after = this.#position?.cursor ?? "";
    // An edge rule compares the current lists with its level instead.
    if (this.#following.rule.edge) return [];
    return [{ type: "alerts-lost", key: after, data: { after, reason, events } }];
  }

  async #save(cursor: string, contents: readonly AlertContent[], always = false): Promise<void> {
    const { commits, target, rule, clock, steadyMs, publicUrl, isDisabled, onAlerts } = this.#following;
    this.#position = { cursor, state: this.#judge.state };
    const nowMs = clock.monotonic();
    if (contents.length === 0 && !always && nowMs - this.#savedAtMs < SAVE_EVERY_MS) return;
    const madeAtMs = steadyMs();
    const wanted = isDisabled() ? [] : contents;
    const alerts = wanted.map((content) => formAlert(target, rule.name, content, madeAtMs, publicUrl));
    await commits.commit(this.#name, this.#position, alerts);
    this.#savedAtMs = nowMs;
    if (alerts.length > 0) onAlerts();
  }
}

/** Parses a page without checks: this process formatted it. */
function parseMessages(bytes: Buffer): readonly EventMessage[] {
  return JSON.parse(`[${bytes.toString()}]`) as EventMessage[];
}

function parseView(text: string): View {
  return JSON.parse(text) as View;
}
