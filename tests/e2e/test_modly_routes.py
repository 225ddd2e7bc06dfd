"""Modly's routes of the real daemon, with scripted workers. Shapes: docs/openapi.yaml, which the
harness checks on every answer."""

import json
import urllib.parse

import harness
import pytest

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc000000301010018dd8db00000000049454e44ae426082"
)
SECRET = "not for anybody's eyes"


@pytest.fixture
def one(daemon, fakeworker_extension):
    """A daemon with the models a/run and b/run."""
    made = daemon(start=False)
    fakeworker_extension(made.extensions_dir, "a", "--run-ms", 50, "--output-ext", ".glb")
    fakeworker_extension(made.extensions_dir, "b", "--run-ms", 50)
    return made.start()


def generate(one, image=("image", "a.png", "image/png", PNG), **fields):
    body, headers = harness.multipart(fields, [image] if image else [])
    return one.post("/generate/from-image", body, headers=headers)


def detail(answer):
    return answer.json()["detail"]


def test_health_is_always_the_same(one):
    answer = one.get("/health")
    assert answer.status == 200
    assert answer.body == b'{"status":"ok"}'


def test_a_photograph_becomes_a_file_of_the_workspace(one):
    job_id = generate(one, model_id="a/run", collection="Chairs").json()["job_id"]
    job = one.wait_job(job_id)
    assert job["status"] == "done", job
    assert job["progress"] == 100
    assert job["output_url"].startswith("/workspace/Chairs/")
    path = one.workspace_dir / job["output_url"].removeprefix("/workspace/")
    answer = one.get(urllib.parse.quote(job["output_url"]))
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "model/gltf-binary"
    assert answer.body == path.read_bytes()


def test_a_part_of_a_file_can_be_asked_for(one):
    (one.workspace_dir / "x.glb").write_bytes(b"0123456789")
    answer = one.get("/workspace/x.glb", headers={"Range": "bytes=2-4"})
    assert (answer.status, answer.body) == (206, b"234")
    again = one.get("/workspace/x.glb", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")
    head = one.request("HEAD", "/workspace/x.glb")
    assert (head.status, head.headers["Content-Length"], head.body) == (200, "10", b"")


@pytest.mark.parametrize(
    "path",
    [
        "/workspace/../secret",
        "/workspace/%2e%2e/secret",
        "/workspace/..%2fsecret",
        "/workspace//etc/passwd",
        "/workspace/%2fetc%2fpasswd",
        "/workspace/a/../../secret",
        "/workspace/link",
        "/workspace/folder",
        "/workspace/",
        "/workspace/a%00b",
    ],
)
def test_nothing_outside_the_workspace_is_served(one, path):
    secret = one.workspace_dir.parent / "secret"
    secret.write_text(SECRET)
    (one.workspace_dir / "link").symlink_to(secret)
    (one.workspace_dir / "folder").mkdir()
    answer = one.get(path)
    assert answer.status in (307, 400, 404)
    assert SECRET.encode() not in answer.body
    assert b"root:" not in answer.body


def test_all_and_params(one):
    models = one.get("/model/all").json()
    assert [model["id"] for model in models][:2] == ["a/run", "b/run"]
    assert isinstance(one.get("/model/params?model_id=a/run").json(), list)
    assert isinstance(one.get("/model/params").json(), list)
    assert one.get("/model/params?model_id=none").status == 404


@pytest.mark.parametrize("way", ["query", "json", "form"])
def test_switch_takes_the_id_in_every_way(one, way):
    if way == "query":
        answer = one.post("/model/switch?model_id=b%2Frun")
    elif way == "json":
        answer = one.post("/model/switch", {"model_id": "b/run"})
    else:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = one.post("/model/switch", b"model_id=b%2Frun", headers=headers)
    assert answer.json() == {"active": "b/run"}
    assert one.get("/model/status").json()["id"] == "b/run"


def test_switch_refuses_what_it_cannot_do(one):
    disagree = one.post("/model/switch?model_id=a/run", {"model_id": "b/run"})
    assert disagree.status == 400
    unknown = one.post("/model/switch?model_id=sf3d")
    assert unknown.status == 400
    assert "a/run" in detail(unknown)
    assert one.post("/model/switch", {}).status == 422
    assert one.get("/model/status").json()["id"] == "a/run"


@pytest.mark.parametrize("spelling", ["a/run", "a%2Frun", "a%2frun"])
def test_unload_takes_every_spelling_of_an_id(one, spelling):
    one.wait_job(generate(one, model_id="a/run").json()["job_id"])
    assert next(m for m in one.get("/model/all").json() if m["id"] == "a/run")["loaded"]
    answer = one.post(f"/model/unload/{spelling}").json()
    assert answer["unloaded"] is True
    assert answer["freed_bytes"] > 0
    assert not any(model["loaded"] for model in one.get("/model/all").json())


def test_unload_of_an_unknown_model_is_done_already(one):
    assert one.post("/model/unload/who/knows").json()["unloaded"] is True


def test_unload_all(one):
    for model in ("a/run", "b/run"):
        one.wait_job(generate(one, model_id=model).json()["job_id"])
    assert one.post("/model/unload-all", {}).json()["unloaded"] is True
    assert one.get("/api/v1/workers").json()["workers"] == []


def test_a_forced_unload_ends_the_running_job_as_an_error(daemon, fakeworker_extension):
    one = daemon(start=False)
    fakeworker_extension(one.extensions_dir, "long", "--run-ms", 60000)
    one.start()
    job_id = generate(one, model_id="long").json()["job_id"]
    harness.wait_until(
        lambda: one.get(f"/generate/status/{job_id}").json()["status"] == "running", 20, "a start"
    )
    assert one.post("/model/unload/long/run?force=1").json()["unloaded"] is True
    job = one.wait_job(job_id)
    assert job["status"] == "error"
    assert one.get(f"/api/v1/jobs/{job_id}").json()["error_code"] == "unloaded"


def test_a_missing_model_id_means_the_active_model(one):
    one.post("/model/switch?model_id=b")
    job_id = generate(one).json()["job_id"]
    assert one.get(f"/api/v1/jobs/{job_id}").json()["model"] == "b/run"


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"model_id": "sf3d"}, "a/run"),
        ({"remesh": "hex"}, "quad"),
        ({"params": "{"}, "JSON object"),
        ({"params": "[1]"}, "JSON object"),
        ({"params": "3"}, "JSON object"),
        ({"params": "{'a': 1}"}, "JSON object"),
        ({"collection": ".."}, "workspace"),
        ({"collection": "../x"}, "workspace"),
        ({"collection": "/tmp"}, "workspace"),
    ],
)
def test_a_bad_field_is_400_and_says_why(one, fields, part):
    answer = generate(one, **fields)
    assert answer.status == 400
    assert part in detail(answer)
    assert one.get("/api/v1/jobs").json()["jobs"] == []


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream", "imagepng"])
def test_a_part_that_is_no_image_is_400(one, kind):
    answer = generate(one, ("image", "a.png", kind, PNG))
    assert answer.status == 400
    assert "File must be an image" in detail(answer)


