/** Converts Chrome Recorder recordings (JSON) to browser steps. Unsupported parts are reported with their path. */
import { z } from 'zod';
import type { Problem } from './assertions.ts';
import { findTarget, isOptionSelection, type Selector, toSecretTemplate } from './recording-targets.ts';
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
export interface ConvertedRecording {
  readonly name: string;
  /** Settings for a check of the type `browser`, before validation */
  readonly browser: { readonly steps: readonly object[]; readonly viewport?: object };
  /** Index of the recorded step for each step */
  readonly origins: readonly number[];
  /** Parts that were omitted or changed */
  readonly losses: readonly Problem[];
  /** Whether all actions were converted. If an action is missing, later steps may behave differently */
  readonly isWhole: boolean;
}

type StepInput = z.input<typeof BrowserStep>;
type StepTarget = Pick<Extract<StepInput, { readonly action: 'wait' }>, 'target' | 'within' | 'frame'>;

const modifierKeys: Readonly<Record<string, string>> = Object.fromEntries(
  ['Shift', 'Control', 'Alt', 'Meta'].flatMap((name) =>
    [name, `${name}Left`, `${name}Right`].map((key) => [key, name] as const),
  ),
);
const keyNames: Readonly<Record<string, string>> = { ' ': 'Space', '\r': 'Enter', '\n': 'Enter', NumpadEnter: 'Enter' };

/** Element properties that can be compared, with what the step reads */
const readKindByProperty: Readonly<Record<string, 'value' | 'text'>> = {
  value: 'value',
  innerText: 'text',
  textContent: 'text',
};

const minTimeoutMs = 100;
const maxTimeoutMs = 60_000;
const defaultTimeoutMs = 5000;
/** Minimum duration of a long press, longer than any click */
const longPressMs = 1000;

/** Minimum length of a secret to replace within other texts; shorter texts occur everywhere */
const minSecretLength = 4;

const lossReasons: Readonly<Record<string, string>> = {
  scroll: 'is omitted: a step scrolls its element into view',
  emulateNetworkConditions: 'is omitted: the network conditions of the location apply',
  waitForExpression: 'is omitted: user scripts do not run; wait for, or assert, the condition instead',
  close: 'is omitted: only the page closes a window',
};

class RecordingConverter {
  readonly steps: StepInput[] = [];
  readonly origins: number[] = [];
  readonly losses: Problem[] = [];
  isComplete = true;
  viewport: { width: number; height: number } | undefined;
  readonly #defaultTimeoutMs: number;
  readonly #pressedModifiers = new Set<string>();
  /** Values typed into secret fields, and the templates that replace them */
  readonly #secrets = new Map<string, string>();
  #window = 'main';
  #stepIndex = 0;

  constructor(timeout: number | undefined, steps: readonly RecordedStep[]) {
    this.#defaultTimeoutMs = timeout ?? defaultTimeoutMs;
    for (const { type, value = '', selectors } of steps) {
      const template = type === 'change' && value !== '' ? toSecretTemplate(selectors, value) : undefined;
      if (template !== undefined) this.#secrets.set(value, template);
    }
  }

