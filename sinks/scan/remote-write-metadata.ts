/** Prometheus metadata of a metric family. */
export interface Metadata {
  readonly kind: string;
  readonly unit: string;
  readonly description: string;
}

const kinds = ['unknown', 'counter', 'gauge', 'histogram', 'gauge_histogram', 'summary', 'info', 'state_set'] as const;

/** Returns the name of a metadata type. */
export const getKindName = (type: number): string => kinds[type] ?? 'unknown';

export const emptyMetadata: Metadata = { kind: 'unknown', unit: '', description: '' };

/** Suffixes of sample names that are not part of the family's name. */
const suffixPattern = /_(?:total|bucket|sum|count|created|info)$/;
const maxFamilies = 50_000;

/**
 * Caches metadata of 1.0 requests per project in this worker, because it arrives in separate requests. This is best
 * effort: if a series is received before its metadata, its row has the kind `unknown` until the next hour.
 * `metric_metadata` is always current.
 */
export class MetadataCache {
  readonly #families = new Map<string, Metadata>();

  store(tenantId: string, projectId: string, family: string, metadata: Metadata): void {
    if (this.#families.size >= maxFamilies) this.#families.clear();
    this.#families.set(`${tenantId}\n${projectId}\n${family}`, metadata);
  }

  find(tenantId: string, projectId: string, metric: string): Metadata {
    const keyPrefix = `${tenantId}\n${projectId}\n`;
    return (
      this.#families.get(keyPrefix + metric) ??
      this.#families.get(keyPrefix + metric.replace(suffixPattern, '')) ??
      emptyMetadata
    );
  }
}
