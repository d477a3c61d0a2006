# Follows the flares of a Flarewire server and misses none: after a lost connection or a restart of the server it resumes from its
# cursor, or reports the number of lost events and prints the current flares. Needs websockets 10.4 or newer: Debian's python3-websockets.
#
#   python3 examples/follow.py http://127.0.0.1:8080      (a second argument: the cursor of an earlier line, to resume from)
import asyncio, json, math, random, sys, time

try:
    import websockets
except ImportError:
    sys.exit("follow.py needs the package websockets: install Debian's python3-websockets, or pip install websockets")

server, cursor, failures = *(sys.argv[1:] + ["http://127.0.0.1:8080", ""][len(sys.argv) - 1:])[:2], 0
base = server.replace("http", "ws", 1).rstrip("/") + "/api/v1/stream?channels=flares.pro&names=flare-started,flare-finished"

def show(at, what, flare):  # Replaces control characters: token names are untrusted.
    symbol = "".join(c if c.isprintable() else "?" for c in flare["token"]["symbol"])
    print(at, what, symbol, flare["recent_price_change"], "%", cursor, flush=True)

async def follow(url):  # One connection. The server sends pings, so the client need not.
    global cursor, failures
    async with websockets.connect(url, subprotocols=["flarewire.v1"], max_size=None, ping_interval=None, close_timeout=1) as socket:
        silence_s, turn, now = 35, math.inf, time.monotonic
        while True:  # A silent connection, and the end of this client's turn on a draining server, end in a timeout.
            frame = json.loads(await asyncio.wait_for(socket.recv(), min(silence_s, turn - now())))
            if frame["type"] in ("subscribed", "event", "heartbeat"):
                cursor = frame["cursor"]
            if frame["type"] == "hello":
                silence_s = frame["silence_limit_ms"] / 1000
            elif frame["type"] == "goaway":
                turn = now() + frame["reconnect_after_ms"] / 1000
            elif frame["type"] == "event":
                show(frame["observed_at"], frame["name"], frame["data"]["flare"])
            elif frame["type"] == "subscribed":
                failures, lost = 0, frame.get("lost")
                how = f"reset, {lost['events'] or 'some'} events lost ({lost['reason']})," if lost else "resumed" if frame["resumed"] == "full" else "following"
                print(how, "at", cursor, file=sys.stderr, flush=True)
                for flare in frame["snapshot"]["flares"]["pro"] if "snapshot" in frame else []:  # A new state.
                    show(flare["started_trending_at"], "flare-running", flare)

while True:
    code, min_s = 4202, 1
    try:
        asyncio.run(follow(base + (cursor and "&after=" + cursor)))
    except asyncio.TimeoutError as error:
        why = error
    except websockets.ConnectionClosed as error:
        code, why = error.rcvd.code if error.rcvd else 1006, error
    except (OSError, websockets.InvalidHandshake) as error:  # Unreachable, or rejected over HTTP.
        answer, why = getattr(error, "response", error), error
        retry, status = getattr(answer, "headers", {}).get("Retry-After", ""), getattr(answer, "status_code", 0)
        code, min_s = 4000 if 400 <= status < 500 and status != 429 else 1006, int(retry) if retry.isdigit() else 1
    if 4000 <= code < 4100:
        sys.exit(f"the server rejected this client: {why}")
    # 42xx: reconnect at once with the cursor. Otherwise wait at least a second, with jitter, so that clients do not return together.
    wait_s = 0 if 4200 <= code < 4300 and failures == 0 else min_s + random.random() * min(30, 2**failures)
    failures += 1
    print(f"disconnected ({code}); retrying in {wait_s:.1f} s", file=sys.stderr, flush=True)
    time.sleep(wait_s)
