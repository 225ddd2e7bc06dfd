"""hotbunk-flite: the text-to-speech worker, over its pipes."""

import json
import os
import sys
import time
import wave
from pathlib import Path

import numpy
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from workers import ROOT, Worker, find_exe, memory_kib  # noqa: E402

RATE = 16000
WAV_HEADER_BYTES = 44
VOICES = ["kal16", "awb", "rms", "slt"]
TEXT = "The quick brown fox jumps over the lazy dog."
LONG_TEXT = " ".join(f"This is sentence number {i} of a long text." for i in range(400))
UNLOADED_SHARE = 0.5
# A sanitizer build keeps what is freed unless told otherwise.
FREEING = (
    "quarantine_size_mb=0:thread_local_quarantine_size_kb=0:"
    "allocator_release_to_os_interval_ms=0"
)


@pytest.fixture(scope="module")
def shared():
    """One worker for the tests that only ask for speech."""
    with Worker([find_exe("hotbunk-flite")]) as worker:
        worker.expect("ready")
        worker.send(action="load", id="load")
        worker.expect("loaded", id="load")
        yield worker


@pytest.fixture
def fresh():
    with Worker([find_exe("hotbunk-flite")]) as worker:
        worker.expect("ready")
        yield worker


@pytest.fixture
def say(shared, tmp_path):
    """say(text, **params) -> the terminal message."""
    count = iter(range(1000))

    def run(text=TEXT, **params):
        job_id = f"{tmp_path.name}-{next(count)}"
        return shared.generate(job_id, text=text, params=params, outputs_dir=str(tmp_path))

    return run


def samples_of(done):
    with wave.open(done["output_path"]) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, RATE)
        return numpy.frombuffer(file.readframes(file.getnframes()), dtype="<i2").astype(float)


def mean_f0(samples):
    """Mean frequency of the voiced frames, by autocorrelation."""
    found = []
    size, low, high = 640, RATE // 350, RATE // 60
    for start in range(0, len(samples) - 2 * size, size):
        frame = samples[start : start + 2 * size]
        if numpy.sqrt((frame**2).mean()) < 500:
            continue
        frame = frame - frame.mean()
        scores = numpy.array(
            [
                frame[:size] @ frame[lag : lag + size]
                / (1 + numpy.sqrt((frame[:size] ** 2).sum() * (frame[lag : lag + size] ** 2).sum()))
                for lag in range(low, high)
            ]
        )
        if scores.max() > 0.7:
            found.append(RATE / (low + scores.argmax()))
    return float(numpy.median(found))


@pytest.fixture
def freeing():
    options = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), FREEING)))
    env = dict(os.environ, ASAN_OPTIONS=options)
    with Worker([find_exe("hotbunk-flite")], env=env) as worker:
        worker.expect("ready")
        yield worker


# What comes out


def test_ready_carries_the_manifests_schema():
    manifest = json.loads((ROOT / "extensions" / "flite" / "manifest.json").read_text())
    with Worker([find_exe("hotbunk-flite")]) as worker:
        ready = worker.expect("ready")
    assert ready["params_schema"] == manifest["nodes"][0]["params_schema"]
    assert ready["protocol"] == 1
    assert ready["features"] == ["ids", "heartbeat", "cancel"]


def test_wav_is_whole_and_says_its_sizes(say):
    done = say()
    data = Path(done["output_path"]).read_bytes()
    assert data[:4] == b"RIFF" and data[8:16] == b"WAVEfmt "
    assert int.from_bytes(data[4:8], "little") == len(data) - 8
    assert int.from_bytes(data[40:44], "little") == len(data) - WAV_HEADER_BYTES
    samples = samples_of(done)
    assert numpy.abs(samples).max() > 3000
    assert done["seconds"] == pytest.approx(len(samples) / RATE)
    assert done["media_type"] == "audio/wav" and done["sample_rate"] == RATE


def test_same_request_gives_the_same_sound_under_a_new_name(say):
    first, second = say(), say()
    assert first["output_path"] != second["output_path"]
    assert Path(first["output_path"]).read_bytes() == Path(second["output_path"]).read_bytes()


def test_pcm_is_the_wav_without_its_header(say):
    wav, pcm = say(), say(response_format="pcm")
    data = Path(pcm["output_path"]).read_bytes()
    assert data == Path(wav["output_path"]).read_bytes()[WAV_HEADER_BYTES:]
    assert pcm["media_type"] == "audio/pcm" and pcm["output_path"].endswith(".pcm")


