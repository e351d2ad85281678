import { createItemSource } from '../../schemas/records/values.ts';
import { DetectionMatch, type DetectionSignal } from '../../schemas/signals.ts';
import { topics } from '../../schemas/topics.ts';
import {
  addMatch,
  CorrelationWindow,
  createEmptyWindow,
  endWindow,
  getWindowDueMs,
  toChainOrder,
} from '../../subjects/detections/correlation.ts';
import type { DeployedCorrelation, Deployment, StoredRule } from '../../subjects/detections/deployment.ts';
import { createChainedMatches, isReportedAgain, mergeSuppressedSignal } from '../../subjects/detections/detect.ts';
import { type Context, defineProcessor } from '../engine/definition.ts';
import { combinedState, keyedState } from '../engine/state.ts';
import { compileFollowed, followedCollections } from './deployments.ts';

/** Maximum number of open correlation groups per partition and tenant. The least recently used group is evicted. */
const maxWindows = 10_000;
const maxSuppressed = 50_000;

const emits = { signals: topics.signals };
const state = combinedState(1, {
  windows: keyedState({ version: 1, maxEntries: maxWindows, schema: CorrelationWindow }),
  /** End of the suppression period of a rule and group. */
  suppressed: keyedState<number>({ version: 1, maxEntries: maxSuppressed }),
  /**
   * Matches after the watermark, and emitted matches, which count the signals that they suppress.
   */
  held: keyedState({ version: 1, maxEntries: maxWindows, schema: DetectionMatch }),
});
type State = ReturnType<typeof state.open>;
type CorrelationContext = Context<typeof emits, typeof followedCollections, State>;
/** Passes the signal of a correlation on to the correlations that reference it. */
type ForwardMatch = (match: DetectionMatch) => void;

interface WindowKey {
  readonly rule: string;
  readonly version: number;
  readonly key: readonly string[];
  readonly projectId: string;
}

/** Emits the signal of a correlation, unless the correlations that reference it suppress it. */
const emitSignal = (
  signal: DetectionSignal,
  deployment: Deployment,
  { emit }: CorrelationContext,
  forwardMatch: ForwardMatch,
): void => {
  const { matches, isSilent } = createChainedMatches(deployment, signal);
  matches.forEach(forwardMatch);
  if (!isSilent) emit.signals(signal);
};

const addToWindow = (
  match: DetectionMatch,
  correlation: DeployedCorrelation,
  deployment: Deployment,
  context: CorrelationContext,
  forwardMatch: ForwardMatch,
): void => {
  const { windows } = context.state;
  const { id, stored } = correlation;
  const windowKey: WindowKey = { rule: id, version: stored.version, key: match.key, projectId: match.signal.projectId };
  const key = JSON.stringify(windowKey);
  const { window, signal, isLate } = addMatch(correlation, windows.get(key) ?? createEmptyWindow(), match);
  if (isLate) {
    context.drop('late');
    return;
  }
  windows.set(key, window);
  context.setTimer('watermark', getWindowDueMs(correlation, window), key);
  if (signal !== undefined) emitSignal(signal, deployment, context, forwardMatch);
};

const suppressionPrefix = 'hiding ';

/**
 * Emits the first signal of a group and suppresses others for a period. Suppressed signals are counted, and the first
 * is emitted again under its id.
 */
const emitOrSuppress = (match: DetectionMatch, { suppression }: StoredRule, context: CorrelationContext): void => {
  const { suppressed, held } = context.state;
  const { key, signal } = match;
  const groupKey = JSON.stringify([signal.ruleId, key]);
  const periodStartMs = suppressed.get(groupKey);
  const suppressionMs = (suppression?.forSeconds ?? 0) * 1000;
  if (periodStartMs === undefined || Math.abs(signal.timeMs - periodStartMs) >= suppressionMs) {
    if (periodStartMs !== undefined) emitSuppressedCount(`${suppressionPrefix}${periodStartMs} ${groupKey}`, context);
    const heldKeyOfPeriod = `${suppressionPrefix}${signal.timeMs} ${groupKey}`;
    suppressed.set(groupKey, signal.timeMs);
    held.set(heldKeyOfPeriod, match);
    context.setTimer('watermark', signal.timeMs + suppressionMs, heldKeyOfPeriod);
    context.emit.signals(signal);
    return;
  }
  context.drop('suppressed');
  const heldKey = `${suppressionPrefix}${periodStartMs} ${groupKey}`;
  const first = held.get(heldKey);
  if (first === undefined) return;
  const suppressingSignal = mergeSuppressedSignal(first.signal, signal);
  held.set(heldKey, { ...first, signal: suppressingSignal });
  if (isReportedAgain(suppressingSignal)) context.emit.signals(suppressingSignal);
};

