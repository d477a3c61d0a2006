/*
 * Opens many connections to one server, in one thread, and counts the received messages. A client
 * written in Node would need more CPU than the measured servers; this one needs about half a core.
 *
 *   load-client key=value …
 *     kind=ws|sse|poll|socketio|nats
 *                                 protocol of the connections. poll: each connection repeats long
 *                                 polls after its latest cursor; the events of a page are its
 *                                 deliveries
 *     port=N                      the server, on 127.0.0.1
 *     paths=FILE                  request targets, one a line; connection i asks for line i
 *                                 modulo their number
 *     headers=FILE                raw header lines for every request (optional)
 *     hello=FILE                  texts that each connection sends once it is open, one a line
 *                                 (optional)
 *     prefix=TEXT                 messages with this beginning are deliveries; others are not
 *                                 counted
 *     emitted=1                   the events state when they were appended: `watch` reports delays
 *                                 from that time
 *     deflated=1                  deliveries are the compressed messages instead
 *     naps=1                      spaced batches are polled for too, between naps; see NAP
 *     sources=N                   number of source addresses, starting with 127.0.0.1; connections
 *                                 use them in turn
 *     skew=N                      instead, of every N connections only the first uses the others in
 *                                 turn; all else come from 127.0.0.1
 *     drive=N                     port to which `drive` sends its trigger
 *
 * Commands on stdin, one a line, each answered by one line of JSON on stdout:
 *     open N CONCURRENCY          opens N more connections, with at most CONCURRENCY handshakes at
 *                                 once
 *     drive MS BATCHES WINDOW EVERY_US EXPECT SIZE FILE
 *         sends the bytes of FILE to the trigger port whenever fewer than WINDOW batches are in
 *         flight, at most once per EVERY_US, for MS milliseconds or BATCHES times, whichever is
 *         first; then waits for the rest. EXPECT is the number of deliveries of a trigger. 0: the
 *         server responds to each trigger with "deliveries nanoseconds\n", where the time is the
 *         machine's monotonic clock just before the append.
 *         SIZE, for kind=nats: bytes of payload per delivery, regardless of framing; else 0
 *     watch MS                    only counts, for MS milliseconds. With emitted=1, a delay is divided
 *                                 at the time when the kernel got the last of the bytes that were
 *                                 read at once: on one machine, that is the server's write
 *     return MIN_MS MAX_MS FILE   waits until every connection has ended once, has returned with the
 *                                 request target of FILE, and has the whole answer to its
 *                                 subscription. A connection that ends or can't be opened is
 *                                 opened again after a random time of MIN_MS to MAX_MS, and a
 *                                 refused one after its Retry-After
 *     close                       ends all connections with a reset, so that no port stays in
 *                                 TIME_WAIT
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PREFIX_MAX 32
#define SEEN_MAX 255
#define RING 4096
#define LATENCIES (1 << 22)

enum kind { WS, SSE, POLL, SOCKETIO, NATS };
enum state { CONNECTING, UPGRADING, OPEN, CLOSED, AWAY };

struct connection {
  int fd;
  uint8_t state, opcode, header_have, header_need, seen_have, line_feeds;
  uint8_t header[14];
  uint8_t seen[SEEN_MAX];
  uint8_t control_have;
  uint8_t control[125];
  uint8_t matched, answer;
  uint64_t payload_left;
  uint64_t opened_at, back_at;
  /** The response of a poll so far, and the cursor of the one before. */
  char *page;
  char cursor[64];
  size_t page_have, page_size;
};

/** Of the answer to a returned connection's subscription, found in its text. */
enum answer { NOT_AWAITED, AWAITED, RESUMED, RESET, ANSWERED };

static enum kind kind = WS;
static int port, drive_port, epoll_fd, trigger_fd = -1;
static uint64_t message_size;
static const char *prefix = "";
static size_t prefix_length;
static int deflated, emitted, naps, away, refusals;
static size_t seen_max = PREFIX_MAX;
static unsigned sources = 1, skew;
/* During a return: how many connections are back, and with which answers. */
static int returning, returned, answers[ANSWERED], lost_again;
static unsigned min_back_ms, max_back_ms;
static uint64_t return_began, last_come_again, *return_times[2];
static int return_counts[2];
static char *headers = "";
static char **paths, **hellos;
static int path_count, hello_count;

static struct connection *connections;
static int connection_count, next_to_open, open_target, concurrency, in_flight, opened, failed, lost;
static uint64_t open_began, open_cpu, *handshakes;
static int handshake_count;

