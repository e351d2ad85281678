/** Functions for templates of rules: those of Go and Prometheus. `query` is part of the evaluator (`run.ts`). */
import { RE2JS } from 're2js';
import { TemplateError } from './errors.ts';
import { printf } from './format.ts';
import { humanize, humanize1024, humanizeDuration, humanizePercentage, humanizeTimestamp, toTime } from './humanize.ts';
import {
  formatValue,
  isTrue,
  requireInteger,
  requireSample,
  requireSamples,
  requireString,
  toNumber,
  type Value,
} from './values.ts';

export type TemplateFunction = (args: readonly Value[], nowMs: number) => Value;

/** Creates a function with a fixed number of arguments. */
const withArity =
  (count: number, call: (...args: Value[]) => Value): TemplateFunction =>
  (args) => {
    if (args.length !== count) throw new TemplateError(`a function expects ${count} values and got ${args.length}`);
    return call(...args);
  };
const withText = (call: (text: string) => Value): TemplateFunction =>
  withArity(1, (args) => call(requireString(args as Value)));
/** Creates a function with one numeric argument. For a missing value, it returns a missing value. */
const withNumber = (call: (value: number) => Value): TemplateFunction =>
  withArity(1, (value = null) => (value === null ? null : call(toNumber(value))));

type Numeric = number | bigint;
const isNumeric = (value: Value): value is Numeric => typeof value === 'number' || typeof value === 'bigint';

/** Returns -1, 0 or 1; undefined for NaN, for which every comparison is false. */
const comparePrimitives = <Kind extends Numeric | string>(left: Kind, right: Kind): number | undefined => {
  if (left < right) return -1;
  if (left > right) return 1;
  return left >= right ? 0 : undefined;
};

/** Returns -1, 0 or 1; undefined for values without an order. */
const compareValues = (left: Value, right: Value): number | undefined => {
  if (isNumeric(left) && isNumeric(right)) return comparePrimitives<Numeric>(left, right);
  if (typeof left === 'string' && typeof right === 'string') return comparePrimitives(left, right);
  if ((typeof left === 'boolean' && typeof right === 'boolean') || left === null || right === null)
    return left === right ? 0 : undefined;
  throw new TemplateError(`${formatValue(left)} and ${formatValue(right)} cannot be compared`);
};
const createComparison = (holds: (order: number) => boolean): TemplateFunction =>
  withArity(2, (left, right) => {
    const order = compareValues(left as Value, right as Value);
    return order !== undefined && holds(order);
  });

const getElement = (items: readonly Value[], index: number): Value => {
  const element = items[index];
  if (element === undefined) throw new TemplateError(`index ${index} does not exist`);
  return element;
};

/** Returns a label of a sample; empty if absent. */
const getLabel = (name: string, sample: Value): string => {
  const labels = requireSample(sample).get('Labels');
  return labels instanceof Map ? requireString((labels.get(name) as Value | undefined) ?? '') : '';
};

const sortByLabel = (name: string, vector: Value): Value =>
  requireSamples(vector).toSorted((leftSample, rightSample) => {
    const [left, right] = [getLabel(name, leftSample), getLabel(name, rightSample)];
    return left === right ? 0 : left < right ? -1 : 1;
  });

const getFirst = (vector: Value): Value => {
  const [first] = requireSamples(vector);
  // The message of Prometheus.
  if (first === undefined) throw new TemplateError('first() called on vector with no elements');
  return first;
};

const getIndexed: TemplateFunction = ([from = null, ...keys]) => {
  let value: Value = from;
  for (const key of keys) {
    if (value instanceof Map) value = (value.get(requireString(key)) as Value | undefined) ?? '';
    else if (typeof value === 'string') {
      const byte = Buffer.from(value, 'utf8')[requireInteger(key)];
      if (byte === undefined) throw new TemplateError(`index ${formatValue(key)} does not exist`);
      value = BigInt(byte);
    } else if (Array.isArray(value)) value = getElement(value, requireInteger(key));
    else throw new TemplateError(`${formatValue(value)} cannot be indexed`);
  }
  return value;
};

