"""The bundled extension `relief`: closed, textured, valid .glb files out of any photograph."""

import io
import json
import os
import shutil
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "extensions" / "relief"
COFFEE = EXTENSION / "examples" / "coffee.jpg"
VALIDATOR = ROOT / "tests" / "support" / "gltf_validate.js"
NO_VALIDATOR = 3

sys.path[:0] = [str(EXTENSION), str(ROOT / "runner")]
from generator import ReliefGenerator  # noqa: E402
from services.generators.base import BadInput, GenerationCancelled  # noqa: E402


class Glb:
    """A parsed .glb file; raises on any broken length or alignment."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        magic, version, total = struct.unpack_from("<4sII", data, 0)
        assert (magic, version, total) == (b"glTF", 2, len(data))
        json_bytes, kind = struct.unpack_from("<I4s", data, 12)
        assert kind == b"JSON" and json_bytes % 4 == 0
        self.document = json.loads(data[20 : 20 + json_bytes])
        size, kind = struct.unpack_from("<I4s", data, 20 + json_bytes)
        assert kind == b"BIN\0" and size % 4 == 0
        self.binary = data[28 + json_bytes :]
        assert len(self.binary) == size == self.document["buffers"][0]["byteLength"]
        attributes = self.document["meshes"][0]["primitives"][0]["attributes"]
        self.positions = self.array(attributes["POSITION"])
        self.normals = self.array(attributes["NORMAL"])
        self.uvs = self.array(attributes["TEXCOORD_0"])
        indices = self.document["meshes"][0]["primitives"][0]["indices"]
        self.triangles = self.array(indices).astype(np.int64).reshape(-1, 3)

    def view(self, index):
        view = self.document["bufferViews"][index]
        assert view["byteOffset"] % 4 == 0
        return self.binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]

    def array(self, index):
        accessor = self.document["accessors"][index]
        kind = {5126: "<f4", 5123: "<u2", 5125: "<u4"}[accessor["componentType"]]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3}[accessor["type"]]
        flat = np.frombuffer(self.view(accessor["bufferView"]), kind)
        assert len(flat) == accessor["count"] * width
        return flat.reshape(-1, width)

    def texture(self):
        material = self.document["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]
        image = self.document["images"][self.document["textures"][material["index"]]["source"]]
        return Image.open(io.BytesIO(self.view(image["bufferView"])))


def generate(directory, image=None, progress=None, cancel=None, **params):
    """Run the generator on a Pillow image or on bytes; returns the path."""
    data = COFFEE.read_bytes() if image is None else image
    if isinstance(data, Image.Image):
        data = encoded(data)
    generator = ReliefGenerator(directory / "models", directory)
    generator.load()
    return generator.generate(data, params, progress, cancel)


def encoded(image, name="PNG", **options):
    stream = io.BytesIO()
    image.save(stream, name, **options)
    return stream.getvalue()


def assert_closed(glb):
    """Merged by position, every edge runs once in each direction: closed and oriented."""
    _, merged = np.unique(glb.positions, axis=0, return_inverse=True)
    triangles = merged.reshape(-1)[glb.triangles]
    assert (triangles[:, 0] != triangles[:, 1]).all() and (triangles[:, 1] != triangles[:, 2]).all()
    starts = triangles.ravel()
    ends = np.roll(triangles, -1, axis=1).ravel()
    count = merged.max() + 1
    forward, backward = starts * count + ends, ends * count + starts
    assert len(np.unique(forward)) == len(forward)
    assert np.array_equal(np.sort(forward), np.sort(backward))


def assert_sound(glb):
    assert_closed(glb)
    assert np.allclose(np.linalg.norm(glb.normals, axis=1), 1, atol=1e-5)
    assert glb.uvs.min() >= 0 and glb.uvs.max() <= 1
    assert volume(glb) > 0
    bounds = glb.document["accessors"][0]
    assert np.allclose(bounds["min"], glb.positions.min(axis=0))
    assert np.allclose(bounds["max"], glb.positions.max(axis=0))


def volume(glb):
    """Positive for a closed mesh whose triangles face outwards."""
    a, b, c = (glb.positions[glb.triangles[:, i]].astype(float) for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


@pytest.fixture(scope="module")
def coffee(tmp_path_factory):
    """The example's relief with default parameters."""
    directory = tmp_path_factory.mktemp("coffee")
    began = time.monotonic()
    path = generate(directory)
    return path, time.monotonic() - began


def test_example_becomes_a_sound_textured_mesh(coffee):
    path, seconds = coffee
    glb = Glb(path)
    assert_sound(glb)
    assert path.name.startswith("relief_") and path.suffix == ".glb"
    assert glb.texture().format == "JPEG" and min(glb.texture().size) > 200
    assert len(glb.positions) > 50_000
    assert seconds < 10


