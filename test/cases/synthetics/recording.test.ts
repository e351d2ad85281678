/** Recordings of Chrome Recorder become browser steps, and unsupported parts are reported. */
import test from 'ava';
import { readCheckFiles } from '../../../subjects/synthetics/as-code.ts';
import { findCheckProblems } from '../../../subjects/synthetics/problems.ts';
import { readRecording } from '../../../subjects/synthetics/recording.ts';

const viewport = {
  type: 'setViewport',
  width: 1280,
  height: 720,
  deviceScaleFactor: 1,
  isMobile: false,
  hasTouch: false,
};
const navigate = {
  type: 'navigate',
  url: 'https://shop.example/',
  assertedEvents: [{ type: 'navigation', url: 'https://shop.example/', title: 'Shop' }],
};
const at = { target: 'main', offsetX: 3, offsetY: 4 };

const recordingOf = (...steps: object[]) => ({ title: 'Buy a cup', steps: [viewport, navigate, ...steps] });

/** The steps after the first, and the omitted parts. */
const readOf = (...steps: object[]) => {
  const read = readRecording(recordingOf(...steps));
  if (!('browser' in read)) throw new Error(JSON.stringify(read));
  return {
    ...read,
    steps: read.browser.steps.slice(1),
    losses: read.losses.map(({ path, message }) => `${path}: ${message}`),
  };
};

const button = { by: 'role', role: 'button', name: 'Buy', exact: true };

test('an element is located like a user finds it, if its selectors permit it', (t) => {
  const table: readonly (readonly [selectors: readonly (string | string[])[], target: object])[] = [
    [[['aria/Buy[role="button"]'], ['#buy'], ['text/Buy']], button],
    [[['#cart > button'], ['aria/Buy']], button],
    [[['aria/Buy'], ['xpath///*[@id="cart"]/div[2]/button']], button],
    [[['aria/Terms'], ['footer a:nth-of-type(2)']], { by: 'role', role: 'link', name: 'Terms', exact: true }],
    [[['aria/[role="main"]']], { by: 'role', role: 'main', name: null, exact: false }],
    [['aria/Buy', '#buy', 'text/Buy a cup'], { by: 'text', text: 'Buy a cup' }],
    [[['aria/Buy[role="StaticText"]'], ['div.buy']], { by: 'css', css: 'div.buy' }],
    [[['aria/Buy']], { by: 'label', label: 'Buy', exact: true }],
    [[['xpath//html/body/div'], ['#buy']], { by: 'css', css: '#buy' }],
    [[['shop-cart', '#buy'], ['pierce/#buy']], { by: 'css', css: 'shop-cart #buy' }],
    [[['pierce/#buy']], { by: 'css', css: '#buy' }],
    [[['[data-testid="buy"]'], ['aria/Buy[role="button"]']], { by: 'testId', testId: 'buy' }],
  ];
  for (const [selectors, target] of table) {
    const { steps, losses, isWhole } = readOf({ type: 'click', selectors, ...at });
    t.deepEqual([steps, losses, isWhole], [[{ action: 'click', target, within: '5000ms' }], [], true]);
  }
});

