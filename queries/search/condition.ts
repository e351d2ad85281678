/** Converts a search to an SQL condition. User texts are parameters, or literals of `quoteString`. */

import {
  type AttributeExpressions,
  attributeMaps,
  buildAttributeExpressions,
  buildScopeExpressions,
  type Field,
} from '../../schemas/fields.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { buildAttributeHintSql, severityNumberSql, type TextForm, traceIs } from '../../schemas/tables/search.ts';
import { type ReadSignal, type SignalDefinition, signalDefinitions } from '../signals/index.ts';
import type { Bound, Interval, PatternPieces, Search, ValueTest, WordTest } from './tree.ts';

/**
 * SQL to follow `WHERE tenant_id = {tenant:String} AND`, and its parameters; their names begin with `search`, or with a
 * given prefix.
 */
export interface SearchCondition {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Whether ClickHouse can use an index of words or attributes for the condition. */
  readonly usesIndex: boolean;
  /** Whether the condition selects from another table. */
  readonly hasSubquery: boolean;
}

/** Type characters of numbers, also inside arrays and maps. */
const numericTypes = "('i', 'd', 'I', 'D')";
/** Matches JSON numbers, like `numberText` of the predicate. */
const numberPattern = quoteString('^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?$');
const wordCharacters = '0-9A-Za-z\\x{80}-\\x{10FFFF}';
const wordBoundaries = [`(^|[^${wordCharacters}])`, `([^${wordCharacters}]|$)`] as const;
/** Patterns consist of letters, so they contain no RE2 syntax. */
const buildPhrasePattern = (words: readonly string[]): string =>
  wordBoundaries.join(words.join(`[^${wordCharacters}]+`));
const buildWordPattern = (pieces: PatternPieces): string => wordBoundaries.join(pieces.join(`[${wordCharacters}]*`));

class ConditionWriter {
  readonly parameters: Record<string, string> = {};
  usesIndex = false;
  hasSubquery = false;
  readonly #signal: SignalDefinition;
  readonly #prefix: string;
  #count = 0;

  constructor(signal: SignalDefinition, prefix: string) {
    this.#signal = signal;
    this.#prefix = prefix;
  }

  write(search: Search): string {
    switch (search.is) {
      case 'all':
        return 'true';
      case 'and':
      case 'or':
        return `(${search.parts.map((part) => this.write(part)).join(` ${search.is.toUpperCase()} `)})`;
      case 'not':
        return `NOT ${this.write(search.part)}`;
      case 'text':
        return this.#writeWords(search.test);
      case 'number':
        return this.#writeNumbers(search.field, search.interval);
      case 'severity':
        return this.#writeInterval(severityNumberSql, search.interval, (value) => String(value));
      default:
        return this.#writeValue(search);
    }
  }

