#!/usr/bin/env bash
# Follows the flares of a Flarewire server with curl, over server-sent events. Prints a line of JSON per message: `subscribed` with the
# current lists, a long line, and then each start, surge and finish. It misses none: after a lost connection or a restart of the server it
# resumes from its cursor, or prints a line that states the loss.
#
#   bash examples/follow.sh http://127.0.0.1:8080 | jq -r 'select(.type == "event") | .name, .data.flare.token.symbol'
#
# The second argument is a cursor to resume from: that of the last line that you processed. A key comes from FLAREWIRE_CLIENT_KEY.
# Needs bash, and curl 7.83 or newer.

server=${1:-http://127.0.0.1:8080} cursor=${2:-} failures=0 key=${FLAREWIRE_CLIENT_KEY:-}
address=${server%/}/api/v1/events?channels=flares.pro\&names=flare-started,flare-surged,flare-finished
trap 'kill $! 2>/dev/null' EXIT

# One connection. The server sends a heartbeat every 15 s: 35 s of silence mean that the connection is dead.
# The key comes from a file, because every user can see arguments. curl's last output begins with a
# space, so that it never completes an interrupted event.
stream() {
  exec curl -sSN --connect-timeout 10 --speed-limit 1 --speed-time "${SILENCE_S:-35}" -H 'Accept: text/event-stream' \
    -H "Last-Event-ID: $cursor" -H @<(printf '%s' "${key:+Authorization: Bearer $key}") -w ' \nstatus: %{http_code} %header{retry-after}\n' "$address"
}

while :; do
  action=backoff status=000 min_s=1 event='' id='' data=''
  while IFS= read -r line; do
    case $line in
      'event: '*) event=${line#event: } ;;
      'id: '*) id=${line#id: } ;;
      'data: '*) data=${line#data: } ;;
      'status: '*) read -r _ status min_s <<<"$line" ;;
      '{'*) line=${line% }; echo "${line//[^[:print:]]/?}" >&2 ;; # The server's reason for a rejection.
      '')
        case $event in
          subscribed | reset) failures=0; echo "$event at $id; waiting for flares" >&2; printf '%s\n' "$data" ;;
          flare-*) printf '%s\n' "$data" ;;
          close) [[ $data =~ \"action\":\"([a-z]+)\" ]] && action=${BASH_REMATCH[1]} ;;
        esac
        cursor=${id:-$cursor} event='' id='' ;; # Only now, so that an unprocessed event is repeated.
    esac
  done < <(stream)
  [[ $status == 4?? && $status != 429 ]] && action=stop
  if [[ $action == stop ]]; then
    echo "the server rejected this client: status $status${data:+, $data}" >&2
    exit 1
  fi
  # At least a second, with jitter, so that clients do not return together; at once if the server says so.
  [[ $min_s =~ ^[0-9]+$ ]] || min_s=1
  wait_ms=$((min_s * 1000 + RANDOM * (failures > 4 ? 30000 : 1000 << failures) / 32768))
  [[ $action == resume && $failures == 0 ]] && wait_ms=0
  failures=$((failures + 1))
  wait_s=$((wait_ms / 1000)).$(printf %03d $((wait_ms % 1000))) when="at once"
  [[ $wait_ms == 0 ]] || when="in $wait_s s"
  echo "disconnected ($action); retrying $when" >&2
  sleep "$wait_s"
done
