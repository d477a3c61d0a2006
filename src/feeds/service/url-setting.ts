import { serviceUrl, setting } from "../../base/settings/index.ts";

/** Returns a setting for the base URL of a service. `url` is the default. */
export function urlSetting<const F extends string>(field: F, url: string, service: string, example?: string) {
  const scheme = url.startsWith("ws") ? "ws" : "http";
  return setting(field, serviceUrl(scheme), {
    default: url,
    example: example ?? `${scheme}s://proxy.example.org`,
    description: `Base URL of ${service}`,
  });
}
