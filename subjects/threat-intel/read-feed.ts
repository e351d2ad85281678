/** Reads what a feed gives: a document at an address, or the objects of a collection of a TAXII 2.1 server. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Outbound } from '../../runtime/outbound.ts';
import { retryAfterMs } from '../../runtime/retry-after.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import type { FeedLocation, ThreatFeed, ThreatFeedState } from '../../schemas/resources/threat-intel.ts';
import { withoutTrailing } from '../../schemas/text.ts';
import {
  type DocumentOf,
  type ParseFailure,
  type ReadDocument,
  type ReadPage,
  readDocumentInWorker,
  readPageInWorker,
} from './read-document.ts';

/** Why a feed could not be read, for people. */
export class FeedError extends Error {
  /** How long the server asks to wait. */
  readonly waitMs: number | undefined;

  constructor(message: string, waitMs?: number) {
    super(message);
    this.name = 'FeedError';
    this.waitMs = waitMs;
  }
}

/** How far it was read. */
export type FeedPlace = Pick<ThreatFeedState, 'etag' | 'lastModified' | 'addedAfter'>;

/** A part of what a feed gives, and the place behind it. */
export interface FeedPart {
  readonly read: ReadDocument;
  readonly place: FeedPlace;
}

export interface FeedReading {
  readonly outbound: Outbound;
  readonly box: SecretBox;
  readonly signal: AbortSignal;
  /** Whose feed it is. */
  readonly tenantId: string;
}

/** The purpose under which secrets of feeds are sealed: the type of the resource. */
const secretPurpose = 'threat-feed';
const timeoutMs = 60_000;
const maxPages = 10_000;
const pageSize = 1_000;
const taxii = 'application/taxii+json;version=2.1';

const opened = (box: SecretBox, sealed: string): string => {
  const text = box.open(secretPurpose, sealed);
  if (text === undefined)
    throw new FeedError('its secret was encrypted with another key of the installation: subscribe to the feed anew');
  return text;
};

