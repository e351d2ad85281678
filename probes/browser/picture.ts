/** How a page looks, with what must not be seen covered. */
import type { Frame, Locator, Page } from 'playwright-core';
import { maxPictureBytes } from '../../schemas/synthetic-work.ts';

/** Of all tries together. */
const maxMs = 4000;
/** One that is larger is tried again. */
const qualities = [60, 30, 10] as const;

const passwords = 'css=input[type=password]';
/** What has a text or a picture of scripts in it that is not in the document, and fields. */
const opaqueElements =
  'css=input, textarea, select, [contenteditable], canvas, video, object, embed, img[src^="data:"], img[src^="blob:"]';

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** What is the same text to people: in capitals or not, in one line or several. */
const patternOf = (hidden: readonly string[]): RegExp =>
  new RegExp(hidden.map((text) => text.trim().split(/\s+/).map(literal).join('\\s*')).join('|'), 'i');

/** Texts are looked for apart from the page's own scripts, which learn of none. */
const coveredIn = (frame: Frame, pattern: RegExp | undefined): readonly Locator[] =>
  pattern === undefined ? [frame.locator(passwords)] : [frame.locator(opaqueElements), frame.getByText(pattern)];

/**
 * A JPEG of what is in the window, `maxPictureBytes` at most; undefined where the page does not hold still, or is too large.
 * Elements with one of the texts are covered, and where there are such texts, what cannot be read for them as well.
 */
export const pictureOf = async (page: Page, hidden: readonly string[]): Promise<Uint8Array | undefined> => {
  const pattern = hidden.length === 0 ? undefined : patternOf(hidden);
  const endMs = performance.now() + maxMs;
  for (const quality of qualities) {
    const timeout = endMs - performance.now();
    if (timeout <= 0) return undefined;
    const mask = page.frames().flatMap((frame) => coveredIn(frame, pattern));
    const bytes = await page
      .screenshot({ type: 'jpeg', quality, scale: 'css', mask, maskColor: '#555', timeout })
      .catch(() => undefined);
    if (bytes === undefined) return undefined;
    if (bytes.length <= maxPictureBytes) return bytes;
  }
  return undefined;
};
