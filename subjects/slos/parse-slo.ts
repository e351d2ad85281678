import { queryVersion as supportedVersion } from '../../queries/query.ts';
import type { StoredSlo } from '../../schemas/resources/slo.ts';
import { SloFields } from './document.ts';

/** Returns a stored SLO for measurement; `undefined` if its form is unknown. */
export const parseStoredSlo = (stored: StoredSlo): SloFields | undefined => {
  if (stored.queryVersion > supportedVersion) return undefined;
  const knownFields = Object.fromEntries(Object.entries(stored).filter(([name]) => name in SloFields.shape));
  return SloFields.safeParse(knownFields).data;
};
