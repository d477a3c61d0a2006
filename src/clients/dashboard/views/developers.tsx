import { BotSamples } from "../parts/bot/bot-dialog.tsx";
import { DEFAULT_QUERY } from "../state/flare-query.ts";
import { server } from "../state/store.ts";

const PLACES = [
  ["docs", "Documents", "The REST API, the events, and guides for bots and operators."],
  ["docs/events", "Events", "Every event of the stream, over WebSocket and server-sent events."],
  ["docs/integrations", "Integrations", "freqtrade, Node-RED, n8n and agents."],
  ["docs/alerts", "Alerts", "Webhooks, Telegram, Discord, Slack, ntfy and MQTT."],
  ["widgets", "Widgets", "Flares on your own page: one script, no code."],
  ["docs/source", "Source", "The program, its license and its libraries."],
] as const;

/** How to follow flares with a program. */
export function DevelopersView() {
  return (
    <article class="developers">
      <div class="headline">
        <div>
          <h2>Developers</h2>
          <p>Everything on these pages is in a public API, with a stream that loses no event.</p>
        </div>
      </div>
      <ul class="places">
        {PLACES.map(([path, title, text]) => (
          <Place key={path} path={path} title={title} text={text} />
        ))}
      </ul>
      <h3>Your first bot</h3>
      <BotSamples query={DEFAULT_QUERY} />
    </article>
  );
}

interface PlaceProps {
  /** Relative to the server's address. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

function Place({ path, title, text }: PlaceProps) {
  return (
    <li>
      <a href={new URL(path, server.value).pathname}>{title}</a>
      <p>{text}</p>
    </li>
  );
}