def test_example_is_cut_out_of_its_background(coffee):
    glb = Glb(coffee[0])
    width, height, _ = np.ptp(glb.positions, axis=0)
    front = glb.positions[:, 2] > -0.02
    assert 0.9 < height / width < 1.2, "cup and saucer are about as high as wide"
    assert glb.texture().size < (600, 400)
    corner = np.abs(glb.positions[front][:, :2]).min(axis=1).max()
    assert corner < 0.45, "the corners of the picture are gone"


def test_normals_agree_with_the_faces(coffee):
    glb = Glb(coffee[0])
    a, b, c = (glb.positions[glb.triangles[:, i]] for i in range(3))
    faces = np.cross(b - a, c - a)
    agreement = np.einsum("ij,ij->i", faces, glb.normals[glb.triangles[:, 0]])
    assert (agreement > 0).mean() > 0.99


def test_depth_is_the_share_of_the_longer_side(tmp_path):
    for depth in (0.0, 0.4, 1.0):
        glb = Glb(generate(tmp_path, depth=depth, resolution=48))
        assert_sound(glb)
        assert glb.positions[:, 2].max() == pytest.approx(depth, abs=0.02)


def test_resolution_sets_the_grid(tmp_path):
    counts = [len(Glb(generate(tmp_path, resolution=r)).positions) for r in (16, 32, 64)]
    assert counts[0] < counts[1] / 2.5 and counts[1] < counts[2] / 2.5
    assert len(Glb(generate(tmp_path, resolution="32")).positions) == counts[1]


def test_largest_grid_is_sound(tmp_path):
    glb = Glb(generate(tmp_path, resolution=1024))
    assert len(glb.positions) > 500_000
    assert_closed(glb)


def test_smoothing_makes_the_surface_calmer(tmp_path):
    rough, calm = (Glb(generate(tmp_path, resolution=128, smoothing=s)) for s in (0, 1))
    assert calm.normals[:, 2].std() < rough.normals[:, 2].std()


def test_background_keep_covers_the_whole_picture(tmp_path):
    glb = Glb(generate(tmp_path, background="keep", resolution=64))
    assert_sound(glb)
    assert glb.texture().size == (600, 400)
    width, height, _ = np.ptp(glb.positions, axis=0)
    assert width / height == pytest.approx(1.5, rel=0.05)


@pytest.mark.parametrize(
    "params, text",
    [
        ({"resolution": 15}, "16 to 1024"),
        ({"resolution": 1025}, "16 to 1024"),
        ({"resolution": "many"}, "resolution"),
        ({"resolution": True}, "resolution"),
        ({"depth": -0.1}, "depth"),
        ({"depth": float("nan")}, "depth"),
        ({"smoothing": [1]}, "smoothing"),
        ({"background": "blur"}, "auto, keep"),
    ],
)
def test_bad_parameters_are_named(tmp_path, params, text):
    with pytest.raises(BadInput, match=text):
        generate(tmp_path, **params)
    assert not list(tmp_path.glob("*.glb"))


def grey(width, height):
    ramp = np.add.outer(np.arange(height), np.arange(width)) % 256
    return Image.fromarray(ramp.astype(np.uint8))


def disc(size=80):
    """An opaque disc on a transparent ground."""
    y, x = np.mgrid[:size, :size] - size / 2
    inside = (x * x + y * y < (size * 0.35) ** 2).astype(np.uint8)
    return Image.fromarray(np.dstack([inside * 200, inside * 90, inside * 30, inside * 255]))


