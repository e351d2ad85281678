/** Prometheus's functions that format numbers for people. */
import { TemplateError } from './errors.ts';
import { formatSignificant } from './format.ts';
import { formatFloat, formatTime } from './values.ts';

const smallPrefixes = ['m', 'u', 'n', 'p', 'f', 'a', 'z', 'y'];
const largePrefixes = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];
const binaryPrefixes = ['ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'Zi', 'Yi'];

const formatFourDigits = (value: number): string => formatSignificant(value, 4);

export const humanize = (input: number): string => {
  if (input === 0 || !Number.isFinite(input)) return formatFourDigits(input);
  let [value, prefix] = [input, ''];
  if (Math.abs(value) >= 1) {
    for (const nextPrefix of largePrefixes) {
      if (Math.abs(value) < 1000) break;
      [value, prefix] = [value / 1000, nextPrefix];
    }
    return formatFourDigits(value) + prefix;
  }
  for (const nextPrefix of smallPrefixes) {
    if (Math.abs(value) >= 1) break;
    [value, prefix] = [value * 1000, nextPrefix];
  }
  return formatFourDigits(value) + prefix;
};

export const humanize1024 = (input: number): string => {
  if (Math.abs(input) <= 1 || !Number.isFinite(input)) return formatFourDigits(input);
  let [value, prefix] = [input, ''];
  for (const nextPrefix of binaryPrefixes) {
    if (Math.abs(value) < 1024) break;
    [value, prefix] = [value / 1024, nextPrefix];
  }
  return formatFourDigits(value) + prefix;
};

export const humanizeDuration = (input: number): string => {
  if (!Number.isFinite(input)) return formatFourDigits(input);
  if (input === 0) return `${formatFourDigits(input)}s`;
  if (Math.abs(input) < 1) return `${humanize(input)}s`;
  const sign = input < 0 ? '-' : '';
  const seconds = Math.trunc(Math.abs(input));
  const [days, hours, minutes] = [
    Math.trunc(seconds / 86_400),
    Math.trunc(seconds / 3600) % 24,
    Math.trunc(seconds / 60) % 60,
  ];
  if (days > 0) return `${sign}${days}d ${hours}h ${minutes}m ${seconds % 60}s`;
  if (hours > 0) return `${sign}${hours}h ${minutes}m ${seconds % 60}s`;
  if (minutes > 0) return `${sign}${minutes}m ${seconds % 60}s`;
  return `${sign}${formatFourDigits(Math.abs(input))}s`;
};

export const humanizePercentage = (input: number): string => `${formatFourDigits(input * 100)}%`;

/** Converts seconds since the epoch to a time. */
export const toTime = (seconds: number): Date => {
  const time = new Date(seconds * 1000);
  if (Number.isNaN(time.getTime())) throw new TemplateError(`${formatFloat(seconds)} is not a time`);
  return time;
};

export const humanizeTimestamp = (seconds: number): string =>
  Number.isFinite(seconds) ? formatTime(toTime(seconds)) : formatFourDigits(seconds);
