/** Applies a plan. */
import { RejectedRequestError } from '../api-request.ts';
import type { Deployment, Step } from './plan.ts';

/** Response statuses that concern one dashboard only, so that the remaining steps can continue. */
const dashboardStatuses: ReadonlySet<number> = new Set([400, 404, 409, 412, 413]);

const executeStep = async (step: Step, { api, source, shouldTakeOver }: Deployment): Promise<void> => {
  if (step.outcome === 'created') await api.create(step.id, step.document, source);
  else if (step.outcome === 'changed') await api.replace(step, step.document, { source, shouldTakeOver });
  else if (step.outcome === 'deleted') await api.remove(step, source);
};

const getDashboardName = (step: Step): string => ('document' in step ? step.document.name : step.name);

const describeRejection = ({ status, reason }: RejectedRequestError): string =>
  status === 412 ? 'it was changed in the meantime: plan and apply again' : reason;

/** Returns the step with its result. Rejects if the API is unavailable. */
const applyStep = async (step: Step, deployment: Deployment): Promise<Step> => {
  try {
    await executeStep(step, deployment);
    return step;
  } catch (error) {
    if (!(error instanceof RejectedRequestError && dashboardStatuses.has(error.status))) throw error;
    // The dashboard is already deleted, as intended.
    if (step.outcome === 'deleted' && error.status === 404) return step;
    return { outcome: 'refused', id: step.id, name: getDashboardName(step), message: describeRejection(error) };
  }
};

/**
 * Yields each step with its result. A step that the API rejects becomes `refused`, with the reason, and the remaining
 * steps continue, but nothing is deleted after it, because a replacement may be missing. Rejects if the API is
 * unavailable.
 */
export async function* applySteps(steps: readonly Step[], deployment: Deployment): AsyncGenerator<Step> {
  let isComplete = true;
  for (const step of steps) {
    const effectiveStep: Step = step.outcome === 'deleted' && !isComplete ? { ...step, outcome: 'absent' } : step;
    const result = await applyStep(effectiveStep, deployment);
    isComplete &&= result.outcome !== 'refused';
    yield result;
  }
}
