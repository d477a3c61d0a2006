import { STREAM_QUERY, TICKETS_PATH } from "../../../gateway/http/index.ts";
import { type Html, html, prose } from "../../pages/index.ts";
import type { AsyncApiDocument, MessageContract } from "../contracts/asyncapi.ts";
import { parametersOf } from "../contracts/parameters.ts";
import { createSchemas } from "../contracts/schemas.ts";
import { DOCUMENTS } from "./documents.ts";
import { pageHtml, type Site } from "./layout.ts";
import { keyField, parameterFields } from "./parameter-fields.ts";
import { introHtml } from "./rest/rest-page.ts";
import { exampleHtml, foldHtml, schemasHtml, typeHtml } from "./schema-html.ts";

/** Renders events and messages, with a form that opens a stream and shows its messages. */
export function eventsPage(site: Site, document: AsyncApiDocument): string {
  const { basePath } = site;
  const { info, channels, components } = document;
  const marketChannels = Object.entries(document["x-channels"]).map(
    ([channel, names]) =>
      html`<tr><th scope="row"><code>${channel}</code></th><td>${names.map((name) => html`<a href="#message-${name}">${name}</a> `)}</td></tr>\n`,
  );
  const codes = document["x-close-codes"].map(
    ({ code, reason, action, meaning }) =>
      html`<tr data-code="${code}"><th scope="row">${code}</th><td><code>${reason}</code></td><td>${action}</td><td>${meaning}</td></tr>\n`,
  );
  const messages = Object.entries(components.messages).map(([name, message]) =>
    messageHtml(name, message, channels),
  );
  const body = html`<h1>Events</h1>
${introHtml(info.description)}
<p>The rules, each with its number, are in <a href="${basePath}${DOCUMENTS.docsProtocol.path}">the protocol</a>.</p>
${tryHtml(basePath, document)}
<section aria-labelledby="channels"><h2 id="channels">Channels</h2>
<p>A pattern is a channel's name, a prefix as in <code>flares.*</code>, or <code>*</code> for all.</p>
<div class="wide"><table class="fields"><tbody>${marketChannels}</tbody></table></div></section>
<section aria-labelledby="transports"><h2 id="transports">Transports</h2>
${Object.values(channels).map(({ title, address, description }) => html`<h3>${title}</h3><p><code>${basePath}${address}</code></p><p>${prose(description)}</p>`)}
</section>
<section aria-labelledby="messages"><h2 id="messages">Messages</h2>
${messages}</section>
<section aria-labelledby="codes"><h2 id="codes">Close codes</h2>
<p>The range says what to do: 4000–4099 stop, 4100–4199 wait and reconnect, 4200–4299 reconnect at once with the cursor.</p>
<div class="wide"><table id="close-codes"><thead><tr><th>Code</th><th>Reason</th><th>Action</th><th>Meaning</th></tr></thead><tbody>${codes}</tbody></table></div></section>
${schemasHtml(components.schemas, true)}`;
  return pageHtml(site, DOCUMENTS.docsEvents.path, "Events", body);
}

function tryHtml(basePath: string, { channels }: AsyncApiDocument): Html {
  const names = [...Object.keys(channels.events.messages), "reset"].join(" ");
  // Without `client`, because a page opened twice would disconnect its own other copy.
  const { client: _client, ...query } = STREAM_QUERY;
  const parameters = parametersOf({ query }, createSchemas("draft-7"));
  return html`<section aria-labelledby="try"><h2 id="try">Try</h2>
<form id="stream" data-websocket="${basePath}${channels.stream.address}" data-events="${basePath}${channels.events.address}" data-tickets="${basePath}${TICKETS_PATH}" data-names="${names}" aria-label="Open a stream">
<div class="field"><label for="transport">Transport</label>
<select id="transport" name="transport"><option value="websocket">WebSocket</option><option value="events">Server-sent events</option></select></div>
${keyField()}
<details><summary>Parameters</summary>
${parameterFields("stream", parameters)}</details>
<p><button type="submit">Connect</button> <button type="button" id="disconnect" disabled>Disconnect</button> <button type="button" id="clear">Clear</button> <output id="state" role="status">Not connected.</output></p>
</form>
<form id="command" aria-label="Send a command">
<div class="field"><label for="command-text">Command, over a WebSocket</label>
<textarea id="command-text" rows="2" spellcheck="false">{"type":"ping","id":1}</textarea></div>
<p><button type="submit" disabled>Send</button></p>
</form>
<ol id="log" reversed aria-label="Messages, the newest first"></ol>
</section>`;
}

function messageHtml(
  name: string,
  { summary, payload, examples }: MessageContract,
  channels: AsyncApiDocument["channels"],
): Html {
  const transports = [
    ...(name in channels.stream.messages ? ["WebSocket"] : []),
    ...(name in channels.events.messages ? ["server-sent events"] : []),
  ].join(", ");
  const direction = ["subscribe", "unsubscribe", "ping"].includes(name)
    ? "client → server"
    : "server → client";
  const details = html`<p><small>${direction}; ${transports}</small></p>
<p>${typeHtml(payload)}</p>
${examples.map(({ payload: example }) => exampleHtml(example))}`;
  return foldHtml(`message-${name}`, html`<code>${name}</code>`, details, html` ${prose(summary)}`);
}
