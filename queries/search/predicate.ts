/** Converts a search to a predicate over records that are read in place. */
import { type Field, getReferenceType, type Reference, readNestedValues, readReference } from '../../schemas/fields.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { isWithinPath, type NestedValue, readNestedAttributes } from '../../schemas/records/nested-values.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import { getSeverityNumber } from '../../schemas/records/severity.ts';
import type { Span } from '../../schemas/records/span.ts';
import { lowerAscii } from '../../schemas/tables/search.ts';
import { foldText, toPlainText, toWordsText } from '../../schemas/tables/search-text.ts';
import { type SearchedRecords, type SearchSignal, signalDefinitions } from '../signals/index.ts';
import { parseSearch } from './parse.ts';
import { compileRegex } from './regex.ts';
import type { Interval, Search, ValueTest, WordTest } from './tree.ts';
import { buildWordTest, hasWord, matchesPattern } from './words.ts';

type RecordTest = (record: RecordView) => boolean;

/** Matches JSON numbers, like `numberPattern` of the condition. */
const numberText = /^-?[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** A value of the current record, read at most once, on first use. */
class LazyValue<Value> {
  readonly #read: (record: RecordView) => Value;
  #isRead = false;
  #getLazyValue: Value | undefined;

  constructor(read: (record: RecordView) => Value) {
    this.#read = read;
  }

  get(record: RecordView): Value {
    if (!this.#isRead) {
      this.#getLazyValue = this.#read(record);
      this.#isRead = true;
    }
    return this.#getLazyValue as Value;
  }

  reset(): void {
    this.#isRead = false;
  }
}

/** Compares strings by code points, like UTF-8; JavaScript compares surrogate halves. */
const isLessByCodePoint = (one: string, other: string): boolean => {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const left = one.charCodeAt(at);
    const right = other.charCodeAt(at);
    // Surrogate halves represent characters with higher code points than all other characters.
    if (left !== right) return isSurrogateHalf(left) === isSurrogateHalf(right) ? left < right : isSurrogateHalf(right);
  }
  return one.length < other.length;
};
const isSurrogateHalf = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;

const buildIntervalTest = <Value>(
  { from, to }: Interval<Value>,
  isLess: (one: Value, other: Value) => boolean,
): ((value: Value) => boolean) => {
  const isAbove =
    from === undefined
      ? () => true
      : from.isInclusive
        ? (value: Value) => !isLess(value, from.value)
        : (value: Value) => isLess(from.value, value);
  const isUnder =
    to === undefined
      ? () => true
      : to.isInclusive
        ? (value: Value) => !isLess(to.value, value)
        : (value: Value) => isLess(value, to.value);
  return (value) => isAbove(value) && isUnder(value);
};

const buildTextTest = (test: Exclude<ValueTest, { is: 'exists' }>): ((text: string) => boolean) => {
  switch (test.is) {
    case 'equal':
      if (test.ignoresCase === true) {
        const expected = lowerAscii(test.text);
        return (text) => lowerAscii(text) === expected;
      }
      return (text) => text === test.text;
    case 'pattern':
      return (text) => matchesPattern(text, test.pieces);
    case 'regex':
      return (text) => test.regex.test(text);
    case 'between':
      return buildIntervalTest(test.interval, isLessByCodePoint);
    default: {
      const isWithin = buildIntervalTest(test.interval, (one, other) => one < other);
      return (text) => {
        if (!numberText.test(text)) return false;
        const number = Number(text);
        return Number.isFinite(number) && isWithin(number);
      };
    }
  }
};

/** Returns the cost of a condition in steps: cheaper ones are evaluated first. */
const estimateCost = (search: Search): number => {
  switch (search.is) {
    case 'and':
    case 'or':
      return Math.max(...search.parts.map(estimateCost));
    case 'not':
      return estimateCost(search.part);
    case 'text':
      return search.test.is === 'regex' ? 4 : 3;
    case 'value':
      if (search.test.is === 'regex') return 4;
      return search.reference.kind === 'field' ? 1 : 2;
    default:
      return 0;
  }
};

