/** One run of a check at a location: attempts until one passes, and their report. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import type { EgressPolicy } from '../runtime/egress-policy.ts';
import type { StepAssertion, StepCertificate, StepExchange } from '../schemas/synthetic-runs.ts';
import type { ProbeVariable } from '../schemas/synthetic-work.ts';
import { parseDurationMs } from '../subjects/alerts/durations.ts';
import { type CheckFields, getTypedSettings } from '../subjects/synthetics/check.ts';
import { truncate } from '../subjects/synthetics/cut.ts';
import { isBoundTo } from '../subjects/synthetics/problems.ts';
import type { declaredTypes } from '../subjects/synthetics/registry.ts';
import { getFinalOutcome, getRetryDelayMs, type Outcome } from '../subjects/synthetics/state.ts';
import { findVariables } from '../subjects/synthetics/templates.ts';
import { BoundSecrets } from './bound-secrets.ts';
import { redactPage } from './browser/page-events.ts';
import { toStepCertificate } from './certificate.ts';
import { Deadline } from './deadline.ts';
import type { RateLimiter } from './pace.ts';
import { type Phases, sumDurations, sumPhases } from './phases.ts';
import { resolveTarget } from './reach.ts';
import { SecretFinder } from './redact-secrets.ts';
import type { ChromiumOptions, Runner, StepResult } from './runner.ts';
import { runBrowser } from './runners/browser.ts';
import { runDns } from './runners/dns.ts';
import { runGrpc } from './runners/grpc.ts';
import { runHttp } from './runners/http.ts';
import { runIcmp } from './runners/icmp.ts';
import { runTcp } from './runners/tcp.ts';
import { runTls } from './runners/tls.ts';
import { runWebsocket } from './runners/websocket.ts';
import { visibleForms } from './secret-forms.ts';

type DeclaredType = (typeof declaredTypes)[number];
type ActiveType = Exclude<DeclaredType, { readonly isPassive?: true }>;
type Runners = { readonly [Each in ActiveType as Each['type']]: Runner<z.output<Each['settings']>> };

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
export interface CheckRun {
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
  /** Duration of the last attempt. All following fields are also those of the last attempt. */
  readonly durationMs: number;
  readonly phases: Phases;
  readonly steps: readonly RunStep[];
  readonly message: string;
  readonly traceId: string;
  /** Final state of the page, if available: a JPEG */
  readonly picture?: Uint8Array;
}

const outcomesByPriority: readonly Outcome[] = ['unknown', 'failed', 'degraded', 'passed'];

const findWorstOutcome = (steps: readonly Pick<StepResult, 'outcome'>[]): Outcome =>
  outcomesByPriority.find((candidate) => steps.some(({ outcome }) => outcome === candidate)) ?? 'unknown';

const joinMessages = (steps: readonly Pick<StepResult, 'name' | 'message'>[]): string =>
  steps
    .filter(({ message }) => message !== '')
    .map(({ name, message }, index) =>
      steps.length === 1 ? message : `${name === '' ? `step ${index + 1}` : name}: ${message}`,
    )
    .join('; ');

/** Redacts texts, and truncates them to the limits of the report. */
const redactAssertion = (
  { name, value, ...assertion }: StepAssertion,
  redact: (text: string) => string,
): StepAssertion => ({
  ...assertion,
  ...(name !== undefined && { name: redact(name).slice(0, 1024) }),
  ...(value !== undefined && { value: redact(value).slice(0, 4096) }),
  found: redact(assertion.found).slice(0, 256),
});

const redactExchange = (exchange: StepExchange, redact: (text: string) => string): StepExchange => ({
  method: exchange.method,
  url: redact(exchange.url).slice(0, 4096),
  protocol: exchange.protocol,
  headers: Object.fromEntries(
    Object.entries(exchange.headers).map(([name, value]) => [
      redact(name).slice(0, 256),
      redact(truncate(value, 400)).slice(0, 512),
    ]),
  ),
  body: redact(exchange.body).slice(0, 8192),
});