static uint64_t deliveries, payload_bytes, wire_bytes;
static int driving, watching;
static uint64_t drive_began, drive_until, last_trigger, every_ns, deadline, watch_until;
static uint64_t base_deliveries, base_wire, base_cpu;
static uint64_t most_batches, window, expect, sent, answered, completed, cumulative[RING];
static uint64_t *arrivals, arrival_count, *latencies, latency_count;
/** The two parts of each delay: until the kernel had the bytes, and until they were read. */
static uint64_t *turns, *sockets, received_ns;
static uint64_t pending_append_ns, pending_count;
static int has_pending;
static char *trigger_bytes;
static size_t trigger_length;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t wall_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_us(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000u +
         (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void die(const char *what) {
  fprintf(stderr, "load-client: %s: %s\n", what, strerror(errno));
  exit(1);
}

static char *read_file(const char *name, size_t *length) {
  FILE *file = fopen(name, "rb");
  if (!file) die(name);
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  char *text = malloc((size_t)size + 1);
  if (fread(text, 1, (size_t)size, file) != (size_t)size) die(name);
  text[size] = 0;
  fclose(file);
  if (length) *length = (size_t)size;
  return text;
}

static char **read_lines(const char *name, int *count) {
  char *text = read_file(name, NULL);
  int lines = 0;
  for (char *at = text; *at; at++) lines += *at == '\n';
  char **list = calloc((size_t)lines + 1, sizeof *list);
  *count = 0;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) list[(*count)++] = line;
  return list;
}

static unsigned source_of(int index) {
  if (!skew) return (unsigned)index % sources;
  return (unsigned)index % skew ? 0 : 1 + (unsigned)index / skew % (sources - 1);
}

static int dial(int to, int blocking, int index) {
  int fd = socket(AF_INET, SOCK_STREAM | (blocking ? 0 : SOCK_NONBLOCK), 0);
  if (fd < 0) die("socket (is `ulimit -n` above the number of connections?)");
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)to)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (emitted) setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
  if (!blocking && sources > 1) {
    struct sockaddr_in source = {.sin_family = AF_INET};
    source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + source_of(index));
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&source, sizeof source) < 0) die("bind");
  }
  if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) {
    close(fd);
    return -1;
  }
  return fd;
}

static void watch_fd(int fd, uint32_t events, uint64_t tag, int operation) {
  struct epoll_event event = {.events = events, .data.u64 = tag};
  if (epoll_ctl(epoll_fd, operation, fd, &event) < 0) die("epoll_ctl");
}

static void finished_opening(struct connection *c) {
  handshakes[handshake_count++] = now_ns() - c->opened_at;
  in_flight--;
  opened++;
}

/** Plans the return of a connection that has ended or could not be opened. */
static void come_back_later(struct connection *c) {
  if (!return_began) return_began = now_ns();
  if (c->answer == ANSWERED) {
    lost_again++;
    returned--;
    return_counts[source_of((int)(c - connections)) > 0]--;
  }
  c->state = AWAY;
  c->answer = AWAITED;
  c->matched = c->header_have = 0;
  c->payload_left = 0;
  c->back_at = now_ns() + (min_back_ms + (unsigned)rand() % (max_back_ms - min_back_ms + 1)) * 1000000u;
  away++;
}

static void drop(struct connection *c) {
  if (c->state == CLOSED || c->state == AWAY) return;
  if (returning) {
    close(c->fd);
    come_back_later(c);
    return;
  }
  if (c->state != OPEN) {
    failed++;
    in_flight--;
  } else
    lost++;
  c->state = CLOSED;
  close(c->fd);
}

static void write_small(struct connection *c, const void *bytes, size_t length) {
  if (send(c->fd, bytes, length, MSG_NOSIGNAL) != (ssize_t)length) drop(c);
}

/** Sends a masked frame. A mask of zeros leaves the payload unchanged. */
static void send_frame(struct connection *c, int opcode, const char *payload, size_t length) {
  uint8_t frame[2048];
  size_t at = 2;
  frame[0] = (uint8_t)(0x80 | opcode);
  if (length > sizeof frame - 16) die("text too long");
  if (length < 126)
    frame[1] = (uint8_t)(0x80 | length);
  else {
    frame[1] = 0x80 | 126;
    frame[2] = (uint8_t)(length >> 8);
    frame[3] = (uint8_t)length;
    at = 4;
  }
  memset(frame + at, 0, 4);
  memcpy(frame + at + 4, payload, length);
  write_small(c, frame, at + 4 + length);
}

