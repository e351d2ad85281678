/** Parses the searches of a data source. */
import { type ReadSignal, signals } from '../signals/index.ts';
import { readSearch } from './parser.ts';
import { regexOf } from './regex.ts';
import type { Search } from './tree.ts';

/**
 * Parses a search. Throws a `QueryError` about `path` with the column and the expected token. An empty search matches
 * everything.
 */
export const parseSearch = (text: string, signal: ReadSignal, options: { readonly path?: string } = {}): Search =>
  readSearch(text, { ...signals[signal], regexOf }, options);
