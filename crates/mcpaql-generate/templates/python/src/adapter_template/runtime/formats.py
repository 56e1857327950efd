"""The formats that are checked: small, strict enough to catch a wrong shape, never stricter than the standard."""

from __future__ import annotations

import calendar
import ipaddress
import re
import unicodedata
from typing import TYPE_CHECKING

from .text import WHITE, is_alphanumeric, size

if TYPE_CHECKING:
    from collections.abc import Callable

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_DAYS = {1: 31, 2: 28, 3: 31, 4: 30, 5: 31, 6: 30, 7: 31, 8: 31, 9: 30, 10: 31, 11: 30, 12: 31}
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?([Zz]|[+-]([0-9]{2}):([0-9]{2}))")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    if not found:
        return False
    year, month, day = map(int, found.groups())
    last = 29 if month == 2 and calendar.isleap(year) else _DAYS.get(month, 0)
    return 1 <= day <= last


def _is_date_time(text: str) -> bool:
    date, mark, time = text.replace("t", "T").partition("T")
    return bool(mark) and _is_date(date) and _is_time(time)


def _is_time(text: str) -> bool:
    found = _TIME.fullmatch(text)
    if not found:
        return False
    hour, minute, second = map(int, found.groups()[:3])
    zone_hour, zone_minute = (int(part or 0) for part in found.groups()[5:])
    return hour < 24 and minute < 60 and second <= 60 and zone_hour < 24 and zone_minute < 60


def _is_email(text: str) -> bool:
    local, mark, domain = text.rpartition("@")
    if not mark or not local or size(local) > 64 or any(map(_is_blank, local)):
        return False
    return _is_hostname(domain) or (domain.startswith("[") and domain.endswith("]"))


def _is_uri(text: str) -> bool:
    scheme, _, rest = text.partition(":")
    return bool(_SCHEME.fullmatch(scheme) and rest) and not any(c in '<>"' or _is_blank(c) for c in rest)


def _is_uuid(text: str) -> bool:
    return bool(_UUID.fullmatch(text))


def _is_ipv4(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return "%" not in text


def _is_hostname(text: str) -> bool:
    text = text.removesuffix(".")
    return 0 < size(text) <= 253 and all(map(_is_label, text.split(".")))


def _is_label(text: str) -> bool:
    plain = all(c == "-" or is_alphanumeric(c) for c in text)
    return 0 < size(text) <= 63 and plain and not text.startswith("-") and not text.endswith("-")


def _is_base64(text: str) -> bool:
    return len(text) % 4 == 0 and bool(_BASE64.fullmatch(text))


def _is_blank(char: str) -> bool:
    return char in WHITE or unicodedata.category(char) == "Cc"


FORMATS: dict[str, tuple[Callable[[str], bool], str]] = {
    "date": (_is_date, "must be a date such as 2025-01-31"),
    "date-time": (_is_date_time, "must be a date and time with zone such as 2025-01-31T09:30:00Z"),
    "time": (_is_time, "must be a time with zone such as 09:30:00Z"),
    "email": (_is_email, "must be an email address such as name@example.com"),
    "uri": (_is_uri, "must be an absolute URI such as https://example.com/page"),
    "uuid": (_is_uuid, "must be a UUID such as 123e4567-e89b-12d3-a456-426614174000"),
    "ipv4": (_is_ipv4, "must be an IPv4 address such as 192.0.2.1"),
    "ipv6": (_is_ipv6, "must be an IPv6 address such as 2001:db8::1"),
    "hostname": (_is_hostname, "must be a host name such as example.com"),
    "byte": (_is_base64, "must be base64 text such as aGVsbG8="),
}
"""Each with its check, and what to send instead, as the rest of a sentence that begins with the parameter's name."""
