"""The daemon's own routes, /api/v1, with scripted workers; and the routes against their document."""

import re
import threading
import time

import harness
import openapi_check
import pytest

UNKNOWN = "00000000-0000-4000-8000-000000000000"
ROUTE = re.compile(r'\{HTTP_METHOD_(\w+), "([^"]+)"')


def text_fake(one, fakeworker_extension, *flags, schema=()):
    node = {"id": "run", "name": "run", "input": "text", "output": "mesh"}
    node["params_schema"] = list(schema)
    fakeworker_extension(one.extensions_dir, "t", *flags, nodes=[node])
    return one.start()


def submit(one, **fields):
    return one.post("/api/v1/jobs", {"model": "t/run", "text": "hello", **fields})


@pytest.fixture
def one(daemon, fakeworker_extension):
    schema = [{"id": "depth", "type": "int", "min": 1, "max": 10, "default": 2}]
    return text_fake(daemon(start=False), fakeworker_extension, "--echo", schema=schema)


@pytest.fixture
def slow(daemon, fakeworker_extension):
    return text_fake(daemon(start=False), fakeworker_extension, "--run-ms", 60000)


def test_every_route_stands_in_the_document_and_the_other_way_round():
    routes = set()
    for path in (harness.ROOT / "src" / "api").glob("*.c"):
        for method, pattern in ROUTE.findall(path.read_text(encoding="utf-8")):
            routes.add((method.lower(), pattern.replace("*}", "}")))
    # A path's rest is taken whole, and its last word is the action.
    routes.discard(("post", "/api/v1/models/{id}"))
    for action in ("load", "unload", "switch"):
        routes.add(("post", f"/api/v1/models/{{id}}/{action}"))
    routes.add(("get", "/api/v1/models/{id}/log"))
    documented = {
        (method, path)
        for path, item in openapi_check.document()["paths"].items()
        for method in item
    }
    assert routes == documented


def test_the_documents_references_and_schemas_are_sound():
    import jsonschema

    document = openapi_check.document()
    for ref in re.findall(r'\$ref: "([^"]+)"', openapi_check.DOCUMENT.read_text(encoding="utf-8")):
        openapi_check.resolve({"$ref": ref})
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_the_daemon_serves_its_document(daemon):
    answer = daemon().get("/openapi.yaml")
    assert answer.text == openapi_check.DOCUMENT.read_text(encoding="utf-8")


def test_version(one):
    answer = one.get("/api/v1/version").json()
    assert answer["pid"] == one.pid
    assert answer["state_dir"] == str(one.state_dir)
    assert answer["modly"] is False


def test_models_and_one_of_them(one):
    answer = one.get("/api/v1/models").json()
    assert "t/run" in [model["id"] for model in answer["models"]]
    assert one.get("/api/v1/models/t/run").json()["state"] == "cold"
    assert one.get("/api/v1/models/t%2Frun").json()["id"] == "t/run"
    unknown = one.get("/api/v1/models/none")
    assert unknown.status == 404
    assert "t/run" in unknown.json()["detail"]


def test_load_waits_and_unload_proves(one):
    model = one.post("/api/v1/models/t/run/load?wait=30")
    assert model.status == 200
    assert model.json()["loaded"] is True
    assert model.json()["pid"] > 0
    workers = one.get("/api/v1/workers").json()["workers"]
    assert [worker["model"] for worker in workers] == ["t/run"]
    answer = one.post("/api/v1/models/t/run/unload?wait=20").json()
    assert answer["id"] == "t/run"
    assert answer["unloaded"] is True
    assert answer["freed_bytes"] > 0
    assert one.post("/api/v1/unload").json()["unloaded"] is True


def test_a_load_without_a_wait_is_202_and_goes_on(daemon, fakeworker_extension):
    one = text_fake(daemon(start=False), fakeworker_extension, "--load-ms", 1000)
    assert one.post("/api/v1/models/t/run/load").status == 202
    harness.wait_until(lambda: one.get("/api/v1/models/t/run").json()["loaded"], 20, "the load")


