/** What a tenant has that a question can name. */

/** A field, attribute or label, named as in the search language. */
export interface KnownField {
  readonly name: string;
  readonly isNumber: boolean;
  /** The most frequent ones, as texts. */
  readonly values: readonly string[];
  /** Whether these are all. */
  readonly hasAllValues: boolean;
}

/** What records of a signal have. */
export interface KnownRecords {
  readonly services: readonly string[];
  readonly fields: readonly KnownField[];
}

/** How a metric can be asked: `counter` grows, `gauge` goes up and down, `histogram` and `summary` hold distributions. */
export type MetricKind = 'counter' | 'gauge' | 'histogram' | 'summary';

export interface KnownMetric {
  readonly name: string;
  readonly kind: MetricKind;
  readonly unit: string;
  readonly services: readonly string[];
  readonly labels: readonly KnownField[];
}

export interface Catalogue {
  readonly logs: KnownRecords;
  readonly traces: KnownRecords;
  readonly metrics: readonly KnownMetric[];
}
