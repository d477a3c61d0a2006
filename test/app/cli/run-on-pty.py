"""Runs a command on its own pseudo-terminal: `run-on-pty.py COLUMNS ROWS COMMAND…`.

Copies the command's output to standard output. Each line of standard input is a JSON object:

    {"keys": "q"}          presses keys
    {"size": [40, 10]}     resizes the terminal
    {"signal": "SIGTERM"}  sends a signal to the command
    {"stopped": true}      waits until the command is stopped, and prints the terminal's mode

At the end, prints to standard error whether the terminal echoes and reads by lines. The exit code
is the command's, or 128 plus the number of the signal that ended it.
"""
import fcntl, json, os, pty, select, signal, struct, sys, termios


def resize(fd, columns, rows):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def print_mode(*before):
    mode = termios.tcgetattr(master)[3]
    print(*before, "echo", bool(mode & termios.ECHO), "lines", bool(mode & termios.ICANON), file=sys.stderr, flush=True)


columns, rows, *command = sys.argv[1:]
pid, master = pty.fork()
if pid == 0:
    # The child sets the size, because the parent might set it after the command has started.
    resize(0, int(columns), int(rows))
    os.execvp(command[0], command)

held = b""
inputs = [master, 0]
while True:
    readable, _, _ = select.select(inputs, [], [])
    if master in readable:
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        os.write(1, chunk)
    if 0 in readable:
        chunk = os.read(0, 65536)
        if not chunk:
            inputs.remove(0)
        *lines, held = (held + chunk).split(b"\n")
        for order in map(json.loads, lines):
            if "keys" in order:
                os.write(master, order["keys"].encode())
            if "size" in order:
                resize(master, *order["size"])
            if "signal" in order:
                os.kill(pid, getattr(signal, order["signal"]))
            if "stopped" in order:
                _, status = os.waitpid(pid, os.WUNTRACED)
                print_mode("stopped", os.WIFSTOPPED(status))

print_mode()
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
