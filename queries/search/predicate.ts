/** Converts a search to a predicate over records that are read in place. */
import { type Field, type Reference, readReference, typeOfReference } from '../../schemas/fields.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import { severityNumberOf } from '../../schemas/records/severity.ts';
import type { Span } from '../../schemas/records/span.ts';
import { lowered } from '../../schemas/tables/search.ts';
import { type Searched, type SearchSignal, signals } from '../signals/index.ts';
import { parseSearch } from './parse.ts';
import type { Interval, Search, ValueTest, WordTest } from './tree.ts';
import { fits, hasWord, loweredText, wordTest } from './words.ts';

type Test = (record: RecordView) => boolean;

/** Matches JSON numbers, like `numberPattern` of the condition. */
const numberText = /^-?[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** A value of the current record, read at most once, on first use. */
class Once<Value> {
  readonly #read: (record: RecordView) => Value;
  #isRead = false;
  #value: Value | undefined;

  constructor(read: (record: RecordView) => Value) {
    this.#read = read;
  }

  of(record: RecordView): Value {
    if (!this.#isRead) {
      this.#value = this.#read(record);
      this.#isRead = true;
    }
    return this.#value as Value;
  }

  forget(): void {
    this.#isRead = false;
  }
}

/** Compares strings by code points, like UTF-8; JavaScript compares surrogate halves. */
const isBelow = (one: string, other: string): boolean => {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const left = one.charCodeAt(at);
    const right = other.charCodeAt(at);
    // Surrogate halves represent later characters than any others.
    if (left !== right) return isHalf(left) === isHalf(right) ? left < right : isHalf(right);
  }
  return one.length < other.length;
};
const isHalf = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;

