/** Validates a search before it is sent; the messages are those of the API */
import { QueryError } from '../../queries/errors.ts';
import { parseSearchText, type SearchContext } from '../../queries/search/parser.ts';
import { logFields, seriesFields, spanFields } from '../../schemas/fields.ts';

export type SearchableSignal = 'logs' | 'traces' | 'metrics';

/** Accepts any regular expression, because only the API can parse RE2. */
const parseRegex = (source: string) => ({ source, test: () => false, instructions: 0 });

const contexts: Readonly<Record<SearchableSignal, SearchContext>> = {
  logs: { fields: logFields, parseRegex },
  traces: { fields: spanFields, parts: ['events', 'links'], parseRegex },
  metrics: { fields: seriesFields, parseRegex },
};

/** Returns the names of fields that every record has. */
export const getFieldNames = (signal: SearchableSignal): readonly string[] =>
  contexts[signal].fields.map(({ name }) => name);

/** Returns the error of a search with its column; `undefined` for a valid search. */
export const findSearchProblem = (text: string, signal: SearchableSignal): string | undefined => {
  try {
    parseSearchText(text, contexts[signal]);
    return undefined;
  } catch (error) {
    if (error instanceof QueryError) return error.message;
    throw error;
  }
};
