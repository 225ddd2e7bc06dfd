#!/bin/sh
# The demo: one photograph, one sentence, and where the memory went. Run by ./dev demo.
# Everything but the results lives in a temporary folder; a daemon that already runs is not touched.
set -eu

start_seconds=30 # for the daemon to answer
stop_seconds=30  # for it to end
hotbunk=build/hotbunk
out=build/demo
photo=extensions/relief/examples/coffee.jpg
sentence="Hello. One bunk, many sleepers: the models on this machine now share one memory."

scratch=$(mktemp -d "${TMPDIR:-/tmp}/hotbunk-demo.XXXXXX")
log=$scratch/daemon.log
daemon=
export HOTBUNK_RUNTIME_DIR="$scratch/run"
unset HOTBUNK_URL MODELS_DIR WORKSPACE_DIR EXTENSIONS_DIR || true

# wait_gone SECONDS: whether the daemon has ended by then.
wait_gone() {
    tries=$(($1 * 10))
    while kill -0 "$daemon" 2>/dev/null; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.1
    done
}

finish() {
    status=$?
    trap - EXIT INT TERM HUP
    if [ -n "$daemon" ]; then
        kill -TERM "$daemon" 2>/dev/null || true
        wait_gone "$stop_seconds" || kill -KILL "$daemon" 2>/dev/null || true
    fi
    if [ $status -ne 0 ]; then
        printf '\ndemo: failed. The last lines of the daemon:\n' >&2
        tail -n 30 "$log" >&2 2>/dev/null || true
        status=1
    fi
    rm -rf "$scratch"
    exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say() {
    printf '\n==> %s\n' "$*"
}

# field NAME FILE: one member of a JSON object.
field() {
    /usr/bin/python3 -c '
import json, sys
print(json.load(open(sys.argv[2]))[sys.argv[1]])' "$1" "$2"
}

mib() {
    awk -v bytes="$1" 'BEGIN { printf "%.1f MiB", bytes / 1048576 }'
}

start_daemon() {
    mkdir -p "$out" "$HOTBUNK_RUNTIME_DIR"
    "$hotbunk" serve --port 0 --state-dir "$scratch/state" --models-dir "$scratch/models" \
        --workspace-dir "$scratch/workspace" >"$log" 2>&1 &
    daemon=$!
    tries=$((start_seconds * 20))
    until [ -s "$HOTBUNK_RUNTIME_DIR/address" ]; do
        kill -0 "$daemon" 2>/dev/null || return 1
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.05
    done
}

# held: the bytes that Hotbunk's workers hold now.
held() {
    "$hotbunk" ps --json >"$scratch/ps.json"
    /usr/bin/python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))
rows = rows.get("workers", []) if isinstance(rows, dict) else rows
print(sum(row.get("held_bytes", 0) for row in rows))' "$scratch/ps.json"
}

# report FILE JSON: what one job cost.
report() {
    [ -s "$1" ] || { printf 'demo: %s is empty\n' "$1" >&2 && exit 1; }
    load=$(field load_ms "$2")
    run=$(field run_ms "$2")
    bytes=$(field held_bytes "$2")
    printf '    file    %s (%s bytes)\n' "$1" "$(wc -c <"$1")"
    printf '    load    %s ms\n    run     %s ms\n' "$load" "$run"
    printf '    memory  %s held by its worker\n' "$(mib "$bytes")"
}

say 'starting the daemon on a free loopback port'
start_daemon
printf '    %s\n' "$(cat "$HOTBUNK_RUNTIME_DIR/address")"

say "a photograph into a mesh: hotbunk generate $photo -o $out/coffee.glb"
"$hotbunk" generate "$photo" -o "$out/coffee.glb" --json >"$scratch/mesh.json"
report "$out/coffee.glb" "$scratch/mesh.json"

say "a sentence into speech: hotbunk say \"...\" -o $out/hello.wav"
"$hotbunk" say "$sentence" -o "$out/hello.wav" --json >"$scratch/speech.json"
report "$out/hello.wav" "$scratch/speech.json"

say 'what is loaded now: hotbunk ps'
"$hotbunk" ps
before=$(held)

say 'giving the memory back: hotbunk unload --all'
"$hotbunk" unload --all --json >"$scratch/unload.json"
after=$(held)
freed=$(field freed_bytes "$scratch/unload.json")
printf '    held before %s, after %s; freed %s\n' \
    "$(mib "$before")" "$(mib "$after")" "$(mib "$freed")"
if [ "$before" -eq 0 ] || [ "$after" -ne 0 ]; then
    printf 'demo: the memory did not come back\n' >&2
    exit 1
fi

say 'stopping the daemon'
kill -TERM "$daemon"
wait_gone "$stop_seconds"
wait "$daemon" || { printf 'demo: the daemon ended with status %s\n' $? >&2 && exit 1; }
daemon=

say "done: $out/coffee.glb opens in any 3D viewer, $out/hello.wav in any player"
printf '    go on with: ./dev serve, and then build/hotbunk --help in another terminal\n'
