/** The interface of check types: input and output of a runner. */
import type { EgressPolicy } from '../runtime/egress-policy.ts';
import type { StepAssertion, StepExchange, StepPage } from '../schemas/synthetic-runs.ts';
import type { ProbeVariable } from '../schemas/synthetic-work.ts';
import type { Observation } from '../subjects/synthetics/assertions.ts';
import type { TemplateValues } from '../subjects/synthetics/templates.ts';
import type { BoundHosts, BoundSecrets } from './bound-secrets.ts';
import type { PhaseClock, Phases } from './phases.ts';
import type { ResolvedAddress } from './reach.ts';

/** Options of the browser */
export interface ChromiumOptions {
  /** Undefined: the first known program in the path */
  readonly program: string | undefined;
  /** Whether Chromium's own sandbox isolates pages; without sandbox support the browser does not start. */
  readonly hasSandbox: boolean;
}

/** Services for each attempt of a run */
export interface Attempt {
  readonly egressPolicy: EgressPolicy;
  /** Call it before each request: resolves the address to connect to. */
  resolveAddress(host: string, clock: PhaseClock): Promise<ResolvedAddress>;
  /** Runs work whose time does not count. */
  runUncounted<Value>(work: () => Promise<Value>): Promise<Value>;
  readonly chromium: ChromiumOptions;
  /** Aborts the attempt when its time is over. */
  readonly signal: AbortSignal;
  readonly checkId: string;
  readonly location: string;
  readonly traceId: string;
  /** Returns the values of templates at this time, with those that steps extracted. */
  getTemplateValues(values: TemplateValues['values']): TemplateValues;
  /** Redacts from the report a value that became a secret in the run. */
  addSecret(secret: string): void;
  /** Returns the values to redact, in each form that texts may have. */
  getSecretForms(): readonly string[];
  /** Sets the final picture of the page: a JPEG. */
  setScreenshot(jpeg: Uint8Array): void;
  /** Returns the hosts to which each secret is bound that the texts of the check name. */
  findBoundHosts(texts: readonly string[]): BoundHosts;
  /** Whether every secret that texts of the check name may be sent to a host. */
  canSendTo(texts: readonly string[], host: string): boolean;
  /** Secrets of the check, with their hosts */
  readonly secrets: readonly ProbeVariable[];
  /** Finds secrets in rendered texts. */
  readonly boundSecrets: BoundSecrets;
}

/** Observations of one step, or why there are none. */
export interface StepResult {
  readonly name: string;
  readonly outcome: 'passed' | 'degraded' | 'failed' | 'unknown';
  readonly phases: Phases;
  /** Empty if it passed */
  readonly message: string;
  readonly status?: number;
  /** Beginning of the response of a failed step */
  readonly body?: string;
  readonly assertions?: StepAssertion[];
  readonly exchange?: StepExchange;
  /** Certificate of an encrypted connection */
  readonly certificate?: NonNullable<Observation['certificate']>;
  readonly page?: StepPage;
}

/** Maximum bytes of a response that are read */
export const maxResponseBytes = 5 * 1024 * 1024;
/** Maximum bytes that are stored of a failed response */
export const maxExcerptBytes = 4096;

/**
 * A step without a response. `unknown`: this location cannot determine the result, which does not concern the target.
 */
export class StepFailure extends Error {
  override name = 'StepFailure';
  readonly outcome: 'failed' | 'unknown';

  constructor(
    message: string,
    { outcome = 'failed', ...options }: ErrorOptions & { readonly outcome?: StepFailure['outcome'] } = {},
  ) {
    super(message, options);
    this.outcome = outcome;
  }
}

/** Runs the settings of a type, step by step, and ends with the first failed step. */
export type Runner<Settings> = (settings: Settings, attempt: Attempt) => Promise<readonly StepResult[]>;

/** Input of the assertions of a runner. */
export interface AssertionInput {
  readonly observation: Observation;
  readonly phases: Phases;
}