  #bindParameter(value: string, type: string): string {
    const name = `${this.#prefix}${++this.#count}`;
    this.parameters[name] = value;
    return `{${name}:${type}}`;
  }

  #bindText(value: string): string {
    return this.#bindParameter(value, 'String');
  }

  #writeWords(test: WordTest): string {
    const { text } = this.#signal;
    switch (test.is) {
      case 'words':
        return this.#writeAllWords(test.words);
      case 'phrase': {
        const phraseSql = this.#writeMatch('words', buildPhrasePattern(test.words));
        return text.isIndexed ? `(${this.#writeAllWords(test.words)} AND ${phraseSql})` : phraseSql;
      }
      case 'pattern':
        return this.#writeMatch('words', buildWordPattern(test.pieces));
      case 'literal': {
        const part = this.#bindText(test.part);
        const source = test.source === undefined ? undefined : this.#bindText(test.source);
        return text.passes(
          'folded',
          (folded) =>
            `(position(${folded}, ${part}) > 0${source === undefined ? '' : ` AND match(${folded}, ${source})`})`,
        );
      }
      default:
        return this.#writeMatch('plain', test.regex.source);
    }
  }

  #writeMatch(form: TextForm, source: string): string {
    const pattern = this.#bindText(source);
    return this.#signal.text.passes(form, (text) => `match(${text}, ${pattern})`);
  }

  #writeAllWords(words: readonly string[]): string {
    const { text } = this.#signal;
    if (text.isIndexed) this.usesIndex = true;
    return text.hasAllWords(words.join(' '));
  }

  #writeNumbers(field: Field, interval: Interval<number | bigint>): string {
    const { column, type } = field;
    if (type === 'time')
      return this.#writeInterval(
        column,
        interval,
        (value) => `fromUnixTimestamp64Nano(${this.#bindParameter(String(value), 'Int64')}, 'UTC')`,
      );
    const parameter = type === 'duration' ? 'UInt64' : 'Float64';
    return this.#writeInterval(column, interval, (value) => this.#bindParameter(String(value), parameter));
  }

  #writeInterval<Value>(expression: string, { from, to }: Interval<Value>, write: (value: Value) => string): string {
    const toComparisons = (bound: Bound<Value> | undefined, operator: string): string[] =>
      bound === undefined ? [] : [`${expression} ${operator}${bound.isInclusive ? '=' : ''} ${write(bound.value)}`];
    return `(${[...toComparisons(from, '>'), ...toComparisons(to, '<')].join(' AND ')})`;
  }

  #writeValue({ reference, test }: Extract<Search, { is: 'value' }>): string {
    switch (reference.kind) {
      case 'field':
        return this.#writeFieldTest(reference.field, test);
      case 'scope':
        return this.#writeTest(test, buildScopeExpressions(reference.key));
      case 'resource':
        return this.#writeResource(test, reference.key);
      case 'attribute':
      case 'body':
        return this.#writeAttribute(test, reference.key, reference.kind);
      case 'events':
      case 'links':
        return this.#writePart(test, reference.kind === 'events' ? 'event' : 'link', reference.key);
      default: {
        const attributeSql = this.#writeAttribute(test, reference.key, 'attribute');
        const { exists } = buildAttributeExpressions(reference.key);
        return `(${attributeSql} OR (NOT ${exists} AND ${this.#writeResource(test, reference.key)}))`;
      }
    }
  }

  /**
   * Returns a test of the attributes of any event or link. Within the lambda, the names of attribute columns refer to
   * the event or link instead of the span.
   */
  #writePart(test: ValueTest, part: 'event' | 'link', key: string): string {
    return `arrayExists((attributes, attribute_types) -> ${this.#writeAnyTest(test, buildAttributeExpressions(key))}, ${part}_attributes, ${part}_attribute_types)`;
  }

  #writeResource(test: ValueTest, key: string): string {
    const condition = this.#writeAnyTest(test, buildAttributeExpressions(key, 'resource'));
    this.hasSubquery = true;
    return `resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND ${condition})`;
  }

  /** Returns a test of any of the values of a name. An equality test has the form that the index supports. */
  #writeAttribute(test: ValueTest, key: string, part: 'attribute' | 'body'): string {
    const expressions = buildAttributeExpressions(key, part);
    if (test.is !== 'equal' || !this.#signal.hasAttributeIndex) return this.#writeAnyTest(test, expressions);
    this.usesIndex = true;
    const values = [test.text, ...(test.number === undefined ? [] : [test.number])].map((text) => this.#bindText(text));
    const hint = buildAttributeHintSql(quoteString(key), values, attributeMaps[part]);
    return `(${hint} AND ${this.#writeAnyTest(test, expressions)})`;
  }

  /** Returns a test of the first value, or of any further value, of a name. */
  #writeAnyTest(test: ValueTest, expressions: AttributeExpressions): string {
    const firstSql = this.#writeTest(test, expressions);
    const { further } = expressions;
    if (further === undefined) return firstSql;
    if (test.is === 'exists')
      return `if(${further.mayHaveValuesWithin}, ${firstSql} OR ${further.hasValuesWithin}, ${firstSql})`;
    const furtherSql = further.hasAny((text, type) => this.#writeTest(test, { exists: 'true', text, type }));
    // The engine evaluates a lambda of `OR` for all rows, but that of `if` only for rows that may have further values.
    return `if(${further.mayExist}, ${firstSql} OR ${furtherSql}, ${firstSql})`;
  }

  #writeFieldTest(field: Field, test: ValueTest): string {
    const { expression, type, elements } = field;
    if (elements !== undefined) {
      if (test.is === 'exists') return `notEmpty(${elements})`;
      return `arrayExists(element -> ${this.#writeTest(test, { exists: 'true', text: 'element', type: "''" })}, ${elements})`;
    }
    if (test.is === 'exists') return ['number', 'time', 'duration'].includes(type) ? 'true' : `(${expression} != '')`;
    if (test.is === 'equal' && type === 'traceId' && test.text !== '') return `(${traceIs(this.#bindText(test.text))})`;
    return this.#writeTest(test, { exists: 'true', text: expression, type: "''" });
  }

  /**
   * Returns a test of one value. A missing value is an empty text, so a test that an empty text would pass also checks
   * whether the value exists.
   */
  #writeTest(test: ValueTest, { exists, text, type }: AttributeExpressions): string {
    switch (test.is) {
      case 'exists':
        return exists;
      case 'equal':
        return this.#writeEqual(test, { exists, text, type });
      case 'pattern':
        return this.#writePattern(text, test.pieces);
      case 'regex':
        return `(${exists} AND match(${text}, ${this.#bindText(test.regex.source)}))`;
      case 'within':
        // The pattern is tested last, and only if the number is within the interval: it costs as much as all other
        // tests.
        return `if(isFinite(toFloat64OrZero(${text})) AND ${this.#writeInterval(
          `toFloat64OrZero(${text})`,
          test.interval,
          (value) => this.#bindParameter(String(value), 'Float64'),
        )}, match(${text}, ${numberPattern}), false)`;
      default:
        return `(${exists} AND ${this.#writeInterval(text, test.interval, (value) => this.#bindText(value))})`;
    }
  }

  #writeEqual(test: Extract<ValueTest, { is: 'equal' }>, { exists, text, type }: AttributeExpressions): string {
    if (test.ignoresCase === true) return `(lower(${text}) = lower(${this.#bindText(test.text)}))`;
    const equals = (expected: string): string =>
      `(${expected === '' ? `${exists} AND ` : ''}${text} = ${this.#bindText(expected)})`;
    if (test.number === undefined) return equals(test.text);
    return `(${equals(test.text)} OR (${text} = ${this.#bindText(test.number)} AND ${type} IN ${numericTypes}))`;
  }

  #writePattern(text: string, pieces: PatternPieces): string {
    const like = pieces.map((piece) => piece.replace(/[\\%_]/g, '\\$&')).join('%');
    return `(${text} LIKE ${this.#bindText(like)})`;
  }
}

/**
 * Returns the condition of a search on `logs`, `spans` or `series`. A prefix separates the parameters of several
 * searches in one statement.
 */
export const buildSearchCondition = (
  search: Search,
  signal: ReadSignal,
  { prefix = 'search' }: { readonly prefix?: string } = {},
): SearchCondition => {
  const writer = new ConditionWriter(signalDefinitions[signal], prefix);
  const sql = writer.write(search);
  const { parameters, usesIndex, hasSubquery } = writer;
  return { sql, parameters, usesIndex, hasSubquery };
};
