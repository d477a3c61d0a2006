import {
  existingFile,
  isServiceUrl,
  type Kind,
  type SettingsOf,
  type SettingTable,
  setting,
  text,
} from "../../base/settings/index.ts";

/** A contact for the operators of push services. RFC 8292 allows these two forms. */
const pushContact: Kind<string> = {
  schema: text(
    320,
    (contact) =>
      /^mailto:[^@\s]+@[^@\s]+$/.test(contact) || (contact.startsWith("https:") && isServiceUrl(contact)),
  ),
  bound: "mailto: with an address, or an https:// URL without user, query or fragment",
};

/** Alerts and web push. */
export const ALERT_SETTINGS = {
  alerts: setting("alerts", existingFile, {
    default: undefined,
    example: "/etc/flarewire/alerts.json",
    description: "File with webhooks and alert rules; read at startup",
  }),
  push: setting("push", pushContact, {
    default: undefined,
    example: "mailto:ops@example.org",
    description:
      "Lets visitors receive alerts by web push while the page is closed. The value is your contact, which push services require: mailto: or https:",
  }),
} as const satisfies SettingTable;

export type AlertSettings = SettingsOf<typeof ALERT_SETTINGS>;
