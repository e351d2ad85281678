/** Reads a feed: a document at a URL, or the objects of a TAXII 2.1 collection */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Outbound } from '../../runtime/outbound.ts';
import { parseRetryAfterMs } from '../../runtime/retry-after.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import type { FeedLocation, ThreatFeed, ThreatFeedState } from '../../schemas/resources/threat-intel.ts';
import { trimTrailing } from '../../schemas/text.ts';
import {
  type DocumentOptions,
  type ParsedDocument,
  type ParsedPage,
  type ParseFailure,
  readDocumentInWorker,
  readPageInWorker,
} from './read-document.ts';

/** Thrown if a feed cannot be read; the message is for people */
export class FeedError extends Error {
  /** Delay that the server requests */
  readonly waitMs: number | undefined;

  constructor(message: string, waitMs?: number) {
    super(message);
    this.name = 'FeedError';
    this.waitMs = waitMs;
  }
}

/** Position in the feed */
export type FeedPosition = Pick<ThreatFeedState, 'etag' | 'lastModified' | 'addedAfter'>;

/** A part of a feed, and the position after it */
export interface FeedPart {
  readonly document: ParsedDocument;
  readonly position: FeedPosition;
}

export interface FeedContext {
  readonly outbound: Outbound;
  readonly box: SecretBox;
  readonly signal: AbortSignal;
  /** Tenant that owns the feed */
  readonly tenantId: string;
}

/** Purpose for which feed secrets are sealed: the resource type */
const secretPurpose = 'threat-feed';
const timeoutMs = 60_000;
const maxPages = 10_000;
const pageSize = 1_000;
const taxiiMediaType = 'application/taxii+json;version=2.1';

const decryptSecret = (box: SecretBox, encryptedSecret: string): string => {
  const text = box.open(secretPurpose, encryptedSecret);
  if (text === undefined)
    throw new FeedError('its secret was encrypted with another key of the installation: subscribe to the feed again');
  return text;
};