const authorization = ({ authentication }: ThreatFeed, box: SecretBox): Record<string, string> => {
  if (authentication.type === 'none') return {};
  if (authentication.type === 'header') return { [authentication.header]: opened(box, authentication.secret) };
  const pair = `${authentication.username}:${opened(box, authentication.password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
};

/** Asks the server. Throws what is wrong with its answer, in words; 304 is an answer. */
const fetchFeed = async (
  feed: ThreatFeed,
  { outbound, box, signal }: FeedReading,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Response> => {
  const answer = await outbound.fetch(url, {
    headers: { 'user-agent': 'OIQ', ...headers, ...authorization(feed, box) },
    timeoutMs,
    maxBytes: feed.maxBytes,
    signal,
  });
  const { status } = answer;
  if (status === 200 || status === 304) return answer;
  const { host } = new URL(url);
  if (status === 401 || status === 403)
    throw new FeedError(`${host} refuses the credentials (${status}): look at the authentication of the feed`);
  if (status >= 300 && status < 400)
    throw new FeedError(`${host} leads elsewhere (${status}), which is not followed: subscribe to the address itself`);
  if (status === 404) throw new FeedError(`${host} has nothing there (404): look at the address of the feed`);
  if (status === 406) throw new FeedError(`${host} does not speak TAXII 2.1 (406)`);
  const waitMs = retryAfterMs(answer.headers);
  throw new FeedError(
    `${host} answered ${status}${waitMs === undefined ? '' : `, and asks to wait ${Math.ceil(waitMs / 1000)} s`}`,
    waitMs,
  );
};

const bytesPerSlice = 4 * 1024 * 1024;

/** The whole of an answer, joined in several turns of the loop: a copy of 60 MB holds up everything else. */
export const concatInSlices = async ({ body }: Response): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of body ?? []) pieces.push(piece);
  const whole = new Uint8Array(pieces.reduce((size, { length }) => size + length, 0));
  let [at, sliceEndsAt] = [0, bytesPerSlice];
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
    if (at < sliceEndsAt) continue;
    sliceEndsAt = at + bytesPerSlice;
    await yieldToEventLoop();
  }
  return whole;
};

/** Throws what keeps a document from being read. */
const assertParsed: <Read extends object>(
  read: Read | ParseFailure,
  feed: ThreatFeed,
) => asserts read is Exclude<Read, ParseFailure> = (read, { maxIndicators }) => {
  if ('problem' in read) throw new FeedError(`what it gives ${read.problem}`);
  if ('tooMany' in read)
    throw new FeedError(`it gives more than ${maxIndicators} indicators at once: allow more for the feed`);
};

const documentOptionsOf = ({ confidence, maxIndicators }: ThreatFeed): DocumentOf => ({
  confidence,
  max: maxIndicators,
});

async function* readUrl(
  feed: ThreatFeed,
  { url, format }: Extract<FeedLocation, { type: 'url' }>,
  { etag, lastModified }: FeedPlace,
  reading: FeedReading,
): AsyncGenerator<FeedPart> {
  const answer = await fetchFeed(feed, reading, url, {
    ...(etag !== null && { 'if-none-match': etag }),
    ...(lastModified !== null && { 'if-modified-since': lastModified }),
  });
  if (answer.status === 304) return;
  const { headers } = answer;
  const read = await readDocumentInWorker(reading, format, await concatInSlices(answer), documentOptionsOf(feed));
  assertParsed(read, feed);
  yield {
    read,
    place: { etag: headers.get('etag'), lastModified: headers.get('last-modified'), addedAfter: null },
  };
}

const dateOf = (headers: Headers): string | null => {
  const given = headers.get('x-taxii-date-added-last');
  return given !== null && !Number.isNaN(Date.parse(given)) ? given : null;
};

/** Which page of a collection: what was added after a time, and where in the answer to that. */
interface TaxiiPage {
  readonly addedAfter: string | null;
  readonly next: string | undefined;
}

const urlOf = (objects: string, { addedAfter, next }: TaxiiPage): string => {
  const url = new URL(objects);
  url.searchParams.set('limit', String(pageSize));
  url.searchParams.set('match[type]', 'indicator');
  if (addedAfter !== null) url.searchParams.set('added_after', addedAfter);
  if (next !== undefined) url.searchParams.set('next', next);
  return url.href;
};

/** The page behind; a server that says there is more, and gives no `next`, is asked for what was added after this one. */
const pageBehind = (page: TaxiiPage, { more, next }: ReadPage, addedLast: string | null): TaxiiPage | undefined => {
  if (!more) return undefined;
  const behind =
    next !== '' ? { addedAfter: page.addedAfter, next } : { addedAfter: addedLast ?? page.addedAfter, next: undefined };
  if (behind.next === page.next && behind.addedAfter === page.addedAfter)
    throw new FeedError('it says that there is more, and not where');
  return behind;
};

async function* readTaxii(
  feed: ThreatFeed,
  { apiRoot, collection }: Extract<FeedLocation, { type: 'taxii' }>,
  { addedAfter }: FeedPlace,
  reading: FeedReading,
): AsyncGenerator<FeedPart> {
  const objects = `${withoutTrailing(apiRoot, '/')}/collections/${encodeURIComponent(collection)}/objects/`;
  let page: TaxiiPage | undefined = { addedAfter, next: undefined };
  let read = addedAfter;
  for (let count = 0; page !== undefined; count++) {
    if (count >= maxPages) throw new FeedError(`it has more than ${maxPages} pages`);
    const answer = await fetchFeed(feed, reading, urlOf(objects, page), { accept: taxii });
    const given = await readPageInWorker(reading, await concatInSlices(answer), documentOptionsOf(feed));
    assertParsed(given, feed);
    const addedLast = dateOf(answer.headers);
    // Objects come in the order in which the server added them.
    read = addedLast ?? read;
    yield {
      read: given.read,
      place: { etag: null, lastModified: null, addedAfter: read },
    };
    page = pageBehind(page, given, addedLast);
  }
}

/**
 * What a feed gives since it was last read, part by part; nothing where nothing changed. Rejects with a `FeedError`, or an `OutboundError`
 * where the address may not be reached or the answer is too large.
 */
export const readFeed = (feed: ThreatFeed, place: FeedPlace, reading: FeedReading): AsyncGenerator<FeedPart> =>
  feed.location.type === 'url'
    ? readUrl(feed, feed.location, place, reading)
    : readTaxii(feed, feed.location, place, reading);
