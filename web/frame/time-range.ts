/** Time range of the page. The URL contains it as typed, so that `now-1h` moves with the time. */
import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { parseTime } from '../../queries/time.ts';
import { change, inAddress } from './address.ts';

/** A range in request parameters */
export interface WrittenRange {
  readonly from: string;
  readonly to: string;
}

const lastHour: WrittenRange = { from: 'now-1h', to: 'now' };
/** Range if the URL has none */
export const defaultRange = signal(lastHour);

/** Sets the default range while a view is displayed, such as that of a dashboard. */
export const useDefaultRange = (from: string | undefined, to: string | undefined): void =>
  useEffect(() => {
    if (from !== undefined && to !== undefined) defaultRange.value = { from, to };
    return () => {
      defaultRange.value = lastHour;
    };
  }, [from, to]);

/** Preset ranges */
export const presets: readonly (readonly [from: string, title: string])[] = [
  ['now-5m', 'Last 5 minutes'],
  ['now-15m', 'Last 15 minutes'],
  ['now-1h', 'Last hour'],
  ['now-6h', 'Last 6 hours'],
  ['now-24h', 'Last 24 hours'],
  ['now-7d', 'Last 7 days'],
];

export const writtenRange = computed<WrittenRange>(() => ({
  from: inAddress('from') || defaultRange.value.from,
  to: inAddress('to') || defaultRange.value.to,
}));

/** Incremented to reload the displayed data */
export const refreshes = signal(0);
export const refresh = (): void => {
  refreshes.value++;
};

/**
 * Returns a pasted time in request syntax; the number of digits distinguishes seconds, micro- and nanoseconds since
 * 1970.
 */
export const toRequestTime = (text: string): string => {
  const trimmed = text.trim();
  if (/^[1-9]\d{9}$/.test(trimmed)) return `${trimmed}000`;
  if (/^[1-9]\d{15}$/.test(trimmed)) return trimmed.slice(0, -3);
  if (/^[1-9]\d{18}$/.test(trimmed)) return trimmed.slice(0, -6);
  return trimmed;
};

/** Returns a time in epoch milliseconds; `undefined` for an invalid text. */
export const millisecondsOf = (text: string): number | undefined => {
  const found = parseTime(text, Date.now());
  return found === undefined ? undefined : Number(found / 1_000_000n);
};

/** Returns the errors of a range by field; empty if there are none. */
export const problemsOf = ({ from, to }: WrittenRange): { readonly from?: string; readonly to?: string } => {
  const wrong = 'Use ISO-8601 (2026-01-31T12:00), now-15m, or seconds or milliseconds since 1970.';
  const [start, end] = [millisecondsOf(from), millisecondsOf(to)];
  if (start === undefined || end === undefined)
    return { ...(start === undefined ? { from: wrong } : {}), ...(end === undefined ? { to: wrong } : {}) };
  return start > end ? { from: 'The start must be before the end.' } : {};
};

/** Sets another range. */
export const setRange = ({ from, to }: WrittenRange): void => {
  const defaults = defaultRange.value;
  change({ from: from === defaults.from ? '' : from, to: to === defaults.to ? '' : to });
};

/** Sets a range in epoch milliseconds. */
export const setMoments = (from: number, to: number): void =>
  setRange({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });

/** Doubles the range around its middle, without exceeding the current time. */
export const zoomOut = (): void => {
  const [from, to] = [millisecondsOf(writtenRange.value.from), millisecondsOf(writtenRange.value.to)];
  if (from === undefined || to === undefined) return;
  const half = (to - from) / 2;
  setMoments(from - half, Math.min(to + half, Date.now()));
};

/** Returns the title of the range. */
export const titleOf = ({ from, to }: WrittenRange): string => {
  const preset = to === 'now' ? presets.find(([start]) => start === from) : undefined;
  return preset?.[1] ?? `${from} to ${to}`;
};
