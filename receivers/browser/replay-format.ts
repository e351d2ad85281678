/** Recordings of rrweb: masked, and published in compressed chunks. */
import { zstdCompressSync } from 'node:zlib';
import { PermanentError } from '../../schemas/errors.ts';
import { readJsonText } from '../../schemas/otlp/json-text.ts';
import { maxReplayChunkBytes, type ReplayChunk } from '../../schemas/rum-replays.ts';
import { topics } from '../../schemas/topics.ts';
import type { BodyFormat, Publication } from '../engine/body-format.ts';
import { requireBrowser } from './body-formats.ts';
import { createRecordedPage, type RecordedPage, ReplayMasker } from './replay-masking.ts';

type JsonObject = Record<string, unknown>;

const maxIdLength = 128;
const maxEvents = 100_000;
const maxNumber = 2 ** 32 - 1;
const maxPages = 2_000;
/** Text of events in one chunk, unless an event alone is larger. */
const chunkLength = 512 * 1024;
const fullSnapshotType = 2;

/** Pages that this thread has read, the least recently used first. Without its page, all texts of a recording are masked. */
const pages = new Map<string, RecordedPage>();

const takePage = (key: string, first: number): RecordedPage => {
  const page = pages.get(key) ?? createRecordedPage();
  pages.delete(key);
  if (page.next !== first) page.isComplete = false;
  const [oldest] = pages.keys();
  if (pages.size >= maxPages && oldest !== undefined) pages.delete(oldest);
  pages.set(key, page);
  return page;
};

const createFault = (message: string, reason = 'malformed'): PermanentError =>
  new PermanentError(reason, message, { position: 0 });

const readId = (value: unknown, name: string): string => {
  if (typeof value === 'string' && value !== '' && value.length <= maxIdLength) return value;
  throw createFault(`${name} must be a text of 1 to ${maxIdLength} characters`);
};

const readEvents = (value: unknown): JsonObject[] => {
  if (!Array.isArray(value)) throw createFault('events must be a list of events of rrweb');
  if (value.length > maxEvents) throw createFault(`there are more than ${maxEvents} events`, 'too-many');
  for (const [index, event] of value.entries()) {
    const { type, timestamp } = (event ?? {}) as JsonObject;
    if (typeof event === 'string' || (typeof event === 'object' && event !== null && 'v' in event))
      throw createFault(`events[${index}] is packed: record without packFn`, 'packed');
    if (typeof type !== 'number' || !Number.isFinite(timestamp))
      throw createFault(`events[${index}] has no type or timestamp: it is no event of rrweb`);
  }
  return value as JsonObject[];
};

const parseBody = (body: Buffer): JsonObject => {
  let parsed: unknown;
  readJsonText(body, (reader) => {
    reader.skipValue(5_000);
    parsed = JSON.parse(body.toString('utf8'));
  });
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw createFault('expected an object with session, tab, first and events');
  return parsed as JsonObject;
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

export const replayFormat: BodyFormat = {
  name: 'rum-replay',
  messageFormat: 'otlp',
  isCostly: true,
  isSensitive: () => true,
  translate(body, _signal, _times, browserContext) {
    const { application, privacy } = requireBrowser(browserContext);
    const { session, tab, first, events: givenEvents, parts } = parseBody(body);
    const sessionId = readId(session, 'session');
    const tabId = readId(tab, 'tab');
    if (typeof first !== 'number' || !Number.isInteger(first) || first < 0 || first > maxNumber - maxEvents)
      throw createFault('first must be the number of the first event, from 0');
    if (parts !== undefined)
      throw createFault('parts of an event cannot be masked: send the event whole, or drop it', 'partial-event');
    const events = readEvents(givenEvents);
    const page = takePage(`${application}/${sessionId}/${tabId}`, first);
    const masker = new ReplayMasker(privacy, page);
    page.next = first + events.length;

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
      // A page of the player begins at a full snapshot, so a chunk does too; rrweb writes its dimensions before it.
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
    return { body: Buffer.alloc(0), publications, publishedRecords: events.length, rejected: undefined };
  },
};

const metaType = 4;
/** Returns whether a full snapshot begins here: with the dimensions before it, if there are any. */
const beginsSnapshot = (events: readonly JsonObject[], index: number): boolean => {
  const { type } = events[index] ?? {};
  if (type === metaType) return events[index + 1]?.['type'] === fullSnapshotType;
  return type === fullSnapshotType && events[index - 1]?.['type'] !== metaType;
};
