/** Screenshots of a page, with secrets masked */
import type { Frame, Locator, Page } from 'playwright-core';
import { maxPictureBytes } from '../../schemas/synthetic-work.ts';

/** Time limit for all attempts */
const maxMs = 4000;
/** Qualities of successive attempts, while the screenshot is too large */
const qualities = [60, 30, 10] as const;

const passwordFieldSelector = 'css=input[type=password]';
/** Elements whose texts or images are not in the document, and input fields */
const opaqueElementSelector =
  'css=input, textarea, select, [contenteditable], canvas, video, object, embed, img[src^="data:"], img[src^="blob:"]';

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Texts that look identical to people: case-insensitive, and with any white space. */
const createHiddenTextPattern = (hiddenTexts: readonly string[]): RegExp =>
  new RegExp(hiddenTexts.map((text) => text.trim().split(/\s+/).map(escapeRegExp).join('\\s*')).join('|'), 'i');

/** Texts are searched outside the page's own scripts, which never see them. */
const findMaskedElements = (frame: Frame, pattern: RegExp | undefined): readonly Locator[] =>
  pattern === undefined
    ? [frame.locator(passwordFieldSelector)]
    : [frame.locator(opaqueElementSelector), frame.getByText(pattern)];

/**
 * Returns a JPEG of the window, at most `maxPictureBytes`; undefined if the page does not settle, or is too large.
 * Elements with one of the texts are masked. If there are texts, elements that cannot be searched are masked too.
 */
export const takeScreenshot = async (page: Page, hidden: readonly string[]): Promise<Uint8Array | undefined> => {
  const pattern = hidden.length === 0 ? undefined : createHiddenTextPattern(hidden);
  const endMs = performance.now() + maxMs;
  for (const quality of qualities) {
    const timeout = endMs - performance.now();
    if (timeout <= 0) return undefined;
    const mask = page.frames().flatMap((frame) => findMaskedElements(frame, pattern));
    const bytes = await page
      .screenshot({ type: 'jpeg', quality, scale: 'css', mask, maskColor: '#555', timeout })
      .catch(() => undefined);
    if (bytes === undefined) return undefined;
    if (bytes.length <= maxPictureBytes) return bytes;
  }
  return undefined;
};
