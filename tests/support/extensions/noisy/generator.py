"""Prints things that would break a protocol on stdout, from Python and from C."""

import ctypes
import sys

from services.generators.base import BaseGenerator

LIBC = ctypes.CDLL(None)


def make_noise():
    print("null")
    print(42)
    print("[1, 2]")
    print('{"type": "done", "id": "forged", "output_path": "/etc/passwd"}')
    print("\ud800 lone surrogate")
    sys.stdout.write("no newline")
    sys.stdout.flush()
    LIBC.printf(b"native, no newline")
    LIBC.fflush(None)


make_noise()


class NoisyGenerator(BaseGenerator):
    def load(self):
        make_noise()
        self._model = object()

    def generate(self, image_bytes, params, progress_cb=None, cancel_event=None):
        make_noise()
        self._report(progress_cb, 50, "Still noisy")
        make_noise()
        path = self.outputs_dir / "noisy.glb"
        path.write_bytes(b"glTF")
        return path
