// The formats that are checked: small, strict enough to catch a wrong shape, never stricter than the standard.

import { isIPv4, isIPv6 } from "node:net";
import { byteLength } from "../text.js";

interface Format {
  readonly accepts: (text: string) => boolean;
  /** What to send instead, as the rest of a sentence that begins with the parameter's name. */
  readonly fragment: string;
}

/** The checked formats by name; other names mean nothing. */
export const FORMATS: ReadonlyMap<string, Format> = new Map([
  ["date", { accepts: isDate, fragment: "must be a date such as 2025-01-31" }],
  ["date-time", { accepts: isDateTime, fragment: "must be a date and time with zone such as 2025-01-31T09:30:00Z" }],
  ["time", { accepts: isTime, fragment: "must be a time with zone such as 09:30:00Z" }],
  ["email", { accepts: isEmail, fragment: "must be an email address such as name@example.com" }],
  ["uri", { accepts: isUri, fragment: "must be an absolute URI such as https://example.com/page" }],
  ["uuid", { accepts: isUuid, fragment: "must be a UUID such as 123e4567-e89b-12d3-a456-426614174000" }],
  ["ipv4", { accepts: isIPv4, fragment: "must be an IPv4 address such as 192.0.2.1" }],
  ["ipv6", { accepts: isAddress6, fragment: "must be an IPv6 address such as 2001:db8::1" }],
  ["hostname", { accepts: isHostname, fragment: "must be a host name such as example.com" }],
  ["byte", { accepts: isBase64, fragment: "must be base64 text such as aGVsbG8=" }],
]);

function isDate(text: string): boolean {
  const [, year, month, day] = (/^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return last !== undefined && day >= 1 && day <= last;
}

function isDateTime(text: string): boolean {
  const at = text.search(/[Tt]/);
  return at >= 0 && isDate(text.slice(0, at)) && isTime(text.slice(at + 1));
}

function isTime(text: string): boolean {
  const zoned = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))$/.exec(text);
  if (zoned === null) return false;
  const [hour = 0, minute = 0, second = 0, offsetHour = 0, offsetMinute = 0] = zoned.slice(1).map((part) => Number(part || 0));
  return hour < 24 && minute < 60 && second <= 60 && offsetHour < 24 && offsetMinute < 60;
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || byteLength(local) > 64 || /[\p{White_Space}\p{Cc}]/u.test(local)) return false;
  return isHostname(domain) || (domain.startsWith("[") && domain.endsWith("]"));
}

function isUri(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+\-.]*:[^\p{White_Space}\p{Cc}<>"]+$/u.test(text);
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

function isAddress6(text: string): boolean {
  return isIPv6(text) && !text.includes("%");
}

function isHostname(text: string): boolean {
  const name = text.endsWith(".") ? text.slice(0, -1) : text;
  const isLabel = (label: string) =>
    byteLength(label) <= 63 && /^[\p{Alphabetic}\p{N}-]+$/u.test(label) && !label.startsWith("-") && !label.endsWith("-");
  return byteLength(name) <= 253 && name.split(".").every(isLabel);
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