/** Emits the total number of suppressed signals once, when the period ends or the next signal arrives first. */
const emitSuppressedCount = (heldKey: string, { state: { held }, emit }: CorrelationContext): void => {
  const suppressing = held.get(heldKey)?.signal;
  held.delete(heldKey);
  if (suppressing !== undefined && !isReportedAgain(suppressing)) emit.signals(suppressing);
};

const handleMatch = (match: DetectionMatch, context: CorrelationContext, forwardMatch: ForwardMatch): void => {
  const deployment = compileFollowed(context.follows, 'matches');
  const correlation = deployment.correlations.find(({ id }) => id === match.forRule);
  const rule = deployment.stored.get(match.forRule);
  if (correlation !== undefined) addToWindow(match, correlation, deployment, context, forwardMatch);
  else if (rule === undefined) context.drop('undeployed');
  else emitOrSuppress(match, rule, context);
};

/** Ends a window that has expired, or was idle long enough to be discarded. */
const endWindowOrSuppression = (key: string, context: CorrelationContext, forwardMatch: ForwardMatch): void => {
  if (key.startsWith(suppressionPrefix)) {
    emitSuppressedCount(key, context);
    return;
  }
  const { windows } = context.state;
  const window = windows.get(key);
  if (window === undefined) return;
  const deployment = compileFollowed(context.follows, 'matches');
  const { rule, version, key: group, projectId } = JSON.parse(key) as WindowKey;
  const correlation = deployment.correlations.find(({ id, stored }) => id === rule && stored.version === version);
  const ended =
    correlation === undefined
      ? undefined
      : endWindow(correlation, window, { key: [...group], tenantId: context.tenantId, projectId });
  if (ended?.signal !== undefined) emitSignal(ended.signal, deployment, context, forwardMatch);
  if (correlation === undefined || ended?.window === undefined) {
    windows.delete(key);
    return;
  }
  windows.set(key, ended.window);
  context.setTimer('watermark', getWindowDueMs(correlation, ended.window), key);
};

/** Chains have two levels, so no correlation references a chained one. */
const discardMatch: ForwardMatch = () => {};
const sharedDefinition = { follows: followedCollections, entitlement: 'logs', state };
const heldPrefix = 'held ';

/** Evaluates correlation rules, and suppresses repeated signals of rules. */
export const correlations = defineProcessor({
  ...sharedDefinition,
  name: 'correlations',
  emits: { ...emits, chained: topics.chainedMatches },
  summary: 'Evaluates the windows of correlation rules over several records.',
  reads: createItemSource(topics.detectionMatches),
  latenessMs: 10_000,
  step: (match, context) => handleMatch(match, context, context.emit.chained),
  timer: ({ key }, context) => endWindowOrSuppression(key, context, context.emit.chained),
});

/**
 * Evaluates correlations that reference correlations. Their input signals arrive later than matches of rules, over
 * another topic. All wait for the watermark and are processed in order of their times.
 */
export const chainedCorrelations = defineProcessor({
  ...sharedDefinition,
  name: 'chained-correlations',
  emits,
  summary: 'Evaluates correlations that reference correlations.',
  reads: createItemSource(topics.chainedMatches),
  latenessMs: 5_000,

  step(match, context) {
    const correlation = compileFollowed(context.follows, 'matches').correlations.find(({ id }) => id === match.forRule);
    const key = heldPrefix + toChainOrder(match, correlation?.document.rules ?? []);
    context.state.held.set(key, match);
    context.setTimer('watermark', match.signal.timeMs, key);
  },

  timer({ key }, context) {
    const { held } = context.state;
    if (!key.startsWith(heldPrefix)) {
      endWindowOrSuppression(key, context, discardMatch);
      return;
    }
    const match = held.get(key);
    held.delete(key);
    if (match !== undefined) handleMatch(match, context, discardMatch);
  },
});
