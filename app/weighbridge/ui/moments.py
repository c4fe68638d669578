"""When something was, as a person says it. No Qt here."""

from __future__ import annotations

from datetime import datetime

from weighbridge.base.words import text


def when(then_s: float, now_s: float) -> str:
    """How long ago, short: "now", "5 min", "2 h", "yesterday", "2026-05-12"; seconds since 1970."""
    passed = now_s - then_s
    then, now = datetime.fromtimestamp(then_s), datetime.fromtimestamp(now_s)
    if passed < 60:
        return text("now")
    if passed < 3600:
        return text("{minutes} min", minutes=int(passed // 60))
    if then.date() == now.date():
        return text("{hours} h", hours=int(passed // 3600))
    if (now.date() - then.date()).days == 1:
        return text("yesterday")
    return then.date().isoformat()


def last_used(used_s: float | None, now_s: float) -> str:
    """ "never", "today", "yesterday", or the day; seconds since 1970."""
    if used_s is None:
        return text("never")
    used, now = datetime.fromtimestamp(used_s).date(), datetime.fromtimestamp(now_s).date()
    if used >= now:
        return text("today")
    return text("yesterday") if (now - used).days == 1 else used.isoformat()
