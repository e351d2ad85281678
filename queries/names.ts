/** Parses lists of names and measures in query parameters. Errors state the column and the expected token. */
import { createValidationError, type QueryError } from './errors.ts';
import type { Measure } from './query.ts';

const functions = ['count', 'rate', 'distinct', 'sum', 'avg', 'min', 'max'] as const;
type Function = (typeof functions)[number];

/** Parses a parameter from left to right. Columns start at 1. */
class ParameterParser {
  readonly #text: string;
  readonly #path: string;
  offset = 0;

  constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  error(message: string, at = this.offset): QueryError {
    return createValidationError(this.#path, `column ${at + 1}: ${message}`);
  }

  get isAtEnd(): boolean {
    return this.offset >= this.#text.length;
  }

  /**
   * Returns the match at this position. The expression must be sticky; otherwise it would be tried at each following
   * position.
   */
  consume(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.offset;
    const [match] = pattern.exec(this.#text) ?? [];
    this.offset += match?.length ?? 0;
    return match;
  }

  /** Returns an unquoted name up to `end`, or a quoted name. */
  readName(end: RegExp): string {
    this.consume(/\s*/y);
    const begin = this.offset;
    if (this.consume(/"/y) !== undefined) {
      const quotedText = this.consume(/(?:[^"\\]|\\[\s\S])*/y) ?? '';
      if (this.consume(/"/y) === undefined) throw this.error('expected a closing quote for this one', begin);
      this.consume(/\s*/y);
      return quotedText.replace(/\\(["\\])/g, '$1');
    }
    const name = (this.consume(end) ?? '').trimEnd();
    if (name === '') throw this.error('expected a name', begin);
    return name;
  }

  /** Returns comma-separated items up to the end. */
  readList<Item>(readItem: () => Item): Item[] {
    const items = [readItem()];
    while (!this.isAtEnd) {
      if (this.consume(/,/y) === undefined) throw this.error('expected a comma or the end');
      items.push(readItem());
    }
    return items;
  }
}

/** Parses comma-separated names, as in searches; a name with a comma must be quoted: `service,http.route,"a,b"`. */
export const parseNames = (path: string, text: string): string[] => {
  const reader = new ParameterParser(path, text);
  return reader.readList(() => reader.readName(/[^,"]+/y));
};

const parsePercentile = (name: string): number | undefined => {
  const percentile = /^p(\d{1,3}(?:\.\d{1,4})?)$/.exec(name)?.[1];
  return percentile === undefined || Number(percentile) > 100 ? undefined : Number(percentile);
};

/**
 * Parses comma-separated measures: `count`, `distinct(user.id)`, `avg(took)`, `p95(took) as slow`, `count where
 * "took:>5" as long`. A name with a comma or a parenthesis must be quoted.
 */
export const parseMeasures = (path: string, text: string): Measure[] => {
  const reader = new ParameterParser(path, text);
  return reader.readList(() => readMeasure(reader));
};

const readMeasure = (reader: ParameterParser): Measure => {
  reader.consume(/\s*/y);
  const begin = reader.offset;
  const name = reader.consume(/[A-Za-z]+[\d.]*/y) ?? '';
  const percentile = parsePercentile(name);
  if (percentile === undefined && !functions.includes(name as Function))
    throw reader.error(`expected one of ${functions.join(', ')} or a percentile such as p95`, begin);
  const field = readField(reader, name, begin);
  const search = readSearch(reader);
  const as = readAlias(reader);
  return {
    function: percentile === undefined ? (name as Function) : 'percentile',
    ...(percentile === undefined ? {} : { percentile }),
    ...(field === undefined ? {} : { field }),
    ...(search === undefined ? {} : { search }),
    ...(as === undefined ? {} : { as }),
  };
};

/** Returns the field in parentheses, which all functions except `count` and `rate` have. */
const readField = (reader: ParameterParser, name: string, begin: number): string | undefined => {
  const isWithoutField = name === 'count' || name === 'rate';
  const hasField = reader.consume(/\s*\(/y) !== undefined && reader.consume(/\s*\)/y) === undefined;
  if (!hasField) {
    if (isWithoutField) return undefined;
    throw reader.error(`expected a field, as in ${name}(duration)`);
  }
  const field = reader.readName(/[^,()"]+/y);
  if (isWithoutField) throw reader.error(`expected ${name} without a field: distinct(${field}) counts values`, begin);
  if (reader.consume(/\s*\)/y) === undefined) throw reader.error('expected a closing parenthesis');
  return field;
};

/** Returns the quoted search after `where`: only records that also match it are measured. */
const readSearch = (reader: ParameterParser): string | undefined => {
  if (reader.consume(/\s+where\b\s*/y) === undefined) return undefined;
  const search = reader.consume(/"(?:[^"\\]|\\[\s\S])*"/y);
  if (search === undefined) throw reader.error('expected a search in quotes after "where"');
  return search.slice(1, -1).replace(/\\(["\\])/g, '$1');
};

const readAlias = (reader: ParameterParser): string | undefined => {
  const hasAlias = reader.consume(/\s+as\b\s*/y) !== undefined;
  const name = hasAlias ? reader.consume(/[A-Za-z_]\w{0,63}/y) : undefined;
  if (hasAlias && name === undefined) throw reader.error('expected a name of letters, digits and _ after "as"');
  reader.consume(/\s*/y);
  return name;
};
