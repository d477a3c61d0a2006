import { useEffect, useId, useState } from "preact/hooks";
import { safeText } from "../../../../base/lib/text/safe-text.ts";
import { GROUP_FACTS } from "../../../../base/model/groups.ts";
import { flaresHash } from "../../route.ts";
import { type AlertEntry, MAX_ENTRIES, toggleEntry } from "../../state/alerts/alert-settings.ts";
import { useAlerts } from "../../state/alerts/page-alerts.ts";
import {
  askToNotify,
  canPush,
  type NotifyAccess,
  notifyAccess,
  startPush,
  stopPush,
} from "../../state/alerts/push.ts";
import { playSound } from "../../state/alerts/sound.ts";
import { DEFAULT_QUERY, type FlareQuery, formatQuery, readQuery } from "../../state/flare-query.ts";
import { isPushable } from "../../state/select-flares.ts";
import { server } from "../../state/store.ts";
import { watchedGroups } from "../../state/visitor/watched.ts";
import { botSamples, describeStarts } from "../bot/bot-samples.ts";
import { CodeSample, Sheet } from "../bot/sheet.tsx";
import { UntrustedText } from "../untrusted-text.tsx";
import "./alerts.css";

export interface AlertsPanelProps {
  /** The view on the screen; `undefined` on pages that cannot be an alert. */
  readonly query: FlareQuery | undefined;
  readonly onClose: () => void;
}

/** Everything about alerts: how to alert, what to add, and what is set. */
export function AlertsPanel({ query, onClose }: AlertsPanelProps) {
  return (
    <Sheet title="Alerts" onClose={onClose}>
      <How />
      <What query={query} />
      <SetAlerts />
    </Sheet>
  );
}

const ACCESS_TEXTS: Readonly<Record<NotifyAccess, string>> = {
  default: "Your browser will ask you to allow them.",
  granted: "Shown by your system while this page is open, in any tab.",
  denied: "Your browser blocks them for this site. Allow them in its site settings, then reload this page.",
  insecure: "They need a secure address: https, or localhost.",
  "home-screen": "Add this page to your home screen first. Then they work from there.",
  unsupported: "This browser does not have them.",
};

/** The choice of notification and sound. */
function How() {
  const { alerts, settings } = useAlerts();
  const [access, setAccess] = useState(notifyAccess);
  useEffect(() => {
    const look = () => setAccess(notifyAccess());
    addEventListener("focus", look);
    return () => removeEventListener("focus", look);
  }, []);
  const isNotified = settings.isNotified && access === "granted";
  const isSilent = !isNotified && !settings.hasSound && !settings.isPushed;
  const canAsk = access === "default" || access === "granted";
  const notify = async (isWanted: boolean) => {
    const answer = isWanted ? await askToNotify(server.value) : access;
    setAccess(answer);
    alerts?.update((before) => ({ ...before, isNotified: isWanted && answer === "granted" }));
  };
  const sound = async (hasSound: boolean) => {
    if (hasSound) playSound();
    alerts?.update((before) => ({ ...before, hasSound }));
  };
  return (
    <fieldset class="how">
      <legend>How to alert you</legend>
      <Choice
        label="Notification"
        note={ACCESS_TEXTS[access]}
        isOn={isNotified}
        isDisabled={!canAsk}
        onChange={notify}
      />
      <Choice
        label="Sound"
        note="Two short tones. After a reload, browsers allow them only once you click on the page."
        isOn={settings.hasSound}
        onChange={sound}
      />
      <PushChoice onAsked={() => setAccess(notifyAccess())} />
      <small class={isSilent ? "whole warned" : "whole"} role="status">
        {isSilent
          ? "Without a notification or sound, new alerts are only counted in this tab's title, while the tab is hidden."
          : "While this tab is hidden, its title counts new alerts."}
      </small>
    </fieldset>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly note: string;
  readonly isOn: boolean;
  readonly isDisabled?: boolean;
  readonly onChange: (isWanted: boolean) => Promise<void>;
}

/** A switch that takes effect later, for example when the visitor has answered the browser. */
function Choice({ label, note, isOn, isDisabled = false, onChange }: ChoiceProps) {
  const [chosen, setChosen] = useState<boolean>();
  const change = async (isWanted: boolean) => {
    setChosen(isWanted);
    await onChange(isWanted).catch(() => {});
    setChosen(undefined);
  };
  const id = useId();
  return (
    <>
      <label class="choice">
        <input
          type="checkbox"
          checked={chosen ?? isOn}
          disabled={isDisabled}
          aria-busy={chosen !== undefined}
          aria-describedby={id}
          onChange={({ currentTarget }) => void change(currentTarget.checked)}
        />
        <span>{label}</span>
      </label>
      <small id={id} role="status">
        {note}
      </small>
    </>
  );
}

const PUSH_TEXTS = {
  ready: "Also while this page is closed. The server remembers this browser until you switch it off.",
  partly:
    "Also while this page is closed, but not for views that search, hide warned flares or choose an end. The server remembers this browser until you switch it off.",
  failed: "Not possible: your browser or the server refused. Nothing is pushed.",
} as const;

/** The choice of push. Absent if the server or the browser has none. */
function PushChoice({ onAsked }: { readonly onAsked: () => void }) {
  const { alerts, settings } = useAlerts();
  const [isOffered, setOffered] = useState(false);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => void canPush(server.value).then(setOffered), []);
  if (!isOffered || !alerts) return null;
  const change = async (isWanted: boolean) => {
    const isPushed = isWanted && (await startPush(alerts));
    if (!isWanted) await stopPush(alerts).catch(() => {});
    setFailed(isWanted && !isPushed);
    alerts.update((before) => ({ ...before, isPushed }));
    onAsked();
  };
  const text = alerts.queries.every(isPushable) ? PUSH_TEXTS.ready : PUSH_TEXTS.partly;
  return (
    <Choice
      label="Push"
      note={hasFailed ? PUSH_TEXTS.failed : text}
      isOn={settings.isPushed}
      onChange={change}
    />
  );
}

