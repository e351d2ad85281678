/** Restrictions of a caller's reads of series */
import { retentionStartMs, type Scope, type Window } from '../../../queries/promql/fetch/scope.ts';
import { translationOf } from '../../../queries/promql/settings.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Ports } from '../../kernel/ports.ts';
import { type Given, textOf, timeOf } from './parameters.ts';

const dayMs = 86_400_000;

export const scopeOf = (
  { caller, given }: { readonly caller: Caller; readonly given: Given },
  { columns, settings }: Pick<Ports, 'columns' | 'settings'>,
): Scope => {
  const projectId = textOf(given, 'projectId');
  return {
    columns: columns.of(caller.tenantId),
    translation: translationOf(settings),
    ...(projectId !== '' && { projectId }),
  };
};

/** The range of a label query; by default the whole retention. */
export const windowOf = (
  { caller, given }: { readonly caller: Caller; readonly given: Given },
  { clock }: Pick<Ports, 'clock'>,
): Window => {
  const nowMs = clock.now();
  const earliestMs = retentionStartMs(caller.plan, nowMs);
  const fromMs = timeOf(given, 'start', Number.NEGATIVE_INFINITY);
  const toMs = timeOf(given, 'end', Number.POSITIVE_INFINITY);
  return { fromMs: Math.max(earliestMs, fromMs), toMs: Math.min(toMs, nowMs + dayMs) };
};
