/** How a type of check is run: what its runner gets, and what it tells. */
import type { EgressPolicy } from '../runtime/egress-policy.ts';
import type { SteppedPage } from '../schemas/synthetic-runs.ts';
import type { Observation } from '../subjects/synthetics/assertions.ts';
import type { TemplateValues } from '../subjects/synthetics/templates.ts';
import type { PhaseClock, Phases } from './phases.ts';
import type { Reached } from './reach.ts';

/** What runs pages. */
export interface ChromiumOptions {
  /** Undefined: the first of its name in the path. */
  readonly program: string | undefined;
  /** Whether its own sandbox is around pages; what cannot have one does not start. */
  readonly hasSandbox: boolean;
}

/** What every run of an attempt gets. */
export interface Attempt {
  readonly egressPolicy: EgressPolicy;
  /** Before each request: what it may connect to. */
  reach(host: string, clock: PhaseClock): Promise<Reached>;
  /** Does what takes none of its time. */
  outside<Value>(work: () => Promise<Value>): Promise<Value>;
  readonly chromium: ChromiumOptions;
  /** Ends it when its time is over. */
  readonly signal: AbortSignal;
  readonly checkId: string;
  readonly location: string;
  readonly traceId: string;
  readonly variables: TemplateValues['variables'];
  /** Strikes out of what is told what came to be a secret in the run. */
  hide(secret: string): void;
  /** What must not be seen, in each form in which texts carry it. */
  hidden(): readonly string[];
  /** Shows how it ended: a JPEG. */
  show(picture: Uint8Array): void;
  /** The hosts that each secret of texts is bound to. */
  boundTo(texts: readonly string[]): readonly (readonly string[])[];
  /** Whether every secret that texts of the check use may be sent to a host. */
  mayCarry(texts: readonly string[], host: string): boolean;
}

/** What one step saw, or why it saw nothing. */
export interface StepResult {
  readonly name: string;
  readonly outcome: 'passed' | 'degraded' | 'failed' | 'unknown';
  readonly phases: Phases;
  /** Empty where it passed. */
  readonly message: string;
  readonly status?: number;
  /** Beginning of the answer of a step that failed. */
  readonly body?: string;
  /** Of an encrypted connection. */
  readonly certificate?: NonNullable<Observation['certificate']>;
  readonly page?: SteppedPage;
}

/** Bytes of an answer that are read. */
export const maxReadBytes = 5 * 1024 * 1024;
/** Bytes that are kept of an answer that failed. */
export const maxExcerptBytes = 4096;

/** A step that has no answer. `unknown`: this location cannot tell, which says nothing of the target. */
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

/** Runs the settings of a type, step by step, and ends with the first that fails. */
export type Runner<Settings> = (settings: Settings, attempt: Attempt) => Promise<readonly StepResult[]>;

/** What a runner judges. */
export interface Seen {
  readonly observation: Observation;
  readonly phases: Phases;
}
