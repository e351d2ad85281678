/** What a search says, once its names and values are understood. Both back ends read this, and nothing else. */
import type { Field, Reference } from '../../schemas/fields.ts';
import type { Regex } from './regex.ts';

export interface Bound<Value> {
  readonly value: Value;
  readonly isInclusive: boolean;
}

/** Both ends may be open; without any it is everything. */
export interface Interval<Value> {
  readonly from?: Bound<Value>;
  readonly to?: Bound<Value>;
}

/** What stands between the asterisks of a pattern; the first piece is where a text begins, the last where it ends. */
export type Pieces = readonly string[];

/** A test of words. Words, phrases and patterns are in lower case (ASCII), as is the text that they are looked for in. */
export type WordTest =
  | { readonly is: 'words'; readonly words: readonly string[] }
  | { readonly is: 'phrase'; readonly words: readonly string[] }
  | { readonly is: 'pattern'; readonly pieces: Pieces }
  | { readonly is: 'regex'; readonly regex: Regex };

/** What a name in a search means: a part of the record, or an attribute that some event or link of a span has. */
export type SearchReference =
  | Reference
  | { readonly kind: 'events'; readonly key: string }
  | { readonly kind: 'links'; readonly key: string };

/** A test of one value's text. None holds where the record has no such value. */
export type ValueTest =
  | { readonly is: 'exists' }
  /** `number`: the text of that number, if the value has the type of one. */
  | { readonly is: 'equal'; readonly text: string; readonly number?: string; readonly ignoresCase?: true }
  | { readonly is: 'pattern'; readonly pieces: Pieces }
  | { readonly is: 'regex'; readonly regex: Regex }
  /** Of values that read as numbers. */
  | { readonly is: 'within'; readonly interval: Interval<number> }
  /** By the bytes of UTF-8. */
  | { readonly is: 'between'; readonly interval: Interval<string> };

export type Search =
  | { readonly is: 'all' }
  | { readonly is: 'none' }
  | { readonly is: 'and' | 'or'; readonly parts: readonly Search[] }
  | { readonly is: 'not'; readonly part: Search }
  /** Of a record's words: those of a log record are in its body, those of others in several texts (`SignalDefinition.text`). */
  | { readonly is: 'text'; readonly test: WordTest }
  | { readonly is: 'value'; readonly reference: SearchReference; readonly test: ValueTest }
  /** Of a field that is a number, a time or a duration. */
  | { readonly is: 'number'; readonly field: Field; readonly interval: Interval<number | bigint> }
  /** Of a log record's severity, by OpenTelemetry's numbers. */
  | { readonly is: 'severity'; readonly interval: Interval<number> };

export const all: Search = { is: 'all' };
export const none: Search = { is: 'none' };
