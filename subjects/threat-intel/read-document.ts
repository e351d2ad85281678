/** Reads a document of indicators that somebody sent, or a feed gives. */
import { apart } from '../../queries/apart.ts';
import type { FeedFormat } from '../../schemas/resources/threat-intel.ts';
import { readCsv, readList } from './csv.ts';
import type { ReadIndicators } from './indicator.ts';
import { readMisp } from './misp.ts';
import { readStix } from './stix.ts';

/** What holds of a document beside its text. */
export interface DocumentOf {
  /** That of indicators of which the source says none. */
  readonly confidence?: number;
  /** Indicators that are taken. */
  readonly most: number;
}

/** What a document holds. It comes out of a thread, and copying it takes the main thread's time: so it has bounds. */
export interface ReadDocument extends ReadIndicators {
  /** How many were refused. `refused` are the first 1,000. */
  readonly refusedCount: number;
}

/** What is wrong with a document, or how many indicators it holds where they are too many. */
export type Unread = { readonly problem: string } | { readonly tooMany: number };

const mostRefused = 1_000;
const mostCharacters = 1_000;

const bounded = ({ indicators, refused }: ReadIndicators, { most }: DocumentOf): ReadDocument | Unread => {
  if (indicators.length > most) return { tooMany: indicators.length };
  const first = refused.slice(0, mostRefused);
  return {
    indicators,
    refused: first.map(({ at, message }) => ({ at, message: message.slice(0, mostCharacters) })),
    refusedCount: refused.length,
  };
};

const readers: Readonly<Record<FeedFormat, (text: string, confidence?: number) => ReadIndicators>> = {
  stix: (text, confidence) => readStix(JSON.parse(text), confidence),
  misp: (text, confidence) => readMisp(JSON.parse(text), confidence),
  csv: readCsv,
  list: readList,
};

const problemOf = (error: unknown): Unread => {
  if (!(error instanceof SyntaxError)) throw error;
  return { problem: `is no JSON: ${error.message.slice(0, 200)}` };
};

/** Indicators of a text, or why there are none. */
export const readDocument = (format: FeedFormat, text: string, of: DocumentOf): ReadDocument | Unread => {
  try {
    return bounded(readers[format](text, of.confidence), of);
  } catch (error) {
    return problemOf(error);
  }
};

export const readDocumentApart = apart(import.meta.url, readDocument);

/** A page of a collection of TAXII 2.1. */
export interface ReadPage {
  readonly read: ReadDocument;
  /** Whether there is more behind it. */
  readonly more: boolean;
  /** Where that is; empty where the server does not say. */
  readonly next: string;
}

/** The page that a text is, or why it is none. */
export const readPage = (text: string, of: DocumentOf): ReadPage | Unread => {
  try {
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

export const readPageApart = apart(import.meta.url, readPage);