static void send_request(struct connection *c) {
  char request[4096];
  const char *path = path_count ? paths[(c - connections) % path_count] : "/";
  int length = kind == POLL
    ? snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n", path, port, headers)
    : kind == SSE
    ? snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: text/event-stream\r\n%s\r\n", path, port, headers)
    : snprintf(request, sizeof request,
               "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n",
               path, port, headers);
  c->state = UPGRADING;
  write_small(c, request, (size_t)length);
}

static void begin(struct connection *c) {
  c->fd = dial(port, 0, (int)(c - connections));
  c->state = CONNECTING;
  if (c->fd < 0 && returning)
    come_back_later(c);
  else if (c->fd < 0) {
    c->state = CLOSED;
    failed++;
    in_flight--;
  } else
    watch_fd(c->fd, EPOLLOUT, (uint64_t)(c - connections) + 2, EPOLL_CTL_ADD);
}

/** Closes a connection that was refused with Retry-After, and plans its retry. */
static int leave_for_now(struct connection *c, char *head, size_t length) {
  head[length] = 0;
  char *field = returning ? strcasestr(head, "\r\nretry-after: ") : NULL;
  if (!field) return 0;
  close(c->fd);
  c->state = AWAY;
  c->back_at = now_ns() + strtoull(field + 15, NULL, 10) * 1000000000u;
  away++;
  refusals++;
  return 1;
}

static void come_again(void) {
  uint64_t now = now_ns();
  if (now - last_come_again < 1000000u) return;
  last_come_again = now;
  for (int i = 0; away > 0 && i < connection_count; i++) {
    if (connections[i].state != AWAY || connections[i].back_at > now) continue;
    away--;
    begin(&connections[i]);
  }
}

static void open_more(void) {
  while (next_to_open < open_target && in_flight < concurrency) {
    struct connection *c = &connections[next_to_open];
    memset(c, 0, sizeof *c);
    c->opened_at = now_ns();
    next_to_open++;
    connection_count = next_to_open;
    in_flight++;
    begin(c);
  }
}

/** Reads a time like 2026-11-30T01:02:03.456Z. Events of a batch have the same one. */
static uint64_t time_ns(const char *text) {
  static char known[24];
  static uint64_t ns;
  if (!memcmp(known, text, sizeof known)) return ns;
  struct tm t = {0};
  int ms;
  if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min, &t.tm_sec, &ms) != 7) die("emitted_at");
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  memcpy(known, text, sizeof known);
  return ns = ((uint64_t)timegm(&t) * 1000 + (uint64_t)ms) * 1000000u;
}

/** Records the delay of the event that begins here. */
static void delayed(const char *event, size_t length) {
  static const char FIELD[] = "\"emitted_at\":\"";
  if (!watching || latency_count == LATENCIES) return;
  char *field = memmem(event, length, FIELD, sizeof FIELD - 1);
  if (!field || field + sizeof FIELD + 23 > event + length) die("an event without emitted_at");
  uint64_t at = time_ns(field + sizeof FIELD - 1), now = wall_ns();
  uint64_t received = received_ns > at ? received_ns : at;
  turns[latency_count] = received - at;
  sockets[latency_count] = now > received ? now - received : 0;
  latencies[latency_count++] = now > at ? now - at : 0;
}

static void delivered(uint64_t count) {
  deliveries += count;
  if (driving && every_ns) {
    uint64_t at = now_ns();
    for (uint64_t i = 0; i < count && arrival_count < LATENCIES; i++) arrivals[arrival_count++] = at;
  }
}

static void control_frame(struct connection *c) {
  if (c->opcode == 9) send_frame(c, 10, (char *)c->control, c->control_have);
  if (c->opcode == 8) drop(c);
}

/** Looks for the answer to the subscription in a part of a text. */
static void seek_answer(struct connection *c, const uint8_t *at, size_t left) {
  static const char pattern[] = "\"resumed\":\"";
  for (; left > 0; left--, at++) {
    if (c->matched == sizeof pattern - 1) {
      c->answer = *at == 'f' ? RESUMED : RESET;
      return;
    }
    c->matched = *at == (uint8_t)pattern[c->matched] ? c->matched + 1 : *at == '"';
  }
}

