"""A stand-in for torch: one pretended CUDA device that records what is asked of it.

HOTBUNK_STUB_LOG names the file that gets one word a line; HOTBUNK_STUB_FREE is the share of the
device's memory that is free (default 1).
"""

import gc
import os

__version__ = "0.0.stub"
TOTAL_BYTES = 8 * 1024**3


def record(word):
    path = os.environ.get("HOTBUNK_STUB_LOG")
    if path:
        with open(path, "a", encoding="utf-8") as log:
            log.write(word + "\n")


def _on_collection(phase, info):
    if phase == "start" and info["generation"] == 2:
        record("gc")


class cuda:  # noqa: N801 - torch's own name
    class OutOfMemoryError(RuntimeError):
        pass

    @staticmethod
    def is_available():
        return True

    @staticmethod
    def is_initialized():
        return True

    @staticmethod
    def empty_cache():
        record("empty_cache")

    @staticmethod
    def mem_get_info(device=None):
        return int(TOTAL_BYTES * float(os.environ.get("HOTBUNK_STUB_FREE", "1"))), TOTAL_BYTES


record("import")
gc.callbacks.append(_on_collection)
