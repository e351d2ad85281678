/** Names of a tenant's data that a question can reference */

/** A field, attribute or label, named as in the search language */
export interface CatalogueField {
  readonly name: string;
  readonly isNumber: boolean;
  /** Most frequent values, as text */
  readonly values: readonly string[];
  /** Whether `values` is complete */
  readonly hasAllValues: boolean;
}

/** Fields of the records of a telemetry signal */
export interface CatalogueRecords {
  readonly services: readonly string[];
  readonly fields: readonly CatalogueField[];
}

/**
 * Kind of a metric: a `counter` only increases, a `gauge` goes up and down, `histogram` and `summary` contain
 * distributions
 */
export type MetricKind = 'counter' | 'gauge' | 'histogram' | 'summary';

export interface CatalogueMetric {
  readonly name: string;
  readonly kind: MetricKind;
  readonly unit: string;
  readonly services: readonly string[];
  readonly labels: readonly CatalogueField[];
}

export interface Catalogue {
  readonly logs: CatalogueRecords;
  readonly traces: CatalogueRecords;
  readonly metrics: readonly CatalogueMetric[];
}
