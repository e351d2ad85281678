/** Scope of series reads, and the restriction of their statements. */
import type { TenantColumns } from '../../../schemas/ports/columns.ts';
import type { PlanReader } from '../../entitlement.ts';
import { buildProjectScopeCondition, toProjectScopeParameters } from '../../project-scope.ts';
import { getEarliestRowMs } from '../../series-first-seen.ts';
import type { Translation } from '../otlp/labels.ts';

const dayMs = 86_400_000;

/** Scope of a series read. */
export interface Scope {
  readonly columns: TenantColumns;
  readonly projectId?: string | undefined;
  readonly translation: Translation;
  /** Excludes remote-write series. */
  readonly onlySource?: 'otlp';
}

/** A window in milliseconds since the epoch. */
export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

const buildSeenSinceCondition = (table: string): string =>
  `${table}.last_seen >= fromUnixTimestamp64Milli({alive:Int64}, 'UTC')`;
const seenSinceParameters = ({ fromMs }: Window): { readonly alive: string } => ({
  alive: String(getEarliestRowMs(fromMs)),
});

/** Returns the restriction of every statement over `series` or a similar table. */
export const buildScopeCondition = (
  { projectId }: Scope,
  window: Window,
  table: 'series' | 'metric_metadata' = 'series',
): { readonly sql: string; readonly parameters: Record<string, string> } => ({
  sql: `tenant_id = {tenant:String}${buildProjectScopeCondition({ projectId })} AND ${buildSeenSinceCondition(table)}`,
  parameters: { ...seenSinceParameters(window), ...toProjectScopeParameters({ projectId }) },
});

/** Returns the start of a plan's retention; earlier data does not exist, as in Prometheus. */
export const getRetentionStartMs = (
  { retentionDays }: Pick<PlanReader['plan'], 'retentionDays'>,
  nowMs: number,
): number => nowMs - retentionDays.metrics * dayMs;
