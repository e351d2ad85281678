/** What a run of a browser and the process that drives it say to each other: one answer to each question, in order. */
import type { SteppedPage } from '../../schemas/synthetic-runs.ts';
import type { BrowserStep } from '../../subjects/synthetics/types/browser-steps.ts';

export interface Opening {
  readonly program: string;
  readonly hasSandbox: boolean;
  /** On loopback; there is no other way to the network. */
  readonly proxyPort: number;
  /** Of requests to where the page is from. */
  readonly headers: Readonly<Record<string, string>>;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly verifyCertificate: boolean;
}

export type ToDriver =
  | { readonly open: Opening }
  /** A step whose texts are rendered, and the hosts that each secret which it fills in is bound to. */
  | { readonly step: BrowserStep; readonly bound: readonly (readonly string[])[] }
  /** How it looks: without these texts. */
  | { readonly hidden: readonly string[] };

/** What came of a step. */
export interface Stepped {
  readonly outcome: 'passed' | 'degraded' | 'failed';
  readonly message: string;
  /** Of the answer to `goto`. */
  readonly status?: number;
  /** That was extracted. */
  readonly value?: string;
  /** Where the page should be, and is not: there was no answer. */
  readonly unreached?: string;
  /** Longer than it is told: secrets are struck out before it is cut. */
  readonly page: SteppedPage;
}

export type FromDriver =
  | { readonly opened: true }
  | { readonly stepped: Stepped }
  | { readonly picture: Uint8Array | undefined }
  | { readonly error: string };
