import { listSignals } from '../../queries/freshness.ts';
import { type ReadSignal, signalDefinitions } from '../../queries/signals/index.ts';
import type { SloFields } from './document.ts';

/** Returns the telemetry signals from which an SLO is measured. */
export const listMeasuredSignals = ({ query: { sli } }: Pick<SloFields, 'query'>): ReadSignal[] => {
  if (sli === undefined) return ['traces'];
  const parts = [sli.good, sli.bad, sli.total, sli.value].filter((part) => part !== undefined);
  return [...new Set(parts.flatMap(listSignals))];
};

/** Returns the entitlements of a plan that are required to measure an SLO. */
export const listRequiredEntitlements = (slo: Pick<SloFields, 'query'>): string[] =>
  listMeasuredSignals(slo).map((signal) => signalDefinitions[signal].entitlement);