def test_missing_and_mistyped_fields_are_422_with_their_places(one):
    answer = generate(one, None, enable_texture="maybe", texture_resolution="1k")
    assert answer.status == 422
    faults = {fault["loc"][-1]: fault for fault in detail(answer)}
    assert faults["image"]["type"] == "missing"
    assert faults["enable_texture"]["type"] == "bool_parsing"
    assert faults["texture_resolution"]["input"] == "1k"


def test_a_name_that_no_folder_can_have_becomes_default(one):
    job_id = generate(one, model_id="a", collection='a:"b"').json()["job_id"]
    assert one.get(f"/api/v1/jobs/{job_id}").json()["collection"] == "Default"


def test_the_users_params_win(daemon, fakeworker_extension):
    one = daemon(start=False)
    fakeworker_extension(one.extensions_dir, "echo", "--echo")
    one.start()
    job_id = generate(one, remesh="none", params=json.dumps({"remesh": "mine", "n": 1})).json()
    job_id = job_id["job_id"]
    assert one.wait_job(job_id)["status"] == "done"
    params = one.get(f"/api/v1/jobs/{job_id}/output").json()["params"]
    assert params["remesh"] == "mine"
    assert params["n"] == 1
    assert params["texture_resolution"] == 1024


def test_cancel_of_unknown_and_finished_jobs(one):
    job_id = generate(one, model_id="a/run").json()["job_id"]
    one.wait_job(job_id)
    assert one.post(f"/generate/cancel/{job_id}").json() == {"cancelled": True}
    assert one.get(f"/generate/status/{job_id}").json()["status"] == "done"
    unknown = "00000000-0000-4000-8000-000000000000"
    assert one.post(f"/generate/cancel/{unknown}").status == 404
    assert one.get(f"/generate/status/{unknown}").status == 404
    assert one.get("/generate/status/nonsense").status == 404


def test_a_cancel_ends_a_running_job_as_cancelled(daemon, fakeworker_extension):
    one = daemon(start=False)
    fakeworker_extension(one.extensions_dir, "long", "--run-ms", 60000)
    one.start()
    job_id = generate(one).json()["job_id"]
    assert one.post(f"/generate/cancel/{job_id}").json() == {"cancelled": True}
    assert one.wait_job(job_id)["status"] == "cancelled"


def test_reload_finds_what_is_new_and_what_is_broken(one, fakeworker_extension):
    assert one.get("/extensions/errors").json() == {}
    fakeworker_extension(one.extensions_dir, "c")
    broken = one.extensions_dir / "broken"
    broken.mkdir()
    (broken / "manifest.json").write_text('{"id": "broken",')
    answer = one.post("/extensions/reload").json()
    assert "c/run" in answer["models"]
    assert "a/run" in answer["models"]
    assert "manifest.json" in answer["errors"]["broken"]
    assert one.get("/extensions/errors").json() == answer["errors"]


def test_settings_and_gpu(one):
    paths = one.get("/settings/paths").json()
    assert paths["workspace_dir"] == str(one.workspace_dir)
    assert paths["models_dir"] == str(one.models_dir)
    assert one.get("/system/gpu").json() == {"sm": 0, "cudaVersion": 0, "accelerator": "cpu"}


def test_unknown_paths_and_methods(one):
    assert one.get("/nothing").json() == {"detail": "Not Found"}
    wrong = one.get("/model/switch")
    assert wrong.status == 405
    assert wrong.headers["Allow"] == "POST"
    assert wrong.json() == {"detail": "Method Not Allowed"}
    assert one.get("/model/all/").status == 307
