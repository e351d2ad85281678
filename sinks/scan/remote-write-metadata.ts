/** Prometheus' metadata of a metric family. */
export interface Metadata {
  readonly kind: string;
  readonly unit: string;
  readonly description: string;
}

const kinds = ['unknown', 'counter', 'gauge', 'histogram', 'gauge_histogram', 'summary', 'info', 'state_set'] as const;

/** Name of a metadata type's number. */
export const kindOf = (type: number): string => kinds[type] ?? 'unknown';

export const noMetadata: Metadata = { kind: 'unknown', unit: '', description: '' };

/** Ends of sample names that a family's name lacks. */
const suffixes = /_(?:total|bucket|sum|count|created|info)$/;
const maxFamilies = 50_000;

/**
 * Metadata of 1.0 requests, which comes in requests of its own: what this worker received for a tenant's project. Best
 * effort: the row of a series that was seen first says `unknown` until the next hour. `metric_metadata` has it at once.
 */
export class MetadataMemory {
  readonly #families = new Map<string, Metadata>();

  learn(tenantId: string, projectId: string, family: string, metadata: Metadata): void {
    if (this.#families.size >= maxFamilies) this.#families.clear();
    this.#families.set(`${tenantId}\n${projectId}\n${family}`, metadata);
  }

  of(tenantId: string, projectId: string, metric: string): Metadata {
    const scope = `${tenantId}\n${projectId}\n`;
    return this.#families.get(scope + metric) ?? this.#families.get(scope + metric.replace(suffixes, '')) ?? noMetadata;
  }
}
