/** Times that a deployment defines: "since the last deployment of cart", "compared with before the release" */
import type { Range } from '../../queries/range.ts';
import { type Draft, UnclearQuestionError } from './assemble.ts';
import type { ServiceDeployment, TimePart } from './times.ts';

type DeploymentPart = Extract<TimePart, { readonly is: 'deployment' }>;

const isDeploymentPart = (part: TimePart): part is DeploymentPart => part.is === 'deployment';

/** Returns whether a question may need deployments, which are only read for such questions. */
export const mentionsDeployment = (question: string): boolean =>
  /\b(?:since|after|before)\b/i.test(question) && /\b(?:deploy(?:ment)?|release|rollout)\b/i.test(question);

/** What the times of deployments depend on */
export interface Deployed {
  readonly deployments?: readonly ServiceDeployment[];
  readonly nowMs: number;
  readonly defaultRange: Range;
}

/**
 * Returns the deployment that a time expression means: the last one of the service that the expression or the question
 * names. If the service of the question has none, or there is none, it is the last one of all.
 */
const findDeployment = (
  { service }: DeploymentPart,
  { deployments = [], nowMs }: Deployed,
  namedService: string | undefined,
): ServiceDeployment => {
  const earlier = deployments.filter(({ atMs }) => atMs <= nowMs);
  const findNewest = (name: string | undefined): ServiceDeployment | undefined =>
    earlier
      .filter((deployment) => name === undefined || deployment.service === name)
      .toSorted((left, right) => right.atMs - left.atMs)[0];
  const newest =
    service === undefined
      ? ((namedService === undefined ? undefined : findNewest(namedService)) ?? findNewest(undefined))
      : findNewest(service);
  if (newest === undefined)
    throw new UnclearQuestionError(
      'no deployment is known in the last week: record deployments, send service.version, or name a range',
    );
  return newest;
};

const toInstants = (part: DeploymentPart, { atMs }: ServiceDeployment, { nowMs, defaultRange }: Deployed): TimePart => {
  const lengthMs = Number((defaultRange.to - defaultRange.from) / 1_000_000n);
  return part.bound === 'since'
    ? { is: 'instants', fromMs: atMs, toMs: nowMs }
    : { is: 'instants', fromMs: atMs - lengthMs, toMs: atMs };
};

/** A draft whose times are instants, and the deployment that defines them */
interface DraftAtDeployment {
  readonly times: readonly TimePart[];
  readonly comparedTimes: readonly TimePart[];
  readonly deployment: ServiceDeployment | undefined;
}

/**
 * Replaces deployments by their times. "Compared with before the deployment" compares the time since then with as long
 * a time before. Throws `UnclearQuestionError` if no deployment is known.
 */
export const resolveDeployments = (
  { times, comparedTimes }: Pick<Draft, 'times' | 'comparedTimes'>,
  deployed: Deployed,
  namedService: string | undefined,
): DraftAtDeployment => {
  const part = [...times, ...comparedTimes].find(isDeploymentPart);
  if (part === undefined) return { times, comparedTimes, deployment: undefined };
  const deployment = findDeployment(part, deployed, namedService);
  const resolve = (other: TimePart): TimePart =>
    isDeploymentPart(other) ? toInstants(other, deployment, deployed) : other;
  const isComparedBefore = comparedTimes.some((other) => isDeploymentPart(other) && other.bound === 'before');
  if (!isComparedBefore) return { times: times.map(resolve), comparedTimes: comparedTimes.map(resolve), deployment };
  const since: TimePart = { is: 'instants', fromMs: deployment.atMs, toMs: deployed.nowMs };
  return { times: times.length > 0 ? times.map(resolve) : [since], comparedTimes: [{ is: 'before' }], deployment };
};