const createAuthorizationHeaders = ({ authentication }: ThreatFeed, box: SecretBox): Record<string, string> => {
  if (authentication.type === 'none') return {};
  if (authentication.type === 'header') return { [authentication.header]: decryptSecret(box, authentication.secret) };
  const pair = `${authentication.username}:${decryptSecret(box, authentication.password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
};

/** Sends a request. Throws an error that describes an invalid response; 304 is a valid response. */
const fetchFeed = async (
  feed: ThreatFeed,
  { outbound, box, signal }: FeedContext,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Response> => {
  const response = await outbound.fetch(url, {
    headers: { 'user-agent': 'OIQ', ...headers, ...createAuthorizationHeaders(feed, box) },
    timeoutMs,
    maxBytes: feed.maxBytes,
    signal,
  });
  const { status } = response;
  if (status === 200 || status === 304) return response;
  const { host } = new URL(url);
  if (status === 401 || status === 403)
    throw new FeedError(`${host} refuses the credentials (${status}): check the authentication of the feed`);
  if (status >= 300 && status < 400)
    throw new FeedError(
      `${host} redirects (${status}), and redirects are not followed: subscribe to the target address`,
    );
  if (status === 404) throw new FeedError(`${host} found no resource (404): check the address of the feed`);
  if (status === 406) throw new FeedError(`${host} does not support TAXII 2.1 (406)`);
  const waitMs = parseRetryAfterMs(response.headers);
  throw new FeedError(
    `${host} answered ${status}${waitMs === undefined ? '' : `, and requests a wait of ${Math.ceil(waitMs / 1000)} s`}`,
    waitMs,
  );
};

const bytesPerSlice = 4 * 1024 * 1024;

/**
 * Returns the complete body, concatenated in several time slices; a single copy of 60 MB would block the event loop.
 */
export const concatInSlices = async ({ body }: Response): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  const document = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0));
  let [offset, sliceEndsAt] = [0, bytesPerSlice];
  for (const piece of chunks) {
    document.set(piece, offset);
    offset += piece.length;
    if (offset < sliceEndsAt) continue;
    sliceEndsAt = offset + bytesPerSlice;
    await yieldToEventLoop();
  }
  return document;
};

/** Throws an error if a document cannot be parsed. */
const assertParsed: <Read extends object>(
  result: Read | ParseFailure,
  feed: ThreatFeed,
) => asserts result is Exclude<Read, ParseFailure> = (read, { maxIndicators }) => {
  if ('problem' in read) throw new FeedError(`its response ${read.problem}`);
  if ('tooMany' in read)
    throw new FeedError(`it returns more than ${maxIndicators} indicators at once: increase the limit of the feed`);
};

const toDocumentOptions = ({ confidence, maxIndicators }: ThreatFeed): DocumentOptions => ({
  confidence,
  max: maxIndicators,
});

async function* readUrl(
  feed: ThreatFeed,
  { url, format }: Extract<FeedLocation, { type: 'url' }>,
  { etag, lastModified }: FeedPosition,
  context: FeedContext,
): AsyncGenerator<FeedPart> {
  const response = await fetchFeed(feed, context, url, {
    ...(etag !== null && { 'if-none-match': etag }),
    ...(lastModified !== null && { 'if-modified-since': lastModified }),
  });
  if (response.status === 304) return;
  const { headers } = response;
  const parsedDocument = await readDocumentInWorker(
    context,
    format,
    await concatInSlices(response),
    toDocumentOptions(feed),
  );
  assertParsed(parsedDocument, feed);
  yield {
    document: parsedDocument,
    position: { etag: headers.get('etag'), lastModified: headers.get('last-modified'), addedAfter: null },
  };
}

const getLastAddedDate = (headers: Headers): string | null => {
  const date = headers.get('x-taxii-date-added-last');
  return date !== null && !Number.isNaN(Date.parse(date)) ? date : null;
};

/** A page of a collection: entries added after a time, and the position in that response */
interface TaxiiPage {
  readonly addedAfter: string | null;
  readonly next: string | undefined;
}

const createPageUrl = (objectsUrl: string, { addedAfter, next }: TaxiiPage): string => {
  const url = new URL(objectsUrl);
  url.searchParams.set('limit', String(pageSize));
  url.searchParams.set('match[type]', 'indicator');
  if (addedAfter !== null) url.searchParams.set('added_after', addedAfter);
  if (next !== undefined) url.searchParams.set('next', next);
  return url.href;
};

/**
 * Returns the next page. If the server announces more but returns no `next`, entries added after this page are
 * requested.
 */
const getNextPage = (
  page: TaxiiPage,
  { hasMore, next }: ParsedPage,
  addedLast: string | null,
): TaxiiPage | undefined => {
  if (!hasMore) return undefined;
  const followingPage =
    next !== '' ? { addedAfter: page.addedAfter, next } : { addedAfter: addedLast ?? page.addedAfter, next: undefined };
  if (followingPage.next === page.next && followingPage.addedAfter === page.addedAfter)
    throw new FeedError('it reports more pages, but not their address');
  return followingPage;
};

async function* readTaxii(
  feed: ThreatFeed,
  { apiRoot, collection }: Extract<FeedLocation, { type: 'taxii' }>,
  { addedAfter }: FeedPosition,
  context: FeedContext,
): AsyncGenerator<FeedPart> {
  const objectsUrl = `${trimTrailing(apiRoot, '/')}/collections/${encodeURIComponent(collection)}/objects/`;
  let page: TaxiiPage | undefined = { addedAfter, next: undefined };
  let read = addedAfter;
  for (let count = 0; page !== undefined; count++) {
    if (count >= maxPages) throw new FeedError(`it has more than ${maxPages} pages`);
    const response = await fetchFeed(feed, context, createPageUrl(objectsUrl, page), { accept: taxiiMediaType });
    const parsedPage = await readPageInWorker(context, await concatInSlices(response), toDocumentOptions(feed));
    assertParsed(parsedPage, feed);
    const addedLast = getLastAddedDate(response.headers);
    // Objects arrive in the order in which the server added them.
    read = addedLast ?? read;
    yield {
      document: parsedPage.document,
      position: { etag: null, lastModified: null, addedAfter: read },
    };
    page = getNextPage(page, parsedPage, addedLast);
  }
}

/**
 * Yields the parts of a feed since the last read; none if nothing changed. Rejects with `FeedError`, or with
 * `OutboundError` if the egress policy denies the address or the response is too large.
 */
export const readFeed = (feed: ThreatFeed, position: FeedPosition, context: FeedContext): AsyncGenerator<FeedPart> =>
  feed.location.type === 'url'
    ? readUrl(feed, feed.location, position, context)
    : readTaxii(feed, feed.location, position, context);
