/** How times are written: in the zone of the browser, or in UTC. */
import { signal } from '@preact/signals';

export type Zone = 'browser' | 'utc';

const key = 'oiq-zone';
export const zone = signal<Zone>(localStorage.getItem(key) === 'utc' ? 'utc' : 'browser');

export const setZone = (chosen: Zone): void => {
  localStorage.setItem(key, chosen);
  zone.value = chosen;
};

/** `2026-01-31 12:00:00.123` of a time in epoch milliseconds. */
export const shownTime = (ms: number, { withDate = true }: { readonly withDate?: boolean } = {}): string => {
  // Moved by the offset that the zone has at that time, the parts of UTC are those of the zone.
  const moved = zone.value === 'utc' ? ms : ms - new Date(ms).getTimezoneOffset() * 60_000;
  const [date = '', time = ''] = new Date(moved).toISOString().slice(0, -1).split('T');
  return withDate ? `${date} ${time}` : time;
};

/** The time of an answer in ISO-8601; empty where it has none. */
export const shownMoment = (text: string | null): string => (text === null ? '' : shownTime(Date.parse(text)));

/** `12:00` of a time, for the ends of an axis. */
export const shortTime = (ms: number): string => shownTime(ms, { withDate: false }).slice(0, 5);
