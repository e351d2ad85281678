/** Polls threat indicator feeds */
import { parseSavedDueMs } from '../../runtime/due-time.ts';
import { defineJob } from '../../runtime/jobs.ts';
import { type Outbound, OutboundError } from '../../runtime/outbound.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Documents, StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';

import { readPlan } from '../../schemas/resources/tenant-plan.ts';
import {
  type ThreatFeed,
  type ThreatFeedState,
  threatFeedStates,
  threatFeeds,
} from '../../schemas/resources/threat-intel.ts';
import { FeedError, type FeedPosition, readFeed } from './read-feed.ts';
import { type WriteCounts, writeIndicators } from './write-indicators.ts';

export interface FeedDependencies {
  readonly documents: Documents;
  readonly outbound: Outbound;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
}

type Feed = ThreatFeed & StoredMetadata & { readonly tenantId: string };

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** Interval at which a feed with change detection is read completely, to confirm its indicators */
const fullReadIntervalMs = dayMs;
const maxWaitMs = dayMs;
const maxRejected = 100;
const maxConcurrentPolls = 4;

const initialPosition: FeedPosition = { etag: null, lastModified: null, addedAfter: null };
const noCounts = { created: 0, updated: 0, unchanged: 0, refused: 0 };

const toIsoTime = (ms: number): string => new Date(ms).toISOString();

/** Returns the position at which to continue. Once a day, a document is read completely. */
const choosePosition = (feed: Feed, state: ThreatFeedState | undefined, nowMs: number): FeedPosition => {
  if (state?.feedVersion !== feed.version) return initialPosition;
  const { etag, lastModified, addedAfter, lastReadAt } = state;
  if (feed.location.type === 'taxii') return { ...initialPosition, addedAfter };
  return lastReadAt !== null && nowMs - Date.parse(lastReadAt) < fullReadIntervalMs
    ? { etag, lastModified, addedAfter: null }
    : initialPosition;
};

/**
 * Moves the position back after a partial response. Entries with the same time may be missing, so they are requested
 * again.
 */
const rewindPosition = (addedAfter: string | null): string | null =>
  addedAfter === null ? null : toIsoTime(Date.parse(addedAfter) - 1000);

interface ImportProgress {
  counts: typeof noCounts;
  refused: { readonly at: string; readonly message: string }[];
  position: FeedPosition;
  hasRead: boolean;
}

const importFeed = async (
  feed: Feed,
  ports: FeedDependencies,
  { from, signal }: { readonly from: FeedPosition; readonly signal: AbortSignal },
  progress: ImportProgress,
): Promise<void> => {
  const { tenantId, name, halfLifeDays, validDays, raisesSignals } = feed;
  const { documents, clock } = ports;
  const commit = (write: (forTenant: Documents['forTenant']) => Promise<WriteCounts>) =>
    documents.transaction(({ forTenant }) => write(forTenant));
  let receivedCount = 0;
  for await (const { document: parsed, position } of readFeed(feed, from, { ...ports, signal, tenantId })) {
    receivedCount += parsed.indicators.length;
    if (receivedCount > feed.maxIndicators)
      throw new FeedError(
        `it returns more than ${feed.maxIndicators} indicators at once: increase the limit of the feed`,
      );
    const nowMs = clock.now();
    const huntFromMs = feed.retroHuntDays > 0 ? nowMs - feed.retroHuntDays * dayMs : null;
    const importOptions = { source: name, nowMs, halfLifeDays, validDays, raisesSignals, huntFromMs };
    const writeCounts = await writeIndicators(commit, tenantId, parsed.indicators, importOptions);
    for (const value of ['created', 'updated', 'unchanged'] as const) progress.counts[value] += writeCounts[value];
    progress.counts.refused += parsed.rejectedCount;
    progress.refused.push(...parsed.rejected.slice(0, maxRejected - progress.refused.length));
    progress.position = position;
    progress.hasRead = true;
    signal.throwIfAborted();
  }
};

