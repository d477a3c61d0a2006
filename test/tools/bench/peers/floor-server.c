/*
 * The floor: a loop of send() over all clients, in C. Accepts any WebSocket handshake unchecked. See
 * control-port.ts for the lines of its control port.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum kind { STREAM_LISTENER, CONTROL_LISTENER, CLIENT, CONTROL };
#define MOST 65536

static uint8_t kinds[MOST];
static int clients[MOST], client_count, events = 1, joined, epoll_fd;
static char *frames;
static size_t frame_bytes;

static int listen_on(enum kind kind, int *port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t length = sizeof address;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, (struct sockaddr *)&address, length) || listen(fd, 4096)) exit(1);
  getsockname(fd, (struct sockaddr *)&address, &length);
  *port = ntohs(address.sin_port);
  kinds[fd] = (uint8_t)kind;
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
  return fd;
}

static void accept_all(int listener, enum kind kind) {
  for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
    int one = 1;
    if (fd >= MOST) exit(1);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    kinds[fd] = (uint8_t)kind;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
  }
}

static void drop(int fd) {
  close(fd);
  for (int i = 0; i < client_count; i++)
    if (clients[i] == fd) clients[i] = clients[--client_count];
}

static void client_says(int fd) {
  static const char answer[] = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                               "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
  char buffer[4096];
  ssize_t got = recv(fd, buffer, sizeof buffer, 0);
  if (got <= 0) {
    drop(fd);
    return;
  }
  if (memcmp(buffer, "GET ", 4)) return;
  if (send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL) > 0) clients[client_count++] = fd;
}

/** Creates consecutive frames of `count` messages of `bytes` each. */
static void make_frames(int count, int bytes) {
  int header = bytes < 126 ? 2 : 4;
  events = count;
  frame_bytes = (size_t)(header + bytes);
  frames = realloc(frames, frame_bytes * (size_t)count);
  for (int i = 0; i < count; i++) {
    uint8_t *at = (uint8_t *)frames + frame_bytes * (size_t)i;
    memset(at, 'x', frame_bytes);
    at[0] = 0x81;
    at[1] = (uint8_t)(bytes < 126 ? bytes : 126);
    if (header == 4) at[2] = (uint8_t)(bytes >> 8), at[3] = (uint8_t)bytes;
    memcpy(at + header, "{\"type\":\"event\"", bytes > 15 ? 15 : (size_t)bytes);
  }
}

static void publish(int fd) {
  struct timespec now;
  char line[64];
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (joined) {
    for (int i = 0; i < client_count; i++)
      if (send(clients[i], frames, frame_bytes * (size_t)events, MSG_NOSIGNAL) < 0) perror("send");
  } else
    for (int e = 0; e < events; e++)
      for (int i = 0; i < client_count; i++)
        if (send(clients[i], frames + frame_bytes * (size_t)e, frame_bytes, MSG_NOSIGNAL) < 0) perror("send");
  int length = snprintf(line, sizeof line, "%d %lu\n", client_count * events,
                        (unsigned long)now.tv_sec * 1000000000u + (unsigned long)now.tv_nsec);
  if (send(fd, line, (size_t)length, MSG_NOSIGNAL) < 0) perror("answer");
}

static void control_says(int fd) {
  char buffer[4096];
  ssize_t got = recv(fd, buffer, sizeof buffer - 1, 0);
  if (got <= 0) {
    close(fd);
    return;
  }
  buffer[got] = 0;
  for (char *line = strtok(buffer, "\n"); line; line = strtok(NULL, "\n")) {
    int count, bytes;
    if (line[0] == 'p')
      publish(fd);
    else {
      if (sscanf(line, "{\"events\":%d,\"bytes\":%d", &count, &bytes) == 2) make_frames(count, bytes);
      if (send(fd, "null\n", 5, MSG_NOSIGNAL) < 0) perror("answer");
    }
  }
}

int main(int argc, char **argv) {
  int port, control;
  joined = argc > 1 && !strcmp(argv[1], "joined");
  epoll_fd = epoll_create1(0);
  listen_on(STREAM_LISTENER, &port);
  listen_on(CONTROL_LISTENER, &control);
  make_frames(1, 600);
  struct epoll_event parent = {.events = EPOLLIN, .data.fd = 0};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, 0, &parent);
  printf("{\"port\":%d,\"control\":%d}\n", port, control);
  fflush(stdout);
  for (;;) {
    struct epoll_event ready[256];
    int count = epoll_wait(epoll_fd, ready, 256, -1);
    for (int i = 0; i < count; i++) {
      int fd = ready[i].data.fd;
      // The parent has exited, for whatever reason.
      if (fd == 0) return 0;
      switch (kinds[fd]) {
        case STREAM_LISTENER: accept_all(fd, CLIENT); break;
        case CONTROL_LISTENER: accept_all(fd, CONTROL); break;
        case CLIENT: client_says(fd); break;
        default: control_says(fd);
      }
    }
  }
}
