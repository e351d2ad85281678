/** Reads a document of indicators that somebody sent, or a feed gives. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { inWorker, type Reader } from '../../queries/worker.ts';
import type { FeedFormat, GivenIndicator } from '../../schemas/resources/threat-intel.ts';
import { readCsv, readList } from './csv.ts';
import type { ReadIndicators } from './indicator.ts';
import { readMisp } from './misp.ts';
import { readStix } from './stix.ts';

/** What holds of a document beside its text. */
export interface DocumentOf {
  /** That of indicators of which the source says none. */
  readonly confidence?: number;
  /** Indicators that are taken. */
  readonly max: number;
}

/** What a document holds. */
export interface ReadDocument extends ReadIndicators {
  /** How many were refused. `refused` are the first 1,000. */
  readonly refusedCount: number;
}

/** How it comes out of a thread: indicators as texts of a thousand each, as objects are copied all in one turn of the main thread. */
type Packed = Omit<ReadDocument, 'indicators'> & { readonly parts: readonly string[] };

/** What is wrong with a document, or how many indicators it holds where they are too many. */
export type ParseFailure = { readonly problem: string } | { readonly tooMany: number };

const ofPart = 1_000;
const maxRefused = 1_000;
const maxCharacters = 1_000;

const bounded = (
  { indicators, refused }: ReadIndicators,
  { max: maxIndicators }: DocumentOf,
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
  return { problem: `is no JSON: ${error.message.slice(0, 200)}` };
};

/** As it came, in UTF-8, or its text. Bytes go to a thread with less ado. */
type Given = string | Uint8Array;
const textOf = (given: Given): string => (typeof given === 'string' ? given : new TextDecoder().decode(given));

/** Indicators of a text, or why there are none. */
export const readDocument = (format: FeedFormat, given: Given, of: DocumentOf): ReadDocument | ParseFailure => {
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

/** Lets the loop turn between its parts. */
const unpacked = async ({ parts, ...document }: Packed): Promise<ReadDocument> => {
  const indicators: GivenIndicator[] = [];
  for (const part of parts) {
    indicators.push(...(JSON.parse(part) as GivenIndicator[]));
    await yieldToEventLoop();
  }
  return { ...document, indicators };
};

/** For the thread. */
export const readDocumentPacked = (...args: Parameters<typeof readDocument>): Packed | ParseFailure => {
  const read = readDocument(...args);
  return 'indicators' in read ? packed(read) : read;
};

const readDocumentPackedInWorker = inWorker(import.meta.url, readDocumentPacked, { moves: true });

/** `readDocument` in a thread, to which bytes are moved. */
export const readDocumentInWorker = async (
  reader: Reader,
  ...args: Parameters<typeof readDocument>
): Promise<ReadDocument | ParseFailure> => {
  const read = await readDocumentPackedInWorker(reader, ...args);
  return 'parts' in read ? unpacked(read) : read;
};

/** A page of a collection of TAXII 2.1. */
export interface ReadPage {
  readonly read: ReadDocument;
  /** Whether there is more behind it. */
  readonly more: boolean;
  /** Where that is; empty where the server does not say. */
  readonly next: string;
}

/** The page that a text is, or why it is none. */
export const readPage = (given: Given, of: DocumentOf): ReadPage | ParseFailure => {
  try {
    const text = textOf(given);
    const envelope: unknown = text.trim() === '' ? {} : JSON.parse(text);
    if (typeof envelope !== 'object' || envelope === null || Array.isArray(envelope))
      return { problem: 'is no envelope of TAXII 2.1' };
    const { objects = [], more, next } = envelope as { objects?: unknown; more?: unknown; next?: unknown };
    const read = bounded(readStix(objects, of.confidence), of);
    if ('problem' in read || 'tooMany' in read) return read;
    return { read, more: more === true, next: typeof next === 'string' ? next : '' };
  } catch (error) {
    return problemOf(error);
  }
};

/** For the thread. */
export const readPagePacked = (...args: Parameters<typeof readPage>) => {
  const page = readPage(...args);
  return 'read' in page ? { ...page, read: packed(page.read) } : page;
};

const readPagePackedInWorker = inWorker(import.meta.url, readPagePacked, { moves: true });

/** `readPage` in a thread, to which bytes are moved. */
export const readPageInWorker = async (
  reader: Reader,
  ...args: Parameters<typeof readPage>
): Promise<ReadPage | ParseFailure> => {
  const page = await readPagePackedInWorker(reader, ...args);
  return 'read' in page ? { ...page, read: await unpacked(page.read) } : page;
};