const EMPTY_LIST = "It is empty. Click the ☆ beside a token to add the token.";

/** What can be added from here: the watch list, and the view on the screen. */
function What({ query }: Pick<AlertsPanelProps, "query">) {
  const { alerts, settings } = useAlerts();
  const watched = [...watchedGroups().values()].flat().length;
  const text = query && formatQuery(alertQuery(query));
  const isSet = settings.entries.some((entry) => entry.query === text);
  const isFull = settings.entries.length >= MAX_ENTRIES;
  return (
    <section aria-labelledby="what-title">
      <h3 id="what-title">Add an alert</h3>
      <ul class="alerts">
        {query && text !== undefined && (
          <li>
            <span>
              <strong>This view</strong> <span class="soft">{describeStarts(query)}</span>
            </span>
            <button
              type="button"
              class={isSet ? "" : "primary"}
              disabled={isSet || isFull}
              onClick={() => alerts?.update((before) => toggleEntry(before, { query: text }))}
            >
              {isSet ? "Added" : "Add view"}
            </button>
          </li>
        )}
        <li>
          <span>
            <strong>Watch list</strong>{" "}
            <span class="soft">
              {watched === 0 ? EMPTY_LIST : `${watched} ${watched === 1 ? "token" : "tokens"} marked ★`}
            </span>
          </span>
          <button
            type="button"
            class={settings.hasWatchList ? "" : "primary"}
            disabled={settings.hasWatchList || watched === 0}
            onClick={() => alerts?.update((before) => ({ ...before, hasWatchList: true }))}
          >
            {settings.hasWatchList ? "Added" : "Add watch list"}
          </button>
        </li>
      </ul>
      <p class="soft hint">A single token: the bell on its page.</p>
    </section>
  );
}

/** The alerts that are set, with their webhook rules, and buttons to remove them. */
function SetAlerts() {
  const { alerts, settings } = useAlerts();
  const { entries, hasWatchList } = settings;
  const remove = (entry: AlertEntry) => alerts?.update((before) => toggleEntry(before, entry));
  const forget = () => alerts?.update((before) => ({ ...before, hasWatchList: false }));
  const watched = [...watchedGroups()];
  return (
    <section aria-labelledby="set-title">
      <h3 id="set-title">
        Your alerts <small>{entries.length + (hasWatchList ? 1 : 0)}</small>
      </h3>
      {entries.length === 0 && !hasWatchList && <p class="soft hint">No alerts yet.</p>}
      <ul class="alerts">
        {hasWatchList && (
          <SetAlert
            name="Watch list"
            queries={watched.map(([group, tokens]) => ({ ...DEFAULT_QUERY, group, tokens }))}
            onRemove={forget}
          />
        )}
        {entries.map((entry) => (
          <SetAlert
            key={entry.query}
            name={entry.symbol}
            queries={[readQuery(entry.query)]}
            onRemove={() => remove(entry)}
          />
        ))}
      </ul>
    </section>
  );
}

interface SetAlertProps {
  /** A token's symbol, untrusted, or "Watch list". Default: a description of the query. */
  readonly name: string | undefined;
  /** Each is a rule of a webhook. None if the watch list is empty. */
  readonly queries: readonly FlareQuery[];
  readonly onRemove: () => void;
}

function SetAlert({ name, queries, onRemove }: SetAlertProps) {
  const { alerts } = useAlerts();
  const reported = queries.map((query) => alerts?.reportedQuery(query) ?? query);
  const [query = DEFAULT_QUERY] = reported;
  const description = describeStarts(query);
  return (
    <li class="set">
      <span>
        {name === undefined ? (
          <a href={new URL(flaresHash(query), server.value).href}>{description}</a>
        ) : (
          <strong>
            <UntrustedText text={name} />
          </strong>
        )}
        {queries.length === 0 && <span class="soft"> {EMPTY_LIST}</span>}
      </span>
      <button type="button" onClick={onRemove}>
        Remove<span class="unseen"> {name === undefined ? description : safeText(name)}</span>
      </button>
      {reported.map((one) => (
        <details key={one.group}>
          <summary>Webhook rule{queries.length > 1 && `: ${GROUP_FACTS[one.group].label}`}</summary>
          <CodeSample {...botSamples(one, server.value).webhook} />
        </details>
      ))}
    </li>
  );
}

/** Returns the query without the parts that select no flares: order and minute. */
function alertQuery(query: FlareQuery): FlareQuery {
  return { ...query, order: DEFAULT_QUERY.order, at: undefined };
}
