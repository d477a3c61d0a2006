# Follows the flares of a Flarewire server and misses none: after a lost line, or a restart of the server, it goes on from its cursor;
# where that cannot be, it says how much is lost and what flares now. Needs websockets 10.4 or newer: Debian's python3-websockets.
#
#   python3 examples/follow.py http://127.0.0.1:8080      (a second argument: the cursor, of an earlier line, to go on from)
import asyncio, json, math, random, sys, time, websockets

server, cursor, failures = *(sys.argv[1:] + ["http://127.0.0.1:8080", ""][len(sys.argv) - 1:])[:2], 0
base = server.replace("http", "ws", 1).rstrip("/") + "/api/v1/stream?channels=flares.pro&names=flare-started,flare-finished"

def tell(at, what, flare):  # Names come from strangers: nothing that a terminal obeys may be in them.
    symbol = "".join(c if c.isprintable() else "?" for c in flare["token"]["symbol"])
    print(at, what, symbol, flare["recent_price_change"], "%", cursor, flush=True)

async def follow(url):  # One connection, until it ends. The server pings; to ping it as well is not needed.
    global cursor, failures
    async with websockets.connect(url, subprotocols=["flarewire.v1"], max_size=None, ping_interval=None, close_timeout=1) as socket:
        silence_s, turn, now = 35, math.inf, time.monotonic
        while True:  # Silent for too long, or its turn to leave a server that is being replaced: either ends in a timeout.
            frame = json.loads(await asyncio.wait_for(socket.recv(), min(silence_s, turn - now())))
            if frame["type"] in ("subscribed", "event", "heartbeat"):
                cursor = frame["cursor"]
            if frame["type"] == "hello":
                silence_s = frame["silence_limit_ms"] / 1000
            elif frame["type"] == "goaway":
                turn = now() + frame["reconnect_after_ms"] / 1000
            elif frame["type"] == "event":
                tell(frame["observed_at"], frame["name"], frame["data"]["flare"])
            elif frame["type"] == "subscribed":
                failures, lost = 0, frame.get("lost")
                how = f"reset, {lost['events'] or 'some'} events lost ({lost['reason']})," if lost else "resumed" if frame["resumed"] == "full" else "following"
                print(how, "at", cursor, file=sys.stderr, flush=True)
                for flare in frame["snapshot"]["flares"]["pro"] if "snapshot" in frame else []:  # What was known is void.
                    tell(flare["started_trending_at"], "flare-running", flare)

while True:
    code, least_s = 4202, 1
    try:
        asyncio.run(follow(base + (cursor and "&after=" + cursor)))
    except asyncio.TimeoutError as error:
        why = error
    except websockets.ConnectionClosed as error:
        code, why = error.rcvd.code if error.rcvd else 1006, error
    except (OSError, websockets.InvalidHandshake) as error:  # Nobody there, or refused in HTTP.
        answer, why = getattr(error, "response", error), error
        retry, status = getattr(answer, "headers", {}).get("Retry-After", ""), getattr(answer, "status_code", 0)
        code, least_s = 4000 if 400 <= status < 500 and status != 429 else 1006, int(retry) if retry.isdigit() else 1
    if 4000 <= code < 4100:
        sys.exit(f"the server refuses this client: {why}")
    # 42xx says: at once, with the cursor. All else: a second at least, and jitter, so that not all come back together.
    wait_s = 0 if 4200 <= code < 4300 and failures == 0 else least_s + random.random() * min(30, 2**failures)
    failures += 1
    print(f"disconnected ({code}); again in {wait_s:.1f} s", file=sys.stderr, flush=True)
    time.sleep(wait_s)
