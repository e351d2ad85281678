/** `ALERTS` and `ALERTS_FOR_STATE`: alerts as metric series, as Prometheus writes them. */
import type { RecordedSeries } from '../../../schemas/recorded-samples.ts';
import { alertLabels } from '../evaluate.ts';
import { isActive } from '../next-state.ts';
import type { AlertRule } from '../rule.ts';
import type { AlertMemo, RuleState } from '../state.ts';

/** Alerts of a rule after an evaluation. */
export interface RuleAlerts {
  readonly rule: AlertRule;
  readonly state: Pick<RuleState, 'alerts'>;
}

const getAlertSeriesLabels = (rule: AlertRule, memo: AlertMemo, nowMs: number): Record<string, string> => {
  const { labels, severity, held } = memo;
  const values = { labels, severity, atMs: nowMs, value: held?.value ?? memo.value };
  const alertLabelValues = alertLabels(rule, { ...values, threshold: held?.compared?.limit ?? null });
  return Object.fromEntries(Object.entries(alertLabelValues).filter(([, text]) => text !== ''));
};

const toSeries = ({ rule, state }: RuleAlerts, nowMs: number): RecordedSeries[] =>
  Object.values(state.alerts)
    .filter((memo) => isActive(memo.state))
    .flatMap((memo) => {
      const labels = getAlertSeriesLabels(rule, memo, nowMs);
      const alertstate = memo.state === 'pending' ? 'pending' : 'firing';
      return [
        { labels: { ...labels, alertstate, __name__: 'ALERTS' }, value: 1 },
        { labels: { ...labels, __name__: 'ALERTS_FOR_STATE' }, value: Math.floor(memo.sinceMs / 1000) },
      ];
    });

const toSeriesKey = ({ labels }: RecordedSeries): string =>
  JSON.stringify(Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1)));

/**
 * Returns the series of pending and firing alerts, and staleness markers for previous series that no longer exist, each
 * once.
 */
export const createAlertSeries = (
  previousAlerts: RuleAlerts | undefined,
  currentAlerts: RuleAlerts,
  nowMs: number,
): RecordedSeries[] => {
  const seriesByKey = new Map(toSeries(currentAlerts, nowMs).map((one) => [toSeriesKey(one), one]));
  for (const one of previousAlerts === undefined ? [] : toSeries(previousAlerts, nowMs)) {
    const key = toSeriesKey(one);
    if (!seriesByKey.has(key)) seriesByKey.set(key, { labels: one.labels, value: 'stale' });
  }
  return [...seriesByKey.values()];
};