/** Returns the state after a poll. */
const createState = (
  feed: Feed,
  state: ThreatFeedState | undefined,
  { counts, refused, position, hasRead }: ImportProgress,
  { startedMs, failure }: { readonly startedMs: number; readonly failure: Error | undefined },
): ThreatFeedState => {
  const everyMs = feed.everySeconds * 1000;
  const waitMs = failure instanceof FeedError ? Math.min(failure.waitMs ?? 0, maxWaitMs) : 0;
  const commonFields = {
    feedVersion: feed.version,
    lastPolledAt: toIsoTime(startedMs),
    nextPollAt: toIsoTime(startedMs + Math.max(everyMs, waitMs)),
  };
  if (failure !== undefined)
    return {
      lastSucceededAt: null,
      lastReadAt: null,
      counts: noCounts,
      refused: [],
      ...initialPosition,
      ...state,
      ...commonFields,
      // A document that could not be stored is read again; a collection continues after the stored entries.
      ...(hasRead && { ...initialPosition, addedAfter: rewindPosition(position.addedAfter) }),
      error: failure.message.slice(0, 1000),
      failures: (state?.failures ?? 0) + 1,
    };
  return {
    ...commonFields,
    ...position,
    refused,
    error: null,
    failures: 0,
    lastSucceededAt: toIsoTime(startedMs),
    lastReadAt: hasRead ? toIsoTime(startedMs) : (state?.lastReadAt ?? null),
    counts: hasRead ? counts : (state?.counts ?? noCounts),
  };
};

/** Polls a feed, and stores the result. A failure does not change indicators. */
export const pollFeed = async (feed: Feed, ports: FeedDependencies, signal: AbortSignal): Promise<void> => {
  const { documents, clock, log } = ports;
  const states = documents.forTenant(feed.tenantId).collection(threatFeedStates);
  const state = await states.find(feed.id);
  const startedMs = clock.now();
  const from = choosePosition(feed, state, startedMs);
  const progress: ImportProgress = { counts: { ...noCounts }, refused: [], position: from, hasRead: false };
  let failure: Error | undefined;
  try {
    await importFeed(feed, ports, { from, signal }, progress);
  } catch (error) {
    // Polling was stopped; another process continues.
    if (signal.aborted) throw error;
    if (!(error instanceof FeedError || error instanceof OutboundError))
      log.error({ error, feed: feed.id }, 'a threat feed could not be stored; OIQ will retry');
    failure =
      error instanceof FeedError || error instanceof OutboundError
        ? error
        : new FeedError('its indicators could not be stored; OIQ will retry');
  }
  const nextState = createState(feed, state, progress, { startedMs, failure });
  if (state === undefined) await states.insert({ id: feed.id, ...nextState });
  else await states.replace(feed.id, nextState);
};

/** Returns a function that checks whether the plan of an organization includes threat feeds. */
const createEntitlementTest = async (documents: Documents): Promise<(tenantId: string) => Promise<boolean>> => {
  const entitlementByTenant = new Map<string, boolean>();
  return async (tenantId) => {
    const cached = entitlementByTenant.get(tenantId);
    if (cached !== undefined) return cached;
    const plan = await readPlan(documents, tenantId);
    const isEntitled = plan?.entitlements.includes('siem') === true;
    entitlementByTenant.set(tenantId, isEntitled);
    return isEntitled;
  };
};

/** Polls due feeds, some of them concurrently. */
export const pollDueFeeds = async (ports: FeedDependencies, signal: AbortSignal): Promise<void> => {
  const { documents, clock } = ports;
  const pollsByFeed = new Map<string, Pick<ThreatFeedState, 'nextPollAt' | 'feedVersion'>>();
  const removedFeeds = new Map<string, string>();
  for await (const { tenantId, id, nextPollAt, feedVersion } of documents.findInAllTenants(threatFeedStates)) {
    pollsByFeed.set(id, { nextPollAt, feedVersion });
    removedFeeds.set(id, tenantId);
  }
  const isEntitled = await createEntitlementTest(documents);
  const dueFeeds: Feed[] = [];
  for await (const feed of documents.findInAllTenants(threatFeeds)) {
    removedFeeds.delete(feed.id);
    const lastPoll = pollsByFeed.get(feed.id);
    const maxDelayMs = Math.max(feed.everySeconds * 1000, maxWaitMs);
    const isDue =
      lastPoll?.feedVersion !== feed.version ||
      parseSavedDueMs(lastPoll.nextPollAt, clock.now(), maxDelayMs) <= clock.now();
    if (feed.enabled && isDue && (await isEntitled(feed.tenantId))) dueFeeds.push(feed);
  }
  for (const [id, tenantId] of removedFeeds)
    await documents.forTenant(tenantId).collection(threatFeedStates).delete(id);
  const poll = async (): Promise<void> => {
    for (let feed = dueFeeds.shift(); feed !== undefined && !signal.aborted; feed = dueFeeds.shift())
      await pollFeed(feed, ports, signal);
  };
  await Promise.all(Array.from({ length: maxConcurrentPolls }, poll));
};

export const pollThreatFeeds = defineJob<FeedDependencies>({
  name: 'threat-feeds',
  summary: 'Polls threat indicator feeds that are due',
  everyMs: 15_000,
  scope: 'installation',
  run: pollDueFeeds,
});