static void note_return(struct connection *c) {
  int is_other = source_of((int)(c - connections)) > 0;
  return_times[is_other][return_counts[is_other]++] = now_ns() - return_began;
  answers[c->answer]++;
  c->answer = ANSWERED;
  returned++;
}

static void end_of_message(struct connection *c) {
  if (c->answer == RESUMED || c->answer == RESET) note_return(c);
  if (c->opcode >= 8) {
    control_frame(c);
    return;
  }
  if (kind == NATS) {
    if (c->seen_have >= 4 && !memcmp(c->seen, "PING", 4)) send_frame(c, 2, "PONG\r\n", 6);
    return;
  }
  if (kind == SOCKETIO && c->seen_have == 1 && c->seen[0] == '2') send_frame(c, 1, "3", 1);
  if (deflated ? c->header[0] & 0x40 : c->seen_have >= prefix_length && !memcmp(c->seen, prefix, prefix_length)) {
    delivered(1);
    if (emitted) delayed((char *)c->seen, c->seen_have);
  }
}

/** Parses frames that arrive in pieces. */
static void parse_frames(struct connection *c, const uint8_t *at, size_t left) {
  while (left > 0 && c->state == OPEN) {
    if (c->payload_left == 0) {
      if (c->header_have == 0) c->header_need = 2;
      c->header[c->header_have++] = *at++;
      left--;
      if (c->header_have == 2) {
        int length = c->header[1] & 127;
        c->header_need = length == 126 ? 4 : length == 127 ? 10 : 2;
      }
      if (c->header_have < c->header_need) continue;
      int length = c->header[1] & 127;
      uint64_t payload = (uint64_t)length;
      if (length == 126) payload = (uint64_t)c->header[2] << 8 | c->header[3];
      if (length == 127) {
        payload = 0;
        for (int i = 2; i < 10; i++) payload = payload << 8 | c->header[i];
      }
      c->opcode = c->header[0] & 15;
      c->header_have = 0;
      c->seen_have = c->control_have = 0;
      c->payload_left = payload;
      if (payload == 0) end_of_message(c);
      continue;
    }
    size_t take = left < c->payload_left ? left : (size_t)c->payload_left;
    if (c->seen_have < seen_max) {
      size_t more = seen_max - (size_t)c->seen_have;
      if (more > take) more = take;
      memcpy(c->seen + c->seen_have, at, more);
      c->seen_have = (uint8_t)(c->seen_have + more);
    }
    if (c->opcode >= 8 && c->control_have + take <= sizeof c->control) {
      memcpy(c->control + c->control_have, at, take);
      c->control_have = (uint8_t)(c->control_have + take);
    }
    if (c->opcode < 8) payload_bytes += take;
    if (c->answer == AWAITED && c->opcode < 8) seek_answer(c, at, take);
    at += take;
    left -= take;
    c->payload_left -= take;
    if (c->payload_left == 0) end_of_message(c);
  }
}

/**
 * Parses events, which end with an empty line and count by their first bytes. Chunked framing
 * between them looks like no event's line.
 */
static void parse_events(struct connection *c, const uint8_t *at, size_t left) {
  for (; left > 0; left--, at++) {
    if (c->seen_have == seen_max && c->line_feeds == 0) {
      const uint8_t *next = memchr(at, '\n', left);
      if (!next) return;
      left -= (size_t)(next - at);
      at = next;
    }
    if (*at == '\n') {
      if (++c->line_feeds == 2) {
        if (memmem(c->seen, c->seen_have, prefix, prefix_length)) {
          delivered(1);
          if (emitted) delayed((char *)c->seen, c->seen_have);
        }
        c->seen_have = 0;
      }
    } else {
      if (c->line_feeds >= 2) c->seen_have = 0;
      c->line_feeds = 0;
      if (c->seen_have < seen_max) c->seen[c->seen_have++] = *at;
    }
  }
}

static void poll_on(struct connection *c) {
  char request[4096];
  const char *path = paths[(c - connections) % path_count];
  int length = snprintf(request, sizeof request, "GET %s%cafter=%s&wait=55 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n", path,
                        strchr(path, '?') ? '&' : '?', c->cursor, port, headers);
  write_small(c, request, (size_t)length);
}

