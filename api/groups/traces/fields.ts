import { FieldsPage, FieldsQuery, listFields } from '../../../queries/fields/list.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

export const listTraceFields = defineOperation({
  method: 'GET',
  path: '/api/traces/fields',
  operationId: 'listTraceFields',
  summary: 'List the fields and attributes of spans with their types, and the number of spans with each',
  role: 'viewer',
  cache: listCache,
  query: FieldsQuery,
  response: FieldsPage,
  handler: ({ caller, query }, { columns, clock }) =>
    listFields('traces', query, createQueryReader(caller, { columns, clock })),
});
