/** Converts a written value to a condition, depending on the field or attribute with which it is compared. */
import type { Field, FieldType } from '../../schemas/fields.ts';
import { severityNumbers } from '../../schemas/records/severity.ts';
import { toPlainText } from '../../schemas/tables/search-text.ts';
import { parseDuration, parseTime } from '../time.ts';
import { star } from './scanner.ts';
import type { Interval, Search, SearchReference, ValueTest } from './tree.ts';

/** A value as written; `star` in its text represents an unescaped asterisk. */
export interface WrittenValue {
  readonly text: string;
  readonly isQuoted: boolean;
}
/** Bounds of a range as written; either may be open. */
export interface WrittenInterval {
  readonly from?: { readonly value: WrittenValue; readonly isInclusive: boolean };
  readonly to?: { readonly value: WrittenValue; readonly isInclusive: boolean };
}

/** An invalid value, with the kind of value that was expected. */
export class UnexpectedValue {
  readonly expected: string;
  constructor(expected: string) {
    this.expected = expected;
  }
}

const numberPattern = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Parses a finite number; `undefined` for other values. */
const parseNumber = ({ text, isQuoted }: WrittenValue): number | undefined =>
  !isQuoted && numberPattern.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined;

/** Returns the text of a number as it is stored, integers with every digit. */
const toStoredText = (text: string): string => {
  const value = Number(text);
  return /^[+-]?\d+$/.test(text) && Math.abs(value) < 1e21 ? String(BigInt(text.replace('+', ''))) : String(value);
};

const expectedDuration = 'a duration such as 100ms, 1.5s or 2h';
const expectedTime = 'a time in ISO-8601 or epoch milliseconds';

/** Parsers of values by type; other types are text. */
const valueParsers: Partial<
  Record<FieldType, (field: Field, value: WrittenValue) => number | bigint | UnexpectedValue>
> = {
  duration: (_field, { text }) => parseDuration(text) ?? new UnexpectedValue(expectedDuration),
  // The results of relative times would differ between readers and between pages.
  time: (_field, { text }) =>
    (text.startsWith('now') ? undefined : parseTime(text, 0)) ?? new UnexpectedValue(expectedTime),
  number: ({ names }, value) => {
    const nameIndex = names?.indexOf(value.text.toLowerCase()) ?? -1;
    const number = nameIndex < 0 ? parseNumber(value) : nameIndex;
    return number ?? new UnexpectedValue(names === undefined ? 'a number' : `one of ${names.join(', ')}`);
  },
};

const isSeverity = (reference: SearchReference): boolean =>
  reference.kind === 'field' && reference.field.name === 'severity' && reference.field.type === 'text';

/** OpenTelemetry's six severities, of four numbers each, by their common names. */
const severityNamePattern = /^(?:trace|debug|info(?:rmation(?:al)?)?|warn(?:ing)?|err(?:or)?|fatal)$/;
/** One number of a severity. */
const severityNumberPattern = /^(?:trace|debug|info|warn|error|fatal)[2-4]$/;

/** Returns the name of a severity as a range of numbers; `error` means ERROR to ERROR4. */
const parseSeverityRange = ({ text, isQuoted }: WrittenValue): readonly [number, number] | undefined => {
  const name = text.toLowerCase();
  const number = isQuoted ? undefined : severityNumbers.get(name);
  if (number === undefined) return undefined;
  return severityNamePattern.test(name) ? [number, number + 3] : [number, number];
};
const expectedSeverity = 'a severity: trace, debug, info, warn, error or fatal (severityNumber takes numbers)';

/** Lengths of ids as texts. */
const idLengths: Partial<Record<FieldType, number>> = { traceId: 32, spanId: 16 };

/** Returns the condition of `name:value` or `name:val*`. */
export const buildEqualCondition = (reference: SearchReference, written: WrittenValue): Search | UnexpectedValue => {
  const isPlain = reference.kind === 'field' && reference.field.isPlain === true;
  const value = isPlain ? { text: toPlainText(written.text), isQuoted: written.isQuoted } : written;
  if (reference.kind === 'field') {
    const { field } = reference;
    const read = valueParsers[field.type];
    if (read !== undefined) {
      const number = read(field, value);
      const end = { value: number as number | bigint, isInclusive: true };
      return number instanceof UnexpectedValue ? number : { is: 'number', field, interval: { from: end, to: end } };
    }
    const range = isSeverity(reference) ? parseSeverityRange(value) : undefined;
    // Only OpenTelemetry's names are ranges of numbers. Other names, such as `critical`, are compared as texts, because
    // senders decide which number they have.
    const name = value.text.toLowerCase();
    if (range !== undefined && (severityNamePattern.test(name) || severityNumberPattern.test(name)))
      return buildSeverityCondition(range);
  }
  const test = buildValueTest(reference, value);
  return test instanceof UnexpectedValue ? test : { is: 'value', reference, test };
};

