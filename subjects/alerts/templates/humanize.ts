/** Prometheus's functions that format numbers for people. */
import { TemplateError } from './errors.ts';
import { formatSignificant } from './format.ts';
import { formatFloat, timeText } from './values.ts';

const smallPrefixes = ['m', 'u', 'n', 'p', 'f', 'a', 'z', 'y'];
const largePrefixes = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];
const binaryPrefixes = ['ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'Zi', 'Yi'];

const formatFourDigits = (value: number): string => formatSignificant(value, 4);

export const humanize = (given: number): string => {
  if (given === 0 || !Number.isFinite(given)) return formatFourDigits(given);
  let [value, prefix] = [given, ''];
  if (Math.abs(value) >= 1) {
    for (const each of largePrefixes) {
      if (Math.abs(value) < 1000) break;
      [value, prefix] = [value / 1000, each];
    }
    return formatFourDigits(value) + prefix;
  }
  for (const each of smallPrefixes) {
    if (Math.abs(value) >= 1) break;
    [value, prefix] = [value * 1000, each];
  }
  return formatFourDigits(value) + prefix;
};

export const humanize1024 = (given: number): string => {
  if (Math.abs(given) <= 1 || !Number.isFinite(given)) return formatFourDigits(given);
  let [value, prefix] = [given, ''];
  for (const each of binaryPrefixes) {
    if (Math.abs(value) < 1024) break;
    [value, prefix] = [value / 1024, each];
  }
  return formatFourDigits(value) + prefix;
};

export const humanizeDuration = (given: number): string => {
  if (!Number.isFinite(given)) return formatFourDigits(given);
  if (given === 0) return `${formatFourDigits(given)}s`;
  if (Math.abs(given) < 1) return `${humanize(given)}s`;
  const sign = given < 0 ? '-' : '';
  const seconds = Math.trunc(Math.abs(given));
  const [days, hours, minutes] = [
    Math.trunc(seconds / 86_400),
    Math.trunc(seconds / 3600) % 24,
    Math.trunc(seconds / 60) % 60,
  ];
  if (days > 0) return `${sign}${days}d ${hours}h ${minutes}m ${seconds % 60}s`;
  if (hours > 0) return `${sign}${hours}h ${minutes}m ${seconds % 60}s`;
  if (minutes > 0) return `${sign}${minutes}m ${seconds % 60}s`;
  return `${sign}${formatFourDigits(Math.abs(given))}s`;
};

export const humanizePercentage = (given: number): string => `${formatFourDigits(given * 100)}%`;

/** Converts seconds since the epoch to a time. */
export const toTime = (seconds: number): Date => {
  const time = new Date(seconds * 1000);
  if (Number.isNaN(time.getTime())) throw new TemplateError(`${formatFloat(seconds)} is not a time`);
  return time;
};

export const humanizeTimestamp = (seconds: number): string =>
  Number.isFinite(seconds) ? timeText(toTime(seconds)) : formatFourDigits(seconds);
