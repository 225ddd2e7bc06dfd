"""Reports odd percentages, and goes on from a thread after the job has ended."""

import threading

from services.generators.base import BaseGenerator


class LateProgressGenerator(BaseGenerator):
    def load(self):
        self._model = object()

    def generate(self, image_bytes, params, progress_cb=None, cancel_event=None):
        for pct in (-5, 10, 60, 30, "70", None, float("nan"), 250):
            progress_cb(pct, f"at {pct}")
        stop = threading.Event()

        def keep_on():
            for _ in range(200):
                if stop.wait(0.005):
                    return
                progress_cb(99, "late")

        threading.Thread(target=keep_on, daemon=True).start()
        path = self.outputs_dir / "late.glb"
        path.write_bytes(b"glTF")
        return path
