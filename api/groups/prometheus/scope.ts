/** Limits of what a caller can read: organization, project and time range */
import { getRetentionStartMs, type Scope, type Window } from '../../../queries/promql/fetch/scope.ts';
import { readTranslation } from '../../../queries/promql/settings.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Ports } from '../../kernel/ports.ts';
import { getText, getTimeMs, type PrometheusParameters } from './parameters.ts';

const dayMs = 86_400_000;

export const createScope = (
  { caller, parameterValues }: { readonly caller: Caller; readonly parameterValues: PrometheusParameters },
  { columns, settings }: Pick<Ports, 'columns' | 'settings'>,
): Scope => {
  const projectId = getText(parameterValues, 'projectId');
  return {
    columns: columns.forTenant(caller.tenantId),
    translation: readTranslation(settings),
    ...(projectId !== '' && { projectId }),
  };
};

/** The range of a label query; by default the whole retention. */
export const parseWindow = (
  { caller, parameterValues }: { readonly caller: Caller; readonly parameterValues: PrometheusParameters },
  { clock }: Pick<Ports, 'clock'>,
): Window => {
  const nowMs = clock.now();
  const earliestMs = getRetentionStartMs(caller.plan, nowMs);
  const fromMs = getTimeMs(parameterValues, 'start', Number.NEGATIVE_INFINITY);
  const toMs = getTimeMs(parameterValues, 'end', Number.POSITIVE_INFINITY);
  return { fromMs: Math.max(earliestMs, fromMs), toMs: Math.min(toMs, nowMs + dayMs) };
};
