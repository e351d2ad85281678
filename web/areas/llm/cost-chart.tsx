/** Costs of groups over time */
import { useMemo } from 'preact/hooks';
import { ChartCard } from '../../charts/chart-card.tsx';
import type { LlmCost } from './calls.ts';
import { getAmount, getMainCurrency } from './figures.ts';

export type CostGroup = LlmCost['items'][number];

/** Returns the times at which any group has a point, in epoch milliseconds and in order. */
export const toSteps = (groups: readonly CostGroup[]): number[] =>
  [...new Set(groups.flatMap(({ points }) => points.map(({ time }) => Date.parse(time))))].sort(
    (left, right) => left - right,
  );

/** Chart of the groups with the highest cost and the sum of the others, in the currency with the highest total */
export const CostChart = ({
  cost,
  title,
  maxLines,
  toName,
  height,
}: {
  readonly cost: LlmCost | undefined;
  readonly title: string;
  readonly maxLines: number;
  readonly toName: (group: CostGroup['group']) => string;
  readonly height?: number;
}) => {
  const currency = getMainCurrency(cost?.total.costs ?? []);
  const chart = useMemo(() => {
    if (cost === undefined) return undefined;
    const steps = toSteps(cost.items);
    const lines = cost.items.map(({ group, points }) => {
      const byTime = new Map(points.map(({ time, costs }) => [Date.parse(time), getAmount(costs, currency)]));
      return { name: toName(group), values: steps.map((step) => byTime.get(step) ?? 0) };
    });
    const others = lines.slice(maxLines);
    const otherValues = steps.map((_, index) => others.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
    return {
      unit: currency,
      stepMs: cost.stepMs ?? 0,
      steps,
      isStacked: true,
      lines: [...lines.slice(0, maxLines), ...(others.length === 0 ? [] : [{ name: 'Other', values: otherValues }])],
    };
  }, [cost, currency]);
  return (
    <ChartCard
      title={title}
      note={currency}
      chart={chart}
      {...(height !== undefined && { height })}
      emptyText="No requests in this range."
    />
  );
};