  #reportLoss(part: string, message: string): void {
    this.losses.push({ path: `steps.${this.#stepIndex}${part === '' ? '' : `.${part}`}`, message });
  }

  /** Reports an action that was omitted. */
  #omitAction(part: string, message: string): void {
    this.isComplete = false;
    this.#reportLoss(part, message);
  }

  /** Returns a text in which all typed secrets are replaced. */
  #maskSecrets(text: string): string {
    let result = this.#secrets.get(text) ?? text;
    for (const [secret, variable] of this.#secrets)
      if (secret.length >= minSecretLength)
        result = result.replaceAll(secret, variable).replaceAll(encodeURIComponent(secret), variable);
    return result;
  }

  #chooseTimeout({ timeout }: RecordedStep): string {
    const ms = Math.round(timeout ?? this.#defaultTimeoutMs);
    const within = Math.min(Math.max(ms, minTimeoutMs), maxTimeoutMs);
    if (within !== ms) this.#reportLoss('timeout', `is ${ms} ms, and the wait is ${within} ms`);
    return `${within}ms`;
  }

  #pushStep(step: StepInput): void {
    const { error } = BrowserStep.safeParse(step);
    const [issue] = error?.issues ?? [];
    if (issue !== undefined) {
      this.#omitAction('', `is omitted: ${issue.path.join('.')} ${issue.message}`);
      return;
    }
    this.steps.push(step);
    this.origins.push(this.#stepIndex);
  }

  /** Returns the target of a step; `undefined`, with a report, if no selector is supported. */
  #findStepTarget(recorded: RecordedStep): StepTarget | undefined {
    const { selectors, frame } = recorded;
    const target = findTarget(selectors);
    if (target === undefined) {
      const kinds = selectors.map(
        (selector: Selector) => (typeof selector === 'string' ? selector : (selector.at(-1) ?? '')).split('/')[0],
      );
      this.#omitAction(
        'selectors',
        `is omitted: none of its selectors is supported (${kinds.join(', ') || 'there are none'})`,
      );
      return undefined;
    }
    return { target, within: this.#chooseTimeout(recorded), ...(frame.length > 0 && { frame }) };
  }

  #followWindow({ target, type }: RecordedStep): void {
    if (target === this.#window || type === 'setViewport' || type === 'close') return;
    this.#window = target;
    this.#reportLoss(
      'target',
      target === 'main'
        ? 'is the first window again: steps return to it when the other window is closed'
        : `is another window or frame, of ${target.slice(0, 200)}: steps continue in a window that the previous step opens; a frame must be named in frame`,
    );
  }

  #setViewport({ width = 0, height = 0, isMobile }: RecordedStep): void {
    const adjusted = {
      width: Math.min(Math.max(Math.round(width), 320), 3840),
      height: Math.min(Math.max(Math.round(height), 240), 2160),
    };
    if (this.viewport !== undefined) {
      if (this.viewport.width !== adjusted.width || this.viewport.height !== adjusted.height)
        this.#reportLoss('', 'is omitted: the viewport keeps its initial size');
      return;
    }
    this.viewport = adjusted;
    if (adjusted.width !== width || adjusted.height !== height)
      this.#reportLoss(
        'width',
        `and height are ${width} × ${height}, and are changed to ${adjusted.width} × ${adjusted.height}`,
      );
    if (isMobile) this.#reportLoss('isMobile', 'is not supported: the page uses a desktop viewport of the given width');
  }

  #addClick(recorded: RecordedStep, count: number): void {
    const { button, deviceType, duration } = recorded;
    if (button !== 'primary') this.#omitAction('button', `is omitted: the button ${button} is not supported`);
    const stepTarget = button === 'primary' ? this.#findStepTarget(recorded) : undefined;
    if (stepTarget === undefined) return;
    if (deviceType !== 'mouse') this.#reportLoss('deviceType', `is ${deviceType}, and is changed to mouse`);
    if (duration > longPressMs) this.#reportLoss('duration', 'is not supported: a button cannot be held');
    this.#pushStep({ action: 'click', ...stepTarget, ...(count > 1 && { count }) });
  }

  #addChange(recorded: RecordedStep): void {
    const { value = '', selectors } = recorded;
    const stepTarget = this.#findStepTarget(recorded);
    if (stepTarget === undefined) return;
    // Filling in a field or selecting an option includes the preceding click.
    const before = this.steps.at(-1);
    const isOnSameTarget =
      before?.action === 'click' && JSON.stringify(before.target) === JSON.stringify(stepTarget.target);
    if (
      isOnSameTarget &&
      JSON.stringify(before.frame) === JSON.stringify(recorded.frame.length > 0 ? recorded.frame : undefined)
    ) {
      this.steps.pop();
      this.origins.pop();
    }
    const text = this.#maskSecrets(value);
    if (text !== value)
      this.#reportLoss('value', `is omitted because it may be a secret: it was replaced with ${text}`);
    if (isOptionSelection(selectors)) this.#pushStep({ action: 'choose', ...stepTarget, option: text });
    else this.#pushStep({ action: 'fill', ...stepTarget, text });
  }

  #addKey({ type, key = '', ...recorded }: RecordedStep): void {
    const modifier = modifierKeys[key];
    if (type === 'keyUp') {
      if (modifier !== undefined) this.#pressedModifiers.delete(modifier);
      return;
    }
    if (modifier !== undefined) return void this.#pressedModifiers.add(modifier);
    const waitMs = this.#chooseTimeout({ type, key, ...recorded } as RecordedStep);
    this.#pushStep({
      action: 'press',
      key: [...this.#pressedModifiers, keyNames[key] ?? key].join('+'),
      within: waitMs,
    });
  }

  #addWait(recorded: RecordedStep): void {
    const stepTarget = this.#findStepTarget(recorded);
    if (stepTarget === undefined) return;
    const { operator, count, visible } = recorded;
    const comparison = ({ '>=': 'gte', '==': 'is', '<=': 'lte' } as const)[operator];
    const expectedCount = count === 0 ? 'none' : count === 1 && operator !== '<=' ? 'one' : 'several';
    if (expectedCount === 'several')
      this.#pushStep({ action: 'expect', ...stepTarget, read: 'count', operator: comparison, value: count });
    else if (expectedCount === 'one')
      this.#pushStep({ action: 'wait', ...stepTarget, until: visible ? 'visible' : 'hidden' });
    else if (operator !== '>=') this.#pushStep({ action: 'wait', ...stepTarget, until: 'hidden' });
    this.#addExpectations(recorded, stepTarget);
  }

  #addExpectations({ properties, attributes }: RecordedStep, stepTarget: StepTarget): void {
    for (const [name, value] of Object.entries(properties)) {
      const read = readKindByProperty[name];
      if (read === undefined || typeof value !== 'string') this.#reportLoss(`properties.${name}`, 'is unexpected');
      else this.#pushStep({ action: 'expect', ...stepTarget, read, operator: 'is', value: this.#maskSecrets(value) });
    }
    for (const name of Object.keys(attributes)) this.#reportLoss(`attributes.${name}`, 'is unexpected');
  }

  /** Adds the destination of a step. The query string is ignored, because it may differ between runs. */
  #addDestination({ assertedEvents, type, url: requestedUrl, ...recorded }: RecordedStep): void {
    for (const [index, event] of assertedEvents.entries()) {
      const url = URL.parse(event.url ?? '');
      if (event.type !== 'navigation')
        this.#reportLoss(`assertedEvents.${index}`, `is not supported: the event ${event.type} is unknown`);
      else if (url !== null && event.url !== requestedUrl && /^https?:$/.test(url.protocol)) {
        const within = this.#chooseTimeout({ assertedEvents, type, ...recorded } as RecordedStep);
        const value = this.#maskSecrets(url.origin + url.pathname);
        this.#pushStep({ action: 'expect', within, read: 'url', operator: 'contains', value });
      }
    }
  }

  addStep(recorded: RecordedStep, at: number): void {
    this.#stepIndex = at;
    const stepCountBefore = this.steps.length;
    this.#followWindow(recorded);
    switch (recorded.type) {
      case 'setViewport':
        this.#setViewport(recorded);
        break;
      case 'navigate':
        this.#pushStep({ action: 'goto', url: this.#maskSecrets(recorded.url ?? '') });
        break;
      case 'click':
        this.#addClick(recorded, 1);
        break;
      case 'doubleClick':
        this.#addClick(recorded, 2);
        break;
      case 'change':
        this.#addChange(recorded);
        break;
      case 'hover': {
        const stepTarget = this.#findStepTarget(recorded);
        if (stepTarget !== undefined) this.#pushStep({ action: 'hover', ...stepTarget });
        break;
      }
      case 'keyDown':
      case 'keyUp':
        this.#addKey(recorded);
        break;
      case 'waitForElement':
        this.#addWait(recorded);
        break;
      default: {
        const reason = lossReasons[recorded.type];
        if (reason === undefined) this.#omitAction('', `is omitted: the step type ${recorded.type} is unknown`);
        else this.#reportLoss('', reason);
      }
    }
    if (this.steps.length > stepCountBefore || recorded.assertedEvents.length > 0) this.#addDestination(recorded);
  }
}

/** Returns a converted recording, or the reasons why it cannot be parsed. */
export const readRecording = (value: unknown): ConvertedRecording | readonly Problem[] => {
  const { data, error } = Recording.safeParse(value);
  if (data === undefined) return error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  const converter = new RecordingConverter(data.timeout, data.steps);
  for (const [index, step] of data.steps.entries()) converter.addStep(step, index);
  const { steps, origins, losses, isComplete, viewport } = converter;
  return {
    name: data.title,
    browser: { steps, ...(viewport !== undefined && { viewport }) },
    origins,
    losses,
    isWhole: isComplete,
  };
};