/** Runs a check once, with its retries. Rejects early when the signal aborts. */
export const runCheck = async (
  { check, variables, location }: CheckRun,
  {
    egressPolicy,
    pace,
    signal,
    chromium,
    hasExchanges = false,
    onFailure = () => undefined,
  }: {
    readonly egressPolicy: EgressPolicy;
    readonly pace: RateLimiter;
    readonly signal: AbortSignal;
    readonly chromium: ChromiumOptions;
    /** Whether steps report their requests and responses */
    readonly hasExchanges?: boolean;
    /** Called as soon as the first attempt failed, before the retries. */
    onFailure?(): void;
  },
): Promise<RunResult> => {
  const values = Object.fromEntries(Object.entries(variables).map(([name, { value }]) => [name, value]));
  const secrets = Object.values(variables).flatMap(({ value, hosts }) => (hosts === undefined ? [] : [value]));
  const boundSecrets = new BoundSecrets(Object.values(variables));
  const { settings } = getTypedSettings(check);
  const run = runners[check.type as ActiveType['type']] as Runner<object>;
  const attempts: RunResult[] = [];
  const retries = { count: check.retries.count, waitMs: parseDurationMs(check.retries.wait) };
  for (;;) {
    const startedAtMs = Date.now();
    const traceId = randomBytes(16).toString('hex');
    const deadline = new Deadline(parseDurationMs(check.timeout), signal);
    const findBoundHosts = (texts: readonly string[]) =>
      texts.flatMap(findVariables).flatMap((name) => {
        const hosts = variables[name]?.hosts;
        return hosts === undefined ? [] : [hosts];
      });
    const onCode = (code: string, variable: string): void => {
      const hosts = variables[variable]?.hosts;
      if (hosts === undefined || secrets.includes(code)) return;
      secrets.push(code);
      boundSecrets.add({ value: code, hosts });
    };
    let picture: Uint8Array | undefined;
    const steps = await run(settings, {
      egressPolicy,
      checkId: check.id,
      location,
      traceId,
      getTemplateValues: (extracted) => ({ variables: values, values: extracted, nowMs: Date.now(), onCode }),
      signal: deadline.signal,
      addSecret: (secret) => void secrets.push(secret),
      getSecretForms: () => visibleForms(secrets),
      setScreenshot: (image) => {
        picture = image;
      },
      runUncounted: (work) => deadline.runUncounted(work),
      chromium,
      resolveAddress: (host, clock) => resolveTarget(host, { egressPolicy, pace, deadline, clock }),
      findBoundHosts,
      canSendTo: (texts, host) => findBoundHosts(texts).every((hosts) => isBoundTo(hosts, host)),
      secrets: Object.values(variables).filter(({ hosts }) => hosts !== undefined),
      boundSecrets,
    }).finally(() => deadline.end());
    signal.throwIfAborted();
    const finder = new SecretFinder(secrets);
    const redact = (text: string): string => finder.redact(text);
    const redactedSteps = steps.map(({ certificate, exchange, ...step }) => ({
      ...step,
      name: redact(step.name),
      message: redact(step.message),
      ...(step.body !== undefined && { body: redact(step.body) }),
      ...(step.assertions !== undefined && {
        assertions: step.assertions.map((assertion) => redactAssertion(assertion, redact)),
      }),
      ...(hasExchanges && exchange !== undefined && { exchange: redactExchange(exchange, redact) }),
      ...(certificate !== undefined && toStepCertificate(certificate, redact)),
      ...(step.page !== undefined && { page: redactPage(step.page, redact) }),
    }));
    const phases = sumPhases(redactedSteps.map((step) => step.phases));
    attempts.push({
      startedAtMs,
      traceId,
      phases,
      steps: redactedSteps,
      attempts: attempts.length + 1,
      outcome: findWorstOutcome(redactedSteps),
      durationMs: sumDurations(phases),
      message: joinMessages(redactedSteps),
      ...(picture !== undefined && { picture }),
    });
    if (attempts.length === 1 && getFinalOutcome(attempts) === 'failed') onFailure();
    const waitMs = getRetryDelayMs(attempts, retries);
    const lastAttempt = attempts.at(-1);
    if (waitMs === undefined && lastAttempt !== undefined)
      return { ...lastAttempt, outcome: getFinalOutcome(attempts) };
    await pause(waitMs, undefined, { signal });
  }
};
