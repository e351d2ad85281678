import {
  addMatch,
  CorrelationWindow,
  dueOf,
  emptyWindow,
  endWindow,
  waitsForEnd,
} from '../../queries/sigma/correlation.ts';
import type { DeployedCorrelation, Deployment, StoredRule } from '../../queries/sigma/deployed.ts';
import { chainedMatch } from '../../queries/sigma/detect.ts';
import { emittedTo } from '../../schemas/records/values.ts';
import type { DetectionMatch, DetectionSignal } from '../../schemas/signals.ts';
import { topics } from '../../schemas/topics.ts';
import { type Context, defineProcessor, type Processor } from '../engine/definition.ts';
import { combinedState, keyedState } from '../engine/state.ts';
import { deployed, deploymentIn } from './deployments.ts';

/** Groups of correlations that are open at a time, in a partition of a tenant; the one that was used longest ago makes way. */
const mostWindows = 10_000;
const mostSuppressed = 50_000;

const emits = { signals: topics.signals, chained: topics.chainedMatches };
const state = combinedState(1, {
  windows: keyedState({ version: 1, maxEntries: mostWindows, schema: CorrelationWindow }),
  /** When the time is over in which signals of a rule and group are one. */
  suppressed: keyedState<number>({ version: 1, maxEntries: mostSuppressed }),
});
type State = ReturnType<typeof state.open>;
type CorrelationContext = Context<typeof emits, typeof deployed, State>;

interface WindowKey {
  readonly rule: string;
  readonly version: number;
  readonly key: readonly string[];
  readonly projectId: string;
}

/** Emits a correlation's signal, to those that name it as well. */
const tell = (signal: DetectionSignal, deployment: Deployment, { emit }: CorrelationContext): void => {
  const { matches, isSilent } = chainedMatch(deployment, signal);
  for (const match of matches) emit.chained(match);
  if (!isSilent) emit.signals(signal);
};

const correlate = (
  match: DetectionMatch,
  correlation: DeployedCorrelation,
  deployment: Deployment,
  context: CorrelationContext,
): void => {
  const { windows } = context.state;
  const { id, stored } = correlation;
  const of: WindowKey = { rule: id, version: stored.version, key: match.key, projectId: match.signal.projectId };
  const key = JSON.stringify(of);
  const { window, signal, isLate } = addMatch(correlation, windows.get(key) ?? emptyWindow(), match);
  if (isLate) {
    context.drop('late');
    return;
  }
  windows.set(key, window);
  context.setTimer('watermark', dueOf(correlation, window), key);
  if (signal !== undefined) tell(signal, deployment, context);
};

/** The first signal of a group counts, and no other for a time. */
const suppress = ({ key, signal }: DetectionMatch, { suppression }: StoredRule, context: CorrelationContext): void => {
  const { suppressed } = context.state;
  const of = JSON.stringify([signal.ruleId, key]);
  const fromMs = suppressed.get(of);
  const forMs = (suppression?.forSeconds ?? 0) * 1000;
  if (fromMs !== undefined && Math.abs(signal.timeMs - fromMs) < forMs) {
    context.drop('suppressed');
    return;
  }
  suppressed.set(of, signal.timeMs);
  context.emit.signals(signal);
};

const define = (
  name: string,
  summary: string,
  topic: typeof topics.detectionMatches | typeof topics.chainedMatches,
): Processor =>
  defineProcessor({
    ...{ name, summary, reads: emittedTo(topic), emits, follows: deployed, entitlement: 'logs', state },
    latenessMs: 10_000,

    step(match, context) {
      const deployment = deploymentIn(context.follows);
      const correlation = deployment.correlations.find(({ id }) => id === match.forRule);
      if (correlation !== undefined) {
        correlate(match, correlation, deployment, context);
        return;
      }
      const rule = deployment.stored.get(match.forRule);
      if (rule === undefined) context.drop('undeployed');
      else suppress(match, rule, context);
    },

    timer({ key }, context) {
      const { windows } = context.state;
      const window = windows.get(key);
      if (window === undefined) return;
      const deployment = deploymentIn(context.follows);
      const { rule, version, key: group, projectId } = JSON.parse(key) as WindowKey;
      const correlation = deployment.correlations.find(({ id, stored }) => id === rule && stored.version === version);
      if (correlation === undefined) {
        windows.delete(key);
        return;
      }
      const ended = endWindow(correlation, window, { key: [...group], tenantId: context.tenantId, projectId });
      if (ended.signal !== undefined) tell(ended.signal, deployment, context);
      if (ended.window === undefined) windows.delete(key);
      else {
        windows.set(key, ended.window);
        if (waitsForEnd(correlation.document)) context.setTimer('watermark', dueOf(correlation, ended.window), key);
      }
    },
  });

/** Correlations of rules, and signals of rules that are one for a time. */
export const correlations = define(
  'correlations',
  'Finds what several records together tell, by the windows of correlation rules.',
  topics.detectionMatches,
);

/** Correlations that name correlations. */
export const chainedCorrelations = define(
  'chained-correlations',
  'The same for correlations that name correlations.',
  topics.chainedMatches,
);