const sliceText: TemplateFunction = ([from = null, begin = 0n, end]) => {
  const bytes = Buffer.from(requireString(from), 'utf8');
  const [first, last] = [requireInteger(begin), end === undefined ? bytes.length : requireInteger(end)];
  if (first < 0 || last < first || last > bytes.length) throw new TemplateError('slice is out of bounds');
  return bytes.subarray(first, last).toString('utf8');
};

/** Concatenates values as in Go: with a space between two values if neither is a string. */
const concatenate: TemplateFunction = (args) =>
  args
    .map((value, at) => {
      const previous = args[at - 1];
      const needsSpace = at > 0 && typeof value !== 'string' && typeof previous !== 'string';
      return (needsSpace ? ' ' : '') + formatValue(value);
    })
    .join('');

const entities: Readonly<Record<string, string>> = {
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\0': '\uFFFD',
};
const escapeHtml = (text: string): string => text.replace(/["'&<>\0]/g, (character) => entities[character] ?? '');

const escapeUnicode = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
const escapeJs = (text: string): string =>
  text.replace(/[\\'"<>&=\p{Cc}]/gu, (character) =>
    /[\\'"]/.test(character) ? `\\${character}` : escapeUnicode(character),
  );

const escapeUrlQuery = (text: string): string =>
  encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');

/** Maximum number of instructions of a compiled expression, which determines its cost. */
const maxInstructions = 1_000;

const compilePattern = (text: string): RE2JS => {
  try {
    const compiled = RE2JS.compile(text);
    if (compiled.programSize() > maxInstructions) throw new Error('too large, repeat less');
    return compiled;
  } catch (error) {
    throw new TemplateError(`${JSON.stringify(text)} is not a valid regular expression: ${(error as Error).message}`);
  }
};

/** Go's replacements reference groups as `$1` or `${name}`; an unknown group is empty. */
const replaceAll = (expression: string, replacement: string, text: string): string => {
  const matcher = compilePattern(expression).matcher(text);
  let [result, from] = ['', 0];
  while (matcher.find()) {
    result += text.slice(from, matcher.start());
    result += replacement.replace(/\$(?:\$|(\w+)|\{(\w+)\})/g, (_, nameText?: string, bracedName?: string) => {
      const name = nameText ?? bracedName;
      if (name === undefined) return '$';
      try {
        return matcher.group(/^\d+$/.test(name) ? Number(name) : name) ?? '';
      } catch {
        return '';
      }
    });
    from = matcher.end();
  }
  return result + text.slice(from);
};

/** Removes the port from `host:port`. */
const stripPort = (text: string): string => {
  const match = /^(?:\[([^\]]*)\]|([^:]*)):[^:]*$/.exec(text);
  return match === null ? text : (match[1] ?? match[2] ?? text);
};

const stripDomain = (text: string): string => {
  const [, host = text, port = ''] = /^(\[[^\]]*\]|[^:]*)(:[^:]*)?$/.exec(text) ?? [];
  const isAddress = /^\[|^\d+(?:\.\d+){3}$/.test(host) || host === '';
  return (isAddress ? host : (host.split('.', 1)[0] ?? '')) + port;
};

const unitSeconds: Readonly<Record<string, number>> = {
  y: 31_536_000,
  w: 604_800,
  d: 86_400,
  h: 3600,
  m: 60,
  s: 1,
  ms: 0.001,
};
const parseDuration = (text: string): number => {
  if (text === '0') return 0;
  const match = /^(-?)(?=\d)(\d+y)?(\d+w)?(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?$/.exec(text);
  if (match === null) throw new TemplateError(`${JSON.stringify(text)} is not a duration`);
  const [, sign, ...parts] = match;
  const seconds = parts.reduce((sum, part = '0s') => {
    const [, count = '0', unit = 's'] = /^(\d+)(\D+)$/.exec(part) ?? [];
    return sum + Number(count) * (unitSeconds[unit] ?? 0);
  }, 0);
  return sign === '-' ? -seconds : seconds;
};

const createLink = (tab: number) => (expression: string) =>
  `/graph?g0.expr=${escapeUrlQuery(expression)}&g0.tab=${tab}`;

const noAddress: TemplateFunction = withArity(0, () => '');

/** Functions by name. `and` and `or` are part of the evaluator, which short-circuits them. */
export const functions: Readonly<Record<string, TemplateFunction>> = {
  not: withArity(1, (args) => !isTrue(args as Value)),
  len: withArity(1, (args) => {
    if (typeof args === 'string') return BigInt(Buffer.byteLength(args));
    if (args instanceof Map) return BigInt(args.size);
    if (Array.isArray(args)) return BigInt(args.length);
    throw new TemplateError(`${formatValue(args as Value)} has no length`);
  }),
  index: getIndexed,
  slice: sliceText,
  print: concatenate,
  printf: ([format = '', ...given]) => printf(requireString(format), given),
  println: (args) => `${args.map(formatValue).join(' ')}\n`,
  html: (args) => escapeHtml(formatValue(concatenate(args, 0))),
  js: (args) => escapeJs(formatValue(concatenate(args, 0))),
  urlquery: (args) => escapeUrlQuery(formatValue(concatenate(args, 0))),
  eq: ([left = null, ...others]) => {
    if (others.length === 0) throw new TemplateError('eq expects two values');
    return others.some((other) => compareValues(left, other) === 0);
  },
  ne: withArity(2, (left, right) => compareValues(left as Value, right as Value) !== 0),
  lt: createComparison((order) => order < 0),
  le: createComparison((order) => order <= 0),
  gt: createComparison((order) => order > 0),
  ge: createComparison((order) => order >= 0),
  humanize: withNumber(humanize),
  humanize1024: withNumber(humanize1024),
  humanizeDuration: withNumber(humanizeDuration),
  humanizePercentage: withNumber(humanizePercentage),
  humanizeTimestamp: withNumber(humanizeTimestamp),
  toTime: withNumber(toTime),
  now: (_, nowMs) => nowMs / 1000,
  toUpper: withText((text) => text.toUpperCase()),
  toLower: withText((text) => text.toLowerCase()),
  title: withText((text) => text.replace(/(?<![\p{L}\p{N}_'])\p{Ll}/gu, (character) => character.toUpperCase())),
  match: withArity(2, (expression, text) =>
    compilePattern(requireString(expression as Value))
      .matcher(requireString(text as Value))
      .find(),
  ),
  reReplaceAll: withArity(3, (expression, replacement, text) =>
    replaceAll(requireString(expression as Value), requireString(replacement as Value), requireString(text as Value)),
  ),
  graphLink: withText(createLink(0)),
  tableLink: withText(createLink(1)),
  safeHtml: withText((text) => text),
  stripPort: withText(stripPort),
  stripDomain: withText(stripDomain),
  parseDuration: withText(parseDuration),
  first: withArity(1, (vector) => getFirst(vector as Value)),
  value: withArity(1, (sample) => requireSample(sample as Value).get('Value') ?? null),
  label: withArity(2, (name, sample) => getLabel(requireString(name as Value), sample as Value)),
  strvalue: withArity(1, (sample) => getLabel('__value__', sample as Value)),
  sortByLabel: withArity(2, (name, vector) => sortByLabel(requireString(name as Value), vector as Value)),
  args: (args) => new Map(args.map((value, at) => [`arg${at}`, value])),
  // The server's addresses are unknown during rule evaluation, so these are empty.
  pathPrefix: noAddress,
  externalURL: noAddress,
};
