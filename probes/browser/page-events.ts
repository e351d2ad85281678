/** What is told of a page: secrets are struck out before texts are cut, so that no part of one is left at an end. */
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
