import { z } from 'zod';
import type { NumberOrReason } from '../../queries/unknown-numbers.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { getQuotaWindow } from '../../schemas/resources/quota.ts';
import { type Signal, signals } from '../../schemas/telemetry-signals.ts';
import { forecastTotal, historyDays } from './forecast.ts';
import { type LedgerFilter, readDayVolumes } from './ledger.ts';

const dayMs = 86_400_000;

export const monthParameter = {
  month: z
    .string()
    .regex(/^20\d{2}-(?:0[1-9]|1[0-2])$/, 'must be a month such as 2026-03')
    .optional()
    .describe('Month of the period (UTC); default: the current one'),
};

export interface MonthPeriod {
  readonly fromMs: number;
  readonly endMs: number;
}

export const getMonthPeriod = (month: string | undefined, nowMs: number): MonthPeriod =>
  getQuotaWindow('month', month === undefined ? nowMs : Date.parse(`${month}-01T00:00:00Z`));

export const toIsoTime = (ms: number): string => new Date(ms).toISOString();

/** Forecast of the accepted bytes and records at the end of the period, for each telemetry signal and in total */
export interface Projection {
  readonly bytes: Readonly<Record<Signal | 'total', NumberOrReason>>;
  readonly records: Readonly<Record<Signal | 'total', NumberOrReason>>;
}

/** Returns a forecast of the usage in the period, based on previous days. */
export const forecastUsage = async (
  columns: TenantColumns,
  filter: LedgerFilter,
  period: MonthPeriod,
  nowMs: number,
): Promise<Projection> => {
  const startOfToday = nowMs - (nowMs % dayMs);
  const fromMs = Math.min(period.fromMs, startOfToday - (historyDays + 1) * dayMs);
  const [days, firstDay] = await Promise.all([
    readDayVolumes(columns, filter, { fromMs, toMs: Math.min(nowMs + dayMs, period.endMs) }),
    readFirstDay(columns),
  ]);
  const forecastScope = (scope: Signal | 'total', field: 'bytes' | 'records'): NumberOrReason => {
    const byDay = new Map<string, number>();
    for (const dayVolume of days) {
      if (scope === 'total' || scope === dayVolume.signal)
        byDay.set(dayVolume.day, (byDay.get(dayVolume.day) ?? 0) + dayVolume[field]);
    }
    return forecastTotal({ byDay, period, nowMs, firstDay });
  };
  const forecastScopes = (field: 'bytes' | 'records') =>
    Object.fromEntries(
      [...signals, 'total' as const].map((scope) => [scope, forecastScope(scope, field)]),
    ) as Projection['bytes'];
  return { bytes: forecastScopes('bytes'), records: forecastScopes('records') };
};

const readFirstDay = async (columns: TenantColumns): Promise<string | undefined> => {
  const [row] = await columns.query<{ day: string; rows: string }>(
    'SELECT toString(toDate(min(hour))) AS day, toString(count()) AS rows FROM usage WHERE tenant_id = {tenant:String}',
  );
  return row === undefined || row.rows === '0' ? undefined : row.day;
};