const buildLiteralTest = ({ part, source }: Extract<WordTest, { is: 'literal' }>): ((folded: string) => boolean) => {
  if (source === undefined) return (folded) => folded.includes(part);
  const regex = compileRegex(source, undefined, Number.POSITIVE_INFINITY);
  if (typeof regex === 'string') throw new Error(`the expression of a literal text is invalid: ${regex}`);
  return (folded) => folded.includes(part) && regex.test(folded);
};

class PredicateWriter {
  readonly #values = new Map<string, LazyValue<string | undefined>>();
  readonly #nestedValues = new Map<string, LazyValue<readonly NestedValue[]>>();
  readonly #texts: LazyValue<readonly string[]>;
  readonly #plainTexts: LazyValue<readonly string[]>;
  readonly #foldedTexts: LazyValue<readonly string[]>;
  readonly #wordTexts: LazyValue<readonly string[]>;

  constructor(signal: SearchSignal) {
    const { words } = signalDefinitions[signal].streamSearch as {
      words(record: RecordView): string | readonly string[];
    };
    const singleText = [''];
    this.#texts = new LazyValue((record) => {
      const texts = words(record);
      if (typeof texts !== 'string') return texts;
      singleText[0] = texts;
      return singleText;
    });
    this.#plainTexts = new LazyValue((record) => this.#texts.get(record).map(toPlainText));
    this.#foldedTexts = new LazyValue((record) => this.#texts.get(record).map(foldText));
    this.#wordTexts = new LazyValue((record) => this.#texts.get(record).map(toWordsText));
  }

  build(search: Search): RecordTest {
    const test = this.#buildTest(search);
    const lazyValues = [
      ...[this.#texts, this.#plainTexts, this.#foldedTexts, this.#wordTexts],
      ...this.#values.values(),
      ...this.#nestedValues.values(),
    ];
    return (record) => {
      for (const each of lazyValues) each.reset();
      return test(record);
    };
  }

  #buildTest(search: Search): RecordTest {
    switch (search.is) {
      case 'all':
        return () => true;
      case 'and':
      case 'or':
        return this.#buildCombinedTest(search);
      case 'not': {
        const test = this.#buildTest(search.part);
        return (record) => !test(record);
      }
      case 'text':
        return this.#buildWordsTest(search.test);
      case 'number':
        return this.#buildNumberTest(search.field, search.interval);
      case 'severity': {
        const isWithin = buildIntervalTest(search.interval, (one, other) => one < other);
        return (record) => isWithin(getSeverityNumber(record as LogRecord));
      }
      default: {
        const { reference, test } = search;
        return reference.kind === 'events' || reference.kind === 'links'
          ? buildPartTest(reference.kind, reference.key, test)
          : this.#buildValueTest(reference, test);
      }
    }
  }

  #buildCombinedTest({ is, parts }: Extract<Search, { is: 'and' | 'or' }>): RecordTest {
    const tests = parts
      .toSorted((one, other) => estimateCost(one) - estimateCost(other))
      .map((part) => this.#buildTest(part));
    const decidingResult = is === 'or';
    return (record) => {
      for (let index = 0; index < tests.length; index++)
        if ((tests[index] as RecordTest)(record) === decidingResult) return decidingResult;
      return !decidingResult;
    };
  }

  #buildWordsTest(test: WordTest): RecordTest {
    if (test.is === 'regex') return (record) => this.#plainTexts.get(record).some((text) => test.regex.test(text));
    if (test.is === 'words')
      return (record) => {
        const texts = this.#wordTexts.get(record);
        return test.words.every((word) => texts.some((text) => hasWord(text, word)));
      };
    if (test.is === 'literal') {
      const isContained = buildLiteralTest(test);
      return (record) => this.#foldedTexts.get(record).some(isContained);
    }
    const has = buildWordTest(test);
    return (record) => this.#wordTexts.get(record).some(has);
  }

  #buildNumberTest(field: Field, interval: Interval<number | bigint>): RecordTest {
    const isWithin = buildIntervalTest(interval, (one, other) => one < other);
    return (record) => isWithin(field.read(record) as number | bigint);
  }

  #value(name: string, read: (record: RecordView) => string | undefined): LazyValue<string | undefined> {
    const lazyValue = this.#values.get(name) ?? new LazyValue(read);
    this.#values.set(name, lazyValue);
    return lazyValue;
  }

  #buildValueTest(reference: Reference, test: ValueTest): RecordTest {
    const name = reference.kind === 'field' ? `field ${reference.field.name}` : `${reference.kind} ${reference.key}`;
    const value = this.#value(name, (record) => {
      const fieldValue = readReference(reference, record);
      return fieldValue === undefined ? undefined : String(fieldValue);
    });
    if (test.is === 'exists' && reference.kind === 'field') return (record) => value.get(record) !== '';
    const hasNestedValue = reference.kind === 'field' ? () => false : this.#buildNestedTest(reference, test);
    if (test.is === 'exists') return (record) => value.get(record) !== undefined || hasNestedValue(record);
    const fitsText = buildTextTest(test);
    const isValue: RecordTest = (record) => {
      const text = value.get(record);
      return text !== undefined && fitsText(text);
    };
    if (test.is !== 'equal' || test.number === undefined) return (record) => isValue(record) || hasNestedValue(record);
    const { number } = test;
    return (record) => {
      if (isValue(record) || hasNestedValue(record)) return true;
      return value.get(record) === number && isNumeric(getReferenceType(reference, record));
    };
  }

  /** Returns a test whether any value inside an array or map passes. */
  #buildNestedTest(reference: Exclude<Reference, { kind: 'field' }>, test: ValueTest): RecordTest {
    const { kind, key } = reference;
    // Whether the values of the resource count depends on the key.
    const name = kind === 'any' ? `any ${key}` : kind;
    const values = this.#nestedValues.get(name) ?? new LazyValue((record) => readNestedValues(reference, record));
    this.#nestedValues.set(name, values);
    const isMatch = buildNestedValueTest(key, test);
    return (record) => values.get(record).some(isMatch);
  }
}

