import { FieldsPage, FieldsQuery, listFields } from '../../../queries/fields/list.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { listCache } from '../../kernel/result-cache.ts';

export const listLogFields = defineOperation({
  method: 'GET',
  path: '/api/logs/fields',
  operationId: 'listLogFields',
  summary: 'List the fields and attributes of log records with their types, and the number of records with each',
  role: 'viewer',
  entitlement: 'logs',
  cache: listCache,
  query: FieldsQuery,
  response: FieldsPage,
  handler: ({ caller, query }, { columns, clock }) =>
    listFields('logs', query, createQueryReader(caller, { columns, clock })),
});
