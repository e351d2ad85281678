/** One run of a check at a location: attempts until one passes, and their report. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import type { EgressPolicy } from '../runtime/egress-policy.ts';
import type { StepCertificate } from '../schemas/synthetic-runs.ts';
import type { ProbeVariable } from '../schemas/synthetic-work.ts';
import { msOf } from '../subjects/alerts/durations.ts';
import { type CheckFields, typedSettings } from '../subjects/synthetics/check.ts';
import { isBoundTo } from '../subjects/synthetics/problems.ts';
import type { declaredTypes } from '../subjects/synthetics/registry.ts';
import { type Outcome, retryAfterMs, runOutcome } from '../subjects/synthetics/state.ts';
import { variablesIn } from '../subjects/synthetics/templates.ts';
import { redactPage } from './browser/page-events.ts';
import { toStepCertificate } from './certificate.ts';
import { Deadline } from './deadline.ts';
import type { Pace } from './pace.ts';
import { type Phases, sumOf, sumPhases } from './phases.ts';
import { reach } from './reach.ts';
import { formsIn, makeRedactor } from './redact-secrets.ts';
import type { ChromiumOptions, Runner, StepResult } from './runner.ts';
import { runBrowser } from './runners/browser.ts';
import { runDns } from './runners/dns.ts';
import { runGrpc } from './runners/grpc.ts';
import { runHttp } from './runners/http.ts';
import { runIcmp } from './runners/icmp.ts';
import { runTcp } from './runners/tcp.ts';
import { runTls } from './runners/tls.ts';
import { runWebsocket } from './runners/websocket.ts';

type Declared = (typeof declaredTypes)[number];
type Run = Exclude<Declared, { readonly isPassive?: true }>;
type Runners = { readonly [Each in Run as Each['type']]: Runner<z.output<Each['settings']>> };

/** Runner of each type; a missing one is a compile error. */
const runners: Runners = {
  browser: runBrowser,
  http: runHttp,
  tcp: runTcp,
  tls: runTls,
  dns: runDns,
  icmp: runIcmp,
  grpc: runGrpc,
  websocket: runWebsocket,
};

/** The work of a location */
export interface Work {
  readonly check: CheckFields & { readonly id: string };
  readonly variables: Readonly<Record<string, ProbeVariable>>;
  readonly location: string;
}

type RunStep = Omit<StepResult, 'certificate'> & { readonly certificate?: StepCertificate };

/** The report of a run. Secrets are redacted. */
export interface RunResult {
  readonly startedAtMs: number;
  readonly outcome: Outcome;
  readonly attempts: number;
  /** Of the last attempt, like all following fields */
  readonly durationMs: number;
  readonly phases: Phases;
  readonly steps: readonly RunStep[];
  readonly message: string;
  readonly traceId: string;
  /** Final state of the page, if available: a JPEG */
  readonly picture?: Uint8Array;
}

const worst: readonly Outcome[] = ['unknown', 'failed', 'degraded', 'passed'];

const outcomeOf = (steps: readonly Pick<StepResult, 'outcome'>[]): Outcome =>
  worst.find((one) => steps.some(({ outcome }) => outcome === one)) ?? 'unknown';

const messageOf = (steps: readonly Pick<StepResult, 'name' | 'message'>[]): string =>
  steps
    .filter(({ message }) => message !== '')
    .map(({ name, message }, index) =>
      steps.length === 1 ? message : `${name === '' ? `step ${index + 1}` : name}: ${message}`,
    )
    .join('; ');

/** Runs a check once, with its retries. Rejects early when the signal aborts. */
export const runCheck = async (
  { check, variables, location }: Work,
  {
    egressPolicy,
    pace,
    signal,
    chromium,
    onFailure = () => undefined,
  }: {
    readonly egressPolicy: EgressPolicy;
    readonly pace: Pace;
    readonly signal: AbortSignal;
    readonly chromium: ChromiumOptions;
    /** Called as soon as the first attempt failed, before the retries. */
    onFailure?(): void;
  },
): Promise<RunResult> => {
  const values = Object.fromEntries(Object.entries(variables).map(([name, { value }]) => [name, value]));
  const secrets = Object.values(variables).flatMap(({ value, hosts }) => (hosts === undefined ? [] : [value]));
  const { settings } = typedSettings(check);
  const run = runners[check.type as Run['type']] as Runner<object>;
  const attempts: RunResult[] = [];
  const retries = { count: check.retries.count, waitMs: msOf(check.retries.wait) };
  for (;;) {
    const startedAtMs = Date.now();
    const traceId = randomBytes(16).toString('hex');
    const deadline = new Deadline(msOf(check.timeout), signal);
    const boundTo = (texts: readonly string[]) =>
      texts.flatMap(variablesIn).flatMap((name) => {
        const hosts = variables[name]?.hosts;
        return hosts === undefined ? [] : [hosts];
      });
    let picture: Uint8Array | undefined;
    const steps = await run(settings, {
      egressPolicy,
      checkId: check.id,
      location,
      traceId,
      variables: values,
      signal: deadline.signal,
      hide: (secret) => void secrets.push(secret),
      hidden: () => formsIn(secrets),
      show: (shown) => {
        picture = shown;
      },
      outside: (work) => deadline.outside(work),
      chromium,
      reach: (host, clock) => reach(host, { egressPolicy, pace, deadline, clock }),
      boundTo,
      mayCarry: (texts, host) => boundTo(texts).every((hosts) => isBoundTo(hosts, host)),
    }).finally(() => deadline.end());
    signal.throwIfAborted();
    const strike = makeRedactor(secrets);
    const redactedSteps = steps.map(({ certificate, ...step }) => ({
      ...step,
      message: strike(step.message),
      ...(step.body !== undefined && { body: strike(step.body) }),
      ...(certificate !== undefined && toStepCertificate(certificate, strike)),
      ...(step.page !== undefined && { page: redactPage(step.page, strike) }),
    }));
    const phases = sumPhases(redactedSteps.map((step) => step.phases));
    attempts.push({
      startedAtMs,
      traceId,
      phases,
      steps: redactedSteps,
      attempts: attempts.length + 1,
      outcome: outcomeOf(redactedSteps),
      durationMs: sumOf(phases),
      message: messageOf(redactedSteps),
      ...(picture !== undefined && { picture }),
    });
    if (attempts.length === 1 && runOutcome(attempts) === 'failed') onFailure();
    const waitMs = retryAfterMs(attempts, retries);
    const last = attempts.at(-1);
    if (waitMs === undefined && last !== undefined) return { ...last, outcome: runOutcome(attempts) };
    await pause(waitMs, undefined, { signal });
  }
};
