import { z } from 'zod';
import { projectScopeParameters } from '../../../../queries/project-scope.ts';
import { type Range, serviceParameter } from '../../../../queries/range.ts';
import { severityLevels } from '../../../../schemas/log-patterns.ts';
import type { PatternsQuery } from '../../../../subjects/log-patterns/patterns.ts';
import type { Caller } from '../../../callers/caller.ts';

/** Parameters that filter the records that are counted. */
export const filterParameters = {
  ...serviceParameter,
  ...projectScopeParameters,
  severity: z
    .enum(severityLevels)
    .optional()
    .describe('Only records in the OpenTelemetry severity range with this name'),
};

const dayMs = 86_400_000;

/** Converts the parameters of a request to a query of patterns. */
export const toPatternsQuery = (
  filter: PatternsQuery['filter'],
  range: Range,
  { caller, nowMs }: { readonly caller: Pick<Caller, 'plan'>; readonly nowMs: number },
): PatternsQuery => ({
  range,
  filter,
  nowMs,
  retainedFromMs: nowMs - caller.plan.retentionDays.logs * dayMs,
});
