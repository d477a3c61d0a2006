# Prints each start, surge and finish of a flare, and misses none: after a lost connection or a restart of the server it resumes from its
# cursor, or reports what was lost. Needs aiohttp: Debian's python3-aiohttp. A key comes from FLAREWIRE_CLIENT_KEY.
#
#   python3 examples/follow.py http://127.0.0.1:8080      (a second argument: the cursor of an earlier line, to resume from)
import asyncio, os, pathlib, sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "src/clients/python"))  # Unless it is installed.
try:
    from flarewire import Filter, FlareFinished, FlareStarted, FlareSurged, Reset, StreamError, connect
except ModuleNotFoundError as error:
    if error.name != "aiohttp":
        raise
    sys.exit(str(error))  # It says what to install.

def log(text: object) -> None:
    print(text, file=sys.stderr, flush=True)

async def follow(url: str = "http://127.0.0.1:8080", after: str | None = None) -> None:
    names = Filter(names=["flare-started", "flare-surged", "flare-finished"])  # Stored for 72 hours.
    key = os.environ.get("FLAREWIRE_CLIENT_KEY")
    async with connect(url, channels=["flares.pro"], filter=names, key=key, after=after, on_connection=log) as stream:
        async for event in stream:
            if isinstance(event, Reset):
                log(f"waiting for flares after {event.cursor} ({event.reason}); events lost: {event.lost}")
            elif isinstance(event, (FlareStarted, FlareSurged, FlareFinished)):
                flare = event.data.flare  # Token names are untrusted: replace control characters.
                symbol = "".join(c if c.isprintable() else "?" for c in flare.token.symbol)
                print(event.observed_at, event.name, symbol, flare.recent_price_change, "%", event.cursor, flush=True)

try:
    asyncio.run(follow(*sys.argv[1:]))
except (StreamError, KeyboardInterrupt) as error:
    sys.exit(str(error))
