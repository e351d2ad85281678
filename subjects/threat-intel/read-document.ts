/** Reads a document of indicators that somebody sent, or a feed gives. */
import { apart } from '../../queries/apart.ts';
import type { FeedFormat } from '../../schemas/resources/threat-intel.ts';
import { readCsv, readList } from './csv.ts';
import type { ReadIndicators } from './indicator.ts';
import { readMisp } from './misp.ts';
import { readStix } from './stix.ts';

const readers: Readonly<Record<FeedFormat, (text: string, confidence?: number) => ReadIndicators>> = {
  stix: (text, confidence) => readStix(JSON.parse(text), confidence),
  misp: (text, confidence) => readMisp(JSON.parse(text), confidence),
  csv: readCsv,
  list: readList,
};

/** Indicators of a text, or what is wrong with it. */
export const readDocument = (
  format: FeedFormat,
  text: string,
  confidence?: number,
): ReadIndicators | { readonly problem: string } => {
  try {
    return readers[format](text, confidence);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { problem: `is no JSON: ${error.message.slice(0, 200)}` };
  }
};

export const readDocumentApart = apart(import.meta.url, readDocument);
