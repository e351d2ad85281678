/** Types with a single step: its phases, its assertions, and its failures. */
import { type Assertion, judgeAssertions, type Observation } from '../../subjects/synthetics/assertions.ts';
import { listTexts, renderAll } from '../../subjects/synthetics/templates.ts';
import { toStepFailure } from '../failure.ts';
import { PhaseClock, type Phases, sumDurations } from '../phases.ts';
import { type ResolvedAddress, removeBrackets } from '../reach.ts';
import { type Attempt, StepFailure, type StepResult } from '../runner.ts';

type Settings = object & { readonly assertions: readonly Assertion[] };

/** Observations of a step, without times; `message` describes a failure despite a response. */
export interface StepObservation {
  readonly observation: Observation;
  /** Set if another measurement is more precise than the clock. */
  readonly phases?: Phases;
  readonly message?: string;
}

/**
 * Runs the single step of rendered settings. `host` returns the host to connect to; null for the location's own
 * services.
 */
export const createOneStepRunner =
  <StepSettings extends Settings>(
    firstPhase: string,
    getHost: (settings: StepSettings) => string | null,
    observe: (
      settings: StepSettings,
      context: Attempt & { readonly clock: PhaseClock; readonly reached: ResolvedAddress },
    ) => Promise<StepObservation>,
  ) =>
  async (settingsText: StepSettings, attempt: Attempt): Promise<readonly StepResult[]> => {
    const clock = new PhaseClock(firstPhase);
    let hostName = '';
    try {
      const settings = renderAll(settingsText, attempt.getTemplateValues({}));
      const hostText = getHost(settings);
      const target = hostText === null ? null : removeBrackets(hostText);
      hostName = target ?? 'the name service';
      const texts = listTexts(settingsText).map(({ text }) => text);
      if (!attempt.canSendTo(texts, target ?? ''))
        throw new StepFailure(`a secret of the check is not bound to ${hostName}`);
      // Without a connection, the location's own resolver is used.
      const unresolvedAddress = { address: '', lookup: attempt.egressPolicy.lookup };
      const resolvedAddress = target === null ? unresolvedAddress : await attempt.resolveAddress(target, clock);
      const {
        observation,
        message,
        phases = clock.phases(),
      } = await observe(settings, { ...attempt, clock, reached: resolvedAddress });
      const { outcome, messages, results } = judgeAssertions(settings.assertions, {
        ...observation,
        phases,
        durationMs: sumDurations(phases),
      });
      const fullMessage = [...(message === undefined ? [] : [message]), ...messages].join('; ');
      const result = {
        name: '',
        outcome: message === undefined ? outcome : ('failed' as const),
        phases,
        message: fullMessage,
        assertions: results,
      };
      return [{ ...result, ...(observation.certificate !== undefined && { certificate: observation.certificate }) }];
    } catch (error) {
      const { message, outcome } = toStepFailure(error, {
        host: hostName,
        phase: clock.current,
        signal: attempt.signal,
      });
      return [{ name: '', outcome, phases: clock.phases(), message }];
    }
  };