def test_a_load_that_fails_says_so(daemon, fakeworker_extension):
    one = text_fake(daemon(start=False), fakeworker_extension, "--fail-load", 99)
    answer = one.post("/api/v1/models/t/run/load?wait=60")
    assert answer.status == 502, answer
    assert answer.json()["code"] in ("load_failed", "model_broken")


def test_a_model_that_can_never_fit_is_413(daemon, fakeworker_extension):
    one = daemon(start=False)
    fakeworker_extension(one.extensions_dir, "t", ram_mb=1 << 20)
    one.start()
    answer = one.post("/api/v1/models/t/run/load?wait=30")
    assert answer.status == 413, answer
    assert answer.json()["code"] == "never_fits"


def test_bad_load_requests(one):
    assert one.post("/api/v1/models/none/load").status == 404
    assert one.post("/api/v1/models/t/run/load?wait=-1").status == 400
    assert one.post("/api/v1/models/t/run/load?wait=1e9").status == 400
    assert one.post("/api/v1/models/t/run/unload?force=perhaps").status == 400
    assert one.post("/api/v1/models/t/run/dance").status == 404


def test_switch(one):
    assert one.post("/api/v1/models/t/switch").json() == {"active": "t/run"}
    assert one.get("/api/v1/models").json()["active"] == "t/run"


def test_a_job_from_its_request_to_its_file(one):
    job = submit(one, params={"depth": 3, "own": [1]}, collection="Box")
    assert job.status == 202
    job_id = job.json()["id"]
    job = one.get(f"/api/v1/jobs/{job_id}?wait=30").json()
    assert job["state"] == "done", job
    assert job["progress"] == 100
    assert job["ended_ms"] >= job["started_ms"] >= job["created_ms"] > 0
    assert job["workspace_path"].startswith("Box/")
    output = one.get(f"/api/v1/jobs/{job_id}/output")
    assert output.json() == {"text": "hello", "params": {"depth": 3, "own": [1]}, "image_bytes": -1}
    assert output.body == (one.workspace_dir / job["workspace_path"]).read_bytes()
    assert one.get(job["output_url"]).body == output.body


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"model": "none"}, "t/run"),
        ({"text": None}, "takes a text"),
        ({"text": 7}, "text"),
        ({"text": "a" * 70000}, "too long"),
        ({"params": [1]}, "params"),
        ({"params": {"depth": 11}}, "at most 10"),
        ({"params": {"depth": "2"}}, "whole number"),
        ({"collection": "../x"}, "folder"),
        ({"collection": "a/b"}, "folder"),
    ],
)
def test_a_bad_job_is_400_and_says_why(one, fields, part):
    answer = submit(one, **fields)
    assert answer.status == 400
    assert part in answer.json()["detail"]
    assert one.get("/api/v1/jobs").json()["jobs"] == []


def test_an_image_comes_as_a_form(daemon, fakeworker_extension):
    one = daemon(start=False)
    fakeworker_extension(one.extensions_dir, "i")
    one.start()
    image = ("image", "a.png", "image/png", b"\x89PNG")
    body, headers = harness.multipart({"model": "i", "params": '{"a": 1}'}, [image])
    assert one.post("/api/v1/jobs", body, headers=headers).status == 202
    body, headers = harness.multipart({"model": "i"})
    assert one.post("/api/v1/jobs", body, headers=headers).status == 400
    assert one.post("/api/v1/jobs", b"x", headers={"Content-Type": "text/csv"}).status == 415


def test_jobs_are_listed_newest_first_and_by_state(one):
    ids = [submit(one).json()["id"] for _ in range(3)]
    for job_id in ids:
        one.get(f"/api/v1/jobs/{job_id}?wait=30")
    listed = [job["id"] for job in one.get("/api/v1/jobs?state=done").json()["jobs"]]
    assert sorted(listed) == sorted(ids)
    assert len(one.get("/api/v1/jobs?limit=2").json()["jobs"]) == 2
    assert one.get("/api/v1/jobs?state=error").json()["jobs"] == []
    assert one.get("/api/v1/jobs?state=pending").status == 400
    assert one.get("/api/v1/jobs?limit=0").status == 400


