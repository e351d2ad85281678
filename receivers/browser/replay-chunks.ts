/** Masks the events of recordings and publishes them in chunks. Events that were sent in parts are joined first. */
import { zstdCompressSync } from 'node:zlib';
import { PermanentError } from '../../schemas/errors.ts';
import { maxReplayChunkBytes, type ReplayChunk } from '../../schemas/rum-replays.ts';
import { topics } from '../../schemas/topics.ts';
import type { BrowserContext, Publication, Translation } from '../engine/body-format.ts';
import { createRecordedPage, type RecordedPage, ReplayMasker } from './replay-masking.ts';

export type JsonObject = Record<string, unknown>;

/** A recorded document. Its events are numbered from 0. */
export interface RecordedDocument {
  readonly sessionId: string;
  readonly tabId: string;
}

/** A part of an event that is too large for a request. */
export interface EventPart {
  readonly part: number;
  readonly parts: number;
  readonly data: string;
}

/** Largest event number. */
export const maxEventNumber = 2 ** 32 - 1;
export const maxParts = 64;
const maxPages = 2_000;
/** Maximum characters of an event in parts, and of all incomplete events of this thread. */
const maxEventLength = 16 * 1024 * 1024;
const maxPartialLength = 64 * 1024 * 1024;
/** Maximum characters of the events in one chunk. A larger event gets a chunk of its own. */
const chunkLength = 512 * 1024;
const fullSnapshotType = 2;
const metaType = 4;

export const createFault = (message: string, reason = 'malformed'): PermanentError =>
  new PermanentError(reason, message, { position: 0 });

/** The tenant is part of the key, because two organizations may use the same names of applications and sessions. */
const toKey = ({ tenantId = '', application }: BrowserContext, { sessionId, tabId }: RecordedDocument): string =>
  JSON.stringify([tenantId, application, sessionId, tabId]);

/**
 * Pages that this thread has read, the least recently used first. If the page of a recording is missing, all of its
 * texts are masked.
 */
const pages = new Map<string, RecordedPage>();

/**
 * Returns the page that some events continue. Events that were overtaken by later ones complete it: ids of nodes are
 * unique between full snapshots, so their order does not matter. Other late events have a page of their own.
 */
const openPage = (key: string, first: number, events: readonly JsonObject[]): RecordedPage => {
  const page = pages.get(key) ?? createRecordedPage();
  const { next, missing } = page;
  const end = first + events.length;
  const isLate = first < next && !events.some(({ type }) => type === fullSnapshotType);
  const isMissing = first === missing?.first && end === missing.end;
  if (isLate && !isMissing) return createRecordedPage();

  pages.delete(key);
  const [oldest] = pages.keys();
  if (pages.size >= maxPages && oldest !== undefined) pages.delete(oldest);
  pages.set(key, page);
  if (isLate) {
    page.isComplete = true;
    page.missing = undefined;
    return page;
  }
  page.next = end;
  if (first === next) return page;
  page.missing = page.isComplete && first > next ? { first: next, end: first } : undefined;
  page.isComplete = false;
  return page;
};

/** An event of which some parts are still missing. Senders number the parts from 0 or from 1. */
interface PartialEvent {
  readonly parts: number;
  readonly texts: Map<number, string>;
  length: number;
}
const partialEvents = new Map<string, PartialEvent>();
let partialLength = 0;

const removePartial = (key: string): void => {
  partialLength -= partialEvents.get(key)?.length ?? 0;
  partialEvents.delete(key);
};

const addPart = (key: string, { part, parts, data }: EventPart): string | undefined => {
  let partial = partialEvents.get(key);
  if (partial?.parts !== parts) {
    removePartial(key);
    partial = { parts, texts: new Map(), length: 0 };
  }
  // Moves the event to the end, because the least recently used event is removed first.
  partialEvents.delete(key);
  partialEvents.set(key, partial);
  const added = data.length - (partial.texts.get(part)?.length ?? 0);
  partial.texts.set(part, data);
  partial.length += added;
  partialLength += added;
  if (partial.length > maxEventLength) {
    removePartial(key);
    throw createFault(`an event in parts is larger than ${maxEventLength} characters`, 'record-too-large');
  }
  if (partial.texts.size < parts) {
    for (const oldest of partialEvents.keys()) {
      if (partialLength <= maxPartialLength && partialEvents.size <= maxPages) break;
      removePartial(oldest);
    }
    return undefined;
  }
  removePartial(key);
  return [...partial.texts]
    .toSorted(([left], [right]) => left - right)
    .map(([, text]) => text)
    .join('');
};

