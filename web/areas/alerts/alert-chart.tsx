/** Chart of the values of an alert with the thresholds of its rule; the time in which it fires is shaded */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { Skeleton } from '../../components/skeleton.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refreshCount } from '../../frame/time-range.ts';
import { isSeriesOfAlert, toEvaluatedValues } from './alert-format.ts';
import { type Alert, evaluationsCall, previewRuleCall, type Rule } from './calls.ts';
import { PastChart } from './rule/chart.tsx';
import { pickWritableFields } from './rule/draft.ts';

/** Evaluations of an alert that are drawn, the newest ones */
const maxEvaluations = 500;

const noFirings: readonly number[] = [];

export const AlertChart = ({
  alert,
  rule,
  from,
}: {
  readonly alert: Alert;
  readonly rule: Rule;
  /** Start of the shown time */
  readonly from: string;
}) => {
  const { labels, startedAt, state } = alert;
  const [preview] = useState(() => new ApiQuery(previewRuleCall));
  const [evaluations] = useState(() => new ApiQuery(evaluationsCall));
  useEffect(() => {
    // A preview queries the data. Users without permission for it see the values that were evaluated.
    if (isPermitted(previewRuleCall)) preview.run({ query: { from, to: 'now' }, body: pickWritableFields(rule) });
    else
      evaluations.run({
        params: { id: rule.id },
        query: { alertId: alert.id, from, to: 'now', limit: maxEvaluations },
      });
    return () => {
      preview.cancel();
      evaluations.cancel();
    };
  }, [rule.id, rule.version, alert.id, from, refreshCount.value]);
  const { response } = preview.state.value;
  const evaluated = evaluations.state.value.response;
  const isLoading = preview.state.value.isLoading || evaluations.state.value.isLoading;
  const past = useMemo(() => {
    if (evaluated !== undefined) return toEvaluatedValues(evaluated.items, rule, labels);
    const values = response?.past;
    if (values === undefined || values === null) return undefined;
    return { ...values, series: values.series.filter((series) => isSeriesOfAlert(series.labels, labels)) };
  }, [response, evaluated, rule, labels]);
  const firingRanges = useMemo(
    () => (startedAt === null || state !== 'firing' ? [] : [[Date.parse(startedAt), Date.now()] as const]),
    [startedAt, state, response, evaluated],
  );
  if (past === undefined) return isLoading ? <Skeleton height={180} /> : null;
  if (past.series.length === 0) return null;
  return (
    <section aria-label="Values">
      <PastChart past={past} firings={noFirings} ranges={firingRanges} group="alert" />
    </section>
  );
};
