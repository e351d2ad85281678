/** Converts Chrome Recorder recordings (JSON) to browser steps. Unsupported parts are reported with their path. */
import { z } from 'zod';
import type { Problem } from './assertions.ts';
import { isOptionSelection, type Selector, secretIn, targetIn } from './recording-targets.ts';
import { BrowserStep } from './types/browser-steps.ts';

const selector = z.string().max(4096);

const RecordedStep = z.looseObject({
  type: z.string().min(1).max(64),
  timeout: z.number().optional(),
  assertedEvents: z.array(z.looseObject({ type: z.string(), url: z.string().optional() })).default([]),
  target: z.string().default('main'),
  frame: z.array(z.int().min(0)).default([]),
  selectors: z
    .array(z.union([selector, z.array(selector).max(10)]))
    .max(20)
    .default([]),
  url: z.string().optional(),
  value: z.string().optional(),
  key: z.string().optional(),
  button: z.string().default('primary'),
  deviceType: z.string().default('mouse'),
  width: z.number().optional(),
  height: z.number().optional(),
  isMobile: z.boolean().default(false),
  operator: z.enum(['>=', '==', '<=']).default('=='),
  count: z.int().min(0).default(1),
  visible: z.boolean().default(true),
  properties: z.record(z.string(), z.unknown()).default({}),
  attributes: z.record(z.string(), z.unknown()).default({}),
  duration: z.number().default(0).describe('Time for which the button is held'),
});
type RecordedStep = z.output<typeof RecordedStep>;

const Recording = z.looseObject({
  title: z.string().trim().min(1).max(256),
  timeout: z.number().optional(),
  steps: z.array(RecordedStep).min(1).max(500),
});

/** Returns whether a document is a recording and not a check: checks have a type and no top-level steps. */
export const isRecording = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'title' in value && 'steps' in value && !('type' in value);

/** A converted recording */
export interface ReadRecording {
  readonly name: string;
  /** Settings for a check of the type `browser`, before validation */
  readonly browser: { readonly steps: readonly object[]; readonly viewport?: object };
  /** Index of the recorded step for each step */
  readonly origins: readonly number[];
  /** Parts that were omitted or changed */
  readonly losses: readonly Problem[];
  /** Whether all actions were converted; otherwise later steps may behave differently */
  readonly isWhole: boolean;
}

type Written = z.input<typeof BrowserStep>;
type Place = Pick<Extract<Written, { readonly action: 'wait' }>, 'target' | 'within' | 'frame'>;

const modifiers: Readonly<Record<string, string>> = Object.fromEntries(
  ['Shift', 'Control', 'Alt', 'Meta'].flatMap((name) =>
    [name, `${name}Left`, `${name}Right`].map((key) => [key, name] as const),
  ),
);
const keys: Readonly<Record<string, string>> = { ' ': 'Space', '\r': 'Enter', '\n': 'Enter', NumpadEnter: 'Enter' };

/** Supported element properties */
const readAs: Readonly<Record<string, 'value' | 'text'>> = { value: 'value', innerText: 'text', textContent: 'text' };

const minMs = 100;
const maxMs = 60_000;
const defaultTimeoutMs = 5000;
/** Minimum duration of a long press, longer than any click */
const holdMs = 1000;

/** Minimum length of a secret; shorter texts occur everywhere */
const minSecretLength = 4;

const lossReasons: Readonly<Record<string, string>> = {
  scroll: 'is omitted: a step scrolls its element into view',
  emulateNetworkConditions: 'is omitted: the network conditions of the location apply',
  waitForExpression: 'is omitted: user scripts do not run; wait for, or assert, the condition instead',
  close: 'is omitted: only the page closes a window',
};

class Reading {
  readonly steps: Written[] = [];
  readonly origins: number[] = [];
  readonly losses: Problem[] = [];
  isComplete = true;
  viewport: { width: number; height: number } | undefined;
  readonly #defaultTimeoutMs: number;
  readonly #held = new Set<string>();
  /** Values typed into secret fields, and the variables that replace them */
  readonly #secrets = new Map<string, string>();
  #window = 'main';
  #at = 0;

  constructor(timeout: number | undefined, steps: readonly RecordedStep[]) {
    this.#defaultTimeoutMs = timeout ?? defaultTimeoutMs;
    for (const { type, value = '', selectors } of steps) {
      const variable = type === 'change' && value !== '' ? secretIn(selectors) : undefined;
      if (variable !== undefined) this.#secrets.set(value, `{{variables.${variable}}}`);
    }
  }

