/** Finds the stored metrics that an expression reads. */
import type { EvaluationWindow } from './evaluation/messages.ts';
import type { Scope } from './fetch/scope.ts';
import { findMetricsByName } from './fetch/stored-metrics.ts';
import { listSelections, parse } from './index.ts';
import { hasCacheableSteps } from './steps-cache.ts';

/**
 * Returns the stored metrics that an expression reads. Undefined if a step depends on more than the points up to its
 * own time, such as on the start of the range, or if the expression selects series without a metric name.
 */
export const readMetricNames = async (
  expression: string,
  window: EvaluationWindow,
  scope: Scope,
): Promise<readonly string[] | undefined> => {
  const parsed = parse(expression);
  if (!hasCacheableSteps(parsed, window)) return undefined;
  const metrics = new Set<string>();
  for (const { matchers, fromMs, toMs } of listSelections(parsed, window)) {
    const name = matchers.find((matcher) => matcher.name === '__name__' && matcher.op === '=')?.value ?? '';
    // `target_info` exists while any series of its resource exists, so it depends on all metrics.
    if (name === '' || name === 'target_info' || toMs > window.endMs) return undefined;
    for (const { metric } of await findMetricsByName(scope, { fromMs, toMs }, matchers)) metrics.add(metric);
  }
  return [...metrics];
};
