import { channelsOfPlan, matchChannels } from "../../../../base/protocol/index.ts";
import { EVENTS_PATH, type RouteContract, STREAM_PATH } from "../../../../gateway/http/index.ts";
import { type Html, html } from "../../../pages/index.ts";
import type { Site } from "../layout.ts";

/** The default address of a server. The page's script replaces it with the page's origin. */
export const SERVER = "http://127.0.0.1:8080";

type Samples = Readonly<Record<"curl" | "TypeScript" | "Python", string>>;

/** What the samples are for, by what the server's visitors need. */
const INTROS: Readonly<Record<Site["needs"], Html>> = {
  nothing: html`Each of these prints every flare as it starts.`,
  "key for pro": html`Each of these prints every flare when the list <code>free</code> has it, without a key. With a key of the plan <code>pro</code>, follow <code>flares.pro</code> to get each flare as it starts.`,
  key: html`Each of these prints every flare as it starts. Replace <code>KEY</code> with your key. With one of the plan <code>free</code>, follow <code>flares.free</code> instead.`,
};

/** Renders short samples, in three languages, that print each start of a flare. */
export function quickStartHtml({ basePath, needs }: Pick<Site, "basePath" | "needs">): Html {
  return html`<p>${INTROS[needs]}</p>
${tabsHtml("Language", quickStart(`${SERVER}${basePath}`, needs))}`;
}

/** Renders a call of the operation in three languages. */
export function samplesHtml(
  { basePath, needs }: Pick<Site, "basePath" | "needs">,
  route: RouteContract,
): Html {
  const { path, method, params = {}, sample, responses } = route;
  const server = `${SERVER}${basePath}`;
  if (path === STREAM_PATH || path === EVENTS_PATH) return quickStartHtml({ basePath, needs });
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name]?.example));
  const query = sample === undefined ? "" : `?${sample}`;
  const isText = responses[200]?.content?.["text/plain"] !== undefined;
  const needsPro = needs !== "nothing" && isOfPro(route);
  // A POST creates a ticket for a key.
  const isKeyed = method === "POST" || needs === "key" || needsPro;
  const whose = needsPro
    ? html`a key of the plan <code>pro</code>, because <code>free</code> lacks this list`
    : html`your key`;
  const note = isKeyed ? html`<p>Replace <code>KEY</code> with ${whose}.</p>\n` : html``;
  return html`${note}${tabsHtml("Language", callOf(`${server}${filled}${query}`, method, isText, isKeyed))}`;
}

/** Whether the sample asks for a list that only the plan pro includes. */
function isOfPro({ channels, sample }: RouteContract): boolean {
  if (typeof channels !== "function") return false;
  const named = channels(Object.fromEntries(new URLSearchParams(sample)), {}).flatMap(matchChannels);
  return named.length > 0 && !named.some((channel) => channelsOfPlan("free").includes(channel));
}

function quickStart(server: string, needs: Site["needs"]): Samples {
  const list = needs === "key for pro" ? "flares.free" : "flares.pro";
  const events = `${server}${EVENTS_PATH}?channels=${list}&names=flare-started`;
  const [onShell, inScript, inPython] =
    needs === "key"
      ? [" -H 'Authorization: Bearer KEY'", ', key: "KEY"', ', "Authorization": "Bearer KEY"']
      : ["", "", ""];
  return {
    curl: `curl -N -H 'Accept: text/event-stream'${onShell} '${events}'`,
    TypeScript: `import { connect } from "flarewire/client";

for await (const event of connect("${server}", { channels: ["${list}"]${inScript} })) {
  if (event.name === "flare-started") console.log(event.data.flare.token.symbol, event.data.why?.text);
}`,
    Python: `import json, urllib.request
request = urllib.request.Request("${events}", headers={"Accept": "text/event-stream"${inPython}})
for line in urllib.request.urlopen(request):
    if line.startswith(b"data: ") and (event := json.loads(line[6:])).get("name") == "flare-started":
        print(event["data"]["flare"]["token"]["symbol"], (event["data"]["why"] or {}).get("text"))`,
  };
}

function callOf(url: string, method: RouteContract["method"], isText: boolean, hasKey: boolean): Samples {
  const isPost = method === "POST";
  const options = `, {${isPost ? `\n  method: "POST",` : ""}\n  headers: { authorization: "Bearer KEY" },\n}`;
  return {
    curl: `curl -s${isPost ? " -X POST" : ""}${hasKey ? " -H 'Authorization: Bearer KEY'" : ""} '${url}'`,
    TypeScript: `const response = await fetch("${url}"${hasKey ? options : ""});
console.log(response.status, await response.${isText ? "text" : "json"}());`,
    Python: `import json, urllib.request
request = urllib.request.Request("${url}"${isPost ? `, method="POST"` : ""}${hasKey ? `, headers={"Authorization": "Bearer KEY"}` : ""})
with urllib.request.urlopen(request) as response:
    print(response.status, ${isText ? "response.read().decode()" : "json.load(response)"})`,
  };
}

/** Renders alternative samples. The page's script turns them into tabs. */
export function tabsHtml(label: string, samples: Readonly<Record<string, string>>): Html {
  const tabs = Object.entries(samples).map(
    ([name, text]) =>
      html`<section><p>${name}</p><pre class="sample own" tabindex="0">${text}</pre></section>\n`,
  );
  return html`<div class="tabs" data-label="${label}">${tabs}</div>`;
}
