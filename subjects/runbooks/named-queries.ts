/** Extracts queries from passages: in code, as PromQL or as a JSON query; for a rule, its own query */
import { Query, type QueryRequest } from '../../queries/query.ts';
import { parseQuery } from '../../queries/run.ts';
import { parsePromql } from '../questions/languages.ts';
import type { FoundPassage } from './passage-index.ts';
import { fillPlaceholders } from './placeholders.ts';

export interface NamedQuery {
  readonly query: Query;
  /** Index in the list of passages */
  readonly passageIndex: number;
  /** Placeholders of its PromQL that no label fills: it cannot run as it is */
  readonly missing: readonly string[];
}

const codeBlockPattern = /^ {0,3}(`{3,}|~{3,})/;
const maxSpanLength = 1_000;

/** Returns the texts between two backticks of a line. */
const findCodeSpans = (line: string): string[] =>
  line
    .split('`')
    .slice(0, -1)
    .filter((value, index) => index % 2 === 1 && value.length <= maxSpanLength);

/** Returns code: blocks, and spans within a line. */
const findCode = (text: string): string[] => {
  const codeTexts: string[] = [];
  let block: string[] | undefined;
  for (const line of text.split('\n')) {
    if (codeBlockPattern.test(line)) {
      if (block !== undefined) codeTexts.push(block.join('\n'));
      block = block === undefined ? [] : undefined;
    } else if (block !== undefined) block.push(line);
    else codeTexts.push(...findCodeSpans(line));
  }
  return block === undefined ? codeTexts : [...codeTexts, block.join('\n')];
};

const parseQueryCode = (code: string): QueryRequest | undefined => {
  const text = code.trim();
  if (!text.startsWith('{"') && !text.startsWith('{\n')) return parsePromql(text);
  try {
    return Query.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};

const fillRequest = (
  request: QueryRequest,
  labels: Readonly<Record<string, string>>,
): { readonly filledRequest: QueryRequest; readonly missing: readonly string[] } => {
  if (request.kind !== 'promql') return { filledRequest: request, missing: [] };
  const { expression, missing } = fillPlaceholders(request.expression, labels);
  return { filledRequest: { ...request, expression }, missing };
};

/** Returns each query once, with the first passage that contains it. Shell commands are excluded. */
export const extractQueries = (
  passages: readonly FoundPassage[],
  maxQueries: number,
  labels: Readonly<Record<string, string>> = {},
): NamedQuery[] => {
  const queriesByKey = new Map<string, NamedQuery>();
  for (const [passageIndex, { origin, text }] of passages.entries()) {
    // Anyone who can send logs can create a pattern, so no query from a pattern is run.
    const codeTexts = origin.source === 'log-pattern' || origin.source === 'handbook' ? [] : findCode(text);
    const queries = [
      ...(origin.query === undefined ? [] : [origin.query]),
      ...codeTexts.flatMap((code) => parseQueryCode(code) ?? []),
    ];
    for (const request of queries) {
      const { filledRequest, missing } = fillRequest(request, labels);
      const query = parseQuery(filledRequest);
      const key = JSON.stringify(query);
      if (!queriesByKey.has(key)) queriesByKey.set(key, { query, passageIndex, missing });
      if (queriesByKey.size >= maxQueries) return [...queriesByKey.values()];
    }
  }
  return [...queriesByKey.values()];
};
