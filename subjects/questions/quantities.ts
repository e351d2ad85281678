/** Parses numbers and durations in words */
import type { Word } from './words.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Spoken units, in milliseconds */
export const units: ReadonlyMap<string, number> = new Map(
  Object.entries({
    millisecond: 1,
    msec: 1,
    ms: 1,
    second: 1000,
    sec: 1000,
    s: 1000,
    minute: minuteMs,
    min: minuteMs,
    m: minuteMs,
    hour: hourMs,
    hr: hourMs,
    h: hourMs,
    day: dayMs,
    d: dayMs,
    week: 7 * dayMs,
    w: 7 * dayMs,
    month: 30 * dayMs,
    fortnight: 14 * dayMs,
  }),
);
export const unitToMs = (word: string | undefined): number | undefined => units.get(word ?? '');

const numberWords = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
export const numerals: ReadonlyMap<string, number> = new Map([
  ...numberWords.map((word, number): [string, number] => [word, number]),
  ...Object.entries({
    a: 1,
    an: 1,
    half: 0.5,
    couple: 2,
    fifteen: 15,
    twenty: 20,
    thirty: 30,
    fifty: 50,
    hundred: 100,
  }),
]);

/** Returns the number of words of a number; "half an hour" has three with its unit. */
export const countNumberWords = (words: readonly Word[], position: number): number =>
  words[position]?.lower === 'half' && /^an?$/.test(words[position + 1]?.lower ?? '') ? 2 : 1;

/** Returns a number with its attached unit: `15`, `five`, `500ms`, `1.5h`, `80%`. */
export const parseNumber = (word: Word | undefined): { readonly value: number; readonly unit: string } | undefined => {
  if (word?.is !== 'word') return undefined;
  const numeral = numerals.get(word.lower);
  if (numeral !== undefined) return { value: numeral, unit: '' };
  const [, digits, unit = ''] = /^(-?\d{1,15}(?:\.\d{1,9})?)([a-zµ%]{0,12})$/i.exec(word.text) ?? [];
  return digits === undefined ? undefined : { value: Number(digits), unit: unit.toLowerCase() };
};
