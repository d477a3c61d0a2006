#!/usr/bin/env bash
# Follows the flares of a Flarewire server with curl, over server-sent events, and prints each message as a line of JSON. Misses none:
# after a lost line, or a restart of the server, it goes on from its cursor; where that cannot be, the line says what is lost.
#
#   bash examples/follow.sh http://127.0.0.1:8080 | jq -r 'select(.type == "event") | .name, .data.flare.token.symbol'
#
# A second argument is the cursor to go on from: that of the last line that you are done with. Needs bash, and curl 7.83 or newer.

server=${1:-http://127.0.0.1:8080} cursor=${2:-} failures=0
address=${server%/}/api/v1/events?channels=flares.pro\&names=flare-started,flare-finished
trap 'kill $! 2>/dev/null' EXIT

# One connection, until it ends. The server beats every 15 s: nothing for 35 means that the line is dead.
# What it writes at the end begins with a space, so that it never makes a cut event whole.
stream() {
  exec curl -sN --connect-timeout 10 --speed-limit 1 --speed-time "${SILENCE_S:-35}" -H 'Accept: text/event-stream' \
    -H "Last-Event-ID: $cursor" -w ' \nstatus: %{http_code} %header{retry-after}\n' "$address"
}

while :; do
  action=backoff status=000 least_s=1 event='' id='' data=''
  while IFS= read -r line; do
    case $line in
      'event: '*) event=${line#event: } ;;
      'id: '*) id=${line#id: } ;;
      'data: '*) data=${line#data: } ;;
      'status: '*) read -r _ status least_s <<<"$line" ;;
      '{'*) line=${line% }; echo "${line//[^[:print:]]/?}" >&2 ;; # The server refuses, and says why.
      '')
        case $event in
          subscribed | reset) failures=0; echo "$event at $id" >&2; printf '%s\n' "$data" ;;
          flare-*) printf '%s\n' "$data" ;;
          close) [[ $data =~ \"action\":\"([a-z]+)\" ]] && action=${BASH_REMATCH[1]} ;;
        esac
        cursor=${id:-$cursor} event='' id='' ;; # Only now: what was not done with is asked for again.
    esac
  done < <(stream)
  [[ $status == 4?? && $status != 429 ]] && action=stop
  if [[ $action == stop ]]; then
    echo "the server refuses this client: status $status, $data" >&2
    exit 1
  fi
  # A second at least, and jitter, so that not all come back together; but at once where the server says so.
  [[ $least_s =~ ^[0-9]+$ ]] || least_s=1
  wait_ms=$((least_s * 1000 + RANDOM * (failures > 4 ? 30000 : 1000 << failures) / 32768))
  [[ $action == resume && $failures == 0 ]] && wait_ms=0
  failures=$((failures + 1))
  wait_s=$((wait_ms / 1000)).$(printf %03d $((wait_ms % 1000)))
  echo "disconnected ($action); again in $wait_s s" >&2
  sleep "$wait_s"
done
