/** What each schema, and each of its fields, means: the words of its docstring. Made by `npm run describe`; do not edit. */
export const DESCRIPTIONS: Readonly<Record<string, string>> = {
  Address:
    "A token's contract address: `0x` and hexadecimal digits, as the chain feed found it. Compare without regard to case.",
  BscChartItem: "An item of the chart of `bsc`.",
  "BscChartItem.buy_count": "Buys of those 60 minutes; 0 where the feed has no trades.",
  "BscChartItem.id":
    "Derived from group and token: the same token keeps its id when it leaves the chart and returns.",
  "BscChartItem.latest_candle_prices":
    "Each of the last 60 candles' close, oldest first, as percent from the average; shorter for young tokens.",
  "BscChartItem.most_recent_price_average": "Mean close of the last 60 one-minute candles.",
  "BscChartItem.price_change_from_average":
    "Percent of the most recent price against `most_recent_price_average`.",
  "BscChartItem.sell_count": "Sells of those 60 minutes; 0 where the feed has no trades.",
  "BscChartItem.streak": "Consecutive minutes in the chart, this one included.",
  BscLeaderboardEntry: "A standing of the leaderboard of `bsc`.",
  "BscLeaderboardEntry.average_position": "Its mean rank while it was there, weighted by time; 1 is the top.",
  "BscLeaderboardEntry.time_trended":
    "Seconds that the token spent in its group's chart within the past 6 hours.",
  ChainLeaderboardEntry: "A standing of the leaderboard of `matic` or `avalanche`.",
  "ChainLeaderboardEntry.average_position":
    "Its mean rank while it was there, weighted by time; 1 is the top.",
  "ChainLeaderboardEntry.time_trended":
    "Seconds that the token spent in its group's chart within the past 6 hours.",
  ChainToken: "A token of `matic` or `avalanche` inside chart items and leaderboard entries.",
  ChangeSchema: "The schema of `Change`: one step from a list to the next.",
  ChannelSchema: "A channel's name, for schemas.",
  ChartUpdated: "A group's chart of the new minute: all changes from the last.",
  "ChartUpdated.channel": "Whose list it changes.",
  "ChartUpdated.name": "What happened.",
  "ChartUpdated.observed_at":
    "Event time at which it was observed; that of the market, which in a replay is the past.",
  Charts:
    "`GET /api/v1/charts`: by group the ten tokens that rise best for their risk, best first. Recomputed at each minute, unchanged between.",
  CloseMessage:
    "Server → client, over server-sent events only: the last event of an answer that the server ends, as the close frame of a WebSocket.",
  "CloseMessage.code": "That of CLOSE_CODES.",
  Command: "Any command, told apart by `type`.",
  CommandId:
    "A command's name for itself, chosen by the client; the answer repeats it, so numbers are those that survive JSON unchanged.",
  Conflated:
    "Server → client, in mode `latest`, in place of events that the client was too slow for: the lists of these channels as they are at `cursor`. With flare channels among them it has all that are followed, and `explanations` replaces the ones before.",
  ContractSource:
    'Whether verified source code of the token\'s contract is known: `{status: "1", message: "OK"}` when it was found, else `{status: "0", message: "NOTOK"}`, which says only that none is known: the contract may simply never have been asked about.',
  Count: "A count of things that happened: a whole number, never negative.",
  CursorText: "Where a client is in the log; opaque: give it back as it came.",
  DecimalString:
    "An amount of money or of a token as a plain decimal string: digits, at most one point, a leading minus where the meaning allows one; never an exponent, never `NaN`. At most 120 characters.",
  ErrorMessage:
    "Server → client: a command was refused; the connection lives. `id` is there when the command had a readable one.",
  EventBody: "Every event, told apart by `name`.",
  EventMessage:
    "Server → client. `prev` is the seq before which nothing of this subscription was left out: a client that holds `seq` ≥ `prev` has missed nothing, and one that holds `seq` ≥ this one's has it already.",
  "EventMessage.batch":
    "Seq of the last event of the log that came of the same look at the source: behind it, and not before, the lists are a state that REST serves.",
  EventsResponse:
    "`GET /api/v1/events`: the events behind the cursor that was given, each as a WebSocket brings it, in order.",
  "EventsResponse.cursor":
    "To be given as `after` next time: everything that was asked for up to here is in the answer.",
  "EventsResponse.filter": "The filter in force: what was asked for, in one form. Absent: none.",
  "EventsResponse.more":
    "There is more in the log, perhaps nothing of what was asked for: ask again at once.",
  "EventsResponse.snapshot": "The lists at `cursor`, where they were asked for.",
  ExchangeChartItem: "An item of the chart of the exchange.",
  "ExchangeChartItem.id":
    "Derived from group and token: the same token keeps its id when it leaves the chart and returns.",
  "ExchangeChartItem.latest_candle_prices":
    "Each of the last 60 candles' close, oldest first, as percent from the average; shorter for young tokens.",
  "ExchangeChartItem.most_recent_price_average": "Mean close of the last 60 one-minute candles.",
  "ExchangeChartItem.price_change_from_average":
    "Percent of the most recent price against `most_recent_price_average`.",
  "ExchangeChartItem.streak": "Consecutive minutes in the chart, this one included.",
  ExchangeLeaderboardEntry: "A standing of the leaderboard of the exchange.",
  "ExchangeLeaderboardEntry.average_position":
    "Its mean rank while it was there, weighted by time; 1 is the top.",
  "ExchangeLeaderboardEntry.time_trended":
    "Seconds that the token spent in its group's chart within the past 6 hours.",
  ExchangeToken: "A token of the exchange inside chart items and leaderboard entries.",
  Explanation:
    "Why a flare fired, and why it ended, in plain numbers: the detector's own, as they were at `at`.",
  "Explanation.at": "Event time of these numbers.",
  "Explanation.finish_cause": "`null` while the flare runs.",
  "Explanation.finish_threshold": "The score below which the flare fades.",
  "Explanation.score": "Weighted sum of the terms.",
  "Explanation.threshold": "The score that had to be passed to start.",
  "Explanation.warnings": "Names of the canary's warnings that hold; empty when none does.",
  Explanations: "Explanations by flare id. Holds no id that is in none of the flare lists.",
  Filter:
    "Which items of the lists a subscription follows: those that meet every field that is given. Of the values of one field, one has to be met. An item enters when it meets the filter and leaves when it no longer does; see `sticky`. Fields that are not of these are refused: ignoring one would send what was not asked for.",
  "Filter.min_liquidity": "Least liquidity in US dollars. Items that state none are not selected.",
  "Filter.min_price_change":
    "Least price change in percent, of a flare over the last 5 minutes, of a chart's item from its average; below 0 for falls. Items that state none are not selected.",
  "Filter.names":
    "Events of these names only. Whoever leaves names out does not hear all that happens to its lists.",
  "Filter.sticky":
    "False: an item is selected while it meets the filter, so it enters and leaves as it passes. True: an item that met the filter once stays until it leaves its list. Default: false without `names`, true with `names`, so that a finish follows its start.",
  "Filter.symbols": "Symbols, without regard to case.",
  "Filter.tokens": "Contract addresses, without regard to case. Items without an address are not selected.",
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
    "A finished flare leaves `flares.finished`: 24 hours have passed, or a hundred newer ones stand before it; or, with cause `filtered`, it no longer meets the subscription's filter.",
  "FlareExpired.channel": "Whose list it changes.",
  "FlareExpired.name": "What happened.",
  "FlareExpired.observed_at":
    "Event time at which it was observed; that of the market, which in a replay is the past.",
  FlareFinished:
    "A flare ended: it leaves `flares.pro` and `flares.free`, and enters `flares.finished`. `flare` is its final form on each.",
  "FlareFinished.channel": "Whose list it changes.",
  "FlareFinished.name": "What happened.",
  "FlareFinished.observed_at":
    "Event time at which it was observed; that of the market, which in a replay is the past.",
  FlareStarted:
    "A flare enters `flares.pro` (cause `detected`) or `flares.free` (cause `aged`: it has lasted 5 minutes without a canary). Cause `passed`: it stood there already, and meets the subscription's filter only now.",
  "FlareStarted.channel": "Whose list it changes.",
  "FlareStarted.name": "What happened.",
  "FlareStarted.observed_at":
    "Event time at which it was observed; that of the market, which in a replay is the past.",
  FlareUpdated:
    "Fields of a listed flare changed, or its explanation, or the list's order. `why`, where present, replaces the one before.",
  "FlareUpdated.channel": "Whose list it changes.",
  "FlareUpdated.name": "What happened.",
  "FlareUpdated.observed_at":
    "Event time at which it was observed; that of the market, which in a replay is the past.",
  FlareWithdrawn:
    "A running flare leaves `flares.free` for a canary, and goes on in `flares.pro`. With cause `upstream`: the source no longer lists it in this list of the two. With cause `filtered`: the flare goes on there, and no longer meets the subscription's filter.",
  "FlareWithdrawn.channel": "Whose list it changes.",
  "FlareWithdrawn.name": "What happened.",
  "FlareWithdrawn.observed_at":
    "Event time at which it was observed; that of the market, which in a replay is the past.",
  Flares:
    "`GET /api/v1/flares`. `pro`: every running flare, at once. `free`: running flares at least 5 minutes old and without a canary. `finished_trending`: the 100 that finished last, within 24 hours. Each by start, newest first, ties by address.",
  ForumPost:
    "A forum post that mentions the token, as found on the forum's listing; a post whose `url` is not http or https is left out. `position` counts from 1 at the top of that listing.",
  Freshness: "How fresh the data is. Ages are wall-clock; `observed_at` is event time.",
  "Freshness.data_age_ms": "Milliseconds since then, or since the server's start.",
  "Freshness.last_success_at":
    "When the source was last heard of, in wall-clock time; `null` before the first.",
  "Freshness.observed_at": "Event time of the data last seen; `null` before the first.",
  "Freshness.parts": "Of a market that is made of several, such as several chains: how each of them fares.",
  "Freshness.reason":
    "Why it is not `live`, or what is amiss though it is; empty where there is nothing to say.",
  FreshnessPart: "How a part of a market that is made of several fares.",
  "FreshnessPart.data_age_ms": "Milliseconds since that moved, or since the server's start.",
  "FreshnessPart.observed_at": "Event time up to which it has told; `null` before the first.",
  "FreshnessPart.reason":
    "Why it is not `live`, or what is amiss though it is; empty where there is nothing to say.",
  "FreshnessPart.state":
    "`live`: the market goes on with it. `stale`: without it, for the moment. `down`: it failed for good.",
  Goaway:
    "Server → client: the server is being replaced. Connect elsewhere, or here again, with the cursor, `reconnect_after_ms` from now: a moment of the client's own, so that not all come at once. Then the connection is closed, if it is still there.",
  "Goaway.window_ms": "Time over which all connections are sent away.",
  HealthResponse: "`GET /healthz`: the process lives. Says nothing about the data.",
  "HealthResponse.uptime_s": "Whole seconds since the server was made.",
  Heartbeat:
    "Server → client, every `heartbeat_interval_ms` after the first `subscribed`. Everything of the subscription up to `cursor` was sent.",
  "Heartbeat.positions": "By channel the seq of its latest event; 0 when it has had none in this epoch.",
  Hello: "Server → client, first frame of every connection.",
  "Hello.cursor": "Where the server is; it moves no client.",
  "Hello.plan": "Where the server knows keys, what the connection may follow: see channelsOfPlan.",
  "Hello.silence_limit_ms": "The client's rule: nothing received for this long → reconnect with the cursor.",
  Id: "An identifier in the 8-4-4-4-12 form of RFC 9562, lower case. Flarewire's own are version 5: derived from facts, so that a replay yields the same.",
  InsertChange: "`item` enters the list at `index`, counted from 0 in the list as it is at that moment.",
  LeaderboardUpdated: "A group's leaderboard of the new minute: all changes from the last.",
  "LeaderboardUpdated.channel": "Whose list it changes.",
  "LeaderboardUpdated.name": "What happened.",
  "LeaderboardUpdated.observed_at":
    "Event time at which it was observed; that of the market, which in a replay is the past.",
  Leaderboards:
    "`GET /api/v1/leaderboards`: by group the ten tokens longest in the chart over the past 6 hours; ties by mean rank.",
  Limits: "The limits that a connection must keep.",
  Listing:
    "A token whose pool got its first real liquidity within the last 15 minutes. The specification leaves this shape open; it is ours.",
  "Listing.id": "Derived from network, pool and moment of listing.",
  "Listing.liquidity": 'Dollars in that pool now; `"0"` where the feed does not know.',
  "Listing.pool": "Address of the pool in which the token was listed.",
  Lost: "Why a cursor cannot be resumed from, and how much was missed: `events` is `null` where nobody can know.",
  MarketData:
    "How a market-data aggregator lists the token. A token that it does not list has `null` in this object's place.",
  MarksText:
    "By channel and key the marks of the items that were ever something else than what they are; all others are marked by what they are.",
  MaticChartItem: "An item of the chart of `matic`.",
  "MaticChartItem.id":
    "Derived from group and token: the same token keeps its id when it leaves the chart and returns.",
  "MaticChartItem.latest_candle_prices":
    "Each of the last 60 candles' close, oldest first, as percent from the average; shorter for young tokens.",
  "MaticChartItem.most_recent_price_average": "Mean close of the last 60 one-minute candles.",
  "MaticChartItem.price_change_from_average":
    "Percent of the most recent price against `most_recent_price_average`.",
  "MaticChartItem.recent_average_price": "Mean close of the last 5 one-minute candles.",
  "MaticChartItem.streak": "Consecutive minutes in the chart, this one included.",
  MirrorBase: "What a server that mirrors this one needs beside the snapshot.",
  "MirrorBase.marks": "What items were since they entered their lists, for filters: see MarksText.",
  "MirrorBase.observed_at": "Event time of the snapshot, as REST tells it.",
  "MirrorBase.positions": "Of all channels the seq of the latest event; 0 when there was none in this epoch.",
  Missed:
    "Server → client, in mode `latest`: a start, a finish or a change of the source that the client was too slow for. News only: it changes no list and moves no cursor.",
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
  OrderChange: "The list's items, all of them and no others, stand in this order.",
  Ping: "Client → server: answer me.",
  Pong: "Server → client, the answer to `ping`.",
  Problem: "Every answer with a status of 400 or above: `application/problem+json` of RFC 9457.",
  "Problem.bound": "What would have been right.",
  "Problem.detail": "What was wrong this time.",
  "Problem.field": "The parameter, header field or setting that was wrong.",
  "Problem.instance": "Names this one occurrence, as the server's log does.",
  "Problem.lost": "Of `cursor-gone`: why, and how much was missed.",
  "Problem.parts": "Of `not-ready`: how each part of the market fares, where it is made of several.",
  "Problem.status": "That of the response.",
  "Problem.title": "The kind in words; the same for every problem of this type.",
  "Problem.type": "Which kind of error; stable.",
  ReadyResponse:
    "`GET /readyz`: fresh data is served. Where that is not so the answer is a problem with status 503.",
  RemoveChange: "The item with this key leaves the list.",
  ServerMessage: "Any frame from the server.",
  SetChange:
    "Fields of the item with this key take these values; `null` is a value, nested objects are replaced whole; fields in `unset` vanish.",
  Snapshot:
    "Everything that is served, at one instant. Compared with the one before it yields the events. In each list the keys (keyOf) are unique, and `explanations` names only flares that stand in one of the flare lists.",
  SnapshotResponse:
    "`GET /api/v1/snapshot`: everything at one instant. A stream that goes on after `cursor` continues it without a gap.",
  "SnapshotResponse.observed_at":
    "Event time at which this state was seen. It stands while nothing changes; how old the data is, the header fields say.",
  SocialData:
    "Where a token's makers can be found. Each link is an http or https address, or `null` when no such link is known. Strings of strangers: never trust them as markup.",
  SourceInfo: "What kind of market is served, and what its feed can know.",
  "SourceInfo.facts":
    "Which facts the source supports; of the others the neutral value of the specification is served.",
  SourceState: "How the data source fares: `live`, `stale` (no news for too long) or `down` (it fails).",
  SourceStatusEvent:
    "The data source's state changed. `observed_at` is the event time of the data last seen.",
  "SourceStatusEvent.channel": "Whose list it changes.",
  "SourceStatusEvent.name": "What happened.",
  "SourceStatusEvent.observed_at":
    "Event time at which it was observed; that of the market, which in a replay is the past.",
  Subscribe:
    "Client → server: follow these channels (or patterns). `after`: continue behind this cursor. `filter`: only these items and events. `mode`: `events` (default) sends every event however late; `latest` may conflate them. `snapshot: false`: without a cursor, start at the head without the lists. `mirror`: with the lists comes `base`.",
  Subscribed:
    'Server → client, the answer to `subscribe`. `resumed: "full"`: every event after the given cursor follows. `"reset"`: a snapshot is here instead, taken exactly at `cursor`; `lost` says what was missed when a cursor was given.',
  "Subscribed.filter": "The filter in force: what was asked for, in one form. Absent: none.",
  Term: "One term of the score: `weight` × `z`, clipped to [0, 6], is what it contributed.",
  "Term.raw":
    "The measurement in its own unit: for `price` the market-neutral log return, for `volume` the ratio to the usual, for `buyers` distinct buyers.",
  "Term.weight": "The term's share of the score; the weights of all terms present sum to 1.",
  "Term.z": "How many usual deviations the measurement stands above what is normal for this token.",
  TicketResponse: "`POST /api/v1/tickets`: what opens one connection, given as `?ticket=`.",
  "TicketResponse.expires_at": "From then on it opens nothing; at most 60 seconds ahead.",
  Timestamp:
    "A moment in UTC with exactly three decimals, `2017-11-12T08:23:00.000Z`. Always the form that `Date.prototype.toISOString` prints, so equal moments are equal strings and strings sort by time.",
  Token:
    "A token as flares, listings and the charts of `bsc` show it. `price` is in US dollars, or in the quote of the feed where that has no dollars.",
  TokenListed:
    "A token was listed. Cause `passed`: it was before, and meets the subscription's filter only now.",
  "TokenListed.channel": "Whose list it changes.",
  "TokenListed.name": "What happened.",
  "TokenListed.observed_at":
    "Event time at which it was observed; that of the market, which in a replay is the past.",
  TokenUnlisted:
    "A listing is 15 minutes old and leaves; or, with cause `filtered`, it no longer meets the subscription's filter.",
  "TokenUnlisted.channel": "Whose list it changes.",
  "TokenUnlisted.name": "What happened.",
  "TokenUnlisted.observed_at":
    "Event time at which it was observed; that of the market, which in a replay is the past.",
  TokenUpdated:
    "Fields of a listing changed: its price, its liquidity, facts that became known; or the list's order.",
  "TokenUpdated.channel": "Whose list it changes.",
  "TokenUpdated.name": "What happened.",
  "TokenUpdated.observed_at":
    "Event time at which it was observed; that of the market, which in a replay is the past.",
  Unsubscribe: "Client → server: end the subscription of that id.",
  Unsubscribed: "Server → client, the answer to `unsubscribe`.",
  ViewSchema: "The snapshot's part that the subscribed channels show.",
};