test('recorded actions become steps', (t) => {
  const selectors = [['aria/Name'], ['#name']];
  const named = { by: 'css', css: '#name' };
  const within = '5000ms';
  const buy = { selectors: [['aria/Buy[role="button"]']], ...at };
  const table: readonly (readonly [recorded: readonly object[], steps: readonly object[]])[] = [
    [[{ type: 'doubleClick', ...buy }], [{ action: 'click', target: button, within, count: 2 }]],
    [[{ type: 'hover', ...buy, timeout: 9000 }], [{ action: 'hover', target: button, within: '9000ms' }]],
    [[{ type: 'click', ...buy, frame: [1, 0] }], [{ action: 'click', target: button, within, frame: [1, 0] }]],
    // Filling in a field also clicks it.
    [
      [
        { type: 'click', selectors, ...at },
        { type: 'change', selectors, value: 'Ann' },
      ],
      [{ action: 'fill', target: named, within, text: 'Ann' }],
    ],
    [
      [{ type: 'change', selectors: [['aria/Size[role="combobox"]']], value: 'l' }],
      [{ action: 'choose', target: { by: 'role', role: 'combobox', name: 'Size', exact: true }, within, option: 'l' }],
    ],
    [
      [
        { type: 'keyDown', key: 'Control' },
        { type: 'keyDown', key: 'a' },
        { type: 'keyUp', key: 'a' },
        { type: 'keyUp', key: 'Control' },
        {
          type: 'keyDown',
          key: 'Enter',
          assertedEvents: [{ type: 'navigation', url: 'https://shop.example/in?session=7' }],
        },
      ],
      [
        { action: 'press', key: 'Control+a', within },
        { action: 'press', key: 'Enter', within },
        { action: 'expect', within, read: 'url', operator: 'contains', value: 'https://shop.example/in' },
      ],
    ],
    [[{ type: 'waitForElement', selectors }], [{ action: 'wait', target: named, within, until: 'visible' }]],
    [[{ type: 'waitForElement', selectors, count: 0 }], [{ action: 'wait', target: named, within, until: 'hidden' }]],
    [
      [{ type: 'waitForElement', selectors, operator: '>=', count: 2, properties: { innerText: 'Ann' } }],
      [
        { action: 'expect', target: named, within, read: 'count', operator: 'gte', value: 2 },
        { action: 'expect', target: named, within, read: 'text', operator: 'is', value: 'Ann' },
      ],
    ],
  ];
  for (const [recorded, steps] of table) {
    const read = readOf(...recorded);
    t.deepEqual([read.steps, read.losses], [steps, []], JSON.stringify(recorded));
  }
});

test('an unsupported part is reported with its path, and an omitted user action is marked', (t) => {
  const selectors = [['#buy']];
  const table: readonly (readonly [recorded: object, loss: RegExp, isWhole?: boolean])[] = [
    [{ type: 'click', selectors: [['xpath//html/body/div']] }, /^steps\.2\.selectors: is omitted.*\(xpath\)$/, false],
    [{ type: 'click', selectors, button: 'secondary' }, /^steps\.2\.button: is omitted/, false],
    [{ type: 'keyDown', key: 'Soft left' }, /^steps\.2: is omitted: key must be a key/, false],
    [{ type: 'customStep', name: 'shop', parameters: {} }, /^steps\.2: is omitted: the step type customStep/, false],
    [{ type: 'scroll', x: 0, y: 500 }, /^steps\.2: is omitted: a step scrolls/],
    [{ type: 'waitForExpression', expression: 'true' }, /^steps\.2: is omitted: user scripts/],
    [{ type: 'emulateNetworkConditions', download: 1 }, /^steps\.2: is omitted: the network/],
    [{ type: 'close' }, /^steps\.2: is omitted: only the page closes/],
    [{ ...viewport, width: 800 }, /^steps\.2: is omitted: the viewport/],
    [{ type: 'click', selectors, deviceType: 'touch' }, /^steps\.2\.deviceType: is touch/],
    [{ type: 'click', selectors, duration: 3000 }, /^steps\.2\.duration/],
    [{ type: 'click', selectors, timeout: 90_000 }, /^steps\.2\.timeout: is 90000 ms, and the wait is 60000/],
    [{ type: 'click', selectors, target: 'https://pay.example/' }, /^steps\.2\.target: is another window or frame/],
    [{ type: 'waitForElement', selectors, attributes: { lang: 'en' } }, /^steps\.2\.attributes\.lang: is unexpected$/],
    [{ type: 'waitForElement', selectors, properties: { width: 3 } }, /^steps\.2\.properties\.width: is unexpected/],
    [
      { type: 'waitForElement', selectors, assertedEvents: [{ type: 'x' }] },
      /^steps\.2\.assertedEvents\.0: is not supported/,
    ],
  ];
  for (const [recorded, loss, isWhole = true] of table) {
    const read = readOf(recorded);
    t.is(read.losses.length, 1, JSON.stringify(read.losses));
    t.regex(read.losses[0] ?? '', loss);
    t.is(read.isWhole, isWhole, JSON.stringify(recorded));
  }
});

