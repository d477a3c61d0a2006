import { safeText } from "../../../../base/lib/text/safe-text.ts";
import type { GroupName } from "../../../../base/model/groups.ts";
import { tokenOf } from "../../../../base/model/key-of.ts";
import { toggleEntry, tokenQuery } from "../../state/alerts/alert-settings.ts";
import { useAlerts } from "../../state/alerts/page-alerts.ts";
import { onDemand } from "../on-demand.tsx";
import type { AlertsPanelProps } from "./alerts-panel.tsx";

/** The panel of alerts, loaded when it is opened. */
export const AlertsPanel = onDemand<AlertsPanelProps>(
  async () => (await import("./alerts-panel.tsx")).AlertsPanel,
);

/** A bell: filled where an alert is set. */
function Bell({ isOn }: { readonly isOn: boolean }) {
  return (
    <svg class={isOn ? "bell on" : "bell"} viewBox="0 0 16 16" aria-hidden="true">
      <path d="M8 1.8a4 4 0 0 0-4 4v2.4l-1.3 2.4c-.3.5.1 1.2.7 1.2h9.2c.6 0 1-.7.7-1.2L12 8.2V5.8a4 4 0 0 0-4-4z" />
      <path d="M6.3 13.3a1.8 1.8 0 0 0 3.4 0" />
    </svg>
  );
}

interface TokenBellProps {
  readonly group: GroupName;
  readonly token: Parameters<typeof tokenOf>[0]["token"];
}

/**
 * Sets an alert for a token, or removes it. Opens the panel if notification, sound and push are all
 * off.
 */
export function TokenBell({ group, token }: TokenBellProps) {
  const { alerts, settings, openPanel } = useAlerts();
  const query = tokenQuery(group, tokenOf({ token }));
  const isSet = settings.entries.some((entry) => entry.query === query);
  const toggle = () => {
    alerts?.update((before) => toggleEntry(before, { query, symbol: token.symbol }));
    const isSilent = !settings.isNotified && !settings.hasSound && !settings.isPushed;
    if (!isSet && isSilent) openPanel();
  };
  return (
    <button
      type="button"
      class="star"
      aria-pressed={isSet}
      aria-label={`Alert me about ${safeText(token.symbol)}`}
      onClick={toggle}
    >
      <Bell isOn={isSet} />
    </button>
  );
}

/** Opens the panel of alerts, and shows how many are set. */
export function AlertsButton({ label }: { readonly label: "Alerts" | "Alert me" }) {
  const { settings, openPanel } = useAlerts();
  const count = settings.entries.length + (settings.hasWatchList ? 1 : 0);
  return (
    <button
      type="button"
      class="alerts-button"
      aria-haspopup="dialog"
      aria-label={count > 0 ? `${label}, ${count} set` : label}
      onClick={openPanel}
    >
      <Bell isOn={count > 0} />
      <span class="label">{label}</span>
      {count > 0 && <small>{count}</small>}
    </button>
  );
}
