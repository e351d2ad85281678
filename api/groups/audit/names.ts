import { z } from 'zod';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { erasureAction } from '../../audit/erasures.ts';
import { newestRecords } from '../../audit/record-search.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';

/** Enough for what the platform does by itself: operations declare what they record. */
const newest = 1_000;

/** Every action that operations declare, and those of the newest records. */
const actionsOf = async ({ documents, auditActions }: Ports, tenantId: string): Promise<string[]> => {
  const recorded = await recordedActions(documents, tenantId);
  return [...new Set([...auditActions, erasureAction, ...recorded])].sort();
};

const recordedActions = async (documents: Documents, tenantId: string): Promise<string[]> => {
  const records = await newestRecords(documents, tenantId, {}, { limit: newest });
  return records.map(({ action }) => action);
};

const typeOf = (action: string): string => action.slice(0, action.indexOf('.'));
const Names = z.strictObject({ items: z.array(z.string()), nextCursor: z.null() });

export const listAuditActions = defineOperation({
  method: 'GET',
  path: '/api/audit/actions',
  operationId: 'listAuditActions',
  summary: 'List the actions that audit records can have',
  role: 'auditor',
  response: Names,
  handler: async ({ caller }, ports) => ({ items: await actionsOf(ports, caller.tenantId), nextCursor: null }),
});

export const listAuditResourceTypes = defineOperation({
  method: 'GET',
  path: '/api/audit/resource-types',
  operationId: 'listAuditResourceTypes',
  summary: 'List the resource types that audit records can be about',
  role: 'auditor',
  response: Names,
  handler: async ({ caller }, ports) => {
    const actions = await actionsOf(ports, caller.tenantId);
    return { items: [...new Set(actions.map(typeOf))], nextCursor: null };
  },
});