const isNumeric = (type: string | undefined): boolean => type === 'i' || type === 'd';

const buildNestedValueTest = (key: string, test: ValueTest): ((value: NestedValue) => boolean) => {
  if (test.is === 'exists') return ({ path }) => isWithinPath(path, key);
  const fitsText = buildTextTest(test);
  const number = test.is === 'equal' ? test.number : undefined;
  return ({ path, text, type }) => path === key && (fitsText(text) || (text === number && isNumeric(type)));
};

/** Returns whether any event or link of a span has an attribute that passes. */
const buildPartTest = (part: 'events' | 'links', key: string, test: ValueTest): RecordTest => {
  const fitsText = test.is === 'exists' ? () => true : buildTextTest(test);
  const number = test.is === 'equal' ? test.number : undefined;
  const isNestedMatch = buildNestedValueTest(key, test);
  return (record) =>
    (record as Span)[part].some(({ attributes }) => {
      const attribute = attributes.find((each) => each.key === key);
      if (attribute !== undefined) {
        const { text, type } = attribute;
        if (fitsText(text) || (text === number && isNumeric(type))) return true;
      }
      const compoundAttributes = attributes.filter(({ type }) => type === 'j');
      return compoundAttributes.length > 0 && readNestedAttributes(compoundAttributes).values.some(isNestedMatch);
    });
};

/** Returns a predicate for a search tree. It matches the same records as `buildSearchCondition` does in storage. */
export const buildPredicate = <Signal extends SearchSignal>(
  search: Search,
  signal: Signal,
): ((record: SearchedRecords[Signal]) => boolean) => new PredicateWriter(signal).build(search);

/**
 * Returns a predicate of a search, for streamed records. Throws a `QueryError` for an invalid search. The predicate
 * does not throw or wait, and retains nothing of a record.
 */
export const buildSearchPredicate = <Signal extends SearchSignal>(
  text: string,
  signal: Signal,
): ((record: SearchedRecords[Signal]) => boolean) => buildPredicate(parseSearch(text, signal), signal);
