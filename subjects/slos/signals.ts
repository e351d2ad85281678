import { signalsOf } from '../../queries/freshness.ts';
import { type ReadSignal, signals } from '../../queries/signals/index.ts';
import type { SloFields } from './document.ts';

/** What telemetry an objective is measured from. */
export const signalsMeasured = ({ query: { sli } }: Pick<SloFields, 'query'>): ReadSignal[] => {
  if (sli === undefined) return ['traces'];
  const parts = [sli.good, sli.bad, sli.total, sli.value].filter((part) => part !== undefined);
  return [...new Set(parts.flatMap(signalsOf))];
};

/** What a plan must include, so that it can be measured. */
export const entitlementsOf = (slo: Pick<SloFields, 'query'>): string[] =>
  signalsMeasured(slo).map((signal) => signals[signal].entitlement);
