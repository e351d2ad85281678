/** Parses a document of indicators from an upload or a feed */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { inWorker, type Reader } from '../../queries/worker.ts';
import type { FeedFormat, GivenIndicator } from '../../schemas/resources/threat-intel.ts';
import { readCsv, readList } from './csv.ts';
import type { ReadIndicators } from './indicator.ts';
import { readMisp } from './misp.ts';
import { readStix } from './stix.ts';

/** Options of a document */
export interface DocumentOptions {
  /** Confidence of indicators whose source specifies none */
  readonly confidence?: number;
  /** Maximum number of accepted indicators */
  readonly max: number;
}

/** Content of a document */
export interface ReadDocument extends ReadIndicators {
  /** Number of rejected indicators; `refused` contains the first 1,000 */
  readonly refusedCount: number;
}

/**
 * Transfer format of the worker: indicators as JSON texts of a thousand each, because objects would be copied in one
 * time slice of the main thread
 */
type Packed = Omit<ReadDocument, 'indicators'> & { readonly parts: readonly string[] };

/** The problem of a document, or the number of indicators if it exceeds the limit */
export type ParseFailure = { readonly problem: string } | { readonly tooMany: number };

const ofPart = 1_000;
const maxRefused = 1_000;
const maxCharacters = 1_000;

const bounded = (
  { indicators, refused }: ReadIndicators,
  { max: maxIndicators }: DocumentOptions,
): ReadDocument | ParseFailure => {
  if (indicators.length > maxIndicators) return { tooMany: indicators.length };
  const first = refused.slice(0, maxRefused);
  return {
    indicators,
    refused: first.map(({ at, message }) => ({ at, message: message.slice(0, maxCharacters) })),
    refusedCount: refused.length,
  };
};

const readers: Readonly<Record<FeedFormat, (text: string, confidence?: number) => ReadIndicators>> = {
  stix: (text, confidence) => readStix(JSON.parse(text), confidence),
  misp: (text, confidence) => readMisp(JSON.parse(text), confidence),
  csv: readCsv,
  list: readList,
};

const problemOf = (error: unknown): ParseFailure => {
  if (!(error instanceof SyntaxError)) throw error;
  return { problem: `is not valid JSON: ${error.message.slice(0, 200)}` };
};

/** UTF-8 bytes as received, or text. Bytes are cheaper to transfer to a worker. */
type DocumentInput = string | Uint8Array;
const textOf = (given: DocumentInput): string => (typeof given === 'string' ? given : new TextDecoder().decode(given));

/** Returns the indicators of a text, or the reason of the failure. */
export const readDocument = (
  format: FeedFormat,
  given: DocumentInput,
  of: DocumentOptions,
): ReadDocument | ParseFailure => {
  try {
    return bounded(readers[format](textOf(given), of.confidence), of);
  } catch (error) {
    return problemOf(error);
  }
};

const packed = ({ indicators, ...document }: ReadDocument): Packed => ({
  ...document,
  parts: Array.from({ length: Math.ceil(indicators.length / ofPart) }, (_, part) =>
    JSON.stringify(indicators.slice(part * ofPart, (part + 1) * ofPart)),
  ),
});

/** Yields to the event loop between parts. */
const unpacked = async ({ parts, ...document }: Packed): Promise<ReadDocument> => {
  const indicators: GivenIndicator[] = [];
  for (const part of parts) {
    indicators.push(...(JSON.parse(part) as GivenIndicator[]));
    await yieldToEventLoop();
  }
  return { ...document, indicators };
};

/** Entry point of the worker for documents. */
export const readDocumentPacked = (...args: Parameters<typeof readDocument>): Packed | ParseFailure => {
  const read = readDocument(...args);
  return 'indicators' in read ? packed(read) : read;
};

const readDocumentPackedInWorker = inWorker(import.meta.url, readDocumentPacked, { moves: true });

/** `readDocument` in a worker, to which bytes are transferred. */
export const readDocumentInWorker = async (
  reader: Reader,
  ...args: Parameters<typeof readDocument>
): Promise<ReadDocument | ParseFailure> => {
  const read = await readDocumentPackedInWorker(reader, ...args);
  return 'parts' in read ? unpacked(read) : read;
};

/** A page of a TAXII 2.1 collection */
export interface ReadPage {
  readonly read: ReadDocument;
  /** Whether more pages follow */
  readonly more: boolean;
  /** Position of the next page; empty if the server does not return it */
  readonly next: string;
}

/** Parses a page, or returns the reason of the failure. */
export const readPage = (given: DocumentInput, of: DocumentOptions): ReadPage | ParseFailure => {
  try {
    const text = textOf(given);
    const envelope: unknown = text.trim() === '' ? {} : JSON.parse(text);
    if (typeof envelope !== 'object' || envelope === null || Array.isArray(envelope))
      return { problem: 'is not a TAXII 2.1 envelope' };
    const { objects = [], more, next } = envelope as { objects?: unknown; more?: unknown; next?: unknown };
    const read = bounded(readStix(objects, of.confidence), of);
    if ('problem' in read || 'tooMany' in read) return read;
    return { read, more: more === true, next: typeof next === 'string' ? next : '' };
  } catch (error) {
    return problemOf(error);
  }
};

/** Entry point of the worker for pages. */
export const readPagePacked = (...args: Parameters<typeof readPage>) => {
  const page = readPage(...args);
  return 'read' in page ? { ...page, read: packed(page.read) } : page;
};

const readPagePackedInWorker = inWorker(import.meta.url, readPagePacked, { moves: true });

/** `readPage` in a worker, to which bytes are transferred. */
export const readPageInWorker = async (
  reader: Reader,
  ...args: Parameters<typeof readPage>
): Promise<ReadPage | ParseFailure> => {
  const page = await readPagePackedInWorker(reader, ...args);
  return 'read' in page ? { ...page, read: await unpacked(page.read) } : page;
};
