import { z } from 'zod';
import { projectScopeParameters } from '../../../../queries/project-scope.ts';
import { type Range, serviceParameter } from '../../../../queries/range.ts';
import { severityLevels } from '../../../../schemas/log-patterns.ts';
import type { PatternsQuestion } from '../../../../subjects/log-patterns/patterns.ts';
import type { Caller } from '../../../callers/caller.ts';

/** Parameters that choose which records are counted. */
export const filterParameters = {
  ...serviceParameter,
  ...projectScopeParameters,
  severity: z.enum(severityLevels).optional().describe("Only records of OpenTelemetry's severity range of this name"),
};

const dayMs = 86_400_000;

/** What a request asks of the patterns of a range. */
export const questionOf = (
  filter: PatternsQuestion['filter'],
  range: Range,
  { caller, nowMs }: { readonly caller: Pick<Caller, 'plan'>; readonly nowMs: number },
): PatternsQuestion => ({
  range,
  filter,
  nowMs,
  retainedFromMs: nowMs - caller.plan.retentionDays.logs * dayMs,
});
