"""Uploaded images are looked at before anything is loaded: what can never succeed ends at once."""

import io

import harness
import jobkit as kit
import pytest
from PIL import Image

EXIF_BYTES = 2 << 20
SEGMENT_BYTES = 65000


def picture(width=8, height=6, kind="PNG", mode="RGB"):
    out = io.BytesIO()
    Image.new(mode, (width, height)).save(out, kind)
    return out.getvalue()


def jpeg_with_long_exif():
    """Its frame header stands behind 2 MiB of application segments."""
    jpeg = picture(kind="JPEG")
    segment = b"\xff\xe1" + (SEGMENT_BYTES + 2).to_bytes(2, "big") + bytes(SEGMENT_BYTES)
    return jpeg[:2] + segment * (EXIF_BYTES // SEGMENT_BYTES + 1) + jpeg[2:]


@pytest.fixture
def cold(daemon, tmp_path):
    """(daemon, model, spawn log): a model that takes images and is not loaded."""

    def make(**config):
        one = daemon(config=kit.config(**config), start=False)
        model = kit.fake(one, "a", "--spawn-log", tmp_path / "spawn.log")
        return one.start(), model, tmp_path / "spawn.log"

    return make


def assert_refused(one, view, *words):
    assert (view["state"], view["error_code"]) == ("error", "bad_input"), view
    for word in words:
        assert word in view["error"], view
    assert view["started_ms"] == 0 and view["ended_ms"] >= view["created_ms"], view
    assert view["output_path"] is None, view
    assert not list((one.state_dir / "inputs").iterdir())
    assert one.get("/api/v1/workers").json()["workers"] == []


BAD = {
    "text": (b"this is a shopping list, renamed to in.png\n" * 40, ("not an image", "PNG")),
    "cut-off": (picture()[:20], ("PNG", "cut off")),
    "damaged": (b"\xff\xd8\xff\xe0\x00\x02no marker" + bytes(64), ("JPEG", "damaged")),
    "42-megapixels": (
        picture(7000, 6000, mode="1"),
        ("7000 x 6000 = 42000000 pixels", "40000000", "max_image_pixels"),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_w22_a_bad_image_ends_its_job_without_a_load(cold, name):
    one, model, log = cold()
    image, words = BAD[name]
    job_id = kit.submit(one, model, image=image)
    assert_refused(one, kit.wait_end(one, job_id), *words)
    status = one.get(f"/generate/status/{job_id}").json()
    assert status["status"] == "error" and words[0] in status["error"], status
    assert kit.spawn_log(log) == []


def test_w22_a_bad_image_is_told_to_the_stream_and_kept(cold):
    one, model, log = cold()
    job_id = [kit.submit(one, model, image=b"no image") for _ in range(2)][-1]
    told = one.events(headers={"Last-Event-ID": "1"}, timeout=20)  # behind the first one's end
    kind, data = next(event for event in told if event[1].get("id") == job_id)
    assert (kind, data["state"], data["error_code"]) == ("job", "error", "bad_input")
    told.close()
    assert one.stop() == 0
    one.start()
    assert_refused(one, kit.job(one, job_id), "not an image")
    assert kit.spawn_log(log) == []


def test_w22_the_native_route_accepts_the_job_and_ends_it(cold):
    one, model, log = cold()
    body, headers = harness.multipart({"model": model}, [("image", "i", "image/png", b"no image")])
    answer = one.post("/api/v1/jobs", body, headers=headers)
    assert answer.status == 202, answer
    assert_refused(one, kit.wait_end(one, answer.json()["id"]), "not an image")
    assert kit.spawn_log(log) == []


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_a_good_image_runs(cold, kind):
    one, model, _log = cold()
    assert kit.run(one, model, image=picture(kind=kind))["state"] == "done"


def test_a_jpeg_whose_size_comes_late_is_left_to_the_worker(cold):
    one, model, _log = cold()
    assert kit.run(one, model, image=jpeg_with_long_exif())["state"] == "done"


def test_the_limit_of_pixels_can_be_set(cold):
    one, model, log = cold(max_image_pixels=47)
    assert_refused(one, kit.run(one, model, image=picture()), "8 x 6 = 48", "47")
    assert kit.spawn_log(log) == []
    assert kit.run(one, model, image=picture(7, 6))["state"] == "done"


def test_a_stop_while_images_are_looked_at_ends_cleanly(cold):
    one, model, _log = cold()
    for number in range(8):
        kit.submit(one, model, image=picture() if number % 2 else b"no image")
    assert one.stop() == 0
