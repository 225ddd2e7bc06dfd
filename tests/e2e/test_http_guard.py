"""The HTTP guard: hostile requests are refused with 400 and closed, never dispatched; and whatever
is accepted means the same to h11 as to us."""

import json
import random
import re
import signal
import socket
import subprocess

import h11
import pytest

SECONDS = 5
DIFFERENTIAL_CASES = 2000
SEED = 20240607


class Httpd:
    """The echo server on src/net; one process a test module."""

    def __init__(self, build_dir, *args):
        program = build_dir / "tests" / "support" / "httpd" / "httpd"
        self.process = subprocess.Popen(
            [str(program), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read().decode()
        self.port = int(line)

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        _out, err = self.process.communicate(timeout=10)
        assert self.process.returncode == 0, err.decode()

    def connect(self):
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def raw(self, data, pieces=None):
        """Sends the bytes and returns everything until the server closes or answers once."""
        with self.connect() as sock:
            for piece in pieces or [data]:
                sock.sendall(piece)
            return read_answer(sock)

    def requests(self):
        status, body, _closed = self.raw(b"GET /count HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert status == 200
        return json.loads(body)["requests"]


def read_answer(sock):
    """One answer as (status, body, closed). None as status: closed without one."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = sock.recv(65536)
        if not piece:
            return None, data, True
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1])
    if status == 100:
        return status, body, False
    length = int(re.search(rb"(?i)content-length: *([0-9]+)", head).group(1))
    while len(body) < length:
        piece = sock.recv(65536)
        assert piece, "the answer's body was cut"
        body += piece
    closes = b"connection: close" in head.lower()
    if closes:
        while True:
            piece = sock.recv(65536)
            if not piece:
                break
            body += piece
    return status, body[:length], closes


@pytest.fixture(scope="module")
def httpd(build_dir):
    server = Httpd(build_dir)
    yield server
    server.close()


CHUNKED = b"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
TAIL = b"GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"

HOSTILE = {
    "bare CR smuggles Transfer-Encoding":
        b"POST / HTTP/1.1\r\nHost: h\r\nX: a\rTransfer-Encoding: chunked\r\n"
        b"Content-Length: 5\r\n\r\n0\r\n\r\n",
    "bare CR in the request line": b"GET /\r HTTP/1.1\r\nHost: h\r\n\r\n",
    "two Content-Length":
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "two equal Content-Length":
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "Content-Length list": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5, 5\r\n\r\nhello",
    "Content-Length +5": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello",
    "Content-Length -1": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\nhello",
    "Content-Length 0x5": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x5\r\n\r\nhello",
    "Content-Length empty": b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\nhello",
    "Content-Length over 64 bits":
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551617\r\n\r\nh",
    "space before the colon":
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "space before the colon of another field": b"GET / HTTP/1.1\r\nHost: h\r\nX : y\r\n\r\n",
    "unknown transfer coding":
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "gzip, chunked":
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked twice":
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "two Transfer-Encoding":
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "identity": b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\n\r\n",
    "Content-Length and Transfer-Encoding":
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding and Content-Length":
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
        b"Content-Length: 5\r\n\r\n0\r\n\r\n",
    "obs-fold": b"GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n",
    "obs-fold with a tab": b"GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n\tb\r\n\r\n",
    "first field folded": b"GET / HTTP/1.1\r\n Host: h\r\n\r\n",
    "bare LF": b"GET / HTTP/1.1\nHost: h\n\n",
    "bare LF in one field": b"GET / HTTP/1.1\r\nHost: h\nX: y\r\n\r\n",
    "bare LF ends the head": b"GET / HTTP/1.1\r\nHost: h\r\n\n",
    "NUL in a value": b"GET / HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n",
    "NUL in a name": b"GET / HTTP/1.1\r\nHost: h\r\nX\0: b\r\n\r\n",
    "NUL in the target": b"GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n",
    "control byte in a value": b"GET / HTTP/1.1\r\nHost: h\r\nX: a\x01b\r\n\r\n",
    "DEL in a value": b"GET / HTTP/1.1\r\nHost: h\r\nX: a\x7fb\r\n\r\n",
    "no Host": b"GET / HTTP/1.1\r\n\r\n",
    "two Host": b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "two equal Host": b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
    "Host with a path": b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "Host with user": b"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n",
    "Host list": b"GET / HTTP/1.1\r\nHost: a,b\r\n\r\n",
    "Host against an absolute target": b"GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n",
    "absolute target without a host": b"GET http:/// HTTP/1.1\r\nHost: h\r\n\r\n",
    "target of another scheme": b"GET ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n",
    "CONNECT": b"CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n",
    "asterisk with GET": b"GET * HTTP/1.1\r\nHost: h\r\n\r\n",
    "target without slash": b"GET x HTTP/1.1\r\nHost: h\r\n\r\n",
    "fragment in the target": b"GET /#a HTTP/1.1\r\nHost: h\r\n\r\n",
    "%00 in the path": b"GET /a%00b HTTP/1.1\r\nHost: h\r\n\r\n",
    "broken escape": b"GET /a%zz HTTP/1.1\r\nHost: h\r\n\r\n",
    "two spaces": b"GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
    "space in the target": b"GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
    "tab in the request line": b"GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n",
    "leading space": b" GET / HTTP/1.1\r\nHost: h\r\n\r\n",
    "leading empty line": b"\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
    "raw UTF-8 in the target": "GET /ä HTTP/1.1\r\nHost: h\r\n\r\n".encode(),
    "HTTP/0.9": b"GET /\r\n\r\n",
    "lower-case version": b"GET / http/1.1\r\nHost: h\r\n\r\n",
    "version with three digits": b"GET / HTTP/1.10\r\nHost: h\r\n\r\n",
    "space behind the version": b"GET / HTTP/1.1 \r\nHost: h\r\n\r\n",
    "RTSP": b"DESCRIBE rtsp://h/ RTSP/1.0\r\nHost: h\r\n\r\n",
    "RTSP with a known method": b"OPTIONS / RTSP/1.0\r\nHost: h\r\n\r\n",
    "ICE": b"SOURCE /x ICE/1.0\r\nHost: h\r\n\r\n",
    "field without colon": b"GET / HTTP/1.1\r\nHost: h\r\nX\r\n\r\n",
    "field without name": b"GET / HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n",
    "field name with a separator": b"GET / HTTP/1.1\r\nHost: h\r\nX(y): x\r\n\r\n",
    "Transfer-Encoding on HTTP/1.0":
        b"POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    # chunk framing
    "two bytes in place of the CRLF": CHUNKED + b"5\r\nhelloXX0\r\n\r\n" + TAIL,
    "LF CR in place of the CRLF": CHUNKED + b"5\r\nhello\n\r0\r\n\r\n" + TAIL,
    "bare LF behind the data": CHUNKED + b"5\r\nhello\n0\r\n\r\n" + TAIL,
    "bare LF behind the size": CHUNKED + b"5\nhello\r\n0\r\n\r\n" + TAIL,
    "bare CR behind the size": CHUNKED + b"5\rhello\r\n0\r\n\r\n" + TAIL,
    "empty chunk size": CHUNKED + b"\r\nhello\r\n0\r\n\r\n" + TAIL,
    "signed chunk size": CHUNKED + b"+5\r\nhello\r\n0\r\n\r\n" + TAIL,
    "negative chunk size": CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n" + TAIL,
    "0x chunk size": CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n" + TAIL,
    "space before the chunk size": CHUNKED + b" 5\r\nhello\r\n0\r\n\r\n" + TAIL,
    "space behind the chunk size": CHUNKED + b"5 \r\nhello\r\n0\r\n\r\n" + TAIL,
    "underscore in the chunk size": CHUNKED + b"1_0\r\nhello\r\n0\r\n\r\n" + TAIL,
    "17-digit chunk size": CHUNKED + b"00000000000000005\r\nhello\r\n0\r\n\r\n" + TAIL,
    "17 digits that wrap": CHUNKED + b"10000000000000005\r\nhello\r\n0\r\n\r\n" + TAIL,
    "chunk extension over 256 bytes":
        CHUNKED + b"5;" + b"a" * 257 + b"\r\nhello\r\n0\r\n\r\n" + TAIL,
    "bare LF in a chunk extension": CHUNKED + b"5;a\nb\r\nhello\r\n0\r\n\r\n" + TAIL,
    "bare CR in a chunk extension": CHUNKED + b"5;a\rb\r\nhello\r\n0\r\n\r\n" + TAIL,
    "NUL in a chunk extension": CHUNKED + b"5;a\0b\r\nhello\r\n0\r\n\r\n" + TAIL,
    "Content-Length as a trailer": CHUNKED + b"0\r\nContent-Length: 5\r\n\r\n" + TAIL,
    "Transfer-Encoding as a trailer": CHUNKED + b"0\r\nTransfer-Encoding: chunked\r\n\r\n" + TAIL,
    "Host as a trailer": CHUNKED + b"0\r\nhost: x\r\n\r\n" + TAIL,
    "Authorization as a trailer": CHUNKED + b"0\r\nAuthorization: x\r\n\r\n" + TAIL,
    "trailer with a space before the colon": CHUNKED + b"0\r\nX : y\r\n\r\n" + TAIL,
    "folded trailer": CHUNKED + b"0\r\nX: y\r\n z\r\n\r\n" + TAIL,
    "trailer with a bare LF": CHUNKED + b"0\r\nX: y\n\r\n" + TAIL,
    "trailers over 4 KiB": CHUNKED + b"0\r\nX: " + b"y" * 5000 + b"\r\n\r\n" + TAIL,
}


# Those whose head is sound reach a handler, which then never gets a complete body.
def is_framing(name):
    return HOSTILE[name].startswith(CHUNKED)


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_request_is_refused_and_closed(httpd, name):
    before = httpd.requests()
    status, body, closed = httpd.raw(HOSTILE[name])
    assert status == 400, body
    assert closed
    assert json.loads(body)["detail"]
    assert httpd.requests() - before == (2 if is_framing(name) else 1)


@pytest.mark.parametrize("name", [name for name in sorted(HOSTILE) if len(HOSTILE[name]) < 300])
def test_hostile_request_is_refused_byte_by_byte(httpd, name):
    data = HOSTILE[name]
    with httpd.connect() as sock:
        try:
            for at in range(len(data)):
                sock.sendall(data[at:at + 1])
        except OSError:
            pass  # it was refused before the end
        status, _body, closed = read_answer(sock)
    assert status == 400
    assert closed


SOUND = {
    "simple": b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n",
    "chunked": CHUNKED + b"5\r\nhello\r\n6;ext=\"a b\"\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n",
    "16-digit chunk size": CHUNKED + b"0000000000000005\r\nhello\r\n0\r\n\r\n",
    "extension of 256 bytes": CHUNKED + b"5;" + b"a" * 256 + b"\r\nhello\r\n0\r\n\r\n",
    "absolute target": b"GET http://h/x?y HTTP/1.1\r\nHost: h\r\n\r\n",
    "HTTP/1.0 without Host": b"GET /x HTTP/1.0\r\n\r\n",
    "empty value": b"GET /x HTTP/1.1\r\nHost: h\r\nX:\r\n\r\n",
    "obs-text in a value": b"GET /x HTTP/1.1\r\nHost: h\r\nX: \xe4\xff\r\n\r\n",
    "tab around a value": b"GET /x HTTP/1.1\r\nHost: h\r\nX: \t a\tb \t\r\n\r\n",
    "100 fields": b"GET /x HTTP/1.1\r\nHost: h\r\n" + b"X: y\r\n" * 99 + b"\r\n",
    "OPTIONS *": b"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
}


@pytest.mark.parametrize("name", sorted(SOUND))
def test_sound_request_is_served(httpd, name):
    status, body, _closed = httpd.raw(SOUND[name])
    assert status == 200, body


def test_chunked_payload_is_byte_exact(httpd):
    payload = bytes(range(256)) * 40
    wire = CHUNKED
    for at in range(0, len(payload), 777):
        part = payload[at:at + 777]
        wire += b"%x\r\n%b\r\n" % (len(part), part)
    status, body, _closed = httpd.raw(wire + b"0\r\n\r\n")
    assert status == 200
    assert bytes.fromhex(json.loads(body)["body"]) == payload


@pytest.mark.parametrize(
    "data, status",
    [
        (b"GET / HTTP/1.1\r\nHost: h\r\n" + b"X: y\r\n" * 100 + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"y" * 16384 + b"\r\n\r\n", 431),
        (b"GET /" + b"y" * 20000, 431),
        (b"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        (b"FROBNICATE / HTTP/1.1\r\nHost: h\r\n\r\n", 501),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: magic\r\n\r\nx", 417),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n", 413),
        (CHUNKED + b"ffffffffffffffff\r\n" + b"x" * (1 << 20) + b"y", 413),
    ],
)
def test_limit_is_refused_and_closed(httpd, data, status):
    got, body, closed = httpd.raw(data)
    assert (got, closed) == (status, True), body


# ---- connections ----


def test_pipelined_requests_are_answered_in_order(httpd):
    wanted = [b"/slow/60", b"/a", b"/slow/10", b"/b"]
    with httpd.connect() as sock:
        sock.sendall(b"".join(b"GET %b HTTP/1.1\r\nHost: h\r\n\r\n" % path for path in wanted))
        bodies = []
        connection = h11.Connection(h11.CLIENT)
        for path in wanted:
            connection.send(h11.Request(method="GET", target=path, headers=[("Host", "h")]))
            connection.send(h11.EndOfMessage())
            body = b""
            while True:
                event = connection.next_event()
                if event is h11.NEED_DATA:
                    connection.receive_data(sock.recv(65536))
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    break
            bodies.append(body)
            connection.start_next_cycle()
    assert bodies[0] == bodies[2] == b"slept"
    assert json.loads(bodies[1])["target"] == "/a"
    assert json.loads(bodies[3])["target"] == "/b"


def test_pipelining_without_reading_is_bounded(httpd):
    one = b"GET /bytes/100000 HTTP/1.1\r\nHost: h\r\n\r\n"
    with httpd.connect() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        sock.settimeout(1)
        sent = 0
        try:
            while sent < 20_000_000:
                sent += sock.send(one * 200)
        except TimeoutError:
            pass
        assert sent < 20_000_000
        rss = int(re.search(r"VmRSS:\s*([0-9]+)",
                            open(f"/proc/{httpd.process.pid}/status").read()).group(1))
        assert rss < 200_000  # KiB, under the address sanitizer
    assert httpd.raw(SOUND["simple"])[0] == 200


def test_unread_body_does_not_become_a_request(httpd):
    body = TAIL * 3
    with httpd.connect() as sock:
        # A GET route answers without reading the body.
        sock.sendall(b"GET /health HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % len(body))
        assert read_answer(sock)[0] == 200
        sock.sendall(body + b"GET /after HTTP/1.1\r\nHost: h\r\n\r\n")
        status, answer, _closed = read_answer(sock)
    assert status == 200
    assert json.loads(answer)["target"] == "/after"


def test_expect_continue_is_answered_when_the_body_is_wanted(httpd):
    with httpd.connect() as sock:
        sock.sendall(b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
                     b"Expect: 100-continue\r\n\r\n")
        assert read_answer(sock)[0] == 100
        sock.sendall(b"hello")
        status, body, _closed = read_answer(sock)
    assert status == 200
    assert json.loads(body)["body"] == b"hello".hex()


def test_http_1_0_is_closed_unless_it_asks(httpd):
    assert httpd.raw(b"GET /x HTTP/1.0\r\n\r\n")[2]
    assert not httpd.raw(b"GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")[2]
    assert httpd.raw(b"GET /x HTTP/1.1\r\nHost: h\r\nConnection: x, close\r\n\r\n")[2]


def test_head_has_the_length_but_no_body(httpd):
    with httpd.connect() as sock:
        sock.sendall(b"HEAD /kib HTTP/1.1\r\nHost: h\r\n\r\nGET /kib HTTP/1.0\r\n\r\n")
        data = b""
        while True:
            piece = sock.recv(65536)
            if not piece:
                break
            data += piece
    first, second = re.split(rb"(?=HTTP/1.1 200)", data)[1:]
    assert first.endswith(b"\r\n\r\n") and b"Content-Length: 1024\r\n" in first
    assert second.endswith(b"x" * 1024)


def test_client_that_leaves_is_noticed(httpd):
    def gone():
        return json.loads(httpd.raw(b"GET /count HTTP/1.1\r\nHost: h\r\n\r\n")[1])["gone"]

    before = gone()
    with httpd.connect() as sock:
        sock.sendall(b"GET /slow/30000 HTTP/1.1\r\nHost: h\r\n\r\n")
        httpd.raw(SOUND["simple"])
    for _ in range(50):
        if gone() == before + 1:
            return
        httpd.raw(b"GET /slow/20 HTTP/1.1\r\nHost: h\r\n\r\n")
    pytest.fail("the server still waits for a client that left")


@pytest.fixture
def impatient(build_dir):
    server = Httpd(build_dir, "--head-ms", "300", "--idle-ms", "600", "--body-ms", "300",
                   "--write-ms", "600", "--connections", "3")
    yield server
    server.close()


def test_slow_head_is_answered_408(impatient):
    with impatient.connect() as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHo")
        status, _body, closed = read_answer(sock)
    assert (status, closed) == (408, True)


def test_trickled_head_does_not_extend_the_time_out(impatient):
    with impatient.connect() as sock:
        sock.settimeout(0.05)
        for _ in range(60):
            try:
                sock.sendall(b"G")
                if sock.recv(1000):
                    return
            except TimeoutError:
                continue
            except OSError:
                return
    pytest.fail("a head may trickle in for longer than the head time-out")


def test_slow_body_is_answered_408(impatient):
    with impatient.connect() as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhel")
        status, _body, closed = read_answer(sock)
    assert (status, closed) == (408, True)


def test_idle_connection_is_closed(impatient):
    with impatient.connect() as sock:
        assert sock.recv(10) == b""


def test_reader_that_stands_still_is_dropped(impatient):
    with impatient.connect() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall(b"GET /pour/2000 HTTP/1.1\r\nHost: h\r\n\r\n")
        for _ in range(100):
            assert impatient.raw(b"GET /slow/50 HTTP/1.1\r\nHost: h\r\n\r\n")[1] == b"slept"
            if not is_connected(impatient, sock):
                return
    pytest.fail("a reader that takes nothing is kept for ever")


def is_connected(server, sock):
    """The server's side of the connection is still established."""
    mine = f"{sock.getsockname()[1]:04X}"
    with open("/proc/net/tcp") as table:
        for line in table:
            words = line.split()
            if words[1].endswith(f":{server.port:04X}") and words[2].endswith(f":{mine}"):
                return words[3] == "01"
    return False


def test_connections_above_the_maximum_get_503(impatient):
    held = [impatient.connect() for _ in range(3)]
    try:
        for sock in held:
            sock.sendall(b"GET /slow/1 HTTP/1.1\r\nHost: h\r\n\r\n")
            assert read_answer(sock)[0] == 200
        status, body, closed = impatient.raw(SOUND["simple"])
        assert (status, closed) == (503, True)
        assert "retry" in json.loads(body)["detail"]
    finally:
        for sock in held:
            sock.close()


def test_stop_lets_an_answer_in_progress_finish(build_dir):
    server = Httpd(build_dir)
    with server.connect() as sock:
        sock.sendall(b"GET /slow/400 HTTP/1.1\r\nHost: h\r\n\r\n")
        server.raw(SOUND["simple"])
        server.process.send_signal(signal.SIGTERM)
        assert read_answer(sock) == (200, b"slept", True)
    assert server.process.wait(timeout=SECONDS) == 0


# ---- h11 as the oracle ----

# Where we refuse what h11 takes, on purpose. Each is looked for in the bytes of the request.
STRICTER = {
    "bare LF line ends": lambda head, body: re.search(rb"(?<!\r)\n", head),
    "obs-fold": lambda head, body: re.search(rb"\r\n[ \t]", head),
    "control bytes in values": lambda head, body: re.search(rb"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]",
                                                            head),
    "bare CR": lambda head, body: re.search(rb"\r(?!\n)", head),
    "repeated or listed Content-Length":
        lambda head, body: len(re.findall(rb"(?i)\ncontent-length *:", head)) > 1
        or re.search(rb"(?i)\ncontent-length:[^\r\n]*,", head),
    "Content-Length beside Transfer-Encoding":
        lambda head, body: re.search(rb"(?i)\ntransfer-encoding", head)
        and re.search(rb"(?i)\ncontent-length", head),
    "Content-Length of 64 bits and more":
        lambda head, body: re.search(rb"(?i)\ncontent-length:[ \t]*[0-9]{19,}", head),
    "transfer coding on HTTP/1.0":
        lambda head, body: b"HTTP/1.0" in head and re.search(rb"(?i)transfer-encoding", head),
    "target form": lambda head, body: not re.match(rb"[^ ]+ (/|https?://)[^ #]* ", head),
    "absolute target": lambda head, body: re.match(rb"[^ ]+ https?://", head),
    "broken escape in the path": lambda head, body: re.match(rb"[^ ]+ [^ ?]*%", head),
    "Host that is no authority":
        lambda head, body: re.search(rb'(?i)\nhost:[^\r\n]*[/\\@,?#"<>{}|^` \t\x80-\xff]', head),
    "method unknown to llhttp": lambda head, body: not re.match(METHODS + rb" ", head),
    "Expect": lambda head, body: re.search(rb"(?i)\nexpect", head),
    "head limits": lambda head, body: len(head) > 16384 or head.count(b"\n") > 101,
    "chunk framing": lambda head, body: re.search(rb"(?i)\ntransfer-encoding", head),
}
METHODS = rb"(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|TRACE|COPY|LOCK|MOVE|BIND|LINK|ACL|REPORT)"

SEEDS = [
    b"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
    b"GET /a/b%20c?q=1&r=%26 HTTP/1.1\r\nHost: localhost:8000\r\nAccept: */*\r\nX-A: b c\r\n\r\n",
    b"POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\nContent-Type: text/plain\r\n\r\n"
    b"hello world",
    b"POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n",
    b"PUT /t HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: h\r\n\r\n"
    b"A\r\n0123456789\r\n0\r\nX-Sum: 9\r\n\r\n",
    b"GET /old HTTP/1.0\r\nConnection: keep-alive\r\nHost: h\r\n\r\n",
    b"DELETE http://h/abs?x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    b"OPTIONS /o HTTP/1.1\r\nHost: [::1]:80\r\nOrigin: null\r\nX: \xe4\xf6\r\n\r\n",
]
TOKENS = [
    b"\r", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"\t", b"\0", b"\x7f", b"\x01", b":", b";", b",",
    b"+", b"-", b"0", b"5", b"f", b"%", b"%00", b"/", b"?", b"#", b"\xff", b"chunked",
    b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Host: x\r\n", b"X: y\r\n z\r\n",
    b"HTTP/1.0", b"HTTP/1.1", b"Content-Length: 0\r\n", b"Connection: close\r\n", b"\"", b"_",
]


def mutate(rng, seed):
    data = bytearray(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            del data[at]
        elif kind == 1 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 2:
            data[at:at] = rng.choice(TOKENS)
        elif kind == 3 and at < len(data):
            data[at:at + rng.randrange(1, 6)] = rng.choice(TOKENS)
        elif kind == 4:
            lines = bytes(data).split(b"\r\n")
            lines.insert(rng.randrange(len(lines)), rng.choice(lines))
            data = bytearray(b"\r\n".join(lines))
        else:
            end = min(len(data), at + rng.randrange(1, 12))
            data[at:at] = data[at:end]
    return bytes(data)


def ask_h11(data):
    """('ok', method, target, headers, body), ('bad',) or ('more',)."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    request, body = None, b""
    try:
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                return ("more",)
            if isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                break
            else:
                return ("bad",)
    except h11.RemoteProtocolError:
        return ("bad",)
    headers = [(bytes(name), bytes(value)) for name, value in request.headers]
    return ("ok", bytes(request.method), bytes(request.target), headers, body)


def ask_us(httpd, data):
    """Like ask_h11. The other side is told the end, so that 'more' is seen as a bare close."""
    with httpd.connect() as sock:
        try:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            status, body, _closed = read_answer(sock)
        except ConnectionResetError:
            return ("bad",)
    if status is None or status == 100:
        return ("more",)
    if status != 200:
        return ("bad",)
    answer = json.loads(body)
    headers = [(name.lower().encode(), bytes.fromhex(value)) for name, value in answer["headers"]]
    return ("ok", answer["method"].encode(), answer["target"].encode(), headers,
            bytes.fromhex(answer["body"]))


def reason_to_be_stricter(data):
    head, _, body = data.partition(b"\r\n\r\n")
    head += b"\r\n"
    for name, test in STRICTER.items():
        if test(head, body):
            return name
    return None


def test_h11_and_we_agree_on_mutated_requests(httpd):
    rng = random.Random(SEED)
    accepted = 0
    reasons = set()
    for _ in range(DIFFERENTIAL_CASES):
        data = mutate(rng, rng.choice(SEEDS))
        theirs, ours = ask_h11(data), ask_us(httpd, data)
        if ours[0] == "ok":
            accepted += 1
            assert theirs == ours, f"\n{data!r}\nh11:  {theirs}\nours: {ours}"
        elif theirs[0] == "bad":
            assert ours[0] in ("bad", "more"), data
        elif theirs[0] == "ok":
            reason = reason_to_be_stricter(data)
            assert reason, f"refused without a reason on the list: {data!r}"
            reasons.add(reason)
    assert accepted > DIFFERENTIAL_CASES // 10
    assert len(reasons) > 5
