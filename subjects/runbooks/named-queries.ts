/** Extracts queries from passages: in code, as PromQL or as a JSON query; for a rule, its own query */
import { Query } from '../../queries/query.ts';
import { type QueryRequest, queryOf } from '../../queries/run.ts';
import { promqlIn } from '../questions/languages.ts';
import type { FoundPassage } from './passage-index.ts';

export interface NamedQuery {
  readonly query: Query;
  /** Index in the list of passages */
  readonly passage: number;
}

const fence = /^ {0,3}(`{3,}|~{3,})/;
const maxSpanLength = 1_000;

/** Returns the texts between two backticks of a line. */
const spansIn = (line: string): string[] =>
  line
    .split('`')
    .slice(0, -1)
    .filter((each, index) => index % 2 === 1 && each.length <= maxSpanLength);

/** Returns code: blocks, and spans within a line. */
const codeIn = (text: string): string[] => {
  const found: string[] = [];
  let block: string[] | undefined;
  for (const line of text.split('\n')) {
    if (fence.test(line)) {
      if (block !== undefined) found.push(block.join('\n'));
      block = block === undefined ? [] : undefined;
    } else if (block !== undefined) block.push(line);
    else found.push(...spansIn(line));
  }
  return block === undefined ? found : [...found, block.join('\n')];
};

const queryIn = (code: string): QueryRequest | undefined => {
  const text = code.trim();
  if (!text.startsWith('{"') && !text.startsWith('{\n')) return promqlIn(text);
  try {
    return Query.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};

/** Returns each query once, with the first passage that contains it. Shell commands are excluded. */
export const namedQueries = (found: readonly FoundPassage[], maxQueries: number): NamedQuery[] => {
  const named = new Map<string, NamedQuery>();
  for (const [passage, { book, text }] of found.entries()) {
    // Anyone who can send logs can create a pattern, so no query from a pattern is run.
    const codes = book.source === 'log-pattern' || book.source === 'handbook' ? [] : codeIn(text);
    const queries = [
      ...(book.query === undefined ? [] : [book.query]),
      ...codes.flatMap((code) => queryIn(code) ?? []),
    ];
    for (const request of queries) {
      const query = queryOf(request);
      const key = JSON.stringify(query);
      if (!named.has(key)) named.set(key, { query, passage });
      if (named.size >= maxQueries) return [...named.values()];
    }
  }
  return [...named.values()];
};
