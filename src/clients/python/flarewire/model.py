"""What the server sends, generated from its contracts. Do not edit: `npx vitest run --root test clients/python -u`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Union


Cursor = str


Timestamp = str


Id = str


Count = int


Address = str


@dataclass(frozen=True)
class ForumPost:
    """A forum post that mentions the token. `position`: 1 is the top of the forum. A post whose
    `url` is not http or https is omitted."""

    position: int
    address: Address
    url: str
    title: str
    upvotes: int
    posted: Timestamp


@dataclass(frozen=True)
class SocialData:
    """Links to the token's makers. Each is an http or https address, or `null` if unknown. The
    strings are untrusted: never use them as markup."""

    chat_url: str | None
    microblog_url: str | None
    website_url: str | None


@dataclass(frozen=True)
class ContractSource:
    """Whether verified source code of the token's contract is known: `{status: "1", message:
    "OK"}` if so, else `{status: "0", message: "NOTOK"}`. The latter does not mean that the
    contract is unverified: it may never have been looked up."""

    status: Literal["1", "0"]
    message: Literal["OK", "NOTOK"]


DecimalString = str


@dataclass(frozen=True)
class MarketData:
    """A market-data aggregator's entry for the token; `null` if none is known."""

    market_id: str
    image_url: str | None
    name: str | None


@dataclass(frozen=True)
class ExchangeFlareToken:
    """A token of the exchange inside a flare: it has no address, its `symbol` identifies it."""

    name: str
    symbol: str
    price: DecimalString
    created_at: Timestamp
    price_at: Timestamp | None = None


@dataclass(frozen=True)
class ExchangeFlare:
    """A flare of the group `exchange`: the fields of a flare, its group and its market.
    `liquidity` is `"0"`, `contract_source` NOTOK and `forum_post` null."""

    id: Id
    recent_price_change: int
    previous_price_change: int
    latest_buy_count: Count
    latest_sell_count: Count
    forum_post: ForumPost | None
    social_data: SocialData | None
    contract_source: ContractSource
    liquidity: DecimalString
    market_data: MarketData | None
    token: ExchangeFlareToken
    started_trending_at: Timestamp
    finished_trending_at: Timestamp | None
    group: Literal["exchange"]
    pair: str | None
    exchange: str | None


@dataclass(frozen=True)
class Token:
    """A token in flares, listings and the charts of `bsc`. `price`, last seen at `price_at`, is
    in US dollars, or in the quote currency of a feed without dollar prices."""

    name: str
    symbol: str
    address: Address
    price: DecimalString
    created_at: Timestamp
    price_at: Timestamp | None = None


@dataclass(frozen=True)
class ChainFlare:
    """A flare of a chain other than `bsc`: the fields of a flare, and its group."""

    id: Id
    recent_price_change: int
    previous_price_change: int
    latest_buy_count: Count
    latest_sell_count: Count
    forum_post: ForumPost | None
    social_data: SocialData | None
    contract_source: ContractSource
    liquidity: DecimalString
    market_data: MarketData | None
    token: Token
    started_trending_at: Timestamp
    finished_trending_at: Timestamp | None
    group: Literal["matic", "avalanche", "solana", "base", "ethereum", "robinhood"]


@dataclass(frozen=True)
class Flare:
    """A trending episode: an item of the lists of `/flares`. A flare can be in several lists at
    once, with the same `id`."""

    id: Id
    recent_price_change: int
    previous_price_change: int
    latest_buy_count: Count
    latest_sell_count: Count
    forum_post: ForumPost | None
    social_data: SocialData | None
    contract_source: ContractSource
    liquidity: DecimalString
    market_data: MarketData | None
    token: Token
    started_trending_at: Timestamp
    finished_trending_at: Timestamp | None


AnyFlare = Union[
    ExchangeFlare,
    ChainFlare,
    Flare,
]


TermName = Literal["buyers", "imbalance", "price", "volume", "flow", "rush"]


TermUnit = Literal["buyers", "share-above-half", "log-return", "multiple-of-usual", "usual-minutes", "buys-at-once"]


@dataclass(frozen=True)
class Term:
    """One term of the score. Its contribution is `weight` × `z`, where a `z` below 0 counts as
    0, and one above 5 as 5 + 2·ln(1 + (z − 5)/2)."""

    name: TermName
    unit: TermUnit
    raw: float
    usual: float | None
    z: float
    weight: float


FinishCause = Literal["faded", "reversed", "canary", "silent", "upstream"]


@dataclass(frozen=True)
class Surge:
    """The latest surge of a running flare. The score may be lower than at the start."""

    number: int
    at: Timestamp
    price: DecimalString
    score: float


@dataclass(frozen=True)
class Locked:
    """Shares of the token's liquidity."""

    burned: float
    held: float
    until: Timestamp | None


Group = Literal["bsc", "exchange", "matic", "avalanche", "solana", "base", "ethereum", "robinhood"]


@dataclass(frozen=True)
class Span:
    """At least this value, and below that one; `null` without a bound."""

    at_least: float | None
    below: float | None


@dataclass(frozen=True)
class OddsLike:
    """What the counted flares had in common with this one at their start. An absent field had
    any value."""

    form: Literal["trades", "candles", "reports", "seconds"]
    group: Group | None = None
    age_s: Span | None = None
    locked: Span | None = None
    liquidity: Span | None = None
    score: Span | None = None


@dataclass(frozen=True)
class Frequency:
    """A share of flares, with its 90 % interval."""

    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Odds:
    """How flares like this one went, counted before it started. Frozen at the start."""

    basis: Literal["server", "table"]
    like: OddsLike
    n: int
    rug_60m: Frequency | None
    up_15m: Frequency | None
    up_60m: Frequency | None
    median_60m: float | None
    fall_15m: Frequency | None = None


@dataclass(frozen=True)
class Explanation:
    """Why a flare started and ended, in the detector's own numbers as of `at`."""

    at: Timestamp
    text: str
    score: float
    threshold: float
    finish_threshold: float
    terms: list[Term]
    warnings: list[str]
    finish_cause: FinishCause | None
    form: Literal["trades", "candles", "reports", "seconds"] | None = None
    surge: Surge | None = None
    age_s: int | None = None
    locked: Locked | None = None
    odds: Odds | None = None
    odds_reason: str | None = None


@dataclass(frozen=True)
class FlareStartedData:
    op: Literal["insert"]
    index: int
    flare: AnyFlare
    why: Explanation | None
    cause: Literal["detected", "aged", "passed"]
    odds: Odds | None = None


@dataclass(frozen=True)
class FlareStarted:
    """A flare enters `flares.pro` (cause `detected`), or `flares.free` (cause `aged`: it is at
    least 5 minutes old, has no canary and has not fallen). Cause `passed`: it was listed
    before, and meets the subscription's filter only now."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["flare-started"]
    channel: Literal["flares.free", "flares.pro", "flares.finished", "flares.exchange.free", "flares.exchange.pro", "flares.exchange.finished", "flares.matic.free", "flares.matic.pro", "flares.matic.finished", "flares.avalanche.free", "flares.avalanche.pro", "flares.avalanche.finished", "flares.solana.free", "flares.solana.pro", "flares.solana.finished", "flares.base.free", "flares.base.pro", "flares.base.finished", "flares.ethereum.free", "flares.ethereum.pro", "flares.ethereum.finished", "flares.robinhood.free", "flares.robinhood.pro", "flares.robinhood.finished"]
    observed_at: Timestamp
    data: FlareStartedData
    batch: int | None = None


@dataclass(frozen=True)
class FlareUpdatedData:
    op: Literal["set", "order"]
    id: str | None = None
    set: dict[str, Any] | None = None
    unset: list[str] | None = None
    why: Explanation | None = None
    ids: list[str] | None = None


@dataclass(frozen=True)
class FlareUpdated:
    """Fields of a listed flare, its explanation, or the order of the list changed. `why`, if
    present, replaces the previous explanation."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["flare-updated"]
    channel: Literal["flares.free", "flares.pro", "flares.finished", "flares.exchange.free", "flares.exchange.pro", "flares.exchange.finished", "flares.matic.free", "flares.matic.pro", "flares.matic.finished", "flares.avalanche.free", "flares.avalanche.pro", "flares.avalanche.finished", "flares.solana.free", "flares.solana.pro", "flares.solana.finished", "flares.base.free", "flares.base.pro", "flares.base.finished", "flares.ethereum.free", "flares.ethereum.pro", "flares.ethereum.finished", "flares.robinhood.free", "flares.robinhood.pro", "flares.robinhood.finished"]
    observed_at: Timestamp
    data: FlareUpdatedData
    batch: int | None = None


@dataclass(frozen=True)
class FlareSurgedData:
    op: Literal["set"]
    id: str
    set: dict[str, Any]
    flare: AnyFlare
    why: Explanation
    surge: Surge
    unset: list[str] | None = None


@dataclass(frozen=True)
class FlareSurged:
    """A running flare surged: its strength doubled, or an exchange's seconds met the conditions
    of a start again. It replaces the `flare-updated` of that moment: its `set` and `why` are
    applied the same way."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["flare-surged"]
    channel: Literal["flares.free", "flares.pro", "flares.exchange.free", "flares.exchange.pro", "flares.matic.free", "flares.matic.pro", "flares.avalanche.free", "flares.avalanche.pro", "flares.solana.free", "flares.solana.pro", "flares.base.free", "flares.base.pro", "flares.ethereum.free", "flares.ethereum.pro", "flares.robinhood.free", "flares.robinhood.pro"]
    observed_at: Timestamp
    data: FlareSurgedData
    batch: int | None = None


@dataclass(frozen=True)
class OutcomeHeld:
    """What a purchase at the start became, by the token's last price, however old. -100 once
    the liquidity was removed, also after the flare's end: nobody can sell then."""

    change_15m: float | None
    change_60m: float | None
    lowest_15m: float | None
    change_end: float | None
    end_s: int
    rugged_s: int | None


@dataclass(frozen=True)
class OutcomeControl:
    """The same changes after other moments of the token, in percent, oldest moment first. A
    token has one such moment in every two hours of the clock, at a minute that depends only on
    its address. A flare's control has those from 24 hours to 90 minutes before its start.
    Unknown changes are omitted."""

    change_5m: list[float]
    change_15m: list[float]
    change_60m: list[float]


@dataclass(frozen=True)
class Outcome:
    """What the price did after a flare's start, until 60 minutes later, or its end if that is
    later. `null` means unknown: not measured yet, no trade in the 3 minutes before the moment,
    or no data of the whole group."""

    start_price: DecimalString | None
    peak_price: DecimalString | None
    peak_at: Timestamp | None
    peak_change: float | None
    end_price: DecimalString | None
    end_change: float | None
    change_5m: float | None
    change_15m: float | None
    change_60m: float | None
    relative_change_5m: float | None
    relative_change_15m: float | None
    relative_change_60m: float | None
    ended_by: FinishCause
    collapsed_at: Timestamp | None
    collapse_warning_s: int | None
    final: bool
    given_back: float | None = None
    held: OutcomeHeld | None = None
    start_score: float | None = None
    start_liquidity: DecimalString | None = None
    control: OutcomeControl | None = None
    odds: Odds | None = None


@dataclass(frozen=True)
class FlareFinishedData:
    op: Literal["remove", "insert"]
    flare: AnyFlare
    why: Explanation | None
    cause: FinishCause
    id: str | None = None
    outcome: Outcome | None = None
    index: int | None = None


@dataclass(frozen=True)
class FlareFinished:
    """A flare ended: it leaves `flares.pro` and `flares.free`, and enters `flares.finished`.
    Each of these events has its final form as `flare`. `outcome` is what the price has done
    since the start. If it is not `final`, a `flare-outcome` follows, unless a `flare-expired`
    comes first."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["flare-finished"]
    channel: Literal["flares.free", "flares.pro", "flares.finished", "flares.exchange.free", "flares.exchange.pro", "flares.exchange.finished", "flares.matic.free", "flares.matic.pro", "flares.matic.finished", "flares.avalanche.free", "flares.avalanche.pro", "flares.avalanche.finished", "flares.solana.free", "flares.solana.pro", "flares.solana.finished", "flares.base.free", "flares.base.pro", "flares.base.finished", "flares.ethereum.free", "flares.ethereum.pro", "flares.ethereum.finished", "flares.robinhood.free", "flares.robinhood.pro", "flares.robinhood.finished"]
    observed_at: Timestamp
    data: FlareFinishedData
    batch: int | None = None


@dataclass(frozen=True)
class FlareOutcomeData:
    op: Literal["set"]
    id: str
    set: dict[str, Any]
    outcome: Outcome | None
    unset: list[str] | None = None


@dataclass(frozen=True)
class FlareOutcome:
    """The outcome of a finished flare became final, an hour after the flare's start. `set` is
    empty."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["flare-outcome"]
    channel: Literal["flares.finished", "flares.exchange.finished", "flares.matic.finished", "flares.avalanche.finished", "flares.solana.finished", "flares.base.finished", "flares.ethereum.finished", "flares.robinhood.finished"]
    observed_at: Timestamp
    data: FlareOutcomeData
    batch: int | None = None


@dataclass(frozen=True)
class FlareWithdrawnData:
    op: Literal["remove"]
    id: str
    cause: Literal["canary", "fallen", "upstream", "filtered"]


@dataclass(frozen=True)
class FlareWithdrawn:
    """A running flare leaves `flares.free` because of a canary or because its liquidity is no
    longer locked, or (cause `fallen`) because its price has fallen by a third since its start
    or by half since its peak; it stays in `flares.pro`. Cause `upstream`: the source lists it
    only in the other of these two lists now. Cause `filtered`: the flare continues, but no
    longer meets the subscription's filter."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["flare-withdrawn"]
    channel: Literal["flares.free", "flares.pro", "flares.finished", "flares.exchange.free", "flares.exchange.pro", "flares.exchange.finished", "flares.matic.free", "flares.matic.pro", "flares.matic.finished", "flares.avalanche.free", "flares.avalanche.pro", "flares.avalanche.finished", "flares.solana.free", "flares.solana.pro", "flares.solana.finished", "flares.base.free", "flares.base.pro", "flares.base.finished", "flares.ethereum.free", "flares.ethereum.pro", "flares.ethereum.finished", "flares.robinhood.free", "flares.robinhood.pro", "flares.robinhood.finished"]
    observed_at: Timestamp
    data: FlareWithdrawnData
    batch: int | None = None


@dataclass(frozen=True)
class FlareExpiredData:
    op: Literal["remove"]
    id: str
    cause: Literal["filtered"] | None = None


@dataclass(frozen=True)
class FlareExpired:
    """A finished flare leaves `flares.finished` after 24 hours. It leaves earlier if a hundred
    newer ones have finished and it has no outcome or a final one, or if a thousand have. Cause
    `filtered`: it no longer meets the subscription's filter."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["flare-expired"]
    channel: Literal["flares.free", "flares.pro", "flares.finished", "flares.exchange.free", "flares.exchange.pro", "flares.exchange.finished", "flares.matic.free", "flares.matic.pro", "flares.matic.finished", "flares.avalanche.free", "flares.avalanche.pro", "flares.avalanche.finished", "flares.solana.free", "flares.solana.pro", "flares.solana.finished", "flares.base.free", "flares.base.pro", "flares.base.finished", "flares.ethereum.free", "flares.ethereum.pro", "flares.ethereum.finished", "flares.robinhood.free", "flares.robinhood.pro", "flares.robinhood.finished"]
    observed_at: Timestamp
    data: FlareExpiredData
    batch: int | None = None


@dataclass(frozen=True)
class Listing:
    """A token whose pool got its first real liquidity within the last 15 minutes."""

    id: Id
    listed_at: Timestamp
    pool: str
    liquidity: DecimalString
    token: Token
    market_data: MarketData | None
    social_data: SocialData | None
    contract_source: ContractSource


@dataclass(frozen=True)
class TokenListedData:
    op: Literal["insert"]
    index: int
    listing: Listing
    cause: Literal["passed"] | None = None


@dataclass(frozen=True)
class TokenListed:
    """A token was listed. Cause `passed`: it was listed before, and meets the subscription's
    filter only now."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["token-listed"]
    channel: Literal["newest.bsc"]
    observed_at: Timestamp
    data: TokenListedData
    batch: int | None = None


@dataclass(frozen=True)
class TokenUpdatedData:
    op: Literal["set", "order"]
    id: str | None = None
    set: dict[str, Any] | None = None
    unset: list[str] | None = None
    ids: list[str] | None = None


@dataclass(frozen=True)
class TokenUpdated:
    """Fields of a listing changed, such as its price, liquidity or newly found facts, or the
    order of the list."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["token-updated"]
    channel: Literal["newest.bsc"]
    observed_at: Timestamp
    data: TokenUpdatedData
    batch: int | None = None


@dataclass(frozen=True)
class TokenUnlistedData:
    op: Literal["remove"]
    id: str
    cause: Literal["filtered"] | None = None


@dataclass(frozen=True)
class TokenUnlisted:
    """A listing leaves at the age of 15 minutes, or earlier if there are 1,000 newer ones, or
    if its token is forgotten or found to be a quote token. Cause `filtered`: it no longer meets
    the subscription's filter."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["token-unlisted"]
    channel: Literal["newest.bsc"]
    observed_at: Timestamp
    data: TokenUnlistedData
    batch: int | None = None


@dataclass(frozen=True)
class NestedFlare:
    """A token inside a chart item or a leaderboard entry, in the form of a flare whether or not
    it trends. All plans see the same, so a flare counts here only once it enters `free` or
    ends. `id` is that of the latest such flare. Without one, it is derived from network and
    address alone."""

    id: Id
    recent_price_change: int
    previous_price_change: int
    latest_buy_count: Count
    latest_sell_count: Count
    forum_post: ForumPost | None
    social_data: SocialData | None
    contract_source: ContractSource
    liquidity: DecimalString
    market_data: MarketData | None
    token: Token
    upvote_site_data: None
    relevant: bool
    last_relevant_at: Timestamp
    last_irrelevant_at: Timestamp
    canary: bool
    canary_at: Timestamp


@dataclass(frozen=True)
class ExchangeToken:
    """A token of the exchange inside chart items and leaderboard entries."""

    symbol: str
    price: DecimalString


@dataclass(frozen=True)
class ChainToken:
    """A token of a chain other than `bsc` inside chart items and leaderboard entries."""

    symbol: str
    price: DecimalString
    address: Address


@dataclass(frozen=True)
class ChangeItem:
    id: Id | None = None
    most_recent_price_average: DecimalString | None = None
    price_change_from_average: float | None = None
    streak: int | None = None
    latest_candle_prices: list[float] | None = None
    most_recent_price: DecimalString | None = None
    buy_count: Count | None = None
    sell_count: Count | None = None
    flare: NestedFlare | None = None
    token: ExchangeToken | ChainToken | None = None
    market_data: MarketData | None = None
    recent_average_price: DecimalString | None = None
    type: Literal["flare", "token"] | None = None
    time_trended: int | None = None
    average_position: float | None = None
    object: NestedFlare | ExchangeToken | ChainToken | None = None


@dataclass(frozen=True)
class Change:
    """Schema of `Change`: one step from a list to the next."""

    op: Literal["insert", "remove", "set", "order"]
    index: int | None = None
    item: ChangeItem | None = None
    id: str | None = None
    set: dict[str, Any] | None = None
    unset: list[str] | None = None
    ids: list[str] | None = None


@dataclass(frozen=True)
class ChartUpdatedData:
    group: Group
    changes: list[Change]


@dataclass(frozen=True)
class ChartUpdated:
    """A group's chart for the new minute: all changes since the previous one."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["chart-updated"]
    channel: Literal["charts.bsc", "charts.exchange", "charts.matic", "charts.avalanche", "charts.solana", "charts.base", "charts.ethereum", "charts.robinhood"]
    observed_at: Timestamp
    data: ChartUpdatedData
    batch: int | None = None


@dataclass(frozen=True)
class LeaderboardUpdatedData:
    group: Group
    changes: list[Change]


@dataclass(frozen=True)
class LeaderboardUpdated:
    """A group's leaderboard for the new minute: all changes since the previous one."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["leaderboard-updated"]
    channel: Literal["leaderboards.bsc", "leaderboards.exchange", "leaderboards.matic", "leaderboards.avalanche", "leaderboards.solana", "leaderboards.base", "leaderboards.ethereum", "leaderboards.robinhood"]
    observed_at: Timestamp
    data: LeaderboardUpdatedData
    batch: int | None = None


@dataclass(frozen=True)
class Candle:
    """One minute in which a token traded. A minute without a trade has no candle. Prices have
    ten significant digits."""

    open_at: Timestamp
    open: DecimalString | None
    high: DecimalString | None
    low: DecimalString | None
    close: DecimalString | None
    volume: DecimalString
    buys: Count | None
    sells: Count | None


@dataclass(frozen=True)
class CandlesClosedDataTokensItem:
    address: Address
    from_: Timestamp
    candles: list[Candle]


@dataclass(frozen=True)
class CandlesClosedData:
    group: Group
    closed_at: Timestamp | None
    tokens: list[CandlesClosedDataTokensItem]
    gone: list[Address]


@dataclass(frozen=True)
class CandlesClosed:
    """A minute ended, or a flare started: the candles of tokens that flare, or whose flare
    started within two hours. Candles that opened more than 60 minutes before `closed_at` leave."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["candles-closed"]
    channel: Literal["candles"]
    observed_at: Timestamp
    data: CandlesClosedData
    batch: int | None = None


SourceState = Literal["live", "stale", "down"]


@dataclass(frozen=True)
class SourceStatusData:
    state: SourceState
    reason: str


@dataclass(frozen=True)
class SourceStatus:
    """The state of the data source changed. `observed_at` is the event time of its latest data."""

    type: Literal["event"]
    cursor: Cursor
    seq: int
    emitted_at: Timestamp
    prev: int
    name: Literal["source-status"]
    channel: Literal["status"]
    observed_at: Timestamp
    data: SourceStatusData
    batch: int | None = None


Event = Union[
    FlareStarted,
    FlareUpdated,
    FlareSurged,
    FlareFinished,
    FlareOutcome,
    FlareWithdrawn,
    FlareExpired,
    TokenListed,
    TokenUpdated,
    TokenUnlisted,
    ChartUpdated,
    LeaderboardUpdated,
    CandlesClosed,
    SourceStatus,
]


@dataclass(frozen=True)
class Filter:
    """Selects the items of the lists that meet every given field. One matching value per field
    is enough. An item enters when it meets the filter and leaves when it no longer does; see
    `sticky`. Unknown fields are rejected."""

    tokens: list[Address] | None = None
    symbols: list[str] | None = None
    min_liquidity: float | DecimalString | None = None
    min_price_change: float | None = None
    min_age: float | None = None
    min_locked: float | None = None
    sticky: bool | None = None
    names: list[Literal["flare-started", "flare-updated", "flare-surged", "flare-finished", "flare-outcome", "flare-withdrawn", "flare-expired", "token-listed", "token-updated", "token-unlisted", "chart-updated", "leaderboard-updated", "candles-closed", "source-status"]] | None = None


@dataclass(frozen=True)
class Limits:
    """Limits of a connection."""

    inbound_bytes: int
    commands_per_second: float
    commands_burst: int
    subscriptions: int
    first_command_within_ms: int


@dataclass(frozen=True)
class SourceInfoFacts:
    """Facts that the source supports. Fields for other facts have the specification's neutral
    value."""

    trades: bool
    liquidity: bool
    listings: bool
    profiles: bool


@dataclass(frozen=True)
class SourceInfo:
    """The kind of market served, and the facts that its feed supports."""

    name: str
    origin: Literal["live", "recorded", "simulated"]
    facts: SourceInfoFacts


@dataclass(frozen=True)
class FreshnessPartFilling:
    """Progress of reading its past, in milliseconds of event time; absent once all is read.
    Until then its counts and usual values cover less time."""

    read_ms: int
    of_ms: int


@dataclass(frozen=True)
class FreshnessPart:
    """State of one part of a market that combines several."""

    name: str
    state: SourceState
    reason: str
    observed_at: Timestamp | None
    data_age_ms: int
    filling: FreshnessPartFilling | None = None


@dataclass(frozen=True)
class Freshness:
    """Freshness of the data. Ages are wall-clock time; `observed_at` is event time."""

    state: SourceState
    reason: str
    observed_at: Timestamp | None
    last_success_at: Timestamp | None
    data_age_ms: int
    parts: list[FreshnessPart] | None = None


@dataclass(frozen=True)
class Hello:
    """Server → client: the first frame of every connection."""

    type: Literal["hello"]
    protocol: Literal["flarewire.v1"]
    server: str
    server_time: Timestamp
    epoch: str
    cursor: Cursor
    heartbeat_interval_ms: int
    silence_limit_ms: int
    limits: Limits
    source: SourceInfo
    freshness: Freshness
    plan: Literal["free", "pro"] | None = None


@dataclass(frozen=True)
class ViewFlares:
    free: list[Flare] | None = None
    pro: list[Flare] | None = None
    finished_trending: list[Flare] | None = None


@dataclass(frozen=True)
class ViewFlaresExchange:
    free: list[ExchangeFlare] | None = None
    pro: list[ExchangeFlare] | None = None
    finished_trending: list[ExchangeFlare] | None = None


@dataclass(frozen=True)
class ViewFlaresMatic:
    free: list[ChainFlare] | None = None
    pro: list[ChainFlare] | None = None
    finished_trending: list[ChainFlare] | None = None


@dataclass(frozen=True)
class ViewFlaresAvalanche:
    free: list[ChainFlare] | None = None
    pro: list[ChainFlare] | None = None
    finished_trending: list[ChainFlare] | None = None


@dataclass(frozen=True)
class ViewFlaresSolana:
    free: list[ChainFlare] | None = None
    pro: list[ChainFlare] | None = None
    finished_trending: list[ChainFlare] | None = None


@dataclass(frozen=True)
class ViewFlaresBase:
    free: list[ChainFlare] | None = None
    pro: list[ChainFlare] | None = None
    finished_trending: list[ChainFlare] | None = None


@dataclass(frozen=True)
class ViewFlaresEthereum:
    free: list[ChainFlare] | None = None
    pro: list[ChainFlare] | None = None
    finished_trending: list[ChainFlare] | None = None


@dataclass(frozen=True)
class ViewFlaresRobinhood:
    free: list[ChainFlare] | None = None
    pro: list[ChainFlare] | None = None
    finished_trending: list[ChainFlare] | None = None


@dataclass(frozen=True)
class ViewNewest:
    bsc: list[Listing] | None = None


@dataclass(frozen=True)
class BscChartItem:
    """An item of the chart of `bsc`."""

    id: Id
    most_recent_price_average: DecimalString
    price_change_from_average: float
    streak: int
    latest_candle_prices: list[float]
    most_recent_price: DecimalString
    buy_count: Count
    sell_count: Count
    flare: NestedFlare


@dataclass(frozen=True)
class ExchangeChartItem:
    """An item of the chart of the exchange."""

    id: Id
    most_recent_price_average: DecimalString
    price_change_from_average: float
    streak: int
    latest_candle_prices: list[float]
    token: ExchangeToken
    market_data: MarketData | None


@dataclass(frozen=True)
class MaticChartItem:
    """An item of the chart of a chain other than `bsc`."""

    id: Id
    most_recent_price_average: DecimalString
    price_change_from_average: float
    streak: int
    latest_candle_prices: list[float]
    most_recent_price: DecimalString
    recent_average_price: DecimalString
    token: ChainToken
    market_data: MarketData | None


@dataclass(frozen=True)
class ViewCharts:
    bsc: list[BscChartItem] | None = None
    exchange: list[ExchangeChartItem] | None = None
    matic: list[MaticChartItem] | None = None
    avalanche: list[MaticChartItem] | None = None
    solana: list[MaticChartItem] | None = None
    base: list[MaticChartItem] | None = None
    ethereum: list[MaticChartItem] | None = None
    robinhood: list[MaticChartItem] | None = None


@dataclass(frozen=True)
class BscLeaderboardEntry:
    """An entry of the leaderboard of `bsc`."""

    type: Literal["flare"]
    time_trended: int
    average_position: float
    object: NestedFlare


@dataclass(frozen=True)
class ExchangeLeaderboardEntry:
    """An entry of the leaderboard of the exchange."""

    type: Literal["token"]
    time_trended: int
    average_position: float
    object: ExchangeToken


@dataclass(frozen=True)
class ChainLeaderboardEntry:
    """An entry of the leaderboard of a chain other than `bsc`."""

    type: Literal["token"]
    time_trended: int
    average_position: float
    object: ChainToken


@dataclass(frozen=True)
class ViewLeaderboards:
    bsc: list[BscLeaderboardEntry] | None = None
    exchange: list[ExchangeLeaderboardEntry] | None = None
    matic: list[ChainLeaderboardEntry] | None = None
    avalanche: list[ChainLeaderboardEntry] | None = None
    solana: list[ChainLeaderboardEntry] | None = None
    base: list[ChainLeaderboardEntry] | None = None
    ethereum: list[ChainLeaderboardEntry] | None = None
    robinhood: list[ChainLeaderboardEntry] | None = None


Explanations = dict[str, Explanation]


Outcomes = dict[str, Outcome]


@dataclass(frozen=True)
class View:
    """The part of the snapshot that belongs to the subscribed channels."""

    explanations: Explanations
    flares: ViewFlares | None = None
    flares_exchange: ViewFlaresExchange | None = field(default=None, metadata={"name": "flares.exchange"})
    flares_matic: ViewFlaresMatic | None = field(default=None, metadata={"name": "flares.matic"})
    flares_avalanche: ViewFlaresAvalanche | None = field(default=None, metadata={"name": "flares.avalanche"})
    flares_solana: ViewFlaresSolana | None = field(default=None, metadata={"name": "flares.solana"})
    flares_base: ViewFlaresBase | None = field(default=None, metadata={"name": "flares.base"})
    flares_ethereum: ViewFlaresEthereum | None = field(default=None, metadata={"name": "flares.ethereum"})
    flares_robinhood: ViewFlaresRobinhood | None = field(default=None, metadata={"name": "flares.robinhood"})
    newest: ViewNewest | None = None
    charts: ViewCharts | None = None
    leaderboards: ViewLeaderboards | None = None
    outcomes: Outcomes | None = None


@dataclass(frozen=True)
class Lost:
    """Why a cursor cannot be resumed, and how many events were missed: `null` if unknown."""

    reason: Literal["epoch-changed", "expired", "ahead"]
    events: int | None


@dataclass(frozen=True)
class Flares:
    """`GET /api/v1/flares`: the lists of flares of one group, by default `bsc`."""

    free: list[AnyFlare]
    pro: list[AnyFlare]
    finished_trending: list[AnyFlare]


@dataclass(frozen=True)
class Newest:
    """`GET /api/v1/newest`: tokens of BSC listed in the last 15 minutes, newest first, ties by
    address."""

    bsc: list[Listing]


@dataclass(frozen=True)
class Charts:
    """`GET /api/v1/charts`: for each group the ten tokens with the best price change relative
    to their risk, best first. Recomputed every minute, unchanged in between."""

    bsc: list[BscChartItem]
    exchange: list[ExchangeChartItem]
    matic: list[MaticChartItem]
    avalanche: list[MaticChartItem]
    solana: list[MaticChartItem] | None = None
    base: list[MaticChartItem] | None = None
    ethereum: list[MaticChartItem] | None = None
    robinhood: list[MaticChartItem] | None = None


@dataclass(frozen=True)
class Leaderboards:
    """`GET /api/v1/leaderboards`: for each group the ten tokens longest in the chart over the
    past 6 hours; ties by mean rank."""

    bsc: list[BscLeaderboardEntry]
    exchange: list[ExchangeLeaderboardEntry]
    matic: list[ChainLeaderboardEntry]
    avalanche: list[ChainLeaderboardEntry]
    solana: list[ChainLeaderboardEntry] | None = None
    base: list[ChainLeaderboardEntry] | None = None
    ethereum: list[ChainLeaderboardEntry] | None = None
    robinhood: list[ChainLeaderboardEntry] | None = None


@dataclass(frozen=True)
class SnapshotResponse:
    """`GET /api/v1/snapshot`: the complete state at one moment. A stream after `cursor`
    continues it without a gap."""

    cursor: Cursor
    observed_at: Timestamp
    flares: Flares
    newest: Newest
    charts: Charts
    leaderboards: Leaderboards
    explanations: Explanations
    outcomes: Outcomes


TokenCandles = dict[str, list[Candle]]


@dataclass(frozen=True)
class Candles:
    """`GET /api/v1/candles`: the last 60 closed minutes of each token with a running flare, by
    group. A mirror also gets those of flares that started within two hours. Tokens of other
    groups have none."""

    closed_at: Timestamp | None
    bsc: TokenCandles


@dataclass(frozen=True)
class FlareRecord:
    """One flare with its explanations and outcome."""

    flare: AnyFlare
    started: Explanation | None
    why: Explanation | None
    cause: FinishCause | None
    outcome: Outcome | None


@dataclass(frozen=True)
class HistoryResponse:
    """`GET /api/v1/history`: finished flares, newest finish first, ties by id. Flares that
    finish between two pages appear on neither: they are newer than both."""

    flares: list[FlareRecord]
    next: str | None


@dataclass(frozen=True)
class TokenDetailsChart:
    """The token in its group's chart."""

    id: Id
    rank: int
    streak: int
    most_recent_price_average: DecimalString
    price_change_from_average: float
    latest_candle_prices: list[float]


@dataclass(frozen=True)
class TokenDetailsLeaderboard:
    """The token in its group's leaderboard."""

    rank: int
    time_trended: int
    average_position: float


@dataclass(frozen=True)
class TokenDetails:
    """`GET /api/v1/tokens/{group}/{token}`: facts, ranks, candles and flares of one token."""

    group: Group
    symbol: str
    address: Address | None
    name: str | None
    price: DecimalString
    created_at: Timestamp | None
    liquidity: DecimalString | None
    market_data: MarketData | None
    social_data: SocialData | None
    contract_source: ContractSource | None
    as_of: Timestamp | None
    warnings: list[str]
    canary: bool | None
    chart: TokenDetailsChart | None
    leaderboard: TokenDetailsLeaderboard | None
    candles: list[Candle]
    flares: list[FlareRecord]
    price_at: Timestamp | None = None


RecordWindow = Literal["24h", "7d", "30d"]


@dataclass(frozen=True)
class RecordFiguresWarningS:
    """Seconds from the canary's warning to the collapse, for all `collapsed`; 0 without a
    warning."""

    q1: float | None
    median: float | None
    q3: float | None


@dataclass(frozen=True)
class RecordFiguresAfterItemControl:
    """The same changes after other moments of the same tokens: all values of `control` in the
    flares' outcomes, which have known changes only."""

    n: Count
    rose: float | None
    q1: float | None
    median: float | None
    q3: float | None


@dataclass(frozen=True)
class RecordFiguresAfterItem:
    """The flares' price changes after `minutes`, in percent."""

    n: Count
    rose: float | None
    q1: float | None
    median: float | None
    q3: float | None
    minutes: int
    unknown: Count
    control: RecordFiguresAfterItemControl


@dataclass(frozen=True)
class RecordFigures:
    """What prices did after flares."""

    flares: Count
    ended_by_canary: Count
    canary_share: float | None
    collapsed: Count
    warned: Count
    warning_s: RecordFiguresWarningS
    after: list[RecordFiguresAfterItem]


@dataclass(frozen=True)
class RecordTradesControl:
    """The same tokens from the moments of `control`; known changes only."""

    n: Count
    won: float | None
    mean: float | None
    median: float | None


@dataclass(frozen=True)
class RecordTrades:
    """Bought at each start, sold at its end, by the last price, in percent after costs."""

    n: Count
    won: float | None
    mean: float | None
    median: float | None
    text: str
    worthless: Count
    unknown: Count
    rugged_60m: Count
    control: RecordTradesControl


@dataclass(frozen=True)
class TrackRecordCalibrationRug60mItem:
    from_: float
    to: float
    n: Count
    said: float
    observed: float


@dataclass(frozen=True)
class TrackRecordCalibrationUp15mItem:
    from_: float
    to: float
    n: Count
    said: float
    observed: float


@dataclass(frozen=True)
class TrackRecordCalibrationFall15mItem:
    from_: float
    to: float
    n: Count
    said: float
    observed: float


@dataclass(frozen=True)
class TrackRecordCalibration:
    rug_60m: list[TrackRecordCalibrationRug60mItem]
    up_15m: list[TrackRecordCalibrationUp15mItem]
    fall_15m: list[TrackRecordCalibrationFall15mItem]


@dataclass(frozen=True)
class TrackRecordByGroupItem:
    group: Group
    figures: RecordFigures


@dataclass(frozen=True)
class RecordRange:
    from_: float | None
    to: float | None
    figures: RecordFigures


@dataclass(frozen=True)
class TrackRecord:
    """`GET /api/v1/record`: what prices did after flares, compared with other moments of the
    same tokens. The window ends a whole minute before the last whole minute of event time."""

    window: RecordWindow
    first_at: Timestamp | None
    last_at: Timestamp | None
    all: RecordFigures
    by_group: list[TrackRecordByGroupItem]
    by_score: list[RecordRange]
    by_liquidity: list[RecordRange]
    trades: RecordTrades | None = None
    calibration: TrackRecordCalibration | None = None


__all__ = [
    "Cursor",
    "Timestamp",
    "Id",
    "Count",
    "Address",
    "ForumPost",
    "SocialData",
    "ContractSource",
    "DecimalString",
    "MarketData",
    "ExchangeFlareToken",
    "ExchangeFlare",
    "Token",
    "ChainFlare",
    "Flare",
    "AnyFlare",
    "TermName",
    "TermUnit",
    "Term",
    "FinishCause",
    "Surge",
    "Locked",
    "Group",
    "Span",
    "OddsLike",
    "Frequency",
    "Odds",
    "Explanation",
    "FlareStartedData",
    "FlareStarted",
    "FlareUpdatedData",
    "FlareUpdated",
    "FlareSurgedData",
    "FlareSurged",
    "OutcomeHeld",
    "OutcomeControl",
    "Outcome",
    "FlareFinishedData",
    "FlareFinished",
    "FlareOutcomeData",
    "FlareOutcome",
    "FlareWithdrawnData",
    "FlareWithdrawn",
    "FlareExpiredData",
    "FlareExpired",
    "Listing",
    "TokenListedData",
    "TokenListed",
    "TokenUpdatedData",
    "TokenUpdated",
    "TokenUnlistedData",
    "TokenUnlisted",
    "NestedFlare",
    "ExchangeToken",
    "ChainToken",
    "ChangeItem",
    "Change",
    "ChartUpdatedData",
    "ChartUpdated",
    "LeaderboardUpdatedData",
    "LeaderboardUpdated",
    "Candle",
    "CandlesClosedDataTokensItem",
    "CandlesClosedData",
    "CandlesClosed",
    "SourceState",
    "SourceStatusData",
    "SourceStatus",
    "Event",
    "Filter",
    "Limits",
    "SourceInfoFacts",
    "SourceInfo",
    "FreshnessPartFilling",
    "FreshnessPart",
    "Freshness",
    "Hello",
    "ViewFlares",
    "ViewFlaresExchange",
    "ViewFlaresMatic",
    "ViewFlaresAvalanche",
    "ViewFlaresSolana",
    "ViewFlaresBase",
    "ViewFlaresEthereum",
    "ViewFlaresRobinhood",
    "ViewNewest",
    "BscChartItem",
    "ExchangeChartItem",
    "MaticChartItem",
    "ViewCharts",
    "BscLeaderboardEntry",
    "ExchangeLeaderboardEntry",
    "ChainLeaderboardEntry",
    "ViewLeaderboards",
    "Explanations",
    "Outcomes",
    "View",
    "Lost",
    "Flares",
    "Newest",
    "Charts",
    "Leaderboards",
    "SnapshotResponse",
    "TokenCandles",
    "Candles",
    "FlareRecord",
    "HistoryResponse",
    "TokenDetailsChart",
    "TokenDetailsLeaderboard",
    "TokenDetails",
    "RecordWindow",
    "RecordFiguresWarningS",
    "RecordFiguresAfterItemControl",
    "RecordFiguresAfterItem",
    "RecordFigures",
    "RecordTradesControl",
    "RecordTrades",
    "TrackRecordCalibrationRug60mItem",
    "TrackRecordCalibrationUp15mItem",
    "TrackRecordCalibrationFall15mItem",
    "TrackRecordCalibration",
    "TrackRecordByGroupItem",
    "RecordRange",
    "TrackRecord",
]
