import { EVENTS_PATH, type RouteContract, STREAM_PATH } from "../../../../gateway/http/index.ts";
import { type Html, html } from "../../../pages/index.ts";

/** The default address of a server. The page's script replaces it with the page's origin. */
const SERVER = "http://127.0.0.1:8080";

type Samples = Readonly<Record<"curl" | "TypeScript" | "Python", string>>;

/** Renders short samples, in three languages, that print each start of a flare. */
export function quickStartHtml(basePath: string): Html {
  return html`<p>Each of these prints every flare as it starts. A key is needed only if the server requires one.</p>
${languagesHtml(quickStart(`${SERVER}${basePath}`))}`;
}

/** Renders a call of the operation in three languages. */
export function samplesHtml(basePath: string, route: RouteContract): Html {
  const { path, method, params = {}, sample, responses } = route;
  const server = `${SERVER}${basePath}`;
  if (path === STREAM_PATH || path === EVENTS_PATH) return languagesHtml(quickStart(server));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name]?.example));
  const query = sample === undefined ? "" : `?${sample}`;
  const isText = responses[200]?.content?.["text/plain"] !== undefined;
  return languagesHtml(callOf(`${server}${filled}${query}`, method, isText));
}

function quickStart(server: string): Samples {
  const events = `${server}${EVENTS_PATH}?channels=flares.pro&names=flare-started`;
  return {
    curl: `curl -N -H 'Accept: text/event-stream' '${events}'`,
    TypeScript: `import { connect } from "flarewire/client";

for await (const event of connect("${server}", { channels: ["flares.pro"] })) {
  if (event.name === "flare-started") console.log(event.data.flare.token.symbol, event.data.why?.text);
}`,
    Python: `import json, urllib.request
request = urllib.request.Request("${events}", headers={"Accept": "text/event-stream"})
for line in urllib.request.urlopen(request):
    if line.startswith(b"data: ") and (event := json.loads(line[6:])).get("name") == "flare-started":
        print(event["data"]["flare"]["token"]["symbol"], (event["data"]["why"] or {}).get("text"))`,
  };
}

function callOf(url: string, method: RouteContract["method"], isText: boolean): Samples {
  const isPost = method === "POST";
  return {
    curl: `curl -s${isPost ? " -X POST -H 'Authorization: Bearer KEY'" : ""} '${url}'`,
    TypeScript: `const response = await fetch("${url}"${isPost ? `, {\n  method: "POST",\n  headers: { authorization: "Bearer KEY" },\n}` : ""});
console.log(response.status, await response.${isText ? "text" : "json"}());`,
    Python: `import json, urllib.request
request = urllib.request.Request("${url}"${isPost ? `, method="POST", headers={"Authorization": "Bearer KEY"}` : ""})
with urllib.request.urlopen(request) as response:
    print(response.status, ${isText ? "response.read().decode()" : "json.load(response)"})`,
  };
}

/** Shows one language at a time, without a script. */
function languagesHtml(samples: Samples): Html {
  const blocks = Object.entries(samples).map(
    ([language, text], at) =>
      html`<details name="language"${at === 0 ? html` open` : html``}><summary>${language}</summary><pre class="sample" tabindex="0">${text}</pre></details>\n`,
  );
  return html`<div class="languages">${blocks}</div>`;
}