const within = <Value>(
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

const textTest = (test: Exclude<ValueTest, { is: 'exists' }>): ((text: string) => boolean) => {
  switch (test.is) {
    case 'equal':
      if (test.ignoresCase === true) {
        const expected = lowered(test.text);
        return (text) => lowered(text) === expected;
      }
      return (text) => text === test.text;
    case 'pattern':
      return (text) => fits(text, test.pieces);
    case 'regex':
      return (text) => test.regex.test(text);
    case 'between':
      return within(test.interval, isBelow);
    default: {
      const isWithin = within(test.interval, (one, other) => one < other);
      return (text) => {
        if (!numberText.test(text)) return false;
        const number = Number(text);
        return Number.isFinite(number) && isWithin(number);
      };
    }
  }
};

/** Returns the cost of a condition in steps: cheaper ones are evaluated first. */
const costOf = (search: Search): number => {
  switch (search.is) {
    case 'and':
    case 'or':
      return Math.max(...search.parts.map(costOf));
    case 'not':
      return costOf(search.part);
    case 'text':
      return search.test.is === 'regex' ? 4 : 3;
    case 'value':
      if (search.test.is === 'regex') return 4;
      return search.reference.kind === 'field' ? 1 : 2;
    default:
      return 0;
  }
};

class PredicateWriter {
  readonly #values = new Map<string, Once<string | undefined>>();
  readonly #texts: Once<readonly string[]>;
  readonly #lowTexts: Once<readonly string[]>;

  constructor(signal: SearchSignal) {
    const { words } = signals[signal].passing as { words(record: RecordView): string | readonly string[] };
    const one = [''];
    this.#texts = new Once((record) => {
      const found = words(record);
      if (typeof found !== 'string') return found;
      one[0] = found;
      return one;
    });
    this.#lowTexts = new Once((record) => this.#texts.of(record).map(loweredText));
  }

  write(search: Search): Test {
    const test = this.#write(search);
    const read = [this.#texts, this.#lowTexts, ...this.#values.values()];
    return (record) => {
      for (const each of read) each.forget();
      return test(record);
    };
  }

  #write(search: Search): Test {
    switch (search.is) {
      case 'all':
        return () => true;
      case 'none':
        return () => false;
      case 'and':
      case 'or':
        return this.#several(search);
      case 'not': {
        const test = this.#write(search.part);
        return (record) => !test(record);
      }
      case 'text':
        return this.#words(search.test);
      case 'number':
        return this.#number(search.field, search.interval);
      case 'severity': {
        const isWithin = within(search.interval, (one, other) => one < other);
        return (record) => isWithin(severityNumberOf(record as LogRecord));
      }
      default: {
        const { reference, test } = search;
        return reference.kind === 'events' || reference.kind === 'links'
          ? partTest(reference.kind, reference.key, test)
          : this.#valueTest(reference, test);
      }
    }
  }

  #several({ is, parts }: Extract<Search, { is: 'and' | 'or' }>): Test {
    const tests = parts.toSorted((one, other) => costOf(one) - costOf(other)).map((part) => this.#write(part));
    const ends = is === 'or';
    return (record) => {
      for (let index = 0; index < tests.length; index++) if ((tests[index] as Test)(record) === ends) return ends;
      return !ends;
    };
  }

  #words(test: WordTest): Test {
    if (test.is === 'regex') return (record) => this.#texts.of(record).some((text) => test.regex.test(text));
    if (test.is === 'words')
      return (record) => {
        const texts = this.#lowTexts.of(record);
        return test.words.every((word) => texts.some((text) => hasWord(text, word)));
      };
    const has = wordTest(test);
    return (record) => this.#lowTexts.of(record).some(has);
  }

  #number(field: Field, interval: Interval<number | bigint>): Test {
    const isWithin = within(interval, (one, other) => one < other);
    return (record) => isWithin(field.read(record) as number | bigint);
  }

  #value(name: string, read: (record: RecordView) => string | undefined): Once<string | undefined> {
    const known = this.#values.get(name) ?? new Once(read);
    this.#values.set(name, known);
    return known;
  }

  #valueTest(reference: Reference, test: ValueTest): Test {
    const name = reference.kind === 'field' ? `field ${reference.field.name}` : `${reference.kind} ${reference.key}`;
    const value = this.#value(name, (record) => {
      const found = readReference(reference, record);
      return found === undefined ? undefined : String(found);
    });
    if (test.is === 'exists')
      return reference.kind === 'field'
        ? (record) => value.of(record) !== ''
        : (record) => value.of(record) !== undefined;
    const fitsText = textTest(test);
    const isValue: Test = (record) => {
      const text = value.of(record);
      return text !== undefined && fitsText(text);
    };
    if (test.is !== 'equal' || test.number === undefined) return isValue;
    const { number } = test;
    return (record) => {
      if (isValue(record)) return true;
      if (value.of(record) !== number) return false;
      const type = typeOfReference(reference, record);
      return type === 'i' || type === 'd';
    };
  }
}

/** Returns whether any event or link of a span has an attribute that passes. */
const partTest = (part: 'events' | 'links', key: string, test: ValueTest): Test => {
  const fitsText = test.is === 'exists' ? () => true : textTest(test);
  const number = test.is === 'equal' ? test.number : undefined;
  return (record) =>
    (record as Span)[part].some(({ attributes }) => {
      const attribute = attributes.find((each) => each.key === key);
      if (attribute === undefined) return false;
      const { text, type } = attribute;
      return fitsText(text) || (text === number && (type === 'i' || type === 'd'));
    });
};

/** Returns a predicate of a tree that matches the same records as `searchCondition` does for stored ones. */
export const predicateOf = <Signal extends SearchSignal>(
  search: Search,
  signal: Signal,
): ((record: Searched[Signal]) => boolean) => new PredicateWriter(signal).write(search);

/**
 * Returns a predicate of a search, for streamed records. Throws a `QueryError` for an invalid search. The predicate
 * does not throw or wait, and retains nothing of a record.
 */
export const searchPredicate = <Signal extends SearchSignal>(
  text: string,
  signal: Signal,
): ((record: Searched[Signal]) => boolean) => predicateOf(parseSearch(text, signal), signal);