/** Counts the events of a page, and polls after its cursor. */
static void take_page(struct connection *c, char *body, size_t length) {
  for (char *at = body, *event; (event = memmem(at, length - (size_t)(at - body), prefix, prefix_length)); at = event + 1) {
    delivered(1);
    size_t left = length - (size_t)(event - body);
    if (emitted) delayed(event, left < SEEN_MAX ? left : SEEN_MAX);
  }
  char *field = strcasestr(c->page, "\r\nflarewire-cursor: ");
  if (!field || sscanf(field + 20, "%63[^\r]", c->cursor) != 1) die("a page without a cursor");
  poll_on(c);
}

/** Collects the response of a poll. */
static void parse_page(struct connection *c, const uint8_t *at, size_t left) {
  if (c->page_have + left + 1 > c->page_size) {
    c->page_size = 2 * (c->page_have + left + 1);
    c->page = realloc(c->page, c->page_size);
  }
  memcpy(c->page + c->page_have, at, left);
  c->page_have += left;
  c->page[c->page_have] = 0;
  char *end = strstr(c->page, "\r\n\r\n");
  if (!end) return;
  int status = atoi(c->page + 9);
  // A poll that waited for seconds in a busy server is refused, and counts with its whole delay.
  int is_refused = status == 503;
  if (status != 200 && status != 204 && !is_refused) {
    if (failed + lost < 3) fprintf(stderr, "load-client: a poll got: %.300s\n", c->page);
    drop(c);
    return;
  }
  char *field = strcasestr(c->page, "\r\ncontent-length: ");
  size_t length = field && field < end ? strtoull(field + 18, NULL, 10) : 0;
  char *body = end + 4;
  if ((size_t)(c->page + c->page_have - body) < length) return;
  *end = 0;
  c->page_have = 0;
  if (is_refused) {
    if (c->state == OPEN) poll_on(c);
    else send_request(c);
    return;
  }
  if (c->state == UPGRADING) {
    c->state = OPEN;
    finished_opening(c);
  }
  take_page(c, body, length);
}

static void parse_payload(struct connection *c, const uint8_t *at, size_t left) {
  if (kind == SSE) parse_events(c, at, left);
  else parse_frames(c, at, left);
  if (kind == NATS && message_size) {
    uint64_t whole = payload_bytes / message_size;
    payload_bytes -= whole * message_size;
    delivered(whole);
  }
}

/** Like recv. Also notes when the kernel got the last of the bytes, if delays are measured. */
static ssize_t take_bytes(int fd, uint8_t *buffer, size_t size) {
  if (!emitted) return recv(fd, buffer, size, 0);
  char control[CMSG_SPACE(sizeof(struct timespec))];
  struct iovec part = {.iov_base = buffer, .iov_len = size};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t got = recvmsg(fd, &message, 0);
  struct cmsghdr *header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_TIMESTAMPNS) {
    struct timespec t;
    memcpy(&t, CMSG_DATA(header), sizeof t);
    received_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
  }
  return got;
}

static void receive(struct connection *c) {
  static uint8_t buffer[(1 << 18) + 1];
  ssize_t got = take_bytes(c->fd, buffer, sizeof buffer - 1);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    drop(c);
    return;
  }
  wire_bytes += (uint64_t)got;
  if (kind == POLL) {
    parse_page(c, buffer, (size_t)got);
    return;
  }
  if (c->state == OPEN) {
    parse_payload(c, buffer, (size_t)got);
    return;
  }
  // All measured servers send the response's head in one piece. A split head ends in an error, not
  // in a wrong count.
  uint8_t *end = memmem(buffer, (size_t)got, "\r\n\r\n", 4);
  if (!end || memcmp(buffer + 9, kind == SSE ? "200" : "101", 3)) {
    if (leave_for_now(c, (char *)buffer, (size_t)got)) return;
    if (failed < 3 || returning) fprintf(stderr, "load-client: refused: %.*s\n", (int)(got < 300 ? got : 300), buffer);
    // It would come again at once and for ever.
    if (returning) exit(1);
    drop(c);
    return;
  }
  c->state = OPEN;
  if (!returning) finished_opening(c);
  for (int i = 0; i < hello_count; i++) {
    char text[2048];
    snprintf(text, sizeof text, kind == NATS ? "%s\r\n" : "%s", hellos[i]);
    send_frame(c, kind == NATS ? 2 : 1, text, strlen(text));
  }
  size_t behind = (size_t)(buffer + got - (end + 4));
  if (behind > 0) parse_payload(c, end + 4, behind);
}

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static double quantile_us(uint64_t *values, uint64_t count, double share) {
  if (count == 0) return 0;
  uint64_t at = (uint64_t)((double)count * share);
  return (double)values[at < count ? at : count - 1] / 1000.0;
}