def test_mp3_is_frames_of_mpeg_2_layer_3_mono_16_khz(say):
    done = say(response_format="mp3")
    data = Path(done["output_path"]).read_bytes()
    assert data[0] == 0xFF and data[1] & 0xFE == 0xF2
    assert data[2] >> 2 & 3 == 2 and data[3] >> 6 == 3
    frame_bytes = 72 * 64000 // RATE
    frames = range(0, len(data), frame_bytes)
    assert all(data[at : at + 2] == data[:2] for at in frames)
    assert len(frames) * 576 / RATE == pytest.approx(done["seconds"], abs=0.15)
    assert done["media_type"] == "audio/mpeg"


def test_four_voices_differ(say):
    sounds = {Path(say(voice=voice)["output_path"]).read_bytes() for voice in VOICES}
    assert len(sounds) == len(VOICES)


@pytest.mark.parametrize(
    "alias, voice",
    [
        ("alloy", "kal16"),
        ("echo", "rms"),
        ("fable", "awb"),
        ("onyx", "rms"),
        ("nova", "slt"),
        ("shimmer", "slt"),
    ],
)
def test_openai_names_are_voices(say, alias, voice):
    done = say(voice=alias)
    assert done["voice"] == voice


@pytest.mark.parametrize("voice", VOICES)
def test_speed_scales_the_length(say, voice):
    lengths = [say(voice=voice, speed=speed)["seconds"] for speed in (4, 2, 1, 0.5, 0.25)]
    assert lengths == sorted(lengths)
    assert lengths[0] * 2 == pytest.approx(lengths[1], rel=0.3)
    assert lengths[2] * 4 == pytest.approx(lengths[4], rel=0.15)


@pytest.mark.parametrize("voice", VOICES)
def test_pitch_scales_the_frequency(say, voice):
    low, mid, high = (mean_f0(samples_of(say(voice=voice, pitch=p))) for p in (0.7, 1.0, 1.5))
    assert low < mid * 0.9 and high > mid * 1.2


@pytest.mark.parametrize("voice", VOICES)
def test_parameters_do_not_stick_to_the_voice(say, voice):
    before = Path(say(voice=voice)["output_path"]).read_bytes()
    say(voice=voice, speed=2, pitch=1.7)
    assert Path(say(voice=voice)["output_path"]).read_bytes() == before


def test_typographic_marks_and_accents_are_spoken(say):
    plain = say('"Naive cafe", it\'s, well... done.')["seconds"]
    assert say("“Naïve café”, it’s, well… done.")["seconds"] == pytest.approx(plain, abs=0.01)


def test_progress_rises_sentence_by_sentence(shared, say):
    mark = len(shared.seen)
    say("One. Two. Dr. Three comes third.\n\nFour")
    steps = [m for m in shared.seen[mark:] if m["type"] == "progress"]
    assert [m["step"] for m in steps] == ["Reading the text"] + [f"Speaking {i} of 4" for i in range(1, 5)]
    percents = [m["pct"] for m in steps]
    assert percents == sorted(percents) and percents[-1] < 100


def test_nothing_but_finished_files_is_left(say, tmp_path):
    done = say()
    say("")
    assert [str(path) for path in tmp_path.iterdir()] == [done["output_path"]]


# Bad input


@pytest.mark.parametrize("text", ["", "   \n ", "...?!", "日本語", None, 7, ["x"]])
def test_text_without_words_is_bad_input(say, text):
    error = say(text)
    assert (error["type"], error["code"]) == ("error", "bad_input")
    assert "text" in error["message"]


def test_text_over_64_kib_is_bad_input(say):
    error = say("a" * (64 * 1024 + 1))
    assert error["code"] == "bad_input" and "65536" in error["message"]


@pytest.mark.parametrize(
    "params, word",
    [
        ({"voice": "bob"}, "kal16"),
        ({"voice": 1}, "kal16"),
        ({"speed": 0.2}, "0.25"),
        ({"speed": 4.1}, "4"),
        ({"speed": "fast"}, "speed"),
        ({"speed": True}, "speed"),
        ({"pitch": 0}, "pitch"),
        ({"pitch": 1e308}, "pitch"),
        ({"response_format": "flac"}, "mp3"),
        ({"response_format": []}, "mp3"),
    ],
)
def test_bad_parameter_is_named(say, params, word):
    error = say(**params)
    assert (error["type"], error["code"]) == ("error", "bad_input")
    assert word in error["message"]


def test_params_that_are_no_object_are_bad_input(shared, tmp_path):
    error = shared.generate("list", text=TEXT, params=[1], outputs_dir=str(tmp_path))
    assert (error["code"], error["message"]) == ("bad_input", "params must be a JSON object")


def test_missing_outputs_dir_is_bad_input(shared):
    assert shared.generate("nowhere", text=TEXT)["code"] == "bad_input"


