import type { Columns } from '../../../schemas/ports/columns.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import type { OnboardingState } from '../../../schemas/resources/onboarding.ts';
import { signals } from '../../../schemas/telemetry-signals.ts';
import { readFirstReceived } from '../../../subjects/onboarding/last-received.ts';
import { updateState } from './state.ts';

type FirstSeen = OnboardingState['firstSeen'];

/**
 * Returns the time when the first record of each signal was stored for the organization. The times are stored: tables
 * are read only for signals without a record so far, and a step stays done after retention deletes its records.
 */
export const updateFirstSeen = async (
  tenantId: string,
  storedTimes: FirstSeen,
  { columns, documents }: { readonly columns: Columns; readonly documents: Documents },
): Promise<FirstSeen> => {
  const missingSignals = signals.filter((signal) => storedTimes[signal] === undefined);
  if (missingSignals.length === 0) return storedTimes;
  const tenantColumns = columns.forTenant(tenantId);
  const newTimes = await Promise.all(
    missingSignals.map(async (signal): Promise<FirstSeen> => {
      const first = await readFirstReceived(tenantColumns, signal);
      return first === undefined ? {} : { [signal]: first };
    }),
  );
  const allTimes = Object.assign({}, storedTimes, ...newTimes) as FirstSeen;
  if (Object.keys(allTimes).length > Object.keys(storedTimes).length)
    await updateState(documents.forTenant(tenantId), { firstSeen: allTimes });
  return allTimes;
};