static void report_opened(void) {
  qsort(handshakes, (size_t)handshake_count, sizeof *handshakes, by_value);
  printf("{\"opened\":%d,\"failed\":%d,\"ms\":%.1f,\"cpuUs\":%lu,\"p50Us\":%.0f,\"p99Us\":%.0f,\"maxUs\":%.0f}\n", opened, failed,
         (double)(now_ns() - open_began) / 1e6, cpu_us() - open_cpu, quantile_us(handshakes, (uint64_t)handshake_count, 0.5),
         quantile_us(handshakes, (uint64_t)handshake_count, 0.99), quantile_us(handshakes, (uint64_t)handshake_count, 1));
  fflush(stdout);
}

static void report_run(uint64_t began, const char *error) {
  uint64_t parts = emitted ? latency_count : 0;
  qsort(latencies, latency_count, sizeof *latencies, by_value);
  qsort(turns, parts, sizeof *turns, by_value);
  qsort(sockets, parts, sizeof *sockets, by_value);
  printf("{\"batches\":%lu,\"deliveries\":%lu,\"bytes\":%lu,\"wallUs\":%lu,\"cpuUs\":%lu,\"lost\":%d,"
         "\"p50Us\":%.0f,\"p99Us\":%.0f,\"maxUs\":%.0f,\"turnP50Us\":%.0f,\"turnP99Us\":%.0f,"
         "\"socketP50Us\":%.0f,\"socketP99Us\":%.0f,\"error\":\"%s\"}\n",
         completed, deliveries - base_deliveries, wire_bytes - base_wire, (now_ns() - began) / 1000, cpu_us() - base_cpu,
         lost, quantile_us(latencies, latency_count, 0.5), quantile_us(latencies, latency_count, 0.99),
         quantile_us(latencies, latency_count, 1), quantile_us(turns, parts, 0.5), quantile_us(turns, parts, 0.99),
         quantile_us(sockets, parts, 0.5), quantile_us(sockets, parts, 0.99), error);
  fflush(stdout);
}

static void report_group(const char *name, int group) {
  uint64_t *times = return_times[group], count = (uint64_t)return_counts[group];
  qsort(times, count, sizeof *times, by_value);
  printf("\"%s\":{\"count\":%lu,\"p50Us\":%.0f,\"p99Us\":%.0f,\"maxUs\":%.0f},", name, count, quantile_us(times, count, 0.5),
         quantile_us(times, count, 0.99), quantile_us(times, count, 1));
}

static void report_return(void) {
  printf("{");
  report_group("one", 0);
  report_group("others", 1);
  printf("\"resumed\":%d,\"reset\":%d,\"refusals\":%d,\"lostAgain\":%d,\"cpuUs\":%lu}\n", answers[RESUMED], answers[RESET], refusals,
         lost_again, cpu_us() - base_cpu);
  fflush(stdout);
}

static void begin_run(void) {
  base_deliveries = deliveries;
  base_wire = wire_bytes;
  base_cpu = cpu_us();
  payload_bytes = 0;
  completed = sent = answered = arrival_count = latency_count = 0;
}

static void batch_answered(uint64_t count, uint64_t appended_ns) {
  uint64_t before = answered ? cumulative[(answered - 1) % RING] : 0;
  cumulative[answered++ % RING] = before + count;
  // With one batch in flight at a time, all arrivals since the last batch belong to this one.
  if (!appended_ns || !every_ns) return;
  for (uint64_t i = 0; i < arrival_count && latency_count < LATENCIES; i++) latencies[latency_count++] = arrivals[i] - appended_ns;
  arrival_count = 0;
}

static void settle(void) {
  // Latencies are computed when the whole batch has arrived, because part of it arrives before the
  // server's response.
  if (has_pending && deliveries - base_deliveries >= (answered ? cumulative[(answered - 1) % RING] : 0) + pending_count) {
    has_pending = 0;
    batch_answered(pending_count, pending_append_ns);
  }
  while (completed < answered && cumulative[completed % RING] <= deliveries - base_deliveries) completed++;
}

