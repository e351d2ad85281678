/** What reads of series are asked by, and what restricts their statements. */
import type { TenantColumns } from '../../../schemas/ports/columns.ts';
import type { Reader } from '../../entitlement.ts';
import { projectScopeCondition, projectScopeValues } from '../../project-scope.ts';
import { seenSinceMs } from '../../series-seen.ts';
import type { Translation } from '../otlp/labels.ts';

const dayMs = 86_400_000;

/** What a read of series is asked by. */
export interface Scope {
  readonly columns: TenantColumns;
  readonly projectId?: string | undefined;
  readonly translation: Translation;
  /** Leaves out series of remote-write. */
  readonly only?: 'otlp';
}

/** Milliseconds since the epoch. */
export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

const aliveCondition = (table: string): string =>
  `${table}.last_seen >= fromUnixTimestamp64Milli({alive:Int64}, 'UTC')`;
const aliveValues = ({ fromMs }: Window): { readonly alive: string } => ({
  alive: String(seenSinceMs(fromMs)),
});

/** What every statement over `series`, or another table of what was seen, is restricted by. */
export const scopeCondition = (
  { projectId }: Scope,
  window: Window,
  table: 'series' | 'metric_metadata' = 'series',
): { readonly sql: string; readonly parameters: Record<string, string> } => ({
  sql: `tenant_id = {tenant:String}${projectScopeCondition({ projectId })} AND ${aliveCondition(table)}`,
  parameters: { ...aliveValues(window), ...projectScopeValues({ projectId }) },
});

/** The earliest time that a plan keeps: what was before is not there, as in Prometheus. */
export const retentionStartMs = ({ retentionDays }: Pick<Reader['plan'], 'retentionDays'>, nowMs: number): number =>
  nowMs - retentionDays.metrics * dayMs;