KINDS = {
    "grey": grey(60, 40),
    "palette": grey(60, 40).convert("P"),
    "bilevel": grey(60, 40).convert("1"),
    "grey with alpha": disc().convert("LA"),
    "16 bit": Image.fromarray(np.asarray(grey(60, 40)).astype(np.uint16) * 257),
    "one pixel": grey(1, 1),
    "3 x 2": grey(3, 2),
    "a line": grey(300, 1),
    "a column": grey(1, 300),
    "one colour": Image.new("RGB", (64, 64), (10, 20, 30)),
    "all transparent": Image.new("RGBA", (64, 64)),
    "alpha": disc(),
    "checkered alpha": Image.fromarray(
        np.dstack([np.indices((40, 40)).sum(axis=0).astype(np.uint8) % 2 * 255] * 4)
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_of_image_works(tmp_path, kind):
    assert_sound(Glb(generate(tmp_path, KINDS[kind], resolution=32)))


def test_cmyk_jpeg_works(tmp_path):
    image = encoded(Image.new("CMYK", (40, 30), (0, 100, 200, 10)), "JPEG")
    assert_sound(Glb(generate(tmp_path, image, resolution=16)))


def test_noise_gives_a_closed_mesh(tmp_path):
    noise = np.random.default_rng(3).integers(0, 256, (48, 64, 4), dtype=np.uint8)
    assert_sound(Glb(generate(tmp_path, Image.fromarray(noise), resolution=128)))


def test_alpha_is_the_outline(tmp_path):
    glb = Glb(generate(tmp_path, disc(), resolution=64))
    radii = np.linalg.norm(glb.positions[:, :2], axis=1)
    assert radii.max() == pytest.approx(0.47, abs=0.04)


def test_exif_orientation_is_applied(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    image = encoded(Image.new("RGB", (60, 30), (90, 10, 10)), "JPEG", exif=exif)
    width, height, _ = np.ptp(Glb(generate(tmp_path, image, resolution=32)).positions, axis=0)
    assert height / width == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("size", [0, 3, 200, 1000, 30000, -2000])
def test_truncated_photographs_are_bad_input(tmp_path, size):
    with pytest.raises(BadInput):
        generate(tmp_path, COFFEE.read_bytes()[:size])


def test_progress_rises_and_names_each_phase(tmp_path):
    seen = []
    generate(tmp_path, resolution=16, progress=lambda pct, step: seen.append((pct, step)))
    percents = [pct for pct, _ in seen]
    assert percents == sorted(percents) and percents[-1] == 100
    assert len({step for _, step in seen}) == len(seen) >= 7


@pytest.mark.parametrize("phase", range(6))
def test_cancel_is_heeded_between_phases(tmp_path, phase):
    cancel, seen = threading.Event(), []

    def progress(pct, step):
        seen.append(pct)
        if len(seen) > phase:
            cancel.set()

    with pytest.raises(GenerationCancelled):
        generate(tmp_path, resolution=16, progress=progress, cancel=cancel)
    assert len(seen) == phase + 1
    assert not list(tmp_path.iterdir())


def test_results_never_share_a_name_and_leave_no_parts(tmp_path):
    names = {generate(tmp_path, resolution=16).name for _ in range(3)}
    assert len(names) == 3
    assert {path.name for path in tmp_path.iterdir()} == names


def test_manifest_agrees_with_the_code():
    manifest = json.loads((EXTENSION / "manifest.json").read_text())
    from relief.options import Options

    schema = {item["id"]: item for item in manifest["nodes"][0]["params_schema"]}
    defaults = Options()
    assert schema.keys() == vars(defaults).keys()
    assert all(item["default"] == getattr(defaults, name) for name, item in schema.items())
    assert manifest["generator_class"] == ReliefGenerator.__name__


def test_runs_in_the_runner_within_its_memory(tmp_path):
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONDONTWRITEBYTECODE": "1",
        "EXTENSION_DIR": str(EXTENSION),
        "MODEL_DIR": str(tmp_path / "models" / "relief" / "mesh"),
        "WORKSPACE_DIR": str(tmp_path),
    }
    requests = [
        {
            "action": "generate",
            "id": "j",
            "image_path": str(COFFEE),
            "outputs_dir": str(tmp_path / "Default"),
        },
        {"action": "shutdown"},
    ]
    with subprocess.Popen(
        ["/usr/bin/python3", str(ROOT / "runner" / "runner.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        stop = threading.Timer(30, process.kill)
        stop.start()
        for request in requests:
            process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        messages = [json.loads(line) for line in process.stdout]
        stop.cancel()
    done = messages[-1]
    assert done["type"] == "done" and process.returncode == 0
    assert len(messages[0]["params_schema"]) == 4
    assert done["rss_peak_bytes"] < 300 * 1024 * 1024
    assert_sound(Glb(done["output_path"]))


def test_khronos_validator_finds_no_errors(tmp_path, coffee):
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    files = [coffee[0]]
    files += [generate(tmp_path, KINDS[kind], resolution=32) for kind in ("one pixel", "alpha")]
    files.append(generate(tmp_path, depth=0, resolution=16, background="keep"))
    result = subprocess.run(
        ["node", str(VALIDATOR), *map(str, files)], capture_output=True, text=True, timeout=60
    )
    if result.returncode == NO_VALIDATOR:
        pytest.skip("gltf-validator is not installed; set HOTBUNK_NODE_MODULES")
    reports = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(reports) == len(files), result.stderr
    assert all(report["numErrors"] == 0 for report in reports), reports
    assert all(report["numWarnings"] == 0 for report in reports), reports