test('text typed into a secret field appears nowhere, and a variable replaces it', (t) => {
  const secret = 'hunter 2!';
  const table: readonly (readonly [selectors: readonly string[][], variable: string])[] = [
    [[['aria/Password'], ['#p']], 'password'],
    [[['input[type="password"]']], 'input_type_password'],
    [[['aria/Card number[role="textbox"]']], 'card_number'],
  ];
  for (const [selectors, variable] of table) {
    const read = readOf(
      { type: 'change', selectors, value: secret },
      { type: 'change', selectors: [['#again']], value: secret },
      { type: 'navigate', url: `https://shop.example/?p=${encodeURIComponent(secret)}` },
    );
    const recordingText = JSON.stringify(read);
    t.false(recordingText.includes(secret) || recordingText.includes(encodeURIComponent(secret)), recordingText);
    const texts = read.steps.map((step) => ('text' in step ? step.text : ''));
    t.deepEqual(texts, [`{{variables.${variable}}}`, `{{variables.${variable}}}`, '']);
    t.regex(read.losses[0] ?? '', /^steps\.2\.value: is omitted because it may be a secret/);
    t.notDeepEqual((read.steps[0] as { target: { role?: string } }).target.role, 'textbox');
  }
});

test('a typed one-time code appears nowhere, and a code of a variable replaces it', (t) => {
  const code = '402881';
  const table: readonly (readonly [selectors: readonly string[][], template: string])[] = [
    [[['aria/Verification code']], '{{code.verification_code}}'],
    [[['aria/Code from your authenticator app']], '{{code.code_from_your_authenticator_app}}'],
    [[['#user_otp_attempt']], '{{code.user_otp_attempt}}'],
    [[['input[autocomplete="one-time-code"]']], '{{code.input_autocomplete_one_time_code}}'],
    [[['#totp']], '{{code.totp}}'],
    [[['#mfa-code']], '{{code.mfa_code}}'],
    [[['aria/PIN']], '{{variables.pin}}'],
  ];
  for (const [selectors, template] of table) {
    const { steps } = readOf({ type: 'change', selectors, value: code });
    t.false(JSON.stringify(steps).includes(code), template);
    t.deepEqual(
      steps.map((step) => ('text' in step ? step.text : '')),
      [template],
    );
  }
});

test('a recording is one of the check documents, with its lines', (t) => {
  const selectors = [['aria/Password'], ['#p']];
  const recorded = recordingOf(
    { type: 'change', selectors, value: 'hunter2' },
    { type: 'click', selectors: [['xpath//a']] },
  );
  const tabs = JSON.stringify(recorded, undefined, '\t');
  const [check, read, wrong] = readCheckFiles(
    `name: a\ntype: http\n---\n${tabs}\n---\n${JSON.stringify({ title: 'None', steps: [] })}`,
  );
  t.is(check?.name, 'a');
  t.is(check?.recording, undefined);
  t.is(read?.name, 'Buy a cup');
  t.deepEqual(read?.problems, []);
  t.is(read?.check?.type, 'browser');
  t.deepEqual(read?.check?.browser?.viewport, { width: 1280, height: 720 });
  t.is(read?.recording?.isComplete, false);
  const lines = tabs.split('\n');
  const lineOf = (text: string) => 4 + lines.findIndex((line) => line.includes(text));
  t.is(read?.recording?.losses[0]?.line, lineOf('"value"'));
  t.is(read?.lines['browser.steps.1'], lineOf('"change"') - 1);
  const none = { locations: new Set<string>(), variables: new Map() };
  const unknown = read?.check === undefined ? [] : findCheckProblems(read.check, none);
  t.regex(unknown.map(({ message }) => message).join(), /password/);
  t.deepEqual(
    wrong?.problems.map(({ path }) => path),
    ['steps'],
  );
});
