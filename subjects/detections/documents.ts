/** Sigma's documents as they are read from YAML: rules, correlations and filters (specification 2.1). */

/** Where a rule's events come from. A part that is not given is any. */
export interface LogSource {
  readonly product?: string;
  readonly category?: string;
  readonly service?: string;
}

export const sigmaLevels = ['informational', 'low', 'medium', 'high', 'critical'] as const;
export type SigmaLevel = (typeof sigmaLevels)[number];
export const sigmaStatuses = ['stable', 'test', 'experimental', 'deprecated', 'unsupported'] as const;
export type SigmaStatus = (typeof sigmaStatuses)[number];

export type SigmaValue = string | number | boolean | null;

/** `Image|endswith: ['\cmd.exe']`. `field` is empty for keywords. */
export interface SelectionItem {
  readonly field: string;
  readonly modifiers: readonly string[];
  readonly values: readonly SigmaValue[];
  /** Line in the text that was read. */
  readonly line: number;
}

/** A map: all of its items; or a list: any of its parts. */
export type Selection =
  | { readonly is: 'all'; readonly items: readonly SelectionItem[] }
  | { readonly is: 'any'; readonly parts: readonly Selection[] };

/** What a condition says. `of` counts selections whose name fits a pattern. */
export type Condition =
  | { readonly is: 'and' | 'or'; readonly parts: readonly Condition[] }
  | { readonly is: 'not'; readonly part: Condition }
  | { readonly is: 'selection'; readonly name: string }
  | { readonly is: 'of'; readonly all: boolean; readonly names: readonly string[] };

export interface Detection {
  readonly selections: ReadonlyMap<string, Selection>;
  /** Any of them. */
  readonly conditions: readonly Condition[];
}

/** What all documents say about themselves. */
export interface SigmaHead {
  /** Empty where it has none. */
  readonly id: string;
  /** What correlations may call it; empty without one. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly author: string;
  readonly status: SigmaStatus | undefined;
  readonly level: SigmaLevel | undefined;
  readonly tags: readonly string[];
  readonly references: readonly string[];
  readonly falsePositives: readonly string[];
  /** YAML of this document alone. */
  readonly source: string;
  /** Number of the document in the text, from 1, and its first line. */
  readonly document: number;
  readonly line: number;
}

export interface SigmaRule extends SigmaHead {
  readonly kind: 'rule';
  readonly logsource: LogSource;
  readonly detection: Detection;
  /** Fields that the author wants to see with a match. */
  readonly fields: readonly string[];
}

/** Narrows rules: they match only where its condition holds too. */
export interface SigmaFilter extends SigmaHead {
  readonly kind: 'filter';
  readonly logsource: LogSource;
  /** Ids or names; `any` for all rules of the log source. */
  readonly rules: readonly string[] | 'any';
  readonly detection: Detection;
}

export const correlationTypes = [
  'event_count',
  'value_count',
  'temporal',
  'temporal_ordered',
  'value_sum',
  'value_avg',
  'value_percentile',
  'value_median',
] as const;
export type CorrelationType = (typeof correlationTypes)[number];

export const comparisons = ['gt', 'gte', 'lt', 'lte', 'eq', 'neq'] as const;
export type Comparison = (typeof comparisons)[number];

export interface SigmaCorrelation extends SigmaHead {
  readonly kind: 'correlation';
  readonly type: CorrelationType;
  /** Ids or names of rules or other correlations; for `temporal_ordered` in the order in which they must match. */
  readonly rules: readonly string[];
  readonly groupBy: readonly string[];
  readonly timespanMs: number;
  /** All must hold of the count or value. */
  readonly bounds: readonly { readonly is: Comparison; readonly value: number }[];
  /** Of temporal correlations: which of the rules must have matched, where it says more than how many. */
  readonly condition: Condition | undefined;
  /** What is counted or measured; empty for event counts and temporal ones. */
  readonly fields: readonly string[];
  readonly percentile: number;
  /** Alias → rule → field. */
  readonly aliases: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Whether the rules that it names give signals of their own as well. */
  readonly generate: boolean;
}

export type SigmaDocument = SigmaRule | SigmaCorrelation | SigmaFilter;

/** What is wrong with a document, and where. */
export interface SigmaError {
  /** Number of the document in the text, from 1. */
  readonly document: number;
  /** Line in the text, from 1. */
  readonly line: number;
  /** Path of the field, as in `detection.selection.Image|endswith`; empty for the document as a whole. */
  readonly field: string;
  readonly message: string;
  /** Title of the document, where it has one. */
  readonly title: string;
}

/** What is wrong and where, as one line. */
export const faultText = ({ line, field, message }: Pick<SigmaError, 'line' | 'field' | 'message'>): string =>
  field === '' ? `line ${line}: ${message}` : `line ${line}: ${field}: ${message}`;
