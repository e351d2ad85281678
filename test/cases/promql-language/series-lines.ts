/**
 * Parses lines of the Prometheus test language that describe a series: its labels, and values or histograms with
 * repetitions.
 */
import { combine } from '../../../queries/promql/histograms/arithmetic.ts';
import { Histogram } from '../../../queries/promql/histograms/histogram.ts';
import type { Labels, ResetHint } from '../../../queries/promql/series.ts';
import { parseDurationMs } from '../../../queries/promql/syntax/durations.ts';
import { parsePromqlNumber } from '../../../queries/promql/syntax/numbers.ts';
import { unquoteText } from '../../../queries/promql/syntax/quotes.ts';

/** One value of a line: none, a float, a stale marker or a histogram. */
export type Value = undefined | number | 'stale' | { readonly histogram: Histogram; readonly hasHint: boolean };

const text = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + '`[^`]*`';
const metric = new RegExp(String.raw`^([a-zA-Z_:][\w:]*)?\s*(\{(?!\{)(?:[^"'${'`'}}]|${text})*\})?`);
const label = new RegExp(String.raw`(?:(${text})|([a-zA-Z_]\w*))\s*(?:=\s*(${text}))?`, 'g');

/** Parses the labels at the start of a line; returns them and the rest of the line. */
export const labelsFrom = (line: string): { labels: Labels; rest: string } => {
  const [whole = '', name, braces = ''] = metric.exec(line) ?? [];
  const labels: Record<string, string> = name === undefined ? {} : { __name__: name };
  for (const [, quotedName, plainName, value] of braces.matchAll(label)) {
    const key = quotedName === undefined ? (plainName as string) : (unquoteText(quotedName) as string);
    if (value === undefined) labels.__name__ = key;
    else labels[key] = unquoteText(value) as string;
  }
  return { labels, rest: line.slice(whole.length).trim() };
};

const numbers = (list: string): number[] =>
  list
    .trim()
    .split(/\s+/)
    .filter((each) => each !== '')
    .map((each) => parsePromqlNumber(each) as number);

const hints: Readonly<Record<string, ResetHint>> = {
  unknown: 'unknown',
  reset: 'reset',
  not_reset: 'not-reset',
  gauge: 'gauge',
};

/** Parses a histogram between `{{` and `}}`. */
const histogramFrom = (description: string): { histogram: Histogram; hasHint: boolean } => {
  const fields = new Map<string, string>();
  for (const [, key = '', list, value] of description.matchAll(/([a-z_]+):(?:\[([^\]]*)\]|(\S+))/gi))
    fields.set(key.toLowerCase(), list ?? value ?? '');
  const number = (key: string) => parsePromqlNumber(fields.get(key) ?? '0') as number;
  const histogram = new Histogram();
  histogram.schema = number('schema');
  histogram.count = number('count');
  histogram.sum = number('sum');
  histogram.zeroCount = number('z_bucket');
  histogram.zeroThreshold = number('z_bucket_w');
  histogram.bounds = numbers(fields.get('custom_values') ?? '');
  const side = (buckets: string, offset: string) => {
    const counts = numbers(fields.get(buckets) ?? '');
    return { indexes: counts.map((_, at) => at + number(offset)), counts };
  };
  histogram.positive = side('buckets', 'offset');
  histogram.negative = side('n_buckets', 'n_offset');
  const hint = fields.get('counter_reset_hint');
  histogram.hint = hint === undefined ? 'unknown' : (hints[hint] as ResetHint);
  return { histogram, hasHint: hint !== undefined };
};

const histogramItem = /^\{\{(.*?)\}\}(?:([+-])\{\{(.*?)\}\})?(?:x(\d+))?$/s;
const numberItem = /^(.+?)(?:([+-](?:\d|\.|inf|nan).*?))?x(\d+)$/i;

const histogramValues = ([, first = '', sign, step, times]: RegExpExecArray): Value[] => {
  const start = histogramFrom(first);
  const added = step === undefined ? undefined : histogramFrom(step);
  const values: Value[] = [start];
  let current = start.histogram;
  const hasHint = added?.hasHint ?? start.hasHint;
  for (let time = 0; time < Number(times ?? 0); time++) {
    if (added !== undefined) current = combine(current, added.histogram, sign === '-' ? -1 : 1).result;
    values.push({ histogram: current, hasHint });
  }
  if (values.length > 1) values[0] = { histogram: start.histogram, hasHint };
  return values;
};

const numberOf = (word: string): number => {
  const value = parsePromqlNumber(word);
  if (value !== undefined) return value;
  const duration = parseDurationMs(word);
  if (typeof duration === 'number') return duration / 1000;
  throw new Error(`no value: ${word}`);
};

const itemValues = (item: string): Value[] => {
  if (item === '_') return [undefined];
  if (item === 'stale') return ['stale'];
  const gap = /^_x(\d+)$/.exec(item);
  if (gap !== null) return new Array(Number(gap[1])).fill(undefined);
  const histogram = histogramItem.exec(item);
  if (histogram !== null) return histogramValues(histogram);
  const repeated = /^stalex(\d+)$/.exec(item);
  if (repeated !== null) return new Array(Number(repeated[1]) + 1).fill('stale');
  const number = numberItem.exec(item);
  if (number === null) return [numberOf(item)];
  const [, first = '', step, times] = number;
  const values: Value[] = [];
  let value = numberOf(first);
  for (let time = 0; time <= Number(times); time++) {
    values.push(value);
    if (step !== undefined) value += numberOf(step);
  }
  return values;
};

/** Parses the values of a line, one for each step. */
export const valuesFrom = (rest: string): Value[] => {
  const items = rest.match(/(?:\{\{.*?\}\}|\S)+/gs) ?? [];
  return items.flatMap(itemValues);
};

/** Parses the offsets of a line with start times of counters, in milliseconds from each sample. */
export const startsFrom = (rest: string): (number | undefined)[] =>
  rest.split(/\s+/).flatMap((item) => {
    const gap = /^_(?:x(\d+))?$/.exec(item);
    if (gap !== null) return new Array<undefined>(Number(gap[1] ?? 1)).fill(undefined);
    const [, first = '', step, times] = /^([+-]?\d+[a-z]*?)(?:([+-]\d+[a-z]*?))?(?:x(\d+))?$/.exec(item) ?? [];
    const ms = (word: string) =>
      (word.startsWith('-') ? -1 : 1) * (parseDurationMs(word.replace(/^[+-]/, '')) as number);
    return Array.from(
      { length: Number(times ?? 0) + 1 },
      (_, at) => ms(first) + (step === undefined ? 0 : at * ms(step)),
    );
  });
