import { z } from 'zod';
import { parseSavedQuery } from '../../../queries/query.ts';
import { parseRange } from '../../../queries/range.ts';
import { Result } from '../../../queries/result.ts';
import { resolveStepMs } from '../../../queries/steps.ts';
import { DurationText, TimeText } from '../../../queries/time-parameters.ts';
import { ConflictError } from '../../../schemas/ports/documents.ts';
import { savedQueryUses } from '../../../schemas/resources/saved-query.ts';
import { ApiError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { runCached } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { type SavedQueryDocument, savedQueryResource } from './saved-query.ts';

export const runSavedQuery = defineOperation({
  method: 'POST',
  path: '/api/saved-queries/{id}/run',
  operationId: 'runSavedQuery',
  summary: 'Run a saved query over its range, or over another one',
  role: 'viewer',
  auditExemption: 'read-only',
  params: idParameter,
  body: z.strictObject({
    from: TimeText.optional().describe('Overrides the saved range'),
    to: TimeText.optional(),
    step: DurationText.nullable().optional().describe('Overrides the saved step; null for a table'),
  }),
  response: Result,
  async handler({ caller, params, body }, ports) {
    const stored = ports.documents.forTenant(caller.tenantId).collection(savedQueryResource.collection);
    const document = (await stored.find(params.id)) as SavedQueryDocument | undefined;
    if (document === undefined || !savedQueryResource.isVisibleTo(document, caller))
      throw createNotFoundError('saved query');
    const query = parseSavedQuery(document.query, document.queryVersion);
    if (query === undefined)
      throw new ApiError('CONFLICT', `the format of this query, version ${document.queryVersion}, is not supported`);
    const rangeText = { from: body.from ?? document.from, to: body.to ?? document.to };
    const range = parseRange(rangeText, ports.clock.now());
    const step = body.step === undefined ? document.step : (body.step ?? undefined);
    const stepMs = step === undefined ? undefined : resolveStepMs(step, range);
    const result = await runCached(query, { range, stepMs, rangeText }, { caller, ports });
    await countRun(caller.tenantId, params.id, ports);
    return result;
  },
});

/** Counts a run. Two concurrent runs may count once: the number shows whether a query is used and is not exact. */
const countRun = async (tenantId: string, id: string, { documents, clock }: Ports): Promise<void> => {
  const uses = documents.forTenant(tenantId).collection(savedQueryUses);
  const lastRunAt = new Date(clock.now()).toISOString();
  try {
    const usage = await uses.find(id);
    if (usage === undefined) await uses.insert({ id, runs: 1, lastRunAt });
    else await uses.update(id, { runs: usage.runs + 1, lastRunAt }, usage.version);
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
};
