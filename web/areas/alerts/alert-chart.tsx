/** Chart of the values of an alert with the thresholds of its rule; the time in which it fires is shaded */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { Skeleton } from '../../components/skeleton.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refreshCount } from '../../frame/time-range.ts';
import { type Alert, previewRuleCall, type Rule } from './calls.ts';
import { PastChart } from './rule/chart.tsx';
import { pickWritableFields } from './rule/draft.ts';
import { isSeriesOfAlert } from './shown.ts';

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
  const [preview] = useState(() => new ApiQuery(previewRuleCall));
  const { labels, startedAt, state } = alert;
  useEffect(() => {
    if (isPermitted(previewRuleCall)) preview.run({ query: { from, to: 'now' }, body: pickWritableFields(rule) });
    return () => preview.cancel();
  }, [rule.id, rule.version, from, refreshCount.value]);
  const { response, isLoading } = preview.state.value;
  const past = useMemo(() => {
    const values = response?.past;
    if (values === undefined || values === null) return undefined;
    return { ...values, series: values.series.filter((series) => isSeriesOfAlert(series.labels, labels)) };
  }, [response, labels]);
  const firingRanges = useMemo(
    () => (startedAt === null || state !== 'firing' ? [] : [[Date.parse(startedAt), Date.now()] as const]),
    [startedAt, state, response],
  );
  if (past === undefined) return isLoading ? <Skeleton height={180} /> : null;
  if (past.series.length === 0) return null;
  return (
    <section aria-label="Values">
      <PastChart past={past} firings={noFirings} ranges={firingRanges} group="alert" />
    </section>
  );
};
