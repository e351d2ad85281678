/** Runs steps in a page */
import { setTimeout as pause } from 'node:timers/promises';
import { errors, type Locator, type Page } from 'playwright-core';
import { parseDurationMs } from '../../subjects/alerts/durations.ts';
import { judgeAssertions } from '../../subjects/synthetics/assertions.ts';
import { truncate } from '../../subjects/synthetics/cut.ts';
import { isBoundTo } from '../../subjects/synthetics/problems.ts';
import type { BrowserStep, BrowserTarget, FramedStep } from '../../subjects/synthetics/types/browser-steps.ts';
import type { BoundHosts } from '../bound-secrets.ts';
import { findAll, findPattern } from '../extract-value.ts';
import { removeBrackets } from '../reach.ts';
import type { Stepped } from './driver-messages.ts';
import { awaitOrUndefined } from './page-watch.ts';

export type StepOutcome = Omit<Stepped, 'page' | 'unreachableUrl'>;

export const passed: StepOutcome = { outcome: 'passed', message: '' };
const createFailure = (message: string): StepOutcome => ({ outcome: 'failed', message });

/** Interval between checks of an expectation */
const checkIntervalMs = 100;
const notResponding = 'the page does not respond: its scripts run without end';
/** Maximum number of elements whose texts are read */
const maxElements = 100;
const maxTextLength = 16_384;
/** A text that values are extracted from is complete: an incomplete secret in it would not be recognized. */
const maxExtractedTextLength = 1_000_000;
const maxMessageLength = 1000;
/** How long a step waits in one window before it checks for a new window */
const waitSliceMs = 1000;

type LocatorScope = Pick<Page, 'getByRole' | 'getByLabel' | 'getByText' | 'getByTestId' | 'locator'>;

/** The page, or the frame that contains the target. */
const resolveFrame = (page: Page, frame: FramedStep['frame']): LocatorScope =>
  frame.reduce<LocatorScope>((scope, frameSelector) => {
    const extractedValue =
      typeof frameSelector === 'string'
        ? scope.locator(`css=${frameSelector}`)
        : scope.locator('css=iframe, frame').nth(frameSelector);
    return extractedValue.contentFrame();
  }, page);

const findTarget = (page: Page, { target, frame }: FramedStep & { readonly target: BrowserTarget }): Locator => {
  const scope = resolveFrame(page, frame);
  switch (target.by) {
    case 'role': {
      const name = target.name === null ? {} : { name: target.name, exact: target.exact };
      return scope.getByRole(target.role as Parameters<Page['getByRole']>[0], name);
    }
    case 'label':
      return scope.getByLabel(target.label, { exact: target.exact });
    case 'text':
      return scope.getByText(target.text, { exact: target.exact });
    case 'testId':
      return scope.getByTestId(target.testId);
    default:
      return scope.locator(`css=${target.css}`);
  }
};

/** Why a step failed, as readable text: for several attempts, the last condition that was waited for. */
export const toMessage = (error: unknown): string => {
  const { message } = error as Error;
  const [firstLine = '', ...log] = message.replaceAll('\u001b', '').split('\n');
  const summary = firstLine
    .replace(/^[\w.]{1,64}: /, '')
    .replace(/^Timeout (\d{1,9})ms exceeded\.?$/, 'took longer than $1 ms');
  if (!(error instanceof errors.TimeoutError)) return truncate(summary, maxMessageLength);
  const last = log
    .map((line) => line.replace(/^[\s-]*/, ''))
    .filter((line) => line !== '' && !line.startsWith('Call log'));
  return truncate([summary, ...last.slice(-1)].join(': '), maxMessageLength);
};

const toTexts = (value: string | number | undefined): readonly string[] | undefined =>
  value === undefined ? undefined : [String(value)];

/** Returns the texts that a step reads; undefined if the page does not answer in time. */
const readTexts = async (
  page: Page,
  { read, target, frame }: Pick<BrowserStep & { action: 'expect' }, 'read' | 'target' | 'frame'>,
  { timeout, maxLength }: { readonly timeout: number; readonly maxLength: number },
): Promise<readonly string[] | undefined> => {
  if (read === 'url') return [page.url()];
  if (read === 'title') return toTexts(await awaitOrUndefined(page.title(), timeout));
  if (target === null) return [];
  const extractedValue = findTarget(page, { target, frame });
  if (read === 'count') return toTexts(await awaitOrUndefined(extractedValue.count(), timeout));
  const texts =
    read === 'text'
      ? extractedValue.allInnerTexts()
      : extractedValue.evaluateAll((elements) =>
          elements.map((element) => String((element as { value?: unknown }).value ?? '')),
        );
  return (await awaitOrUndefined(texts, timeout))?.slice(0, maxElements).map((text) => text.slice(0, maxLength));
};

/** Whether a page that answered no request for a text answers at all; else its scripts run without end. */
const isResponsive = async (page: Page): Promise<boolean> =>
  (await awaitOrUndefined(page.evaluate(() => true))) === true;

const getHost = (url: string): string => (URL.canParse(url) ? removeBrackets(new URL(url).hostname) : '');

const unbound = (host: string): StepOutcome =>
  createFailure(`a secret of the check is not bound to ${host === '' ? 'this page' : host}`);

