/** Indicators of compromise that an organization holds, and the feeds that they come from. */
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

/** An indicator as a source gives it. */
export interface GivenIndicator {
  readonly type: IndicatorType;
  /** In the one way in which values of its type are written. */
  readonly value: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** 0 to 100. */
  readonly confidence: number;
  /** ISO-8601. */
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  /** The source took it back. */
  readonly isRevoked: boolean;
  /** The source's own id of what it tells, which may be of several values; empty for none. */
  readonly givenId: string;
}

export interface ThreatIndicator extends GivenIndicator {
  /** Who says so: the feed's name, or what an import was given. */
  readonly source: string;
  /** When its source last told of it. */
  readonly seenAt: string;
  /** Source, type and value: what one source tells of one thing. */
  readonly key: string;
  /** After so many days it is believed half as much; null for what is usual of its type. */
  readonly halfLifeDays: number | null;
  /** Whether a match is also a signal. */
  readonly raisesSignals: boolean;
}

export const indicatorKey = (source: string, type: string, value: string): string =>
  JSON.stringify([source, type, value]);

/** One source tells of a value once; several may tell of the same. A source has most indicators: its index is the last to be read. */
export const threatIndicators = defineCollection<ThreatIndicator>({
  name: 'threat-indicators',
  unique: [['key']],
  indexes: [['givenId'], ['value'], ['seenAt'], ['type'], ['source']],
});

/**
 * Indicators in a form that takes little memory, for matching. Each write of indicators adds a block, never changed, that says the
 * latest of each; of several blocks the entry that was seen last counts, so blocks may be merged at any time.
 */
export interface IndicatorBlock {
  readonly sources: readonly string[];
  /** Base64 of entries (`subjects/threat-intel/block.ts`). */
  readonly entries: string;
  /** 0 as it was written, 1 for one that others were merged into. */
  readonly level: 0 | 1;
}

export const indicatorBlocks = defineCollection<IndicatorBlock>({
  name: 'threat-indicator-blocks',
  indexes: [['level']],
});

/** New indicators that are looked for in what was stored before they were there; removed once that is done. */
export interface IndicatorHunt extends Pick<IndicatorBlock, 'sources' | 'entries'> {
  readonly fromMs: number;
  /** Behind this time the stream looks for them. */
  readonly toMs: number;
}

export const indicatorHunts = defineCollection<IndicatorHunt>({ name: 'threat-indicator-hunts' });

export const feedFormats = ['stix', 'misp', 'csv', 'list'] as const;
export type FeedFormat = (typeof feedFormats)[number];

/** Where a feed lies. */
export type FeedLocation =
  | { readonly type: 'url'; readonly url: string; readonly format: FeedFormat }
  | { readonly type: 'taxii'; readonly apiRoot: string; readonly collection: string };

/** The secrets are sealed. */
export type FeedAuthentication =
  | { readonly type: 'none' }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | { readonly type: 'header'; readonly header: string; readonly secret: string };

export interface ThreatFeed {
  /** The source of its indicators. */
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly location: FeedLocation;
  readonly authentication: FeedAuthentication;
  readonly everySeconds: number;
  /** Of indicators for which the feed gives none. */
  readonly confidence: number;
  /** Indicators without an end are valid so long after the feed told of them; null for without end. */
  readonly validDays: number | null;
  readonly halfLifeDays: number | null;
  /** Of one answer. */
  readonly maxBytes: number;
  /** Of one poll. */
  readonly maxIndicators: number;
  readonly raisesSignals: boolean;
  /** New indicators are looked for in logs of so many days; 0 for none. */
  readonly retroHuntDays: number;
}

export const threatFeeds = defineCollection<ThreatFeed>({ name: 'threat-feeds', unique: [['name']] });

/** What a poll did. */
export interface FeedCounts {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  /** What the feed gave and cannot be matched. */
  readonly refused: number;
}

/** How far a feed was read; the id is the feed's. */
export interface ThreatFeedState {
  /** Of the feed that was polled: a changed one is read from its beginning. */
  readonly feedVersion: number;
  readonly nextPollAt: string;
  readonly lastPolledAt: string;
  readonly lastSucceededAt: string | null;
  /** When it was last read whole, and not only asked whether it changed. */
  readonly lastReadAt: string | null;
  /** In words; null after a poll that succeeded. */
  readonly error: string | null;
  /** Polls that failed since the last that succeeded. */
  readonly failures: number;
  /** Of the last poll that succeeded. */
  readonly counts: FeedCounts;
  /** The first that were refused, with the reason. */
  readonly refused: readonly { readonly at: string; readonly message: string }[];
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** TAXII: what the server added until then was read. */
  readonly addedAfter: string | null;
}

export const threatFeedStates = defineCollection<ThreatFeedState>({ name: 'threat-feed-states' });
