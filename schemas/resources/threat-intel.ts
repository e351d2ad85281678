/** Indicators of compromise of an organization, and their feeds. */
import { defineCollection } from '../ports/documents.ts';

export const indicatorTypes = [
  'ip',
  'network',
  'domain',
  'url',
  'email',
  'md5',
  'sha1',
  'sha256',
  'sha512',
  'file-name',
] as const;
export type IndicatorType = (typeof indicatorTypes)[number];

/** An indicator in the form in which a source provides it. */
export interface SourceIndicator {
  readonly type: IndicatorType;
  /** Value in the canonical form of its type. */
  readonly value: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Confidence from 0 to 100. */
  readonly confidence: number;
  /** ISO-8601. */
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  /** Whether the source revoked the indicator. */
  readonly isRevoked: boolean;
  /** The source's own ID of the indicator, which may have several values; empty without an ID. */
  readonly givenId: string;
}

export interface ThreatIndicator extends SourceIndicator {
  /** Name of the feed, or the source specified for an import. */
  readonly source: string;
  /** When the source last reported the indicator. */
  readonly seenAt: string;
  /** Source, type and value: identifies one indicator of one source. */
  readonly key: string;
  /** Half-life of the confidence in days; null for the default of the type. */
  readonly halfLifeDays: number | null;
  /** Whether a match also raises a security signal. */
  readonly raisesSignals: boolean;
}

export const buildIndicatorKey = (source: string, type: string, value: string): string =>
  JSON.stringify([source, type, value]);

/**
 * A source has each value at most once, but several sources may have the same value. The index by source is last,
 * because most indicators come from one source.
 */
export const threatIndicators = defineCollection<ThreatIndicator>({
  name: 'threat-indicators',
  unique: [['key']],
  indexes: [['givenId'], ['value'], ['seenAt'], ['type'], ['source']],
});

/**
 * Indicators in compact form for matching. Each write of indicators adds an immutable block with the latest state of
 * each. If several blocks contain an indicator, the last seen entry counts, so blocks can be merged at any time.
 */
export interface IndicatorBlock {
  readonly sources: readonly string[];
  /** Entries in base64 (`subjects/threat-intel/block.ts`). */
  readonly entries: string;
  /** 0 for an original block, 1 for a merged block. */
  readonly level: 0 | 1;
}

export const indicatorBlocks = defineCollection<IndicatorBlock>({
  name: 'threat-indicator-blocks',
  indexes: [['level']],
});

/** New indicators to search for in older stored records; deleted when the search is complete. */
export interface IndicatorHunt extends Pick<IndicatorBlock, 'sources' | 'entries'> {
  readonly fromMs: number;
  /** After this time the stream matches them. */
  readonly toMs: number;
}

export const indicatorHunts = defineCollection<IndicatorHunt>({ name: 'threat-indicator-hunts' });

export const feedFormats = ['stix', 'misp', 'csv', 'list'] as const;
export type FeedFormat = (typeof feedFormats)[number];

/** Location of a feed. */
export type FeedLocation =
  | { readonly type: 'url'; readonly url: string; readonly format: FeedFormat }
  | { readonly type: 'taxii'; readonly apiRoot: string; readonly collection: string };

/** Authentication of a feed. The secrets are encrypted. */
export type FeedAuthentication =
  | { readonly type: 'none' }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | { readonly type: 'header'; readonly header: string; readonly secret: string };

export interface ThreatFeed {
  /** Name of the feed, and source of its indicators. */
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly location: FeedLocation;
  readonly authentication: FeedAuthentication;
  readonly everySeconds: number;
  /** Confidence of indicators for which the feed specifies none. */
  readonly confidence: number;
  /** Validity in days, from the last report by the feed, of indicators without an end; null for unlimited. */
  readonly validDays: number | null;
  readonly halfLifeDays: number | null;
  /** Maximum size of one response. */
  readonly maxBytes: number;
  /** Maximum number of indicators of one poll. */
  readonly maxIndicators: number;
  readonly raisesSignals: boolean;
  /** Days of older logs in which new indicators are searched; 0 for none. */
  readonly retroHuntDays: number;
}

export const threatFeeds = defineCollection<ThreatFeed>({ name: 'threat-feeds', unique: [['name']] });

/** Result counts of a poll. */
export interface FeedCounts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Number of the feed's entries that cannot be matched. */
  readonly refused: number;
}

/** Read position of a feed; the ID is that of the feed. */
export interface ThreatFeedState {
  /** Version of the polled feed: a changed feed is read from its beginning. */
  readonly feedVersion: number;
  readonly nextPollAt: string;
  readonly lastPolledAt: string;
  readonly lastSucceededAt: string | null;
  /** Time of the last complete read, as opposed to a check for changes. */
  readonly lastReadAt: string | null;
  /** Error message; null after a successful poll. */
  readonly error: string | null;
  /** Failed polls since the last successful one. */
  readonly failures: number;
  /** Counts of the last successful poll. */
  readonly counts: FeedCounts;
  /** The first rejected entries, with the reason. */
  readonly refused: readonly { readonly at: string; readonly message: string }[];
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** TAXII: everything that the server added up to this time was read. */
  readonly addedAfter: string | null;
}

export const threatFeedStates = defineCollection<ThreatFeedState>({ name: 'threat-feed-states' });
