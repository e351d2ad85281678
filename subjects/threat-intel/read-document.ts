/** Parses a document of indicators from an upload or a feed */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { runInWorker, type WorkerRequester } from '../../queries/worker.ts';
import type { FeedFormat, SourceIndicator } from '../../schemas/resources/threat-intel.ts';
import { readCsv, readList } from './csv.ts';
import type { ParsedIndicators } from './indicator.ts';
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
export interface ParsedDocument extends ParsedIndicators {
  /** Number of rejected indicators; `refused` contains the first 1,000 */
  readonly rejectedCount: number;
}

/**
 * Transfer format of the worker: indicators as JSON texts of a thousand each, because objects would be copied in one
 * time slice of the main thread
 */
type PackedDocument = Omit<ParsedDocument, 'indicators'> & { readonly jsonParts: readonly string[] };

/** Why a document was not accepted: its problem, or its number of indicators if that exceeds the limit */
export type ParseFailure = { readonly problem: string } | { readonly tooMany: number };

const indicatorsPerPart = 1_000;
const maxRejected = 1_000;
const maxMessageCharacters = 1_000;

const limitDocument = (
  { indicators, rejected }: ParsedIndicators,
  { max: maxIndicators }: DocumentOptions,
): ParsedDocument | ParseFailure => {
  if (indicators.length > maxIndicators) return { tooMany: indicators.length };
  const listedRejections = rejected.slice(0, maxRejected);
  return {
    indicators,
    rejected: listedRejections.map(({ at, message }) => ({ at, message: message.slice(0, maxMessageCharacters) })),
    rejectedCount: rejected.length,
  };
};

const formatReaders: Readonly<Record<FeedFormat, (text: string, confidence?: number) => ParsedIndicators>> = {
  stix: (text, confidence) => readStix(JSON.parse(text), confidence),
  misp: (text, confidence) => readMisp(JSON.parse(text), confidence),
  csv: readCsv,
  list: readList,
};

const toParseFailure = (error: unknown): ParseFailure => {
  if (!(error instanceof SyntaxError)) throw error;
  return { problem: `is not valid JSON: ${error.message.slice(0, 200)}` };
};

/** UTF-8 bytes as received, or text. Bytes are cheaper to transfer to a worker. */
type DocumentInput = string | Uint8Array;
const decodeText = (input: DocumentInput): string =>
  typeof input === 'string' ? input : new TextDecoder().decode(input);

/** Returns the indicators of a text, or the reason of the failure. */
export const readDocument = (
  format: FeedFormat,
  input: DocumentInput,
  options: DocumentOptions,
): ParsedDocument | ParseFailure => {
  try {
    return limitDocument(formatReaders[format](decodeText(input), options.confidence), options);
  } catch (error) {
    return toParseFailure(error);
  }
};

const packDocument = ({ indicators, ...document }: ParsedDocument): PackedDocument => ({
  ...document,
  jsonParts: Array.from({ length: Math.ceil(indicators.length / indicatorsPerPart) }, (_, part) =>
    JSON.stringify(indicators.slice(part * indicatorsPerPart, (part + 1) * indicatorsPerPart)),
  ),
});

/** Yields to the event loop between parts. */
const unpackDocument = async ({ jsonParts, ...document }: PackedDocument): Promise<ParsedDocument> => {
  const indicators: SourceIndicator[] = [];
  for (const part of jsonParts) {
    indicators.push(...(JSON.parse(part) as SourceIndicator[]));
    await yieldToEventLoop();
  }
  return { ...document, indicators };
};

/** Entry point of the worker for documents. */
export const readDocumentPacked = (...args: Parameters<typeof readDocument>): PackedDocument | ParseFailure => {
  const document = readDocument(...args);
  return 'indicators' in document ? packDocument(document) : document;
};

const readDocumentPackedInWorker = runInWorker(import.meta.url, readDocumentPacked, { transfersBytes: true });

/** `readDocument` in a worker, to which bytes are transferred. */
export const readDocumentInWorker = async (
  reader: WorkerRequester,
  ...args: Parameters<typeof readDocument>
): Promise<ParsedDocument | ParseFailure> => {
  const document = await readDocumentPackedInWorker(reader, ...args);
  return 'jsonParts' in document ? unpackDocument(document) : document;
};

/** A page of a TAXII 2.1 collection */
export interface ParsedPage {
  readonly document: ParsedDocument;
  /** Whether more pages follow */
  readonly hasMore: boolean;
  /** Position of the next page; empty if the server does not return it */
  readonly next: string;
}

/** Parses a page, or returns the reason of the failure. */
export const readPage = (input: DocumentInput, options: DocumentOptions): ParsedPage | ParseFailure => {
  try {
    const text = decodeText(input);
    const envelope: unknown = text.trim() === '' ? {} : JSON.parse(text);
    if (typeof envelope !== 'object' || envelope === null || Array.isArray(envelope))
      return { problem: 'is not a TAXII 2.1 envelope' };
    const { objects = [], more, next } = envelope as { objects?: unknown; more?: unknown; next?: unknown };
    const document = limitDocument(readStix(objects, options.confidence), options);
    if ('problem' in document || 'tooMany' in document) return document;
    return { document, hasMore: more === true, next: typeof next === 'string' ? next : '' };
  } catch (error) {
    return toParseFailure(error);
  }
};

/** Entry point of the worker for pages. */
export const readPagePacked = (...args: Parameters<typeof readPage>) => {
  const page = readPage(...args);
  return 'document' in page ? { ...page, document: packDocument(page.document) } : page;
};

const readPagePackedInWorker = runInWorker(import.meta.url, readPagePacked, { transfersBytes: true });

/** `readPage` in a worker, to which bytes are transferred. */
export const readPageInWorker = async (
  reader: WorkerRequester,
  ...args: Parameters<typeof readPage>
): Promise<ParsedPage | ParseFailure> => {
  const page = await readPagePackedInWorker(reader, ...args);
  return 'document' in page ? { ...page, document: await unpackDocument(page.document) } : page;
};
