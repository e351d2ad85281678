/** Reads the searches of a signal. */
import { type ReadSignal, signals } from '../signals/index.ts';
import { readSearch } from './parser.ts';
import { regexOf } from './regex.ts';
import type { Search } from './tree.ts';

/**
 * What a search says. Throws a `QueryError` about `path` that names the column and what was expected there. An empty search finds
 * everything.
 */
export const parseSearch = (text: string, signal: ReadSignal, options: { readonly path?: string } = {}): Search =>
  readSearch(text, { ...signals[signal], regexOf }, options);
