import { treeJson } from '../../../queries/promql/syntax/json.ts';
import { parseExpression } from '../../../queries/promql/syntax/parse.ts';
import { pretty } from '../../../queries/promql/syntax/print.ts';
import { byGetAndPost } from './answer.ts';
import { parameter, withExpression } from './parameters.ts';

const parameters = { query: parameter('An expression') };

export const formatQuery = byGetAndPost({
  path: 'format_query',
  operationId: 'formatPromql',
  summary: 'Format an expression',
  parameters,
  answer: ({ given }) => ({ data: withExpression(given, (text) => pretty(parseExpression(text))) }),
});

export const parseQuery = byGetAndPost({
  path: 'parse_query',
  operationId: 'parsePromql',
  summary: 'Parse an expression into a tree',
  parameters,
  answer: ({ given }) => ({ data: withExpression(given, (text) => treeJson(parseExpression(text))) }),
});
