import type { Columns } from '../../../schemas/ports/columns.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import type { OnboardingState } from '../../../schemas/resources/onboarding.ts';
import { type Signal, signals } from '../../../schemas/topics.ts';
import { remember } from './state.ts';

type FirstSeen = OnboardingState['firstSeen'];

/** Tables and times by signal. One row is looked for first, which is cheap; the time is read only once a row is there. */
const sources: Readonly<Record<Signal, { readonly table: string; readonly time: string }>> = {
  logs: { table: 'logs', time: 'received_at' },
  metrics: { table: 'series', time: 'first_seen' },
  traces: { table: 'spans', time: 'received_at' },
};

/**
 * When the first record of each signal was stored for the organization. Times are remembered: tables are read only for
 * signals that never came, and a step stays done after retention deleted its records.
 */
export const firstSeenOf = async (
  tenantId: string,
  known: FirstSeen,
  { columns, documents }: { readonly columns: Columns; readonly documents: Documents },
): Promise<FirstSeen> => {
  const unseen = signals.filter((signal) => known[signal] === undefined);
  if (unseen.length === 0) return known;
  const own = columns.of(tenantId);
  const found = await Promise.all(
    unseen.map(async (signal): Promise<FirstSeen> => {
      const { table, time } = sources[signal];
      const [some] = await own.query(`SELECT 1 FROM ${table} WHERE tenant_id = {tenant:String} LIMIT 1`);
      if (some === undefined) return {};
      const [row] = await own.query<{ first: string }>(
        `SELECT toString(toUnixTimestamp64Milli(min(${time}))) AS first FROM ${table} WHERE tenant_id = {tenant:String}`,
      );
      return { [signal]: new Date(Number(row?.first ?? 0)).toISOString() };
    }),
  );
  const seen = Object.assign({}, known, ...found) as FirstSeen;
  if (Object.keys(seen).length > Object.keys(known).length) await remember(documents.of(tenantId), { firstSeen: seen });
  return seen;
};
