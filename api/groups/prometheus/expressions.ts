import { toTreeJson } from '../../../queries/promql/syntax/json.ts';
import { parseExpression } from '../../../queries/promql/syntax/parse.ts';
import { prettyPrint } from '../../../queries/promql/syntax/print.ts';
import { defineGetAndPostOperations } from './define-operation.ts';
import { createParameterSchema, withExpression } from './parameters.ts';

const parameters = { query: createParameterSchema('An expression') };

export const formatQuery = defineGetAndPostOperations({
  path: 'format_query',
  operationId: 'formatPromql',
  summary: 'Format an expression',
  parameters,
  run: ({ parameterValues }) => ({
    data: withExpression(parameterValues, (text) => prettyPrint(parseExpression(text))),
  }),
});

export const parseQuery = defineGetAndPostOperations({
  path: 'parse_query',
  operationId: 'parsePromql',
  summary: 'Parse an expression into a tree',
  parameters,
  run: ({ parameterValues }) => ({
    data: withExpression(parameterValues, (text) => toTreeJson(parseExpression(text))),
  }),
});