def test_a_restart_still_shows_what_was_done(daemon, fakeworker_extension):
    first = daemon(start=False)
    text_fake(first, fakeworker_extension)
    job_id = submit(first).json()["id"]
    done = first.get(f"/api/v1/jobs/{job_id}?wait=30").json()
    first.close()
    second = daemon(directory=first.dir)
    again = second.get(f"/api/v1/jobs/{job_id}").json()
    for key in ("state", "output_path", "created_ms", "ended_ms", "run_ms"):
        assert again[key] == done[key], key
    assert second.get(f"/api/v1/jobs/{job_id}/output").status == 200


def test_a_wait_ends_with_the_job_or_in_time(slow):
    job_id = submit(slow).json()["id"]
    begin = time.monotonic()
    job = slow.get(f"/api/v1/jobs/{job_id}?wait=0.3").json()
    assert 0.25 < time.monotonic() - begin < 5
    assert job["state"] in ("queued", "running")
    timer = threading.Timer(0.5, slow.post, [f"/api/v1/jobs/{job_id}/cancel"])
    timer.start()
    assert slow.get(f"/api/v1/jobs/{job_id}?wait=30").json()["state"] == "cancelled"
    timer.join()
    assert slow.get(f"/api/v1/jobs/{job_id}/output").status == 404


def test_unknown_jobs_are_404(one):
    for path in (f"/api/v1/jobs/{UNKNOWN}", f"/api/v1/jobs/{UNKNOWN}/output", "/api/v1/jobs/x"):
        assert one.get(path).status == 404
    assert one.post(f"/api/v1/jobs/{UNKNOWN}/cancel").status == 404


def test_a_queued_job_says_why_it_waits(slow):
    submit(slow)
    second = submit(slow).json()["id"]
    harness.wait_until(lambda: slow.get(f"/api/v1/jobs/{second}").json()["why"], 10, "a reason")


def test_devices_have_figures(one):
    device = one.get("/api/v1/devices").json()["devices"][0]
    assert device["id"] == "host"
    assert device["total_bytes"] > 0


def test_a_models_log_is_text(daemon, fakeworker_extension):
    one = text_fake(daemon(start=False), fakeworker_extension, "--stderr-noise", 4096)
    one.get(f"/api/v1/jobs/{submit(one).json()['id']}?wait=30")
    answer = one.get("/api/v1/models/t/run/log?bytes=1000")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert 0 < len(answer.body) <= 1000
    assert one.get("/api/v1/models/t/run/log?bytes=0").status == 400


def follow(one, path, headers=None):
    """The events of a job until it has ended."""
    seen = []
    for kind, data in one.events(path, headers=headers):
        seen.append((kind, data))
        if kind == "job" and data["state"] in ("done", "error", "cancelled"):
            return seen
    return seen


def test_events_tell_a_jobs_life(one):
    seen = []
    reader = threading.Thread(target=lambda: seen.extend(follow(one, "/api/v1/events")))
    reader.start()
    time.sleep(0.3)
    job_id = submit(one).json()["id"]
    reader.join(30)
    states = [data["state"] for kind, data in seen if kind == "job" and data["id"] == job_id]
    assert states[-1] == "done"
    assert "running" in states
    moves = [data["to"] for kind, data in seen if kind == "worker" and data["model"] == "t/run"]
    assert moves[:3] == ["starting", "loading", "ready"]


def test_events_are_replayed_after_an_id(one):
    job_id = submit(one).json()["id"]
    one.get(f"/api/v1/jobs/{job_id}?wait=30")
    seen = follow(one, f"/api/v1/events?job={job_id}", {"Last-Event-ID": "1"})
    assert {data["id"] for _, data in seen} == {job_id}
    assert seen[-1][1]["state"] == "done"


def test_unknown_paths_and_methods_have_a_code(one):
    assert one.get("/api/v1/nothing").json()["code"] == "not_found"
    wrong = one.post("/api/v1/workers")
    assert wrong.status == 405
    assert wrong.json()["code"] == "method_not_allowed"