  #lose(part: string, message: string): void {
    this.losses.push({ path: `steps.${this.#at}${part === '' ? '' : `.${part}`}`, message });
  }

  /** Reports an action that was omitted. */
  #leaveOut(part: string, message: string): void {
    this.isComplete = false;
    this.#lose(part, message);
  }

  /** Returns a text in which all typed secrets are replaced. */
  #hidden(text: string): string {
    let hidden = this.#secrets.get(text) ?? text;
    for (const [secret, variable] of this.#secrets)
      if (secret.length >= minSecretLength)
        hidden = hidden.replaceAll(secret, variable).replaceAll(encodeURIComponent(secret), variable);
    return hidden;
  }

  #withinOf({ timeout }: RecordedStep): string {
    const ms = Math.round(timeout ?? this.#defaultTimeoutMs);
    const within = Math.min(Math.max(ms, minMs), maxMs);
    if (within !== ms) this.#lose('timeout', `is ${ms} ms, and the wait is ${within} ms`);
    return `${within}ms`;
  }

  #add(step: Written): void {
    const { error } = BrowserStep.safeParse(step);
    const [issue] = error?.issues ?? [];
    if (issue !== undefined) {
      this.#leaveOut('', `is omitted: ${issue.path.join('.')} ${issue.message}`);
      return;
    }
    this.steps.push(step);
    this.origins.push(this.#at);
  }

  /** Returns the target of a step; `undefined`, with a report, if no selector is supported. */
  #placeOf(recorded: RecordedStep): Place | undefined {
    const { selectors, frame } = recorded;
    const target = targetIn(selectors);
    if (target === undefined) {
      const kinds = selectors.map(
        (one: Selector) => (typeof one === 'string' ? one : (one.at(-1) ?? '')).split('/')[0],
      );
      this.#leaveOut(
        'selectors',
        `is omitted: none of its selectors is supported (${kinds.join(', ') || 'there are none'})`,
      );
      return undefined;
    }
    return { target, within: this.#withinOf(recorded), ...(frame.length > 0 && { frame }) };
  }

  #goesOnIn({ target, type }: RecordedStep): void {
    if (target === this.#window || type === 'setViewport' || type === 'close') return;
    this.#window = target;
    this.#lose(
      'target',
      target === 'main'
        ? 'is the first window again: steps return to it when the other window is closed'
        : `is another window or frame, of ${target.slice(0, 200)}: steps continue in a window that the previous step opens; a frame must be named in frame`,
    );
  }

  #viewport({ width = 0, height = 0, isMobile }: RecordedStep): void {
    const fits = {
      width: Math.min(Math.max(Math.round(width), 320), 3840),
      height: Math.min(Math.max(Math.round(height), 240), 2160),
    };
    if (this.viewport !== undefined) {
      if (this.viewport.width !== fits.width || this.viewport.height !== fits.height)
        this.#lose('', 'is omitted: the viewport keeps its initial size');
      return;
    }
    this.viewport = fits;
    if (fits.width !== width || fits.height !== height)
      this.#lose('width', `and height are ${width} × ${height}, and are changed to ${fits.width} × ${fits.height}`);
    if (isMobile) this.#lose('isMobile', 'is not supported: the page uses a desktop viewport of the given width');
  }

  #click(recorded: RecordedStep, count: number): void {
    const { button, deviceType, duration } = recorded;
    if (button !== 'primary') this.#leaveOut('button', `is omitted: the button ${button} is not supported`);
    const place = button === 'primary' ? this.#placeOf(recorded) : undefined;
    if (place === undefined) return;
    if (deviceType !== 'mouse') this.#lose('deviceType', `is ${deviceType}, and is changed to mouse`);
    if (duration > holdMs) this.#lose('duration', 'is not supported: a button cannot be held');
    this.#add({ action: 'click', ...place, ...(count > 1 && { count }) });
  }

  #change(recorded: RecordedStep): void {
    const { value = '', selectors } = recorded;
    const place = this.#placeOf(recorded);
    if (place === undefined) return;
    // Filling in a field or selecting an option includes the preceding click.
    const before = this.steps.at(-1);
    const isSame = before?.action === 'click' && JSON.stringify(before.target) === JSON.stringify(place.target);
    if (
      isSame &&
      JSON.stringify(before.frame) === JSON.stringify(recorded.frame.length > 0 ? recorded.frame : undefined)
    ) {
      this.steps.pop();
      this.origins.pop();
    }
    const text = this.#hidden(value);
    if (text !== value) this.#lose('value', `is omitted because it may be a secret: it was replaced with ${text}`);
    if (isOptionSelection(selectors)) this.#add({ action: 'choose', ...place, option: text });
    else this.#add({ action: 'fill', ...place, text });
  }

  #key({ type, key = '', ...recorded }: RecordedStep): void {
    const modifier = modifiers[key];
    if (type === 'keyUp') {
      if (modifier !== undefined) this.#held.delete(modifier);
      return;
    }
    if (modifier !== undefined) return void this.#held.add(modifier);
    const within = this.#withinOf({ type, key, ...recorded } as RecordedStep);
    this.#add({ action: 'press', key: [...this.#held, keys[key] ?? key].join('+'), within });
  }

  #waitFor(recorded: RecordedStep): void {
    const place = this.#placeOf(recorded);
    if (place === undefined) return;
    const { operator, count, visible } = recorded;
    const compared = ({ '>=': 'gte', '==': 'is', '<=': 'lte' } as const)[operator];
    const expectedCount = count === 0 ? 'none' : count === 1 && operator !== '<=' ? 'one' : 'several';
    if (expectedCount === 'several')
      this.#add({ action: 'expect', ...place, read: 'count', operator: compared, value: count });
    else if (expectedCount === 'one') this.#add({ action: 'wait', ...place, until: visible ? 'visible' : 'hidden' });
    else if (operator !== '>=') this.#add({ action: 'wait', ...place, until: 'hidden' });
    this.#expect(recorded, place);
  }

  #expect({ properties, attributes }: RecordedStep, place: Place): void {
    for (const [name, value] of Object.entries(properties)) {
      const read = readAs[name];
      if (read === undefined || typeof value !== 'string') this.#lose(`properties.${name}`, 'is unexpected');
      else this.#add({ action: 'expect', ...place, read, operator: 'is', value: this.#hidden(value) });
    }
    for (const name of Object.keys(attributes)) this.#lose(`attributes.${name}`, 'is unexpected');
  }

  /** Adds the destination of a step. The query string is ignored, because it may differ between runs. */
  #ledTo({ assertedEvents, type, url: requestedUrl, ...recorded }: RecordedStep): void {
    for (const [index, event] of assertedEvents.entries()) {
      const url = URL.parse(event.url ?? '');
      if (event.type !== 'navigation') this.#lose(`assertedEvents.${index}`, `is unexpected: ${event.type} is unknown`);
      else if (url !== null && event.url !== requestedUrl && /^https?:$/.test(url.protocol)) {
        const within = this.#withinOf({ assertedEvents, type, ...recorded } as RecordedStep);
        const value = this.#hidden(url.origin + url.pathname);
        this.#add({ action: 'expect', within, read: 'url', operator: 'contains', value });
      }
    }
  }

  addStep(recorded: RecordedStep, at: number): void {
    this.#at = at;
    const known = this.steps.length;
    this.#goesOnIn(recorded);
    switch (recorded.type) {
      case 'setViewport':
        this.#viewport(recorded);
        break;
      case 'navigate':
        this.#add({ action: 'goto', url: this.#hidden(recorded.url ?? '') });
        break;
      case 'click':
        this.#click(recorded, 1);
        break;
      case 'doubleClick':
        this.#click(recorded, 2);
        break;
      case 'change':
        this.#change(recorded);
        break;
      case 'hover': {
        const place = this.#placeOf(recorded);
        if (place !== undefined) this.#add({ action: 'hover', ...place });
        break;
      }
      case 'keyDown':
      case 'keyUp':
        this.#key(recorded);
        break;
      case 'waitForElement':
        this.#waitFor(recorded);
        break;
      default: {
        const reason = lossReasons[recorded.type];
        if (reason === undefined) this.#leaveOut('', `is omitted: the step type ${recorded.type} is unknown`);
        else this.#lose('', reason);
      }
    }
    if (this.steps.length > known || recorded.assertedEvents.length > 0) this.#ledTo(recorded);
  }
}

/** Returns a converted recording, or the reasons why it cannot be parsed. */
export const readRecording = (value: unknown): ReadRecording | readonly Problem[] => {
  const { data, error } = Recording.safeParse(value);
  if (data === undefined) return error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  const reading = new Reading(data.timeout, data.steps);
  for (const [at, step] of data.steps.entries()) reading.addStep(step, at);
  const { steps, origins, losses, isComplete, viewport } = reading;
  return {
    name: data.title,
    browser: { steps, ...(viewport !== undefined && { viewport }) },
    origins,
    losses,
    isWhole: isComplete,
  };
};
