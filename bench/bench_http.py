"""CPU time of the server per GET /health, against nginx with one worker and the same body.

Nginx answers in two ways: from a file, with its cache of open files, and from a constant in its
configuration, which is the least it can do. Most of the time of so small a request is the kernel's
TCP, the same for every server: a program that does nothing but epoll, recv and send shows how much.
What each server adds to that is compared, too."""

import re
import subprocess
from pathlib import Path

import harness
import measure

LIMIT = 0.8
CONNECTIONS = 64
ROUNDS = 11  # short ones: the machine's own speed changes from second to second
REQUESTS = 40_000
LOAD_SECONDS = 60
NGINX = ("/usr/sbin/nginx", "/usr/bin/nginx")

NGINX_CONF = """\
daemon off;
master_process off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
    access_log off;
    server_tokens off;
    etag off;
    sendfile on;
    open_file_cache max=16;
    default_type application/json;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location = /health {{ return 200 '{body}'; }}
        location = /file {{ alias {folder}/health.json; }}
    }}
}}
"""


class Server:
    """A process, the URL that is asked of it, and what a request cost in each round."""

    def __init__(self, pid, url):
        self.pid = pid
        self.url = url
        self.cost_us = []

    def load(self, count):
        """`count` requests over CONNECTIONS connections; microseconds of its CPU a request."""
        before = measure.cpu_seconds(self.pid)
        done = subprocess.run(
            ["h2load", "--h1", "-n", str(count), "-c", str(CONNECTIONS), "-t", "1", self.url],
            capture_output=True,
            text=True,
            timeout=LOAD_SECONDS,
            check=True,
        )
        good = re.search(r"status codes: (\d+) 2xx", done.stdout)
        if not good or int(good.group(1)) != count:
            raise RuntimeError(f"{self.url}: not all were answered:\n{done.stdout[-2000:]}")
        return (measure.cpu_seconds(self.pid) - before) * 1e6 / count


def start_nginx(folder, body):
    """(process, url)"""
    program = next((path for path in NGINX if Path(path).exists()), None)
    if not program:
        raise FileNotFoundError("no nginx: install the package nginx-light")
    folder.mkdir()
    folder.parent.chmod(0o755)  # its worker is another user
    (folder / "health.json").write_text(body, encoding="utf-8")
    port = measure.free_port()
    conf = folder / "nginx.conf"
    conf.write_text(NGINX_CONF.format(folder=folder, port=port, body=body), encoding="utf-8")
    command = [program, "-e", str(folder / "error.log"), "-p", str(folder), "-c", str(conf)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"

    def answered():
        assert process.poll() is None, f"nginx ended with status {process.poll()}"
        try:
            return harness.request(url, "GET", "/file").text == body
        except OSError:
            return False

    try:
        harness.wait_until(answered, 10, "an answer of nginx")
    except BaseException:
        end(process)
        raise
    return process, url


def start_floor(ctx, body):
    """(process, url)"""
    tool = measure.tool(ctx.build_dir, "bench-socket-floor")
    process = subprocess.Popen([str(tool), body], stdout=subprocess.PIPE, text=True)
    return process, f"http://127.0.0.1:{int(process.stdout.readline())}"


def end(process):
    process.terminate()
    process.wait(10)
    if process.stdout:
        process.stdout.close()


def rounds(servers, count):
    """Fills cost_us, in turns, so that a slower minute of the machine is everybody's."""
    for server in servers:
        server.load(count // 10)
    for _ in range(ROUNDS):
        for server in servers:
            server.cost_us.append(server.load(count))


def ratio(over, under):
    return measure.median([a / b for a, b in zip(over, under)])


def own(server, floor):
    """What it adds to the kernel's part, by round."""
    return [cost - least for cost, least in zip(server.cost_us, floor.cost_us)]


def rows(ctx, ours, constant, file, floor):
    for server, name in (
        (ours, "CPU per GET /health"),
        (file, "nginx, from a file"),
        (constant, "nginx, a constant of its configuration"),
        (floor, "bare sockets: the kernel's part"),
    ):
        yield ctx.row(name, measure.median(server.cost_us), unit="us")
    yield ctx.row("against nginx's constant", ratio(ours.cost_us, constant.cost_us))
    yield ctx.row("bare sockets against nginx's constant", ratio(floor.cost_us, constant.cost_us))
    mean_ours, mean_nginx = (sum(own(one, floor)) / ROUNDS for one in (ours, constant))
    yield ctx.row("the same without the kernel's part", mean_ours / mean_nginx)
    yield ctx.row("against nginx's file", ratio(ours.cost_us, file.cost_us), LIMIT)


def run(ctx):
    count = REQUESTS // 4 if ctx.is_quick else REQUESTS
    daemon = ctx.daemon()
    body = daemon.get("/health").text
    nginx, nginx_url = start_nginx(ctx.scratch / "nginx", body)
    bare, bare_url = start_floor(ctx, body)
    ours = Server(daemon.pid, f"{daemon.url}/health")
    constant = Server(nginx.pid, f"{nginx_url}/health")
    file = Server(nginx.pid, f"{nginx_url}/file")
    floor = Server(bare.pid, f"{bare_url}/health")
    try:
        rounds([ours, constant, file, floor], count)
    finally:
        end(nginx)
        end(bare)
    return rows(ctx, ours, constant, file, floor)
