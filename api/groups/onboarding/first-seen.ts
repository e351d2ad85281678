import type { Columns } from '../../../schemas/ports/columns.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import type { OnboardingState } from '../../../schemas/resources/onboarding.ts';
import { signals } from '../../../schemas/telemetry-signals.ts';
import { firstLanded } from '../../../subjects/onboarding/landed.ts';
import { remember } from './state.ts';

type FirstSeen = OnboardingState['firstSeen'];

/**
 * Returns the time when the first record of each signal was stored for the organization. The times are stored: tables
 * are read only for signals without a record so far, and a step stays done after retention deletes its records.
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
      const first = await firstLanded(own, signal);
      return first === undefined ? {} : { [signal]: first };
    }),
  );
  const seen = Object.assign({}, known, ...found) as FirstSeen;
  if (Object.keys(seen).length > Object.keys(known).length) await remember(documents.of(tenantId), { firstSeen: seen });
  return seen;
};
