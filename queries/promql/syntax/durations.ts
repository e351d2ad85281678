import { quoteText } from './quotes.ts';

const durationPattern = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const unitMs = [365 * day, 7 * day, day, hour, minute, second, 1] as const;

const units = new Set(['y', 'w', 'd', 'h', 'm', 's', 'ms']);

const describeProblem = (text: string): string => {
  const pairs = /^(?:\d+\D+)+$/.test(text) ? [...text.matchAll(/\d+(\D+)/g)] : [];
  const unknown = pairs.find(([, unit = '']) => !units.has(unit))?.[1];
  return unknown === undefined
    ? `not a valid duration string: ${quoteText(text)}`
    : `unknown unit ${quoteText(unknown)} in duration ${quoteText(text)}`;
};

/** Parses a duration such as `1h30m` to milliseconds; returns the problem in Prometheus' words if it is invalid. */
export const parseDurationMs = (text: string): number | string => {
  if (text === '0') return 0;
  if (text === '') return 'empty duration string';
  const parts = durationPattern.exec(text);
  if (parts === null) return describeProblem(text);
  let sum = 0;
  for (const [index, unit] of unitMs.entries()) sum += Number(parts[index + 1] ?? 0) * unit;
  return sum > 9_223_372_036_854 ? 'duration out of range' : sum;
};

/** Formats milliseconds as a duration. Years and weeks are used only alone: `90d` is more readable than `12w6d`. */
export const formatDuration = (value: number): string => {
  let remainingMs = Math.trunc(value);
  if (remainingMs === 0) return '0s';
  let text = '';
  for (const [index, name] of ['y', 'w', 'd', 'h', 'm', 's', 'ms'].entries()) {
    const unit = unitMs[index] as number;
    const count = Math.trunc(remainingMs / unit);
    if (count === 0 || (index < 2 && remainingMs % unit !== 0)) continue;
    text += `${count}${name}`;
    remainingMs -= count * unit;
  }
  return text;
};
