import type { z } from 'zod';
import { isBoundTo } from '../../subjects/synthetics/problems.ts';
import { listTexts, renderAll } from '../../subjects/synthetics/templates.ts';
import type { browser } from '../../subjects/synthetics/types/browser.ts';
import type { BrowserStep, BrowserTarget } from '../../subjects/synthetics/types/browser-steps.ts';
import { type BoundHosts, usedValues } from '../bound-secrets.ts';
import { BrowserProcess } from '../browser/browser-process.ts';
import type { Stepped } from '../browser/driver-messages.ts';
import { EgressProxy, maxTransferBytes } from '../browser/egress-proxy.ts';
import { findChromium } from '../browser/program.ts';
import { BrowserSlots } from '../browser/slots.ts';
import { extractValue } from '../extract-value.ts';
import { toStepFailure } from '../failure.ts';
import { getUrlHost, parseHttpUrl } from '../http-hop.ts';
import { createRunHeaders } from '../own-headers.ts';
import { PhaseClock, sumDurations } from '../phases.ts';
import { type Attempt, StepFailure, type StepResult } from '../runner.ts';
import { checkAssertions } from './http.ts';

type Settings = z.output<(typeof browser)['settings']>;

/** Shared by the process. */
const browserSlots = new BrowserSlots();
/** A browser starts in a second or two, longer on a busy machine. This time does not count for the target. */
const startTimeoutMs = 60_000;

const createUnknownResult = (message: string): readonly StepResult[] => [
  { name: '', outcome: 'unknown', phases: {}, message },
];

const describeTarget = (target: BrowserTarget): string => {
  if (target.by === 'role') return target.name === null ? target.role : `${target.role} “${target.name}”`;
  return `${target.by} “${Object.values(target)[1]}”`;
};

/** Returns the name of a step, from its settings before templates are rendered. */
const getStepName = (step: BrowserStep): string => {
  if (step.name !== '') return step.name;
  const details =
    step.action === 'goto' ? step.url : 'target' in step && step.target !== null ? describeTarget(step.target) : '';
  return `${step.action} ${details}`.trim().slice(0, 256);
};

const listTextValues = (part: object): readonly string[] => listTexts(part).map(({ text }) => text);

/** Texts of a step that leave the probe: an address, or what is filled in */
const sentTexts = (step: BrowserStep): readonly string[] =>
  step.action === 'goto' ? [step.url] : step.action === 'fill' ? [step.text] : [];

const otherTexts = (step: BrowserStep): readonly string[] => {
  const sent = sentTexts(step);
  return listTextValues(step).filter((text) => !sent.includes(text));
};

/** Keys that insert what a field with a secret may have left in the clipboard */
const isPaste = (step: BrowserStep): boolean =>
  step.action === 'press' && /(?:Control|Meta)\+(?:.{1,20}\+)?(?:v|KeyV)$|Shift\+(?:.{1,20}\+)?Insert$/i.test(step.key);

/** Returns the hosts to which the secrets of a step are bound. Throws if a secret would be sent to another host. */
const requireBoundSecrets = (
  written: BrowserStep,
  step: BrowserStep,
  { attempt, values, filledHosts }: Pick<Run, 'attempt' | 'values' | 'filledHosts'>,
): BoundHosts => {
  const findHosts = (texts: readonly string[], rendered: readonly string[]): BoundHosts => [
    ...attempt.findBoundHosts(texts),
    ...attempt.boundSecrets.findHosts({ rendered, values: usedValues(texts, values) }),
  ];
  if (findHosts(otherTexts(written), []).length > 0)
    throw new StepFailure('a secret of the check is neither filled in nor in an address');
  if (isPaste(step)) return filledHosts;
  const hosts = findHosts(sentTexts(written), sentTexts(step));
  if (step.action === 'fill') filledHosts.push(...hosts);
  if (step.action !== 'goto') return hosts;
  const url = parseHttpUrl(step.url);
  if (!hosts.every((bound) => isBoundTo(bound, getUrlHost(url))))
    throw new StepFailure(`a secret of the check is not bound to ${url.host}`);
  return [];
};

interface Run {
  readonly attempt: Attempt;
  readonly proxy: EgressProxy;
  readonly process: BrowserProcess;
  readonly values: Record<string, string>;
  /** Of each secret that was filled in */
  readonly filledHosts: (readonly string[])[];
}