static void trigger(void) {
  uint64_t now = now_ns();
  settle();
  int is_over = now >= drive_until || sent >= most_batches;
  while (driving && !is_over && sent - completed < window && now - last_trigger >= every_ns) {
    if (send(trigger_fd, trigger_bytes, trigger_length, MSG_NOSIGNAL) != (ssize_t)trigger_length) die("trigger");
    last_trigger = now;
    sent++;
    is_over = sent >= most_batches;
    if (expect) batch_answered(expect, 0);
  }
  if (driving && is_over && completed == sent) {
    driving = 0;
    report_run(drive_began, "");
  } else if (driving && now >= deadline) {
    char error[200];
    snprintf(error, sizeof error, "of %lu batches %lu were answered and %lu came whole", sent, answered, completed);
    driving = 0;
    report_run(drive_began, error);
  }
}

static void trigger_answer(void) {
  static char buffer[65536];
  static size_t have;
  ssize_t got = recv(trigger_fd, buffer + have, sizeof buffer - have - 1, MSG_DONTWAIT);
  if (got <= 0) {
    if (got < 0 && errno == EAGAIN) return;
    die("the trigger's connection ended");
  }
  have += (size_t)got;
  buffer[have] = 0;
  if (expect) {
    if (strstr(buffer, "PING\r\n") && send(trigger_fd, "PONG\r\n", 6, MSG_NOSIGNAL) < 0) die("pong");
    have = 0;
    return;
  }
  char *line = buffer;
  for (char *end; (end = strchr(line, '\n')); line = end + 1) {
    uint64_t count = 0, at = 0;
    sscanf(line, "%lu %lu", &count, &at);
    if (window == 1) {
      pending_count = count;
      pending_append_ns = at;
      has_pending = 1;
    } else
      batch_answered(count, at);
  }
  have = strlen(line);
  memmove(buffer, line, have);
}

static void close_all(void) {
  struct linger hard = {.l_onoff = 1, .l_linger = 0};
  int closed = 0;
  for (int i = 0; i < connection_count; i++) {
    if (connections[i].state == CLOSED || connections[i].state == AWAY) continue;
    setsockopt(connections[i].fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(connections[i].fd);
    connections[i].state = CLOSED;
    closed++;
  }
  connection_count = next_to_open = open_target = opened = failed = lost = in_flight = 0;
  printf("{\"closed\":%d}\n", closed);
  fflush(stdout);
}

static void begin_open(int count, int at_once) {
  open_target = next_to_open + count;
  concurrency = at_once;
  opened = failed = handshake_count = 0;
  open_began = now_ns();
  open_cpu = cpu_us();
  connections = realloc(connections, sizeof *connections * (size_t)open_target);
  handshakes = realloc(handshakes, sizeof *handshakes * (size_t)open_target);
}

static void begin_return(int min_ms, int max_ms, const char *targets) {
  min_back_ms = (unsigned)min_ms;
  max_back_ms = (unsigned)max_ms;
  paths = read_lines(targets, &path_count);
  returning = 1;
  returned = refusals = lost_again = return_counts[0] = return_counts[1] = 0;
  return_began = 0;
  base_cpu = cpu_us();
  memset(answers, 0, sizeof answers);
  for (int group = 0; group < 2; group++)
    return_times[group] = realloc(return_times[group], sizeof **return_times * (size_t)connection_count);
  for (int i = 0; i < connection_count; i++) {
    connections[i].answer = NOT_AWAITED;
    if (connections[i].state == CLOSED) come_back_later(&connections[i]);
  }
}

static void command(const char *line) {
  int a, b;
  unsigned long ms, most, w, every, each, size;
  char file[1024];
  if (sscanf(line, "open %d %d", &a, &b) == 2)
    begin_open(a, b);
  else if (sscanf(line, "drive %lu %lu %lu %lu %lu %lu %1023s", &ms, &most, &w, &every, &each, &size, file) == 7) {
    if (trigger_fd < 0) {
      trigger_fd = dial(drive_port, 1, 0);
      if (trigger_fd < 0) die("the trigger's port");
      watch_fd(trigger_fd, EPOLLIN, 1, EPOLL_CTL_ADD);
    }
    free(trigger_bytes);
    trigger_bytes = read_file(file, &trigger_length);
    begin_run();
    most_batches = most;
    window = w;
    every_ns = every * 1000;
    expect = each;
    message_size = size;
    has_pending = 0;
    last_trigger = 0;
    driving = 1;
    drive_began = now_ns();
    drive_until = drive_began + ms * 1000000;
    deadline = drive_until + 20000000000u;
  } else if (sscanf(line, "watch %lu", &ms) == 1) {
    begin_run();
    watching = 1;
    drive_began = now_ns();
    watch_until = drive_began + ms * 1000000;
  } else if (sscanf(line, "return %d %d %1023s", &a, &b, file) == 3)
    begin_return(a, b, file);
  else if (!strncmp(line, "close", 5))
    close_all();
  else {
    fprintf(stderr, "load-client: unknown command: %s\n", line);
    exit(1);
  }
}

static void read_commands(void) {
  static char buffer[8192];
  static size_t have;
  ssize_t got = read(0, buffer + have, sizeof buffer - have - 1);
  if (got <= 0) exit(0);
  have += (size_t)got;
  buffer[have] = 0;
  char *line = buffer;
  for (char *end; (end = strchr(line, '\n')); line = end + 1) {
    *end = 0;
    command(line);
  }
  have = strlen(line);
  memmove(buffer, line, have + 1);
}

static void on_event(const struct epoll_event *event) {
  if (event->data.u64 == 0) {
    read_commands();
    return;
  }
  if (event->data.u64 == 1) {
    trigger_answer();
    return;
  }
  struct connection *c = &connections[event->data.u64 - 2];
  if (c->state == CLOSED || c->state == AWAY) return;
  if (c->state == CONNECTING) {
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error) {
      drop(c);
      return;
    }
    watch_fd(c->fd, EPOLLIN, event->data.u64, EPOLL_CTL_MOD);
    send_request(c);
    return;
  }
  receive(c);
}

