/**
 * The requests of Grafana for a panel of its classic format: texts with variables and steps filled in. Implemented from
 * its documentation and its Prometheus data source without code of OIQ, so that results can be compared.
 */
import { parseDuration } from '../../queries/time.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldsIn = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

/** Panels that have queries, including those within rows. */
export const panelsIn = (dashboard: Fields): readonly Fields[] =>
  [...fieldsIn(dashboard['rows']), dashboard].flatMap(({ panels }) =>
    fieldsIn(panels).flatMap((panel) => [panel, ...panelsIn({ panels: panel['panels'] })]),
  );

export const variablesIn = (dashboard: Fields): readonly Fields[] =>
  isFields(dashboard['templating']) ? fieldsIn(dashboard['templating']['list']) : [];

/** Parses a duration, a number of seconds, or a time such as `now-1h`. */
export const msOf = (input: unknown): number | undefined => {
  if (typeof input !== 'string' || input === '') return undefined;
  const text = input.replace(/^now-/, '');
  const ns = /^\d+$/.test(text) ? BigInt(text) * 1_000_000_000n : parseDuration(text);
  return ns === undefined ? undefined : Number(ns / 1_000_000n);
};

/** The selection of a variable: values, or All. */
export interface Choice {
  readonly values: readonly string[];
  readonly isAll: boolean;
}

/** Values of the built-in variables for times. */
export interface QueryTimes {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  /** The step without the factor of the panel, from which rate intervals are computed. */
  readonly plainMs?: number;
  /** The minimum step of the query itself, from which rate intervals are computed. */
  readonly scrapeMs: number | undefined;
}

const special = /[$^*{}[\]'+?.()|]/g;
const escaped = (value: string): string => value.replaceAll('\\', '\\\\\\\\').replaceAll(special, '\\\\$&');

/** Formats of variables in PromQL expressions. */
const formats: Readonly<Record<string, (values: readonly string[]) => string>> = {
  pipe: (values) => values.join('|'),
  regex(values) {
    const each = values.map((value) => value.replaceAll('\\', '\\\\').replaceAll(special, '\\$&'));
    return each.length === 1 ? (each[0] as string) : `(${each.join('|')})`;
  },
};
const ofOneText = new Set<unknown>(['interval', 'textbox', 'constant']);

/** Grafana escapes lists for regular expressions also after `=`, where such a value matches nothing. This does not. */
const isCompared = (before: string): boolean => /(?<!~\s*)"[^"]*$/.test(before);

const choiceText = (
  variable: Fields,
  { values, isAll }: Choice,
  { format, before }: { readonly format: string | undefined; readonly before: string },
): string => {
  const { type, multi, includeAll, allValue } = variable;
  if (isAll && typeof allValue === 'string' && allValue !== '') return allValue;
  if (format !== undefined) return formats[format]?.(values) ?? values.join(',');
  const [first = ''] = values;
  if (ofOneText.has(type)) return first;
  if ((multi !== true && includeAll !== true) || (values.length === 1 && isCompared(before)))
    return first.replaceAll('\\', '\\\\').replaceAll("'", "\\\\'");
  return values.length === 1 ? escaped(first) : `(${values.map(escaped).join('|')})`;
};

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;
const stepText = (ms: number): string => {
  const [unit, length] = units.find(([, each]) => ms % each === 0) ?? ['ms', 1];
  return `${ms / length}${unit}`;
};

const builtIn = ({
  fromMs,
  toMs,
  stepMs,
  plainMs = stepMs,
  scrapeMs = 15_000,
}: QueryTimes): ReadonlyMap<string, string> => {
  const rateMs = Math.max(plainMs + scrapeMs, 4 * scrapeMs);
  const seconds = String(Math.round((toMs - fromMs) / 1000));
  return new Map([
    ['__interval', stepText(stepMs)],
    ['__interval_ms', String(stepMs)],
    ['__rate_interval', stepText(rateMs)],
    ['__rate_interval_ms', String(rateMs)],
    ['__range', `${seconds}s`],
    ['__range_s', seconds],
    ['__range_ms', String(toMs - fromMs)],
    ['__from', String(fromMs)],
    ['__to', String(toMs)],
  ]);
};

const use = /\$(\w+)|\[\[(\w+)(?::(\w+))?\]\]|\$\{(\w+)(?::(\w+))?\}/g;

/** A text with variables replaced by their values. */
export const grafanaText = (
  text: string,
  variables: readonly Fields[],
  choices: ReadonlyMap<string, Choice>,
  times: QueryTimes,
): string => {
  const own = builtIn(times);
  return text.replaceAll(use, (all, plain, square, squareFormat, braces, format, offset: number) => {
    const name: string = plain ?? square ?? braces;
    const variable = variables.find((each) => each['name'] === name);
    const choice = choices.get(name);
    if (variable !== undefined && choice !== undefined)
      return choiceText(variable, choice, { format: squareFormat ?? format, before: text.slice(0, offset) });
    return own.get(name) ?? all;
  });
};
