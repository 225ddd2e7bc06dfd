"""Works for params.seconds (default 60) in small steps and stops when asked, with its own class."""

import time

from services.generators.base import BaseGenerator


class GenerationCancelled(RuntimeError):
    """This extension's own class; the host knows it by its name."""


class Stopped(GenerationCancelled):
    """A subclass under another name."""


class SlowGenerator(BaseGenerator):
    def load(self):
        self._model = object()

    def generate(self, image_bytes, params, progress_cb=None, cancel_event=None):
        end = time.monotonic() + float(params.get("seconds", 60))
        pct = 0
        while time.monotonic() < end:
            pct = min(99, pct + 1)
            progress_cb(pct, "Working")
            if cancel_event.wait(0.01) and not params.get("stubborn"):
                raise Stopped("stopped in the middle")
        path = self.outputs_dir / "slow.glb"
        path.write_bytes(b"glTF")
        return path
