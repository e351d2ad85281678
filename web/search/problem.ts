/** What is wrong with a search, told before it is asked, in the words of the API. */
import { QueryError } from '../../queries/errors.ts';
import { readSearch, type SearchContext } from '../../queries/search/parser.ts';
import { logFields, spanFields } from '../../schemas/fields.ts';

export type SearchedSignal = 'logs' | 'traces';

/** Regular expressions of RE2 are read by the API alone. */
const regexOf = (source: string) => ({ source, test: () => false, instructions: 0 });

const contexts: Readonly<Record<SearchedSignal, SearchContext>> = {
  logs: { fields: logFields, regexOf },
  traces: { fields: spanFields, parts: ['events', 'links'], regexOf },
};

/** Names of the fields that every record has. */
export const fieldNames = (signal: SearchedSignal): readonly string[] =>
  contexts[signal].fields.map(({ name }) => name);

/** The column and what was expected there; undefined for a search that can be read. */
export const searchProblem = (text: string, signal: SearchedSignal): string | undefined => {
  try {
    readSearch(text, contexts[signal]);
    return undefined;
  } catch (error) {
    if (error instanceof QueryError) return error.message;
    throw error;
  }
};
