/** What is told of a page: secrets are struck out before texts are cut, so that no part of one is left at an end. */
import type { SteppedPage } from '../../schemas/synthetic-runs.ts';

export const toldPage = (page: SteppedPage, strike: (text: string) => string): SteppedPage => {
  const cut = (text: string, most: number): string => strike(text).slice(0, most);
  return {
    ...{ url: cut(page.url, 2048), vitals: page.vitals, leftOut: page.leftOut },
    requests: page.requests.map((asked) => ({
      ...asked,
      ...{ url: cut(asked.url, 1024), method: cut(asked.method, 32), type: asked.type.slice(0, 32) },
    })),
    errors: page.errors.map((text) => cut(text, 500)),
  };
};
