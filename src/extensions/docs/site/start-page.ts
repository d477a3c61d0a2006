import { type Html, html } from "../../pages/index.ts";
import type { Site } from "./layout.ts";
import { keyField } from "./parameter-fields.ts";
import { quickStartHtml, SERVER, tabsHtml } from "./rest/samples.ts";

/** Renders the first steps for authors of bots, owners of pages and operators of servers. */
export function startHtml(site: Site): Html {
  const server = `${SERVER}${site.basePath}`;
  const to = (path: string, label: string) => html`<a href="${site.basePath}${path}">${label}</a>`;
  const key =
    site.needs === "key"
      ? html`<form aria-label="Your key">${keyField(html`The samples then contain it.`)}</form>`
      : html``;
  return html`<h1>Start here</h1>
<p>Flarewire pushes an event when traders suddenly pile into a token, with the reason, and another when it is over.</p>
<ul class="paths"><li><a href="#bot">Write a bot</a> It reacts when a flare starts and when it ends.</li>
<li><a href="#page">Show flares on your page</a> One line of HTML, always up to date.</li>
<li><a href="#server">Run a server</a> With live markets, your own keys and limits.</li></ul>
<noscript><p>Replace <code>${SERVER}</code> in the samples with the address of this server.</p></noscript>
${key}<section aria-labelledby="bot"><h2 id="bot">Write a bot</h2>
<ol><li>Watch flares start. ${quickStartHtml(site)}</li>
<li>Write ${to("/docs/first-bot", "your first bot")}: it resumes from its cursor and misses nothing.</li>
<li>Ask ${to("/docs/worth-it", "whether it is worth it")}: the record, the odds, a backtest.</li>
<li>Look things up: ${to("/docs/client", "the client")}, ${to("/docs/python", "Python")}, ${to("/docs/events", "every message")}, <a href="#addresses">every address</a>, ${to("/docs/skill", "a file for coding agents")}.</li></ol></section>
<section aria-labelledby="page"><h2 id="page">Show flares on your page</h2>
<ol><li>Choose an element at ${to("/widgets", "widgets")}, which shows them live.</li>
<li>Paste it. ${tabsHtml("Page", pageSamples(server))}</li>
<li>Let ${to("/docs/widget#connections", "your page's content security policy")} name this server. If the server has <code>--allowed-origins</code>, they must include your page.${site.needs === "key" ? html` It must also serve visitors without a key: <code>--anonymous free</code>.` : ""}</li></ol></section>
<section aria-labelledby="server"><h2 id="server">Run a server</h2>
<ol><li>Check that this one has fresh data. The terminal's command runs in a clone. ${tabsHtml("Tool", serverSamples(server, site.needs))}</li>
<li>${to("/docs/deploy", "Deploy your own")}: a unit, keys, nginx, backup, upgrade.</li>
<li>Create ${to("/docs/operating#keys", "keys")}, and choose ${to("/docs/live", "a live market")}.</li>
<li>Watch ${to("/docs/operating#metrics", "its metrics")}, and ${to("/docs/scaling", "add edges")} when one core is not enough.</li></ol></section>`;
}

function pageSamples(server: string): Readonly<Record<string, string>> {
  return {
    HTML: `<script src="${server}/widget.js" defer></script>
<flare-list limit="5"></flare-list>`,
    React: `import { useFlares } from "@flarewire/react";

export function Flares() {
  const { flares } = useFlares("${server}");
  return <ul>{flares.map(({ id, token }) => <li key={id}>{token.symbol}</li>)}</ul>;
}`,
  };
}

function serverSamples(server: string, needs: Site["needs"]): Readonly<Record<string, string>> {
  const key = needs === "key" ? "FLAREWIRE_CLIENT_KEY=KEY " : "";
  return {
    curl: `curl -f '${server}/readyz'`,
    Terminal: `${key}npm run --silent flarewire -- tail ${server}`,
  };
}