/** If the page could not be reached, the proxy knows the reason. */
const toOutcome = (
  step: BrowserStep,
  stepResult: Stepped,
  { phases, proxy }: Pick<Run, 'proxy'> & { phases: object },
) => {
  const { status, message, unreachableUrl } = stepResult;
  if (stepResult.outcome === 'failed' && proxy.isFull)
    return {
      outcome: 'failed' as const,
      message: `the page transfers more than ${maxTransferBytes / 1024 / 1024} MB`,
    };
  const failure =
    stepResult.outcome === 'failed' && unreachableUrl !== undefined ? proxy.getFailure(unreachableUrl) : undefined;
  if (failure !== undefined) return { outcome: failure.outcome, message: failure.message };
  if (step.action !== 'goto' || stepResult.outcome !== 'passed') return { outcome: stepResult.outcome, message };
  const observation = { durationMs: sumDurations(phases as StepResult['phases']), vitals: stepResult.page.vitals };
  const { outcome, messages, results } = checkAssertions(step.assertions, {
    ...observation,
    ...(status !== undefined && { status }),
  });
  return { outcome, message: messages.join('; '), assertions: results };
};

const runStep = async (written: BrowserStep, run: Run): Promise<StepResult> => {
  const { attempt, proxy, process, values } = run;
  const clock = new PhaseClock('wait');
  const base = { name: getStepName(written) };
  try {
    const handleStep = renderAll(written, attempt.getTemplateValues(values));
    const boundHosts = requireBoundSecrets(written, handleStep, run);
    const stepped = await process.step({ handleStep, boundHosts }, attempt.signal);
    const phases = clock.phases();
    if (handleStep.action === 'extract' && stepped.found !== undefined)
      values[handleStep.as] = extractValue(stepped.found, handleStep, attempt);
    const { page, status } = stepped;
    return {
      ...base,
      ...toOutcome(handleStep, stepped, { phases, proxy }),
      phases,
      page,
      ...(status !== undefined && { status }),
    };
  } catch (error) {
    const host = written.action === 'goto' ? 'the page' : 'it';
    const { message, outcome } = toStepFailure(error, { host, phase: written.action, signal: attempt.signal });
    return { ...base, outcome, phases: clock.phases(), message };
  }
};

const isOver = ({ outcome }: StepResult): boolean => outcome === 'failed' || outcome === 'unknown';

const runSteps = async ({ steps }: Settings, run: Run): Promise<readonly StepResult[]> => {
  const results: StepResult[] = [];
  for (const step of steps) {
    results.push(await runStep(step, run));
    if (results.some(isOver)) break;
  }
  // An unknown result does not concern the page.
  const isKnown = results.every(({ outcome }) => outcome !== 'unknown');
  const picture = isKnown ? await run.process.takeScreenshot(run.attempt.getSecretForms()) : undefined;
  if (picture !== undefined) run.attempt.setScreenshot(picture);
  return results;
};

const runInBrowser = async (program: string, settings: Settings, attempt: Attempt): Promise<readonly StepResult[]> => {
  const proxy = await EgressProxy.open(attempt);
  let process: BrowserProcess | undefined;
  try {
    const { viewport, verifyCertificate } = settings;
    const browserOptions = {
      program,
      hasSandbox: attempt.chromium.hasSandbox,
      proxyPort: proxy.port,
      headers: createRunHeaders(attempt),
      viewport,
      verifyCertificate,
      secrets: attempt.secrets,
    };
    const startSignal = AbortSignal.any([attempt.signal, AbortSignal.timeout(startTimeoutMs)]);
    const processOrError = await attempt
      .runUncounted(async () => {
        process = await BrowserProcess.start();
        await process.open(browserOptions, startSignal);
        return process;
      })
      .catch((error: Error) => error);
    if (processOrError instanceof Error)
      return createUnknownResult(`this location’s Chromium does not start: ${processOrError.message}`);
    return await runSteps(settings, { attempt, proxy, process: processOrError, values: {}, filledHosts: [] });
  } finally {
    await process?.end();
    proxy.close();
  }
};

/** Runs the steps in a new browser; without one at the location, the result is unknown. */
export const runBrowser = async (settings: Settings, attempt: Attempt): Promise<readonly StepResult[]> => {
  const configuredProgram = attempt.chromium.program;
  const program = findChromium(configuredProgram);
  if (program === undefined)
    return createUnknownResult(
      `this location has no Chromium${configuredProgram === undefined ? '' : ` at ${configuredProgram}`}`,
    );
  const releaseSlot = await attempt
    .runUncounted(() => browserSlots.acquire(attempt.signal))
    .catch((error: Error) => error);
  if (releaseSlot instanceof Error) return createUnknownResult(releaseSlot.message);
  try {
    return await runInBrowser(program, settings, attempt);
  } finally {
    releaseSlot();
  }
};
