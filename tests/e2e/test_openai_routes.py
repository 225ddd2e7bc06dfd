"""OpenAI's routes of the real daemon: the bundled flite speaks."""

import io
import socket
import time
import urllib.parse
import wave

import harness
import pytest

TEXT = "Good morning."


def speak(one, **fields):
    body = {"model": "flite/say", "input": TEXT, **fields}
    return one.post("/v1/audio/speech", body)


def error(answer):
    return answer.json()["error"]


@pytest.fixture
def one(daemon):
    return daemon()


def test_models_are_listed(one):
    answer = one.get("/v1/models").json()
    assert "flite/say" in [model["id"] for model in answer["data"]]
    assert one.get("/v1/models/flite/say").json()["owned_by"] == "hotbunk"
    assert one.get("/v1/models/flite%2Fsay").json()["id"] == "flite/say"
    unknown = one.get("/v1/models/gpt-5")
    assert unknown.status == 404
    assert error(unknown)["code"] == "unknown_model"


def test_a_text_becomes_a_wav(one):
    answer = speak(one, response_format="wav")
    assert answer.status == 200, answer
    assert answer.headers["Content-Type"] == "audio/wav"
    with wave.open(io.BytesIO(answer.body)) as sound:
        assert sound.getsampwidth() == 2
        assert sound.getnframes() > sound.getframerate() / 4
    job = one.get(f"/api/v1/jobs/{answer.headers['X-Hotbunk-Job']}").json()
    assert job["state"] == "done"
    assert int(answer.headers["X-Hotbunk-Load-Ms"]) >= 0
    assert int(answer.headers["X-Hotbunk-Run-Ms"]) == job["run_ms"]


def test_the_default_is_mp3_and_pcm_is_known_too(one):
    default = speak(one)
    assert default.headers["Content-Type"] == "audio/mpeg"
    assert default.body[:3] == b"ID3" or default.body[0] == 0xFF
    pcm = speak(one, response_format="pcm")
    assert pcm.headers["Content-Type"] == "audio/pcm"
    assert pcm.body[:4] != b"RIFF"
    assert len(pcm.body) % 2 == 0


def test_nothing_of_a_call_is_kept(one):
    speak(one)
    left = [path for path in one.workspace_dir.rglob("*") if path.is_file()]
    left += [path for path in (one.state_dir / "scratch").rglob("*") if path.is_file()]
    assert left == []


def test_voice_and_speed_change_the_sound(one):
    slow = speak(one, response_format="wav", speed=0.5)
    fast = speak(one, response_format="wav", speed=2.0)
    assert len(slow.body) > 2 * len(fast.body)
    assert speak(one, response_format="wav", voice="slt").body != fast.body
    assert speak(one, voice="alloy").status == 200


@pytest.mark.parametrize(
    ("fields", "param", "part"),
    [
        ({"model": "gpt"}, "model", "flite/say"),
        ({"model": None}, "model", "required"),
        ({"model": "relief/mesh"}, "model", "audio"),
        ({"input": None}, "input", "required"),
        ({"input": ["x"]}, "input", "text"),
        ({"input": "a" * 70000}, "input", "too long"),
        ({"response_format": "opus"}, "response_format", "mp3, wav, pcm"),
        ({"voice": "bob"}, "voice", "kal16"),
        ({"speed": 99}, "speed", "at most 4"),
        ({"speed": "fast"}, "speed", "number"),
    ],
)
def test_a_bad_request_is_400_and_names_the_parameter(one, fields, param, part):
    if fields.get("model") == "relief/mesh":
        models = [model["id"] for model in one.get("/v1/models").json()["data"]]
        fields = {"model": next(name for name in models if name.startswith("relief/"))}
    answer = speak(one, **fields)
    assert answer.status == 400
    assert error(answer)["param"] == param
    assert part in error(answer)["message"]
    assert one.get("/api/v1/jobs").json()["jobs"] == []


def test_a_body_that_is_no_json_object_is_400(one):
    for body in (b"", b"{", b"[1]", b"{'model': 1}"):
        headers = {"Content-Type": "application/json"}
        answer = one.post("/v1/audio/speech", body, headers=headers)
        assert answer.status == 400
        assert error(answer)["message"]


def audio_fake(one, fakeworker_extension, *flags):
    node = {"id": "run", "name": "run", "input": "text", "output": "audio"}
    fakeworker_extension(one.extensions_dir, "voice", *flags, nodes=[node])
    return one.start()


def test_a_client_that_leaves_cancels_its_job(daemon, fakeworker_extension):
    one = audio_fake(daemon(start=False), fakeworker_extension, "--run-ms", 60000)
    where = urllib.parse.urlsplit(one.url)
    body = b'{"model": "voice/run", "input": "x"}'
    head = f"POST /v1/audio/speech HTTP/1.1\r\nHost: {where.netloc}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"

    def job():
        jobs = one.get("/api/v1/jobs").json()["jobs"]
        return jobs[0] if jobs else {"state": None}

    with socket.create_connection((where.hostname, where.port), timeout=10) as conn:
        conn.sendall(head.encode() + body)
        harness.wait_until(lambda: job()["state"] == "running", 20, "a start")
    harness.wait_until(lambda: job()["state"] == "cancelled", 20, "the cancel")


def test_a_job_that_outlives_its_clock_is_504_and_names_it(daemon, fakeworker_extension):
    config = {"run_timeout": "500ms", "run_max": "500ms"}
    one = daemon(start=False, config=config)
    audio_fake(one, fakeworker_extension, "--run-ms", 60000)
    begin = time.monotonic()
    answer = one.post("/v1/audio/speech", {"model": "voice", "input": "x"})
    assert answer.status == 504, answer
    assert error(answer)["code"] == "run_timeout"
    assert time.monotonic() - begin < 20


def test_a_worker_that_dies_is_502(daemon, fakeworker_extension):
    one = audio_fake(daemon(start=False), fakeworker_extension, "--crash", "run")
    answer = one.post("/v1/audio/speech", {"model": "voice", "input": "x"})
    assert answer.status == 502, answer
    assert error(answer)["type"] == "server_error"
    assert error(answer)["code"] == "worker_died"
