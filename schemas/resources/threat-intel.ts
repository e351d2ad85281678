/** Indicators of compromise that an organization holds, and the feeds that they come from. */
import { defineCollection } from '../ports/documents.ts';

export interface ThreatIndicator {
  readonly type: string;
  readonly value: string;
  /** Who says so: the feed's name, or what an import was given. */
  readonly source: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** 0 to 100. */
  readonly confidence: number;
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  readonly isRevoked: boolean;
  /** When its source last told of it. */
  readonly seenAt: string;
  /** Source, type and value: what one source tells of one thing. */
  readonly key: string;
}

export const indicatorKey = (source: string, type: string, value: string): string =>
  JSON.stringify([source, type, value]);

/** One source tells of a value once; several may tell of the same. */
export const threatIndicators = defineCollection<ThreatIndicator>({
  name: 'threat-indicators',
  unique: [['key']],
  indexes: [['value'], ['type'], ['source'], ['seenAt']],
});
