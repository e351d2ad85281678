/** Detects deployments from the activity of versions. Pure: activity is the input, deployments are the output. */

/** Activity of a service version in an environment, in steps */
export interface VersionActivity {
  readonly service: string;
  readonly environment: string;
  readonly version: string;
  /** Steps with telemetry, ascending */
  readonly steps: readonly number[];
  /** Time at which the organization first received data of the version, epoch milliseconds */
  readonly firstReceivedMs: number;
}

export interface DetectedDeployment {
  readonly service: string;
  readonly environment: string;
  readonly version: string;
  readonly previousVersion: string;
  /** Step in which the version became active */
  readonly step: number;
  readonly isRollback: boolean;
}

interface VersionRun {
  readonly version: VersionActivity;
  readonly firstStep: number;
  readonly lastStep: number;
  /** Number of steps with telemetry */
  readonly activeSteps: number;
  /** Whether this is the first run of the version in the examined period */
  readonly isFirst: boolean;
}

/**
 * Returns the deployments in the activity of versions. A version that appears after another one of the same service and
 * environment was active is a deployment. A returning version is a deployment too (a rollback) if another version was active
 * in between and then stopped. A restart, more instances of a running version, and a removed canary are not deployments. The first known
 * version is not a deployment either. More than `maxQuietSteps` steps without data end a run; `end` is the last known
 * step.
 */
export const detectDeployments = (
  activity: readonly VersionActivity[],
  { maxQuietSteps, lastKnownStep }: { readonly maxQuietSteps: number; readonly lastKnownStep: number },
): DetectedDeployment[] => {
  const byEnvironment = Map.groupBy(activity, ({ service, environment }) => JSON.stringify([service, environment]));
  return [...byEnvironment.values()].flatMap((versions) => detectInEnvironment(versions, maxQuietSteps, lastKnownStep));
};

const splitRuns = (version: VersionActivity, maxQuietSteps: number): VersionRun[] => {
  const runs: VersionRun[] = [];
  let firstStep: number | undefined;
  let lastStep = 0;
  let activeSteps = 0;
  const endRun = (): void => {
    if (firstStep !== undefined) runs.push({ version, firstStep, lastStep, activeSteps, isFirst: runs.length === 0 });
  };
  for (const step of version.steps) {
    if (firstStep === undefined || step - lastStep > maxQuietSteps) {
      endRun();
      firstStep = step;
      activeSteps = 0;
    }
    lastStep = step;
    activeSteps++;
  }
  endRun();
  return runs;
};

/** Minimum active steps of a returning version; with fewer, it may be a version that rarely sends data */
const minActiveSteps = 2;

const detectInEnvironment = (
  versions: readonly VersionActivity[],
  maxQuietSteps: number,
  end: number,
): DetectedDeployment[] => {
  const runs = versions
    .flatMap((version) => splitRuns(version, maxQuietSteps))
    .sort((left, right) => left.firstStep - right.firstStep);
  return runs.flatMap((run): DetectedDeployment[] => {
    const { version, firstStep } = run;
    /** Earlier runs of other versions, the most recently active first. */
    const earlierRuns = runs
      .filter((other) => other.version !== version && other.firstStep < firstStep)
      .sort(
        (left, right) =>
          Math.min(right.lastStep, firstStep) - Math.min(left.lastStep, firstStep) || right.firstStep - left.firstStep,
      );
    const replacedRun = earlierRuns[0];
    if (replacedRun === undefined) return [];
    const { service, environment } = version;
    const deployment = {
      service,
      environment,
      version: version.version,
      previousVersion: replacedRun.version.version,
      step: firstStep,
    };
    if (run.isFirst)
      return [{ ...deployment, isRollback: version.firstReceivedMs < replacedRun.version.firstReceivedMs }];
    const previousRunOfVersion = runs.filter((other) => other.version === version && other.lastStep < firstStep).at(-1);
    // No other version was active since: this is a restart.
    if (previousRunOfVersion !== undefined && replacedRun.lastStep <= previousRunOfVersion.lastStep) return [];
    const replacesPrevious = replacedRun.lastStep + maxQuietSteps <= end && replacedRun.lastStep < run.lastStep;
    const hasReturned = run.activeSteps >= minActiveSteps && replacesPrevious;
    return hasReturned ? [{ ...deployment, isRollback: true }] : [];
  });
};
