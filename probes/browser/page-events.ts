/**
 * Redacts the reported events of a page. Redaction precedes truncation, so no part of a secret remains at the end of a
 * text.
 */
import type { StepPage } from '../../schemas/synthetic-runs.ts';

export const redactPage = (page: StepPage, redact: (text: string) => string): StepPage => {
  const redactAndTruncate = (text: string, maxLength: number): string => redact(text).slice(0, maxLength);
  return {
    url: redactAndTruncate(page.url, 2048),
    vitals: page.vitals,
    leftOut: page.leftOut,
    requests: page.requests.map((request) => ({
      ...request,
      url: redactAndTruncate(request.url, 1024),
      method: redactAndTruncate(request.method, 32),
      type: request.type.slice(0, 32),
    })),
    errors: page.errors.map((text) => redactAndTruncate(text, 500)),
  };
};
