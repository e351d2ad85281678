import { signalsOf } from '../../queries/freshness.ts';
import type { SloFields } from './document.ts';

/** What telemetry an objective is measured from, by name of its entitlement. */
export const signalsMeasured = ({ query: { sli } }: Pick<SloFields, 'query'>): string[] => {
  if (sli === undefined) return ['traces'];
  const parts = [sli.good, sli.bad, sli.total, sli.value].filter((part) => part !== undefined);
  return [...new Set(parts.flatMap(signalsOf))];
};
