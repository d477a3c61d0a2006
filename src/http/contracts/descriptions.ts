/** What each schema, and each of its fields, means: the words of its docstring. Made by `npm run describe`; do not edit. */
export const DESCRIPTIONS: Readonly<Record<string, string>> = {
  Address:
    "A token's contract address: `0x` and hexadecimal digits, as the chain feed found it. Compare without regard to case.",
  BscChartItem: "An item of the chart of `bsc`.",
  "BscChartItem.buy_count": "Buys of those 60 minutes; 0 if the feed has no trades.",
  "BscChartItem.id":
    "Derived from group and token: the same token keeps its id when it leaves the chart and returns.",
  "BscChartItem.latest_candle_prices":
    "Close of each of the last 60 candles, oldest first, in percent from the average; shorter for young tokens.",
  "BscChartItem.most_recent_price_average": "Mean close of the last 60 one-minute candles.",
  "BscChartItem.price_change_from_average":
    "Difference between the most recent price and `most_recent_price_average`, in percent.",
  "BscChartItem.sell_count": "Sells of those 60 minutes; 0 if the feed has no trades.",
  "BscChartItem.streak": "Consecutive minutes in the chart, this one included.",
  BscLeaderboardEntry: "A standing of the leaderboard of `bsc`.",
  "BscLeaderboardEntry.average_position": "Its mean rank during that time, weighted by time; 1 is the top.",
  "BscLeaderboardEntry.time_trended":
    "Seconds that the token spent in its group's chart within the past 6 hours.",
  ChainLeaderboardEntry: "A standing of the leaderboard of `matic` or `avalanche`.",
  "ChainLeaderboardEntry.average_position": "Its mean rank during that time, weighted by time; 1 is the top.",
  "ChainLeaderboardEntry.time_trended":
    "Seconds that the token spent in its group's chart within the past 6 hours.",
  ChainToken: "A token of `matic` or `avalanche` inside chart items and leaderboard entries.",
  ChangeSchema: "Schema of `Change`: one step from a list to the next.",
  ChartUpdated: "A group's chart for the new minute: all changes since the previous one.",
  "ChartUpdated.channel": "The channel whose list it changes.",
  "ChartUpdated.name": "What happened.",
  "ChartUpdated.observed_at":
    "Event time of the observation, by the market's clock: in a replay it is in the past.",
  Charts:
    "`GET /api/v1/charts`: for each group the ten tokens that rise best for their risk, best first. Recomputed every minute, unchanged in between.",
  CloseMessage:
    "Server → client, over server-sent events only: the last event before the server ends the stream. Corresponds to a WebSocket close frame.",
  "CloseMessage.code": "The code in CLOSE_CODES.",
  Command: "Any command, discriminated by `type`.",
  CommandId:
    "A command's id, chosen by the client and repeated in the response. Numbers must survive JSON unchanged.",
  Conflated:
    "Server → client, in mode `latest`: replaces events that the client was too slow for. Contains the lists of these channels at `cursor`. Flare channels always come together, and `explanations` then replaces the previous ones.",
  ContractSource:
    'Whether verified source code of the token\'s contract is known: `{status: "1", message: "OK"}` when it was found, else `{status: "0", message: "NOTOK"}`, which says only that none is known: the contract may simply never have been asked about.',
  Count: "A count of events: a whole number, never negative.",
  CursorText: "A client's position in the log. Opaque: send it back unchanged.",
  DecimalString:
    "An amount of money or of a token as a plain decimal string: digits, at most one point, a leading minus where the meaning allows one; never an exponent, never `NaN`. At most 120 characters.",
  ErrorMessage:
    "Server → client: a command was rejected; the connection stays open. `id` is present if the command's was readable.",
  EventBody: "Any event, discriminated by `name`.",
  EventMessage:
    "Server → client. No event of this subscription between `prev` and `seq` was left out. A client that holds a seq ≥ `prev` has missed nothing; one that holds a seq ≥ this one has it already.",
  "EventMessage.batch":
    "Seq of the last event in the same batch. Only after that event are the lists a state that REST serves.",
  EventsResponse:
    "`GET /api/v1/events`: the events after the given cursor, in order, each as a WebSocket delivers it.",
  "EventsResponse.cursor": "Pass it as `after` next time: the response has every requested event up to here.",
  "EventsResponse.filter": "The filter in force, in normalized form. Absent: none.",
  "EventsResponse.more":
    "The log has more events, though perhaps none that match: send the next request at once.",
  "EventsResponse.snapshot": "The lists at `cursor`, if requested.",
  ExchangeChartItem: "An item of the chart of the exchange.",
  "ExchangeChartItem.id":
    "Derived from group and token: the same token keeps its id when it leaves the chart and returns.",
  "ExchangeChartItem.latest_candle_prices":
    "Close of each of the last 60 candles, oldest first, in percent from the average; shorter for young tokens.",
  "ExchangeChartItem.most_recent_price_average": "Mean close of the last 60 one-minute candles.",
  "ExchangeChartItem.price_change_from_average":
    "Difference between the most recent price and `most_recent_price_average`, in percent.",
  "ExchangeChartItem.streak": "Consecutive minutes in the chart, this one included.",
  ExchangeLeaderboardEntry: "A standing of the leaderboard of the exchange.",
  "ExchangeLeaderboardEntry.average_position":
    "Its mean rank during that time, weighted by time; 1 is the top.",
  "ExchangeLeaderboardEntry.time_trended":
    "Seconds that the token spent in its group's chart within the past 6 hours.",
  ExchangeToken: "A token of the exchange inside chart items and leaderboard entries.",
  Explanation: "Why a flare started and ended, in the detector's own numbers as of `at`.",
  "Explanation.at": "Event time of these numbers.",
  "Explanation.finish_cause": "`null` while the flare runs.",
  "Explanation.finish_threshold": "The score below which the flare fades.",
  "Explanation.score": "Weighted sum of the terms.",
  "Explanation.threshold": "The score required to start.",
  "Explanation.warnings": "Names of the canary's active warnings; empty if there are none.",
  Explanations: "Explanations by flare id. Contains only flares in one of the flare lists.",
  Filter:
    "Selects the items of the lists that meet every given field. One matching value per field is enough. An item enters when it meets the filter and leaves when it no longer does; see `sticky`. Unknown fields are rejected, because ignoring one would send unwanted items.",
  "Filter.min_liquidity": "Minimum liquidity in US dollars. Excludes items that state none.",
  "Filter.min_price_change":
    "Minimum price change in percent: of a flare over the last 5 minutes, of a chart's item from its average; below 0 for falls. Excludes items that state none.",
  "Filter.names":
    "Only events with these names. Other events are not sent, so the client's lists may become outdated.",
  "Filter.sticky":
    "False: an item is selected only while it meets the filter. True: an item that met the filter once stays selected until it leaves its list. Default: false without `names`, true with `names`, so that a finish follows its start.",
  "Filter.symbols": "Symbols, case-insensitive.",
  "Filter.tokens": "Contract addresses, case-insensitive. Excludes items without an address.",
  Flare:
    "A token that trends, or did: an item of the lists of `/flares`. A flare may stand in several lists at once, with the same `id`.",
  "Flare.finished_trending_at": "`null` while the token still trends.",
  "Flare.id":
    "One trending episode of one token: UUIDv5 of network, address and start, so a replay yields the same id.",
  "Flare.latest_buy_count": "Buys of the last 5 minutes; 0 where the feed has no trades.",
  "Flare.latest_sell_count": "Sells of the last 5 minutes; 0 where the feed has no trades.",
  "Flare.liquidity": 'Dollars in the token\'s pools; `"0"` where the feed does not know.',
  "Flare.previous_price_change": "The same over the 5 minutes before those.",
  "Flare.recent_price_change":
    "Percent by which the price moved over the last 5 minutes, rounded to an integer.",
  FlareExpired:
    "A finished flare leaves `flares.finished` after 24 hours, or after a hundred newer ones. Cause `filtered`: it no longer meets the subscription's filter.",
  "FlareExpired.channel": "The channel whose list it changes.",
  "FlareExpired.name": "What happened.",
  "FlareExpired.observed_at":
    "Event time of the observation, by the market's clock: in a replay it is in the past.",
  FlareFinished:
    "A flare ended: it leaves `flares.pro` and `flares.free`, and enters `flares.finished`. `flare` is its final form on each.",
  "FlareFinished.channel": "The channel whose list it changes.",
  "FlareFinished.name": "What happened.",
  "FlareFinished.observed_at":
    "Event time of the observation, by the market's clock: in a replay it is in the past.",
  FlareStarted:
    "A flare enters `flares.pro` (cause `detected`), or `flares.free` (cause `aged`: it has lasted 5 minutes without a canary). Cause `passed`: it was listed before, and meets the subscription's filter only now.",
  "FlareStarted.channel": "The channel whose list it changes.",
  "FlareStarted.name": "What happened.",
  "FlareStarted.observed_at":
    "Event time of the observation, by the market's clock: in a replay it is in the past.",
  FlareUpdated:
    "Fields of a listed flare, its explanation, or the order of the list changed. `why`, if present, replaces the previous explanation.",
  "FlareUpdated.channel": "The channel whose list it changes.",
  "FlareUpdated.name": "What happened.",
  "FlareUpdated.observed_at":
    "Event time of the observation, by the market's clock: in a replay it is in the past.",
  FlareWithdrawn:
    "A running flare leaves `flares.free` because of a canary; it stays in `flares.pro`. Cause `upstream`: the source no longer lists it in this one of the two lists. Cause `filtered`: the flare continues, but no longer meets the subscription's filter.",
  "FlareWithdrawn.channel": "The channel whose list it changes.",
  "FlareWithdrawn.name": "What happened.",
  "FlareWithdrawn.observed_at":
    "Event time of the observation, by the market's clock: in a replay it is in the past.",
  Flares:
    "`GET /api/v1/flares`. `pro`: every running flare, at once. `free`: running flares at least 5 minutes old and without a canary. `finished_trending`: the 100 that finished last, within 24 hours. Each by start, newest first, ties by address.",
  ForumPost:
    "A forum post that mentions the token, as found on the forum's listing; a post whose `url` is not http or https is left out. `position` counts from 1 at the top of that listing.",
  Freshness: "Freshness of the data. Ages are wall-clock time; `observed_at` is event time.",
  "Freshness.data_age_ms": "Milliseconds since then, or since the server's start.",
  "Freshness.last_success_at": "Wall-clock time of the source's latest response; `null` before the first.",
  "Freshness.observed_at": "Event time of the latest data; `null` before the first.",
  "Freshness.parts": "State of each part, if the market combines several, such as several chains.",
  "Freshness.reason":
    "Why it is not `live`, or what is wrong although it is; empty if there is nothing to report.",
  FreshnessPart: "State of one part of a market that combines several.",
  "FreshnessPart.data_age_ms": "Milliseconds since that last advanced, or since the server's start.",
  "FreshnessPart.observed_at": "Event time up to which it has reported; `null` before the first report.",
  "FreshnessPart.reason":
    "Why it is not `live`, or what is wrong although it is; empty if there is nothing to report.",
  "FreshnessPart.state":
    "`live`: the part is in use. `stale`: the market continues without it for now. `down`: it failed permanently.",
  Goaway:
    "Server → client: the server is being replaced. Connect again, here or elsewhere, with the cursor after `reconnect_after_ms`. The delay differs per client, so that they do not all return at once. The server then closes the connection if it is still open.",
  "Goaway.window_ms": "Shutdown window over which all connections are closed.",
  HealthResponse: "`GET /healthz`: the process responds. Says nothing about the data.",
  "HealthResponse.uptime_s": "Whole seconds since the server was created.",
  Heartbeat:
    "Server → client, every `heartbeat_interval_ms` after the first `subscribed`. Everything of the subscription up to `cursor` was sent.",
  "Heartbeat.positions": "Seq of the latest event of each channel; 0 if it had none in this epoch.",
  Hello: "Server → client: the first frame of every connection.",
  "Hello.cursor": "The server's position; it does not move the client's cursor.",
  "Hello.plan": "The connection's plan, if the server uses keys: see channelsOfPlan.",
  "Hello.silence_limit_ms": "Reconnect with the cursor after this long without a frame.",
  Id: "An identifier in the 8-4-4-4-12 form of RFC 9562, lower case. Flarewire's own are version 5: derived from facts, so that a replay yields the same.",
  InsertChange: "Inserts `item` at `index`, counted from 0 in the list at that moment.",
  LeaderboardUpdated: "A group's leaderboard for the new minute: all changes since the previous one.",
  "LeaderboardUpdated.channel": "The channel whose list it changes.",
  "LeaderboardUpdated.name": "What happened.",
  "LeaderboardUpdated.observed_at":
    "Event time of the observation, by the market's clock: in a replay it is in the past.",
  Leaderboards:
    "`GET /api/v1/leaderboards`: for each group the ten tokens longest in the chart over the past 6 hours; ties by mean rank.",
  Limits: "Limits of a connection.",
  Listing:
    "A token whose pool got its first real liquidity within the last 15 minutes. The specification leaves this shape open; this one is ours.",
  "Listing.id": "Derived from network, pool and moment of listing.",
  "Listing.liquidity": 'Dollars in that pool now; `"0"` if the feed does not know.',
  "Listing.pool": "Address of the pool in which the token was listed.",
  Lost: "Why a cursor cannot be resumed, and how many events were missed: `null` if unknown.",
  MarketData:
    "How a market-data aggregator lists the token. A token that it does not list has `null` in this object's place.",
  MarksText: "Marks by channel and key, for the items whose marks do not follow from their current fields.",
  MaticChartItem: "An item of the chart of `matic`.",
  "MaticChartItem.id":
    "Derived from group and token: the same token keeps its id when it leaves the chart and returns.",
  "MaticChartItem.latest_candle_prices":
    "Close of each of the last 60 candles, oldest first, in percent from the average; shorter for young tokens.",
  "MaticChartItem.most_recent_price_average": "Mean close of the last 60 one-minute candles.",
  "MaticChartItem.price_change_from_average":
    "Difference between the most recent price and `most_recent_price_average`, in percent.",
  "MaticChartItem.recent_average_price": "Mean close of the last 5 one-minute candles.",
  "MaticChartItem.streak": "Consecutive minutes in the chart, this one included.",
  MirrorBase: "The state that a mirror needs besides the snapshot.",
  "MirrorBase.marks": "Earlier values of items since they entered their lists, for filters: see MarksText.",
  "MirrorBase.observed_at": "Event time of the snapshot, as in REST.",
  "MirrorBase.positions": "Seq of the latest event of each channel; 0 if it had none in this epoch.",
  Missed:
    "Server → client, in mode `latest`: a start, a finish or a source status that the client was too slow for. It changes no list and moves no cursor.",
  NestedFlare:
    "A token seen as a flare inside a chart item or a leaderboard entry, whether or not it trends at the moment. Every plan is shown the same, so a flare counts here from the moment on at which it enters `free`, or ends. `id` is that of the latest such flare, or, of a token without one, derived from network and address alone.",
  "NestedFlare.canary": "A warning: the token looks dangerous.",
  "NestedFlare.canary_at": "When `canary` last changed, or was first judged.",
  "NestedFlare.id":
    "One trending episode of one token: UUIDv5 of network, address and start, so a replay yields the same id.",
  "NestedFlare.last_irrelevant_at":
    "When `relevant` last became false; at first the first sighting of the token.",
  "NestedFlare.last_relevant_at":
    "When `relevant` last became true; at first the first sighting of the token.",
  "NestedFlare.latest_buy_count": "Buys of the last 5 minutes; 0 where the feed has no trades.",
  "NestedFlare.latest_sell_count": "Sells of the last 5 minutes; 0 where the feed has no trades.",
  "NestedFlare.liquidity": 'Dollars in the token\'s pools; `"0"` where the feed does not know.',
  "NestedFlare.previous_price_change": "The same over the 5 minutes before those.",
  "NestedFlare.recent_price_change":
    "Percent by which the price moved over the last 5 minutes, rounded to an integer.",
  "NestedFlare.relevant": "The token is in its group's chart now, or its running flare has been in `free`.",
  "NestedFlare.upvote_site_data": "Reserved by the specification; always `null`.",
  Newest: "`GET /api/v1/newest`: tokens of BSC listed in the last 15 minutes, newest first, ties by address.",
  OrderChange: "Reorders the list. `ids` has all of its items and no others.",
  Ping: "Client → server: request a `pong`.",
  Pong: "Server → client: the response to `ping`.",
  Problem: "Every response with a status of 400 or above: `application/problem+json` of RFC 9457.",
  "Problem.bound": "What would be valid.",
  "Problem.detail": "What was wrong in this case.",
  "Problem.field": "The invalid parameter, header field or setting.",
  "Problem.instance": "Identifies this occurrence, also in the server's log.",
  "Problem.lost": "For `cursor-gone`: why, and how much was missed.",
  "Problem.parts": "For `not-ready`: the state of each part of a market that has several.",
  "Problem.status": "Status of the response.",
  "Problem.title": "The kind in words; the same for every problem of this type.",
  "Problem.type": "The kind of error; stable.",
  ReadyResponse: "`GET /readyz`: fresh data is served. Otherwise the response is a problem with status 503.",
  RemoveChange: "Removes the item with this key.",
  SetChange:
    "Sets fields of the item with this key. `null` is a value, nested objects are replaced as a whole, and fields in `unset` are deleted.",
  Snapshot:
    "Everything that is served, at one instant. Events are the differences between two snapshots. The keys (keyOf) in each list are unique, and `explanations` contains only flares in one of the flare lists.",
  SnapshotResponse:
    "`GET /api/v1/snapshot`: the complete state at one moment. A stream after `cursor` continues it without a gap.",
  "SnapshotResponse.observed_at":
    "Event time of this state. It stays while nothing changes; the header fields give the age of the data.",
  SocialData:
    "Where a token's makers can be found. Each link is an http or https address, or `null` when no such link is known. Strings of strangers: never trust them as markup.",
  SourceInfo: "The kind of market served, and the facts that its feed supports.",
  "SourceInfo.facts":
    "Facts that the source supports. Fields for other facts have the specification's neutral value.",
  SourceState: "State of the data source: `live`, `stale` (no data for too long) or `down` (it fails).",
  SourceStatusEvent:
    "The state of the data source changed. `observed_at` is the event time of its latest data.",
  "SourceStatusEvent.channel": "The channel whose list it changes.",
  "SourceStatusEvent.name": "What happened.",
  "SourceStatusEvent.observed_at":
    "Event time of the observation, by the market's clock: in a replay it is in the past.",
  Subscribe:
    "Client → server: subscribe to channels or patterns. `after`: continue after this cursor. `filter`: only these items and events. `mode`: `events` (default) sends every event, however late; `latest` may conflate them. `snapshot: false`: without a cursor, start at the head without the lists. `mirror`: add `base` to the lists.",
  Subscribed:
    'Server → client: the response to `subscribe`. `resumed: "full"`: every event after the given cursor follows. `"reset"`: a snapshot taken exactly at `cursor` is included instead; `lost` says what was missed if a cursor was given.',
  "Subscribed.filter": "The filter in force, in normalized form; absent if there is none.",
  Term: "One term of the score. Its contribution is `weight` × `z`, with `z` clipped to [0, 6].",
  "Term.raw":
    "The measurement in its own unit: for `price` the market-neutral log return, for `volume` the ratio to the usual, for `buyers` distinct buyers.",
  "Term.weight": "The term's share of the score; the weights of all terms sum to 1.",
  "Term.z": "Number of usual deviations above this token's normal value.",
  TicketResponse: "`POST /api/v1/tickets`: a ticket that opens one connection, as `?ticket=`.",
  "TicketResponse.expires_at": "The ticket is invalid from then on; at most 60 seconds ahead.",
  Timestamp:
    "A moment in UTC with exactly three decimals, `2017-11-12T08:23:00.000Z`. Always the form that `Date.prototype.toISOString` prints, so equal moments are equal strings and strings sort by time.",
  Token:
    "A token as flares, listings and the charts of `bsc` show it. `price` is in US dollars, or in the quote of the feed where that has no dollars.",
  TokenListed:
    "A token was listed. Cause `passed`: it was listed before, and meets the subscription's filter only now.",
  "TokenListed.channel": "The channel whose list it changes.",
  "TokenListed.name": "What happened.",
  "TokenListed.observed_at":
    "Event time of the observation, by the market's clock: in a replay it is in the past.",
  TokenUnlisted:
    "A listing leaves at the age of 15 minutes. Cause `filtered`: it no longer meets the subscription's filter.",
  "TokenUnlisted.channel": "The channel whose list it changes.",
  "TokenUnlisted.name": "What happened.",
  "TokenUnlisted.observed_at":
    "Event time of the observation, by the market's clock: in a replay it is in the past.",
  TokenUpdated:
    "Fields of a listing changed, such as its price, liquidity or newly found facts, or the order of the list.",
  "TokenUpdated.channel": "The channel whose list it changes.",
  "TokenUpdated.name": "What happened.",
  "TokenUpdated.observed_at":
    "Event time of the observation, by the market's clock: in a replay it is in the past.",
  Unsubscribe: "Client → server: end the subscription with this id.",
  Unsubscribed: "Server → client: the response to `unsubscribe`.",
  ViewSchema: "The part of the snapshot that belongs to the subscribed channels.",
};
