/**
 * Reported events of a page: secrets are redacted before texts are truncated, so that no part of a secret remains at
 * the end.
 */
import type { SteppedPage } from '../../schemas/synthetic-runs.ts';

export const redactPage = (page: SteppedPage, strike: (text: string) => string): SteppedPage => {
  const cut = (text: string, maxLength: number): string => strike(text).slice(0, maxLength);
  return {
    url: cut(page.url, 2048),
    vitals: page.vitals,
    leftOut: page.leftOut,
    requests: page.requests.map((request) => ({
      ...request,
      url: cut(request.url, 1024),
      method: cut(request.method, 32),
      type: request.type.slice(0, 32),
    })),
    errors: page.errors.map((text) => cut(text, 500)),
  };
};
