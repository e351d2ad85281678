import { quoteText } from './quotes.ts';

const durationPattern = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const unitMs = [365 * dayMs, 7 * dayMs, dayMs, hourMs, minuteMs, secondMs, 1] as const;

const units = new Set(['y', 'w', 'd', 'h', 'm', 's', 'ms']);

const describeProblem = (text: string): string => {
  const pairs = /^(?:\d+\D+)+$/.test(text) ? [...text.matchAll(/\d+(\D+)/g)] : [];
  const unknownUnit = pairs.find(([, unit = '']) => !units.has(unit))?.[1];
  return unknownUnit === undefined
    ? `not a valid duration string: ${quoteText(text)}`
    : `unknown unit ${quoteText(unknownUnit)} in duration ${quoteText(text)}`;
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
