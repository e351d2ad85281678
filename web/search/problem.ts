/** Validates a search before it is sent, with the messages of the API */
import { QueryError } from '../../queries/errors.ts';
import { parseSearchText, type SearchContext } from '../../queries/search/parser.ts';
import { logFields, spanFields } from '../../schemas/fields.ts';

export type SearchedSignal = 'logs' | 'traces';

/** Only the API parses RE2 expressions. */
const regexOf = (source: string) => ({ source, test: () => false, instructions: 0 });

const contexts: Readonly<Record<SearchedSignal, SearchContext>> = {
  logs: { fields: logFields, regexOf },
  traces: { fields: spanFields, parts: ['events', 'links'], regexOf },
};

/** Returns the names of fields that every record has. */
export const fieldNames = (signal: SearchedSignal): readonly string[] =>
  contexts[signal].fields.map(({ name }) => name);

/** Returns the column and the expected input; `undefined` for a valid search. */
export const searchProblem = (text: string, signal: SearchedSignal): string | undefined => {
  try {
    parseSearchText(text, contexts[signal]);
    return undefined;
  } catch (error) {
    if (error instanceof QueryError) return error.message;
    throw error;
  }
};
