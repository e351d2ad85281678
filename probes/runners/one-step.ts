/** Types with a single step: its phases, its assertions, and its failures. */
import { type Assertion, judgeAssertions, type Observation } from '../../subjects/synthetics/assertions.ts';
import { renderedIn, textsIn } from '../../subjects/synthetics/templates.ts';
import { failureOf } from '../failure.ts';
import { PhaseClock, type Phases, sumOf } from '../phases.ts';
import { bareHost, type ResolvedAddress } from '../reach.ts';
import { type Attempt, StepFailure, type StepResult } from '../runner.ts';

type Settings = object & { readonly assertions: readonly Assertion[] };

/** Observations of a step, without times; `message` describes a failure despite an answer. */
export interface StepObservation {
  readonly seen: Observation;
  /** Set if another measurement is more precise than the clock. */
  readonly phases?: Phases;
  readonly message?: string;
}

/**
 * Runs the single step of rendered settings. `host` returns the host to connect to; null for the location's own
 * services.
 */
export const oneStep =
  <Given extends Settings>(
    first: string,
    host: (settings: Given) => string | null,
    observe: (
      settings: Given,
      context: Attempt & { readonly clock: PhaseClock; readonly reached: ResolvedAddress },
    ) => Promise<StepObservation>,
  ) =>
  async (written: Given, attempt: Attempt): Promise<readonly StepResult[]> => {
    const clock = new PhaseClock(first);
    let where = '';
    try {
      const settings = renderedIn(written, { variables: attempt.variables, values: {}, nowMs: Date.now() });
      const given = host(settings);
      const target = given === null ? null : bareHost(given);
      where = target ?? 'the name service';
      const texts = textsIn(written).map(({ text }) => text);
      if (!attempt.mayCarry(texts, target ?? ''))
        throw new StepFailure(`a secret of the check is not bound to ${where}`);
      // Without a connection, the location's own resolver is used.
      const none = { address: '', lookup: attempt.egressPolicy.lookup };
      const reached = target === null ? none : await attempt.reach(target, clock);
      const { seen, message, phases = clock.phases() } = await observe(settings, { ...attempt, clock, reached });
      const { outcome, messages } = judgeAssertions(settings.assertions, {
        ...seen,
        phases,
        durationMs: sumOf(phases),
      });
      const fullMessage = [...(message === undefined ? [] : [message]), ...messages].join('; ');
      const whole = {
        name: '',
        outcome: message === undefined ? outcome : ('failed' as const),
        phases,
        message: fullMessage,
      };
      return [{ ...whole, ...(seen.certificate !== undefined && { certificate: seen.certificate }) }];
    } catch (error) {
      const { message, outcome } = failureOf(error, { host: where, phase: clock.current, signal: attempt.signal });
      return [{ name: '', outcome, phases: clock.phases(), message }];
    }
  };
