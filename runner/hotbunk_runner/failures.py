"""Turns an exception into the fields of a protocol error message.

Classes are recognised by name anywhere in their ancestry: extensions bring their own copies, and
torch's cannot be named without importing torch.
"""

from __future__ import annotations

import traceback
from typing import Any, Optional

MAX_MESSAGE_CHARS = 4000
MAX_TRACEBACK_CHARS = 32000
MAX_CAUSES = 8

OUT_OF_MEMORY_CLASSES = ("MemoryError", "OutOfMemoryError")
OUT_OF_MEMORY_SIGNS = (
    "CUDA out of memory",
    "CUDA error: out of memory",
    "HIP out of memory",
    "HIP error: out of memory",
    "XPU out of memory",
    "MPS backend out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "DefaultCPUAllocator: can't allocate memory",
)


def is_cancelled(exc: BaseException) -> bool:
    """True for any class that is called GenerationCancelled."""
    return _has_ancestor(exc, ("GenerationCancelled",))


def describe(exc: BaseException, fallback_code: str = "error") -> dict[str, Any]:
    """Return message, traceback, code and, for a missing module, its name."""
    code = classify(exc) or fallback_code
    fields: dict[str, Any] = {
        "message": message_of(exc),
        "traceback": traceback_of(exc),
        "code": code,
    }
    if code == "missing_module":
        fields["module"] = getattr(exc, "name", None)
    return fields


def classify(exc: BaseException) -> Optional[str]:
    """Name the kind of failure, or None if no positive sign is found."""
    if _has_ancestor(exc, ("BadInput",)):
        return "bad_input"
    if isinstance(exc, ModuleNotFoundError) and exc.name:
        return "missing_module"
    cause: Optional[BaseException] = exc
    for _ in range(MAX_CAUSES):
        if cause is None:
            break
        if _is_out_of_memory(cause):
            return "out_of_memory"
        cause = cause.__cause__
    return None


def message_of(exc: BaseException) -> str:
    """The exception's text; with its class name where the text alone says too little."""
    name = type(exc).__name__
    try:
        text = str(exc)
    except Exception:
        text = ""
    if not text:
        text = name
    elif isinstance(exc, (LookupError, AssertionError, SystemExit)):
        text = f"{name}: {text}"
    return text[:MAX_MESSAGE_CHARS]


def traceback_of(exc: BaseException) -> str:
    """The formatted traceback, its end if it is long."""
    try:
        lines = traceback.format_exception(type(exc), exc, exc.__traceback__)
        return "".join(lines)[-MAX_TRACEBACK_CHARS:]
    except Exception:
        return ""


def _is_out_of_memory(exc: BaseException) -> bool:
    if _has_ancestor(exc, OUT_OF_MEMORY_CLASSES):
        return True
    return any(sign in message_of(exc) for sign in OUT_OF_MEMORY_SIGNS)


def _has_ancestor(exc: BaseException, names: tuple[str, ...]) -> bool:
    return any(cls.__name__ in names for cls in type(exc).__mro__)