/** The host of a frame to which a secret is not bound */
const findUnboundHost = (page: Page, bound: BoundHosts): string | undefined =>
  page
    .frames()
    .map((frame) => getHost(frame.url()))
    .find((host) => !bound.every((hosts) => isBoundTo(hosts, host)));

/** Fills in a secret only in the verified document: if another document replaced it, the element no longer exists. */
const fillSecret = async (
  extractedValue: Locator,
  text: string,
  { bound, timeout }: { readonly bound: BoundHosts; readonly timeout: number },
): Promise<StepOutcome> => {
  const element = await extractedValue.elementHandle({ timeout });
  const frame = await element?.ownerFrame();
  const host = getHost(frame?.url() ?? '');
  if (element === null || !bound.every((hosts) => isBoundTo(hosts, host))) return unbound(host);
  await element.fill(text, { timeout });
  return passed;
};

/** Returns the current window of the steps, which changes when a window opens or closes. */
type CurrentPage = () => Page;

const expectText = async (where: CurrentPage, step: BrowserStep & { action: 'expect' }): Promise<StepOutcome> => {
  const { operator, value, level, within, read } = step;
  const assertion = { source: 'record' as const, operator, level, ...(value !== undefined && { value }) };
  const endMs = performance.now() + parseDurationMs(within);
  let records: readonly string[] | undefined;
  for (;;) {
    const leftMs = endMs - performance.now();
    const timeout = Math.max(leftMs, checkIntervalMs);
    records = (await readTexts(where(), step, { timeout, maxLength: maxTextLength })) ?? records;
    const isOver = leftMs <= 0;
    if (isOver && records === undefined && !(await isResponsive(where()))) return createFailure(notResponding);
    const result = judgeAssertions([assertion], { records: records ?? [] });
    if (result.outcome === 'passed' && (isOver || records !== undefined)) return passed;
    if (isOver) return { outcome: result.outcome, message: (result.messages[0] ?? '').replace(/^record/, read) };
    await pause(Math.min(checkIntervalMs, leftMs));
  }
};

/** Waits for an element, also in a window that opens in the meantime. */
const waitForElement = async (
  where: CurrentPage,
  step: FramedStep & { readonly target: BrowserTarget },
  { state, timeout }: { readonly state: 'visible' | 'hidden' | 'attached'; readonly timeout: number },
): Promise<void> => {
  const endMs = performance.now() + timeout;
  for (;;) {
    const page = where();
    try {
      const leftMs = Math.max(endMs - performance.now(), checkIntervalMs);
      return await findTarget(page, step).waitFor({ state, timeout: Math.min(leftMs, waitSliceMs) });
    } catch (error) {
      const isOver = performance.now() >= endMs && page === where();
      if (isOver || !(error instanceof errors.TimeoutError || page.isClosed())) throw error;
    }
  }
};

const extractValue = async (where: CurrentPage, step: BrowserStep & { action: 'extract' }): Promise<StepOutcome> => {
  const timeout = parseDurationMs(step.within);
  if (step.target !== null && step.read !== 'count')
    await waitForElement(where, { ...step, target: step.target }, { state: 'attached', timeout });
  const texts = await readTexts(where(), step, { timeout, maxLength: maxExtractedTextLength });
  if (texts === undefined && !(await isResponsive(where()))) return createFailure(notResponding);
  const [text = ''] = texts ?? [];
  if (text.length >= maxExtractedTextLength)
    return createFailure(`${step.read} has more than ${maxExtractedTextLength} characters: ${step.as} is not set`);
  if (step.pattern === null) return { ...passed, found: findAll(text) };
  const extractedValue = findPattern(text, step.pattern);
  return extractedValue === undefined
    ? createFailure(`${step.read} does not match ${step.pattern}: ${step.as} is not set`)
    : { ...passed, found: extractedValue };
};

/** Runs one step; rejects with Playwright's error if it fails. */
export const performStep = async (where: CurrentPage, step: BrowserStep, bound: BoundHosts): Promise<StepOutcome> => {
  const page = where();
  // The timeout of the attempt ends hanging steps.
  if (step.action === 'goto') {
    const response = await page.goto(step.url, { timeout: 0 });
    return response === null ? passed : { ...passed, status: response.status() };
  }
  const timeout = parseDurationMs(step.within);
  switch (step.action) {
    case 'click':
      await findTarget(page, step).click({ timeout, clickCount: step.count });
      return passed;
    case 'hover':
      await findTarget(page, step).hover({ timeout });
      return passed;
    case 'fill':
      if (bound.length > 0) return fillSecret(findTarget(page, step), step.text, { bound, timeout });
      await findTarget(page, step).fill(step.text, { timeout });
      return passed;
    case 'choose':
      await findTarget(page, step).selectOption(step.option, { timeout });
      return passed;
    case 'press': {
      const unboundHost = findUnboundHost(page, bound);
      if (unboundHost !== undefined) return unbound(unboundHost);
      if (step.target === null) await page.keyboard.press(step.key);
      else await findTarget(page, { ...step, target: step.target }).press(step.key, { timeout });
      return passed;
    }
    case 'wait':
      await waitForElement(where, step, { state: step.until, timeout });
      return passed;
    case 'expect':
      return expectText(where, step);
    default:
      return extractValue(where, step);
  }
};
