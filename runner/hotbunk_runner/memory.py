"""Gives memory back to the device and to the system, and measures what was used.

torch is used only if the extension has imported it; importing it here would cost a second and
hundreds of MB. Nothing in this module raises: a failed clean-up must not fail a finished job.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from contextlib import suppress
from typing import Any, Optional

PRESSURE_FREE_SHARE = 0.10
CLEAR_MODES = ("job", "pressure", "never")


def clear_mode() -> str:
    """When to clean up after a job: HOTBUNK_CLEAR_AFTER, `job` unless it holds a known word."""
    mode = os.environ.get("HOTBUNK_CLEAR_AFTER", "job")
    return mode if mode in CLEAR_MODES else "job"


def clear_after_job() -> None:
    """Collect garbage and empty the device caches, as often as HOTBUNK_CLEAR_AFTER asks."""
    mode = clear_mode()
    if mode == "never" or (mode == "pressure" and not under_pressure()):
        return
    release_cached_memory()


def spare_imports() -> None:
    """Leave what exists now out of later collections: modules stay, so walking them only costs."""
    gc.collect()
    gc.freeze()


def release_cached_memory() -> None:
    """Collect garbage, then empty the device caches: only what is unreferenced leaves a cache."""
    with suppress(Exception):
        gc.collect()
    for backend in _live_backends():
        with suppress(Exception):
            backend.empty_cache()


def trim_heap() -> None:
    """Hand free heap pages back to the system (glibc only)."""
    with suppress(Exception):
        ctypes.CDLL(None).malloc_trim(0)


def under_pressure() -> bool:
    """True if a CUDA device in use has less than a tenth of its memory free."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not _is_initialized(cuda):
        return False
    with suppress(Exception):
        free, total = cuda.mem_get_info()
        return bool(free < total * PRESSURE_FREE_SHARE)
    return False


def reset_peak() -> None:
    """Let the peak start again from what is resident now (Linux; elsewhere it stays)."""
    with suppress(OSError):
        with open("/proc/self/clear_refs", "w", encoding="ascii") as refs:
            refs.write("5")


def rss_peak_bytes() -> Optional[int]:
    """The most memory this process held since reset_peak(), in bytes; None where it is unknown.

    Pages of files (libraries, mapped weights) are left out: the kernel can drop them, and the
    host counts the same way. VmHWM comes first: ru_maxrss survives exec, so it may be the size of
    whoever started us.
    """
    with suppress(OSError, ValueError, IndexError, KeyError):
        with open("/proc/self/status", "r", encoding="utf-8", errors="replace") as status:
            fields = dict(line.split(":", 1) for line in status if ":" in line)
        kib = {name: int(fields[name].split()[0]) for name in ("VmHWM", "RssFile")}
        return max(0, kib["VmHWM"] - kib["RssFile"]) * 1024
    with suppress(Exception):
        import resource

        unit_bytes = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes
    return None


def _live_backends() -> list[Any]:
    """The torch backends that hold a cache: only initialised ones, so that no context is made."""
    torch = sys.modules.get("torch")
    found = []
    for name in ("cuda", "xpu"):
        backend = getattr(torch, name, None)
        if backend is not None and _is_initialized(backend):
            found.append(backend)
    mps = getattr(torch, "mps", None)
    if mps is not None and _mps_available(torch):
        found.append(mps)
    return [backend for backend in found if hasattr(backend, "empty_cache")]


def _is_initialized(backend: Any) -> bool:
    with suppress(Exception):
        return bool(backend.is_initialized())
    return False


def _mps_available(torch: Any) -> bool:
    with suppress(Exception):
        return bool(torch.backends.mps.is_available())
    return False
