/** Parses the searches of a data source. */
import { type ReadSignal, signalDefinitions } from '../signals/index.ts';
import { parseSearchText } from './parser.ts';
import { compileRegex } from './regex.ts';
import type { Search } from './tree.ts';

/**
 * Parses a search. Throws a `QueryError` about `path` with the column and the expected token. An empty search matches
 * everything.
 */
export const parseSearch = (text: string, signal: ReadSignal, options: { readonly path?: string } = {}): Search =>
  parseSearchText(text, { ...signalDefinitions[signal], parseRegex: compileRegex }, options);