def test_directory_that_cannot_be_made_is_an_error_that_names_it(shared):
    error = shared.generate("deep", text=TEXT, outputs_dir="/nonexistent/a/b")
    assert error["code"] == "error" and "/nonexistent/a/b" in error["message"]


def test_stray_lines_are_logged_and_harmless(fresh, tmp_path):
    for line in (b"null", b"42", b"[1]", b'"x"', b"{", b"\xff\xfe", b"", b"x" * 1_100_000, b"{}"):
        fresh.send_raw(line + b"\n")
    fresh.send(action="no such action", id=1)
    assert fresh.generate("after", text=TEXT, outputs_dir=str(tmp_path))["type"] == "done"
    logs = [message["message"] for message in fresh.seen if message["type"] == "log"]
    assert "dropped a line of more than 1 MiB" in logs
    assert logs.count("ignored a line that is not a JSON object") == 6


# Life


def test_cancel_ends_a_job_between_sentences(fresh, tmp_path):
    fresh.send(action="generate", id="long", text=LONG_TEXT, params={"voice": "slt"},
               outputs_dir=str(tmp_path))
    fresh.expect("progress", id="long", step="Speaking 2 of 400")
    begin = time.monotonic()
    fresh.send(action="cancel", id="another")
    fresh.send(action="cancel", id="long")
    assert fresh.expect("done", "error", "cancelled", id="long")["type"] == "cancelled"
    assert time.monotonic() - begin < 2
    assert list(tmp_path.iterdir()) == []
    assert fresh.generate("next", text=TEXT, outputs_dir=str(tmp_path))["type"] == "done"


def test_cancel_of_a_waiting_job_leaves_the_running_one(fresh, tmp_path):
    for job_id in ("first", "second"):
        fresh.send(action="generate", id=job_id, text="One. Two. Three.",
                   params={"voice": "rms", "speed": 0.25}, outputs_dir=str(tmp_path))
    fresh.send(action="cancel", id="second")
    assert fresh.expect("cancelled")["id"] == "second"
    assert fresh.expect("done")["id"] == "first"


def test_killed_worker_leaves_no_half_file(fresh, tmp_path):
    fresh.send(action="generate", id=1, text=LONG_TEXT, outputs_dir=str(tmp_path))
    fresh.expect("progress", step="Speaking 3 of 400")
    fresh.process.kill()
    fresh.wait()
    assert list(tmp_path.iterdir()) == []


def load_and_use_all(worker, directory):
    """What load and one sentence per voice add to the resident memory, in KiB."""
    before = memory_kib(worker.pid)
    worker.send(action="load", id="load")
    worker.expect("loaded")
    for voice in VOICES:
        params = {"voice": voice, "speed": 0.5}
        assert worker.generate(voice, text=TEXT, params=params, outputs_dir=str(directory))
    return memory_kib(worker.pid) - before


def test_unload_gives_the_memory_back(freeing, tmp_path):
    before = memory_kib(freeing.pid)
    held = load_and_use_all(freeing, tmp_path)
    freeing.send(action="unload", id="unload")
    freeing.expect("unloaded", id="unload")
    left = memory_kib(freeing.pid) - before
    print(f"before {before} KiB, loaded +{held} KiB, unloaded +{left} KiB")
    assert held > 4 * 1024
    assert left < held * UNLOADED_SHARE
    assert freeing.generate("again", text=TEXT, outputs_dir=str(tmp_path))["type"] == "done"


def test_declared_memory_holds_the_measured(freeing, tmp_path):
    manifest = json.loads((ROOT / "extensions" / "flite" / "manifest.json").read_text())
    assert load_and_use_all(freeing, tmp_path) < manifest["ram_mb"] * 1024


def test_shutdown_ends_it_without_a_reply(fresh):
    fresh.send(action="load", id=1)
    fresh.send(action="unload", id=2)
    fresh.send(action="shutdown")
    assert fresh.wait() == 0
    fresh.expect("unloaded", id=2)
    assert fresh.next() is None


def test_shutdown_ends_a_running_job(fresh, tmp_path):
    fresh.send(action="generate", id=1, text=LONG_TEXT, outputs_dir=str(tmp_path))
    fresh.expect("progress", step="Speaking 1 of 400")
    fresh.send(action="shutdown")
    assert fresh.expect("done", "error", "cancelled")["type"] == "cancelled"
    assert fresh.wait() == 0


def test_end_of_input_ends_it_at_once(fresh, tmp_path):
    fresh.send(action="generate", id=1, text=LONG_TEXT, outputs_dir=str(tmp_path))
    fresh.expect("progress", step="Speaking 1 of 400")
    begin = time.monotonic()
    fresh.process.stdin.close()
    assert fresh.wait() == 0
    assert time.monotonic() - begin < 2
    assert os.listdir(tmp_path) == []
