/** Sigma documents parsed from YAML: rules, correlations and filters (specification 2.1). */

/** Log source of a rule's events. An omitted part matches any value. */
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

/** An item of a selection, such as `Image|endswith: ['\cmd.exe']`. `field` is empty for keywords. */
export interface SelectionItem {
  readonly field: string;
  readonly modifiers: readonly string[];
  readonly values: readonly SigmaValue[];
  /** Line in the source text */
  readonly line: number;
}

/** A selection: a map, of which all items must match, or a list, of which any part must match */
export type Selection =
  | { readonly is: 'all'; readonly items: readonly SelectionItem[] }
  | { readonly is: 'any'; readonly parts: readonly Selection[] };

/** A parsed condition. `of` counts selections whose name matches a pattern. */
export type Condition =
  | { readonly is: 'and' | 'or'; readonly parts: readonly Condition[] }
  | { readonly is: 'not'; readonly part: Condition }
  | { readonly is: 'selection'; readonly name: string }
  | { readonly is: 'of'; readonly all: boolean; readonly names: readonly string[] };

export interface Detection {
  readonly selections: ReadonlyMap<string, Selection>;
  /** Conditions, of which any must hold */
  readonly conditions: readonly Condition[];
}

/** Fields that all documents have */
export interface SigmaDocumentBase {
  /** Id of the document; empty if it has none */
  readonly id: string;
  /** Name by which correlations may reference the document; empty if it has none */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly author: string;
  readonly status: SigmaStatus | undefined;
  readonly level: SigmaLevel | undefined;
  readonly tags: readonly string[];
  readonly references: readonly string[];
  readonly falsePositives: readonly string[];
  /** YAML of this document alone */
  readonly source: string;
  /** Number of the document in the text, from 1, and its first line */
  readonly document: number;
  readonly line: number;
}

export interface SigmaRule extends SigmaDocumentBase {
  readonly kind: 'rule';
  readonly logsource: LogSource;
  readonly detection: Detection;
  /** Fields that the author wants to display with a match */
  readonly fields: readonly string[];
}

/** A filter, which narrows rules: they match only if its condition holds too */
export interface SigmaFilter extends SigmaDocumentBase {
  readonly kind: 'filter';
  readonly logsource: LogSource;
  /** Ids or names of rules; `any` for all rules of the log source */
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

export interface SigmaCorrelation extends SigmaDocumentBase {
  readonly kind: 'correlation';
  readonly type: CorrelationType;
  /** Ids or names of rules or other correlations; for `temporal_ordered`, in the order in which they must match */
  readonly rules: readonly string[];
  readonly groupBy: readonly string[];
  readonly timespanMs: number;
  /** Bounds of the count or value, all of which must hold */
  readonly bounds: readonly { readonly is: Comparison; readonly value: number }[];
  /** Condition of a temporal correlation over the rules that must have matched, if it has more than a count */
  readonly condition: Condition | undefined;
  /** Fields whose values are counted or measured; empty for event counts and temporal correlations */
  readonly fields: readonly string[];
  readonly percentile: number;
  /** Map from alias to rule to field */
  readonly aliases: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Whether the referenced rules emit signals of their own as well */
  readonly generate: boolean;
}

export type SigmaDocument = SigmaRule | SigmaCorrelation | SigmaFilter;

/** An error of a document, with its location */
export interface SigmaError {
  /** Number of the document in the text, from 1. */
  readonly document: number;
  /** Line in the text, from 1. */
  readonly line: number;
  /** Path of the field, such as `detection.selection.Image|endswith`; empty for the whole document */
  readonly field: string;
  readonly message: string;
  /** Title of the document, if it has one */
  readonly title: string;
}

/** Formats an error and its location as one line. */
export const formatSigmaError = ({ line, field, message }: Pick<SigmaError, 'line' | 'field' | 'message'>): string =>
  field === '' ? `line ${line}: ${message}` : `line ${line}: ${field}: ${message}`;