/*
 * While it drives as fast as it can, or with `naps`, the client never waits inside epoll. It would be woken for
 * nearly every message, and on one machine the sender pays for each wakeup, several times the cost
 * of the message. A network has no such wakeups. So the client sleeps between polls.
 */
static const struct timespec NAP = {.tv_nsec = 100000};

static int polls(void) { return driving && (!every_ns || naps); }

static int wait_ms(void) {
  if (polls()) return 0;
  if (returning) return 1;
  if (watching || in_flight) return 10;
  if (driving) return 1;
  return -1;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    char *value = strchr(argv[i], '=');
    if (!value) die(argv[i]);
    *value++ = 0;
    const char *key = argv[i];
    if (!strcmp(key, "kind"))
      kind = !strcmp(value, "ws") ? WS : !strcmp(value, "sse") ? SSE : !strcmp(value, "poll") ? POLL : !strcmp(value, "socketio") ? SOCKETIO : NATS;
    else if (!strcmp(key, "port")) port = atoi(value);
    else if (!strcmp(key, "drive")) drive_port = atoi(value);
    else if (!strcmp(key, "prefix")) prefix = value;
    else if (!strcmp(key, "naps")) naps = atoi(value);
    else if (!strcmp(key, "sources")) sources = (unsigned)atoi(value);
    else if (!strcmp(key, "emitted")) emitted = atoi(value);
    else if (!strcmp(key, "skew")) skew = (unsigned)atoi(value);
    else if (!strcmp(key, "deflated")) deflated = atoi(value);
    else if (!strcmp(key, "paths")) paths = read_lines(value, &path_count);
    else if (!strcmp(key, "hello")) hellos = read_lines(value, &hello_count);
    else if (!strcmp(key, "headers")) headers = read_file(value, NULL);
    else die(key);
  }
  prefix_length = strlen(prefix);
  if (prefix_length > PREFIX_MAX) die("prefix");
  if (emitted) seen_max = SEEN_MAX;
  turns = malloc(sizeof *turns * LATENCIES);
  sockets = malloc(sizeof *sockets * LATENCIES);
  arrivals = malloc(sizeof *arrivals * LATENCIES);
  latencies = malloc(sizeof *latencies * LATENCIES);
  epoll_fd = epoll_create1(0);
  watch_fd(0, EPOLLIN, 0, EPOLL_CTL_ADD);
  for (;;) {
    struct epoll_event events[512];
    int count = epoll_wait(epoll_fd, events, 512, wait_ms());
    if (count < 0 && errno != EINTR) die("epoll_wait");
    if (count == 0 && polls()) nanosleep(&NAP, NULL);
    for (int i = 0; i < count; i++) on_event(&events[i]);
    if (open_target) {
      open_more();
      if (next_to_open == open_target && in_flight == 0) {
        report_opened();
        open_target = 0;
        handshake_count = failed = 0;
      }
    }
    if (returning) {
      come_again();
      if (returned == connection_count) {
        report_return();
        returning = 0;
      }
    }
    if (driving) trigger();
    if (watching && now_ns() >= watch_until) {
      watching = 0;
      report_run(drive_began, "");
    }
  }
}