/** Throws for values that are not events of rrweb. `name` is the path of the value in the body. */
export function checkEvent(event: unknown, name: string): asserts event is JsonObject {
  if (typeof event === 'string' || (typeof event === 'object' && event !== null && 'v' in event))
    throw createFault(`${name} is packed: record without packFn`, 'packed');
  const { type, timestamp } = (event ?? {}) as JsonObject;
  if (typeof type !== 'number' || !Number.isFinite(timestamp))
    throw createFault(`${name} has no type or timestamp: it is not an event of rrweb`);
}

/**
 * Adds a part of the event with this number. Returns the event once it is complete; otherwise undefined. Throws
 * `PermanentError` if the joined parts are not JSON, or too large.
 */
export const joinPart = (
  browser: BrowserContext,
  document: RecordedDocument,
  number: number,
  part: EventPart,
): unknown => {
  const text = addPart(`${toKey(browser, document)}/${number}`, part);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw createFault('the parts of the event are not JSON together: send all of them again', 'bad-parts');
  }
};

interface ChunkDraft {
  readonly first: number;
  count: number;
  length: number;
  hasSnapshot: boolean;
  readonly texts: string[];
  readonly times: number[];
}

const createDraft = (first: number): ChunkDraft => ({
  first,
  count: 0,
  length: 0,
  hasSnapshot: false,
  texts: [],
  times: [],
});

const toTimeMs = (time: number): number => Math.min(Math.max(0, Math.trunc(time)), Number.MAX_SAFE_INTEGER);

/** Returns whether a full snapshot begins at this event: at its meta event, if it has one. */
const beginsSnapshot = (events: readonly JsonObject[], index: number): boolean => {
  const { type } = events[index] ?? {};
  if (type === metaType) return events[index + 1]?.['type'] === fullSnapshotType;
  return type === fullSnapshotType && events[index - 1]?.['type'] !== metaType;
};

export type PublishedEvents = Required<Pick<Translation, 'publications' | 'publishedRecords' | 'maskedValues'>>;

/**
 * Masks consecutive events in place, and returns them as compressed chunks. `first` is the number of the first event.
 * Throws `PermanentError` for nodes that nest too deep, and for an event that is too large for a message.
 */
export const publishEvents = (
  browser: BrowserContext,
  document: RecordedDocument,
  first: number,
  events: readonly JsonObject[],
): PublishedEvents => {
  const { application, privacy } = browser;
  const { sessionId, tabId } = document;
  const page = openPage(toKey(browser, document), first, events);
  const masker = new ReplayMasker(privacy, page);

  const publications: Publication[] = [];
  let draft = createDraft(first);
  let masked = 0;
  const finishChunk = (): void => {
    if (draft.count === 0) return;
    const data = zstdCompressSync(`[${draft.texts.join()}]`).toString('base64');
    if (data.length > maxReplayChunkBytes)
      throw createFault(`event ${draft.first} is too large for a message, even compressed`, 'record-too-large');
    const value: Omit<ReplayChunk, 'tenantId' | 'projectId'> = {
      application,
      sessionId,
      tab: tabId,
      first: draft.first,
      last: draft.first + draft.count - 1,
      fromMs: toTimeMs(Math.min(...draft.times)),
      toMs: toTimeMs(Math.max(...draft.times)),
      hasSnapshot: draft.hasSnapshot,
      masked: masker.maskedValues - masked,
      data,
    };
    masked = masker.maskedValues;
    publications.push({ topic: topics.rumReplays.name, key: sessionId, value });
  };
  for (const [index, event] of events.entries()) {
    const text = masker.mask(event) ? JSON.stringify(event) : '';
    // The player can start at a full snapshot, so each one begins a chunk, with the meta event that precedes it.
    const isNewPart = draft.count > 0 && (draft.length + text.length > chunkLength || beginsSnapshot(events, index));
    if (isNewPart) {
      finishChunk();
      draft = createDraft(first + index);
    }
    draft.count++;
    draft.length += text.length;
    draft.times.push(event['timestamp'] as number);
    if (event['type'] === fullSnapshotType) draft.hasSnapshot = true;
    if (text !== '') draft.texts.push(text);
  }
  finishChunk();
  return { publications, publishedRecords: events.length, maskedValues: masker.maskedValues };
};
