/** Carries out what a plan says. */
import { RefusedError } from '../api-request.ts';
import type { Deployment, Step } from './plan.ts';

/** Answers that are about one dashboard: the others may go on. */
const ofOne: ReadonlySet<number> = new Set([400, 404, 409, 412, 413]);

const carryOut = async (step: Step, { api, source, takesOver }: Deployment): Promise<void> => {
  if (step.outcome === 'created') await api.create(step.id, step.document, source);
  else if (step.outcome === 'changed') await api.replace(step, step.document, { source, takesOver });
  else if (step.outcome === 'deleted') await api.remove(step, source);
};

const nameOf = (step: Step): string => ('document' in step ? step.document.name : step.name);

const reasonOf = ({ status, reason }: RefusedError): string =>
  status === 412 ? 'somebody changed it meanwhile: plan and apply again' : reason;

/** The step as it went. Rejects where the API cannot be asked. */
const done = async (step: Step, deployment: Deployment): Promise<Step> => {
  try {
    await carryOut(step, deployment);
    return step;
  } catch (error) {
    if (!(error instanceof RefusedError && ofOne.has(error.status))) throw error;
    // Gone is what it was to be.
    if (step.outcome === 'deleted' && error.status === 404) return step;
    return { outcome: 'refused', id: step.id, name: nameOf(step), message: reasonOf(error) };
  }
};

/**
 * Each step as it went, when it is done. One that the API refuses is `refused`, with why, and the others go on; but nothing is deleted
 * after that, since what was to take its place may not be there. Rejects where the API cannot be asked.
 */
export async function* applied(steps: readonly Step[], deployment: Deployment): AsyncGenerator<Step> {
  let isWhole = true;
  for (const step of steps) {
    const now: Step = step.outcome === 'deleted' && !isWhole ? { ...step, outcome: 'absent' } : step;
    const went = await done(now, deployment);
    isWhole &&= went.outcome !== 'refused';
    yield went;
  }
}
