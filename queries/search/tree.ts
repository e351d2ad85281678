/**
 * Syntax tree of a search with resolved names and values. It is the only input of the SQL condition and of the
 * predicate.
 */
import type { Field, Reference } from '../../schemas/fields.ts';
import type { Regex } from './regex.ts';

export interface Bound<Value> {
  readonly value: Value;
  readonly isInclusive: boolean;
}

/** An interval with optional bounds; without any it includes everything. */
export interface Interval<Value> {
  readonly from?: Bound<Value>;
  readonly to?: Bound<Value>;
}

/** Texts between the asterisks of a pattern: the first is the prefix, and the last is the suffix. */
export type PatternPieces = readonly string[];

/** A test of a text, in one of its forms (`schemas/tables/search-text.ts`). */
export type WordTest =
  | { readonly is: 'words'; readonly words: readonly string[] }
  | { readonly is: 'phrase'; readonly words: readonly string[] }
  | { readonly is: 'pattern'; readonly pieces: PatternPieces }
  /** For the folded text: it contains `part` and matches `source`, a regular expression of RE2 for the written `text`. */
  | { readonly is: 'literal'; readonly text: string; readonly part: string; readonly source: string | undefined }
  /** For the plain text. */
  | { readonly is: 'regex'; readonly regex: Regex };

/** Meaning of a name in a search: a part of the record, or an attribute of any event or link of a span. */
export type SearchReference =
  | Reference
  | { readonly kind: 'events'; readonly key: string }
  | { readonly kind: 'links'; readonly key: string };

/** A test of one value's text. All fail if the record has no such value. */
export type ValueTest =
  | { readonly is: 'exists' }
  /** `number`: the text of that number, if the value has a numeric type. */
  | { readonly is: 'equal'; readonly text: string; readonly number?: string; readonly ignoresCase?: true }
  | { readonly is: 'pattern'; readonly pieces: PatternPieces }
  | { readonly is: 'regex'; readonly regex: Regex }
  /** For values that parse as numbers. */
  | { readonly is: 'within'; readonly interval: Interval<number> }
  /** Compared by UTF-8 bytes. */
  | { readonly is: 'between'; readonly interval: Interval<string> };

export type Search =
  | { readonly is: 'all' }
  | { readonly is: 'and' | 'or'; readonly parts: readonly Search[] }
  | { readonly is: 'not'; readonly part: Search }
  /** For a record's words: those of a log record's body, or of several texts (`SignalDefinition.text`). */
  | { readonly is: 'text'; readonly test: WordTest }
  | { readonly is: 'value'; readonly reference: SearchReference; readonly test: ValueTest }
  /** For a field that is a number, a time or a duration. */
  | { readonly is: 'number'; readonly field: Field; readonly interval: Interval<number | bigint> }
  /** For a log record's severity, by OpenTelemetry's numbers. */
  | { readonly is: 'severity'; readonly interval: Interval<number> };

export const matchAll: Search = { is: 'all' };