const buildSeverityCondition = ([from, to]: readonly [number, number]): Search => ({
  is: 'severity',
  interval: { from: { value: from, isInclusive: true }, to: { value: to, isInclusive: true } },
});

const buildValueTest = (reference: SearchReference, value: WrittenValue): ValueTest | UnexpectedValue => {
  const type = reference.kind === 'field' ? reference.field.type : undefined;
  const length = type === undefined ? undefined : idLengths[type];
  const text = length === undefined ? value.text : value.text.toLowerCase();
  if (text.includes(star)) {
    const pieces = text.split(star);
    return pieces.every((piece) => piece === '') ? { is: 'exists' } : { is: 'pattern', pieces };
  }
  if (length !== undefined && text !== '' && !(text.length === length && /^[\da-f]+$/.test(text)))
    return new UnexpectedValue(`${length} hexadecimal digits`);
  if (isSeverity(reference)) return { is: 'equal', text, ignoresCase: true };
  const number = type === undefined && parseNumber(value) !== undefined ? toStoredText(text) : text;
  return number === text ? { is: 'equal', text } : { is: 'equal', text, number };
};

/** Returns the condition of `name:>value` or a range. */
export const buildRangeCondition = (
  reference: SearchReference,
  interval: WrittenInterval,
): Search | UnexpectedValue => {
  if (interval.from === undefined && interval.to === undefined)
    return { is: 'value', reference, test: { is: 'exists' } };
  if (isSeverity(reference)) return buildSeverityInterval(interval);
  if (reference.kind === 'field') {
    const { field } = reference;
    const read = valueParsers[field.type];
    if (read !== undefined) {
      const parsedInterval = mapInterval(interval, (value) => read(field, value));
      return parsedInterval instanceof UnexpectedValue
        ? parsedInterval
        : { is: 'number', field, interval: parsedInterval };
    }
    if (idLengths[field.type] !== undefined) return new UnexpectedValue('an id: ids are not in order');
  }
  const numbers = mapInterval(interval, (value) => parseNumber(value) ?? new UnexpectedValue(''));
  if (!(numbers instanceof UnexpectedValue))
    return { is: 'value', reference, test: { is: 'within', interval: numbers } };
  const texts = mapInterval(interval, ({ text }) => text.replaceAll(star, '*'));
  return texts instanceof UnexpectedValue
    ? texts
    : { is: 'value', reference, test: { is: 'between', interval: texts } };
};

/**
 * Returns the condition of a range of severities: `>warn` is above the last number of WARN, `<warn` is below its first
 * one. Records without a severity match no range.
 */
const buildSeverityInterval = ({ from, to }: WrittenInterval): Search | UnexpectedValue => {
  const first = from === undefined ? undefined : parseSeverityRange(from.value);
  const last = to === undefined ? undefined : parseSeverityRange(to.value);
  if ((from !== undefined && first === undefined) || (to !== undefined && last === undefined))
    return new UnexpectedValue(expectedSeverity);
  const minSeverity = first === undefined ? 1 : first[from?.isInclusive === true ? 0 : 1];
  return {
    is: 'severity',
    interval: {
      from: { value: minSeverity, isInclusive: from?.isInclusive ?? true },
      ...(last === undefined || to === undefined
        ? {}
        : { to: { value: last[to.isInclusive ? 1 : 0], isInclusive: to.isInclusive } }),
    },
  };
};

const mapInterval = <Value>(
  { from, to }: WrittenInterval,
  read: (value: WrittenValue) => Value | UnexpectedValue,
): Interval<Value> | UnexpectedValue => {
  const first = from === undefined ? undefined : read(from.value);
  const last = to === undefined ? undefined : read(to.value);
  if (first instanceof UnexpectedValue) return first;
  if (last instanceof UnexpectedValue) return last;
  return {
    ...(from === undefined ? {} : { from: { value: first as Value, isInclusive: from.isInclusive } }),
    ...(to === undefined ? {} : { to: { value: last as Value, isInclusive: to.isInclusive } }),
  };
};
