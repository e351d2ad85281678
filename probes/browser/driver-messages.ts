/** Messages between a browser run and the process that drives it: one response per request, in order. */
import type { StepPage } from '../../schemas/synthetic-runs.ts';
import type { ProbeVariable } from '../../schemas/synthetic-work.ts';
import type { BrowserStep } from '../../subjects/synthetics/types/browser-steps.ts';
import type { FoundValue } from '../extract-value.ts';

export interface BrowserOptions {
  readonly program: string;
  readonly hasSandbox: boolean;
  /** Port on loopback; the only access to the network. */
  readonly proxyPort: number;
  /** Headers of requests to the origin of the page */
  readonly headers: Readonly<Record<string, string>>;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly verifyCertificate: boolean;
  /** Secrets that requests of pages take to their hosts only */
  readonly secrets: readonly ProbeVariable[];
}

export type ToDriver =
  | { readonly open: BrowserOptions }
  /** A step with rendered texts, and the hosts to which each of its secrets is bound. */
  | { readonly handleStep: BrowserStep; readonly boundHosts: readonly (readonly string[])[] }
  /** Takes a screenshot with these texts masked. */
  | { readonly hiddenTexts: readonly string[] };

/** The result of a step */
export interface Stepped {
  readonly outcome: 'passed' | 'degraded' | 'failed';
  readonly message: string;
  /** Status of the response to `goto` */
  readonly status?: number;
  /** Where the text of an element, or of the page, contains the extracted value */
  readonly found?: FoundValue;
  /** Address that the page failed to reach, because there was no response. */
  readonly unreachableUrl?: string;
  /** Longer than the reported text: secrets are redacted before truncation. */
  readonly page: StepPage;
}

export type FromDriver =
  | { readonly opened: true }
  | { readonly stepped: Stepped }
  | { readonly picture: Uint8Array | undefined }
  | { readonly error: string };
