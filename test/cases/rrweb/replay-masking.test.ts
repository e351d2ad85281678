/**
 * What is published of recordings: all events, without the text that users typed. `hover.json` and `selection.json` are
 * recordings of rrweb (`packages/rrweb/test/events`, MIT, `LICENSE`).
 */
import { readFileSync } from 'node:fs';
import { zstdDecompressSync } from 'node:zlib';
import test from 'ava';
import { requireFormat } from '../../../receivers/registry.ts';
import { type BrowserPrivacy, defaultBrowserPrivacy, resolvePrivacy } from '../../../schemas/browser-privacy.ts';
import { PermanentError } from '../../../schemas/errors.ts';
import type { ReplayChunk } from '../../../schemas/rum-replays.ts';
import { browserOrigin, type Fixture, running } from '../../contract/receivers-fixture.ts';

type Event = Readonly<Record<string, unknown>>;

let sessions = 0;
const createBody = (events: readonly unknown[], fields: object = {}): object => ({
  session: `session-${sessions++}`,
  tab: 'tab',
  first: 0,
  events,
  ...fields,
});

const translate = (body: unknown, privacy: Partial<BrowserPrivacy> = {}): ReplayChunk[] => {
  const browser = { application: 'shop', privacy: { ...defaultBrowserPrivacy, ...privacy } };
  const text = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const translation = requireFormat('rum-replay').translate?.(text, 'logs', undefined, browser);
  return (translation?.publications ?? []).map(({ value }) => value as unknown as ReplayChunk);
};
const readEvents = (chunks: readonly ReplayChunk[]): Event[] =>
  chunks.flatMap(({ data }) => JSON.parse(zstdDecompressSync(Buffer.from(data, 'base64')).toString()) as Event[]);
const maskEvents = (events: readonly unknown[], privacy: Partial<BrowserPrivacy> = {}): Event[] =>
  readEvents(translate(createBody(events), privacy));

for (const name of ['hover', 'selection'])
  test(`the recording ${name} comes back event for event`, (t) => {
    const events = JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8')) as Event[];
    t.deepEqual(maskEvents(events), events);
  });

const element = (tagName: string, attributes: object = {}, childNodes: readonly object[] = [], id = 1): object => ({
  type: 2,
  id,
  tagName,
  attributes,
  childNodes,
});
const text = (textContent: string, id = 2): object => ({ type: 3, id, textContent });
const snapshot = (...childNodes: readonly object[]): Event => ({
  type: 2,
  timestamp: 1,
  data: { node: { type: 0, id: 9, childNodes }, initialOffset: { top: 0, left: 0 } },
});
const incremental = (data: object): Event => ({ type: 3, timestamp: 2, data });
const mutation = (data: object): Event =>
  incremental({ source: 0, texts: [], attributes: [], removes: [], adds: [], ...data });

const secret = 's3cret';
const secrets: readonly (readonly [title: string, events: readonly Event[]])[] = [
  ['the value of an input', [snapshot(element('input', { type: 'text', value: secret }))]],
  ['the value of an input without a type', [snapshot(element('INPUT', { value: secret }))]],
  ['the value of a hidden input', [snapshot(element('input', { type: 'hidden', value: secret }))]],
  ['the value of a password', [snapshot(element('input', { type: 'password', value: secret }))]],
  [
    'the value of a displayed password',
    [snapshot(element('input', { type: 'text', 'data-rr-is-password': 'true', value: secret }))],
  ],
  ['the value of a textarea', [snapshot(element('textarea', { value: secret }))]],
  ['the text of a textarea', [snapshot(element('textarea', {}, [text(secret)]))]],
  ['the value of a select', [snapshot(element('select', { value: secret }))]],
  ['the text of an option', [snapshot(element('select', {}, [element('option', { value: secret }, [text(secret)])]))]],
  ['editable text', [snapshot(element('div', { contenteditable: 'true' }, [element('b', {}, [text(secret)])]))]],
  ['editable plain text', [snapshot(element('div', { contentEditable: 'plaintext-only' }, [text(secret)]))]],
  ['another attribute with the value', [snapshot(element('input', { value: secret, 'data-last': `was ${secret}` }))]],
  ['a model of a field', [snapshot(element('input', { 'ng-reflect-model': secret }))]],
  ['an input event', [snapshot(), incremental({ source: 5, id: 4, text: secret, isChecked: false })]],
  ['an input event without a snapshot', [incremental({ source: 5, id: 4, text: secret, isChecked: false })]],
  ['a changed value', [snapshot(), mutation({ attributes: [{ id: 4, attributes: { value: secret } }] })]],
  [
    'a changed editable text',
    [snapshot(element('div', { contenteditable: '' }, [text('', 5)])), mutation({ texts: [{ id: 5, value: secret }] })],
  ],
  [
    'a text added to an editable element',
    [
      snapshot(element('div', { contenteditable: '' }, [], 7)),
      mutation({ adds: [{ parentId: 7, nextId: null, node: text(secret, 8) }] }),
    ],
  ],
  [
    'an element that becomes editable',
    [
      snapshot(element('div', {}, [text('', 5)], 7)),
      mutation({ attributes: [{ id: 7, attributes: { contenteditable: 'true' } }] }),
      mutation({ texts: [{ id: 5, value: secret }] }),
    ],
  ],
  ['a changed text without a snapshot', [mutation({ texts: [{ id: 5, value: secret }] })]],
  [
    'an input in a shadow root',
    [snapshot(element('x-field', {}, [{ ...element('input', { value: secret }), isShadow: true }]))],
  ],
  [
    'an input in a frame',
    [
      snapshot(),
      mutation({
        adds: [
          { parentId: 3, nextId: null, node: { type: 0, id: 20, childNodes: [element('input', { value: secret })] } },
        ],
        isAttachIframe: true,
      }),
    ],
  ],
  ['a document as text', [snapshot(element('iframe', { srcdoc: `<input value="${secret}">` }))]],
  ['a picture of a canvas', [snapshot(element('canvas', { rr_dataURL: `data:image/png;base64,${secret}` }))]],
  ['a drawing on a canvas', [incremental({ source: 9, id: 1, commands: [{ property: 'fillText', args: [secret] }] })]],
  [
    'the query of the address',
    [{ type: 4, timestamp: 1, data: { href: `https://a.example/?token=${secret}`, width: 1, height: 1 } }],
  ],
  ['the query of a link', [snapshot(element('a', { href: `https://a.example/?token=${secret}` }))]],
  ['an email address', [snapshot(element('p', {}, [text(`${secret}@example.com`)]))]],
  [
    'a request body of a plugin',
    [{ type: 6, timestamp: 1, data: { plugin: 'rrweb/network@1', payload: { body: secret } } }],
  ],
];

for (const [title, events] of secrets)
  test(`${title} is not published`, (t) => {
    t.true(JSON.stringify(events).includes(secret));
    const masked = JSON.stringify(maskEvents(events));
    t.false(masked.includes(secret), masked);
  });

test('texts of the page are published, also when they change, and labels of buttons', (t) => {
  const events = [
    snapshot(element('p', {}, [text('12 items', 5)]), element('input', { type: 'submit', value: 'Buy' }, [], 6)),
    mutation({ texts: [{ id: 5, value: '13 items' }], adds: [{ parentId: 1, nextId: null, node: text('new', 7) }] }),
  ];
  t.deepEqual(maskEvents(events), events);
});

test('masks have the length of the text, and texts that the page masked stay as they are', (t) => {
  const [chunk] = translate(
    createBody([snapshot(element('input', { value: 'four' }), element('input', { value: '****' }))]),
  );
  t.is(chunk?.masked, 1);
  t.is(JSON.stringify(readEvents(chunk === undefined ? [] : [chunk])).split('"****"').length, 3);
});

test('the policy "text" masks all texts, "passwords" only those of passwords', (t) => {
  const page = snapshot(
    element('p', { title: 'caption' }, [text('words')]),
    element('input', { value: 'typed' }, [], 3),
    element('input', { type: 'password', value: 'hidden' }, [], 4),
  );
  const hasText = (policy: BrowserPrivacy['replayMasking'], word: string): boolean =>
    JSON.stringify(maskEvents([page], { replayMasking: policy })).includes(word);
  t.deepEqual(
    ['caption', 'words', 'typed', 'hidden'].map((word) => hasText('text', `"${word}"`)),
    [false, false, false, false],
  );
  t.deepEqual(
    ['words', 'typed', 'hidden'].map((word) => hasText('passwords', `"${word}"`)),
    [true, true, false],
  );
});

const picture = `data:image/png;base64,${secret}`;
const pictures = [
  snapshot(element('canvas', { rr_dataURL: picture }, [], 5), element('img', { rr_dataURL: picture }, [], 6)),
  incremental({ source: 9, id: 5, commands: [{ property: 'fillText', args: ['drawn'] }] }),
];
const allowances: readonly (readonly [allowed: Partial<BrowserPrivacy>, pictureCount: number, isDrawn: boolean])[] = [
  [{}, 0, false],
  [{ storesImages: true }, 1, false],
  [{ storesCanvases: true }, 1, true],
  [{ storesCanvases: true, storesImages: true }, 2, true],
];
for (const [allowed, pictureCount, isDrawn] of allowances)
  test(`with ${JSON.stringify(allowed)}, ${pictureCount} of a canvas and an image are published`, (t) => {
    const masked = JSON.stringify(maskEvents(pictures, allowed));
    t.is(masked.split(secret).length - 1, pictureCount);
    t.is(masked.includes('drawn'), isDrawn);
    const changed = JSON.stringify(
      maskEvents([mutation({ attributes: [{ id: 6, attributes: { rr_dataURL: picture } }] })], allowed),
    );
    t.is(changed.includes(secret), pictureCount === 2);
  });

test('an application has the policy of its project, unless it has its own', (t) => {
  const project = { replayMasking: 'text', applications: { shop: { replayMasking: 'passwords', storesImages: true } } };
  const stored = project as unknown as Partial<BrowserPrivacy>;
  t.like(resolvePrivacy(stored, 'shop'), { replayMasking: 'passwords', storesImages: true, storesCanvases: false });
  t.like(resolvePrivacy(stored, 'other'), { replayMasking: 'text', storesImages: false });
  t.like(resolvePrivacy(stored, 'constructor'), { replayMasking: 'text' });
  t.deepEqual(resolvePrivacy({}, 'shop'), defaultBrowserPrivacy);
});

test('events after a gap are masked until the next full snapshot', (t) => {
  const page = snapshot(element('p', {}, [text('words', 5)]));
  const change = mutation({ texts: [{ id: 5, value: 'other' }] });
  const session = `session-${sessions++}`;
  translate(createBody([page], { session }));
  const read = (first: number, events: readonly Event[]): string =>
    JSON.stringify(readEvents(translate(createBody(events, { session, first }))));
  t.true(read(1, [change]).includes('other'));
  t.false(read(9, [change]).includes('other'));
  t.true(read(10, [page, change]).includes('other'));
});

test('events that arrive after later ones end the gap, and what people type stays masked', (t) => {
  const page = snapshot(element('p', {}, [text('words', 5)], 4));
  const add = (node: object): Event => mutation({ adds: [{ parentId: 1, node }] });
  const change = (id: number, value: string): Event => mutation({ texts: [{ id, value }] });
  const session = `session-${sessions++}`;
  const read = (first: number, ...events: readonly Event[]): string =>
    JSON.stringify(readEvents(translate(createBody(events, { session, first }))));
  read(0, page);
  const editable = (id: number): object => element('div', { contenteditable: 'true' }, [text('', id + 1)], id);
  t.false(read(2, change(5, 'early'), add(editable(30))).includes('early'));
  t.false(read(4, change(5, 'still early')).includes('still early'), 'the gap is open');
  // These two events do not fit into the gap, which has one event.
  t.false(read(1, add(editable(20)), change(5, 'late')).includes('late'));
  t.false(read(5, change(5, 'unknown')).includes('unknown'));
  t.false(read(1, add(editable(20))).includes(secret));
  t.true(read(6, change(5, 'known')).includes('known'));
  t.false(read(7, change(21, secret), change(31, secret)).includes(secret));
  // A repeated request changes nothing.
  t.false(read(5, change(5, 'again')).includes('again'));
  t.true(read(9, change(5, 'next')).includes('next'));
});

test('a full snapshot after a gap is the only one that counts', (t) => {
  const page = snapshot(element('p', {}, [text('words', 5)], 4));
  const editable = element('div', { contenteditable: 'true' }, [text('', 5)], 4);
  const change = mutation({ texts: [{ id: 5, value: secret }] });
  const session = `session-${sessions++}`;
  const read = (first: number, ...events: readonly Event[]): string =>
    JSON.stringify(readEvents(translate(createBody(events, { session, first }))));
  read(0, page);
  read(2, snapshot(editable));
  t.false(read(1, change).includes(secret), 'late events are of the previous page');
  t.false(read(3, change).includes(secret));
});

test('chunks are numbered without gaps, and start at full snapshots', (t) => {
  const events = [
    incremental({ source: 3 }),
    { type: 4, timestamp: 3, data: { href: '' } },
    snapshot(),
    incremental({ source: 3 }),
  ];
  const chunks = translate(createBody(events, { first: 7 }));
  t.deepEqual(
    chunks.map(({ first, last, hasSnapshot }) => [first, last, hasSnapshot]),
    [
      [7, 7, false],
      [8, 10, true],
    ],
  );
});

const faults: readonly (readonly [title: string, body: unknown, reason: string])[] = [
  ['no JSON', '{"events":[', 'malformed'],
  ['no session', { tab: 'a', first: 0, events: [] }, 'malformed'],
  ['a session id of 10 kB', createBody([], { session: 'x'.repeat(10_000) }), 'malformed'],
  ['a number below zero', createBody([], { first: -1 }), 'malformed'],
  ['packed events', createBody(['packed']), 'packed'],
  ['events without a time', createBody([{ type: 2, data: {} }]), 'malformed'],
  ['too many parts', createBody([], { part: 1, parts: 1_000, data: '{' }), 'malformed'],
  ['a part without data', createBody([], { part: 1, parts: 2 }), 'malformed'],
];
for (const [title, body, reason] of faults)
  test(`a recording with ${title} is refused`, (t) => {
    t.is(t.throws(() => translate(body), { instanceOf: PermanentError })?.reason, reason);
  });

const cutText = (whole: string, count: number): string[] => {
  const length = Math.ceil(whole.length / count);
  return Array.from({ length: count }, (_, index) => whole.slice(index * length, (index + 1) * length));
};

for (const base of [0, 1])
  test(`parts of an event, numbered from ${base}, are joined and masked, also from requests in another order`, (t) => {
    const event = snapshot(element('input', { value: secret }), element('p', {}, [text('public', 3)]));
    const texts = cutText(JSON.stringify(event), 3);
    const fields = createBody([], { session: `parts-${base}` });
    const sendPart = (index: number): ReplayChunk[] =>
      translate({ ...fields, events: undefined, part: index + base, parts: 3, data: texts[index] });
    t.deepEqual(sendPart(2), []);
    t.deepEqual(sendPart(0), []);
    t.deepEqual(sendPart(0), []);
    const chunks = sendPart(1);
    const joined = JSON.stringify(readEvents(chunks));
    t.like(chunks[0], { first: 0, last: 0, hasSnapshot: true });
    t.true(joined.includes('public'));
    t.false(joined.includes(secret));
  });

test('parts of an event are joined within a request, between other events', (t) => {
  const typed = incremental({ source: 5, id: 1, text: secret, isChecked: false });
  const texts = cutText(JSON.stringify(typed), 2);
  const parts = texts.map((data, index) => ({ part: index + 1, parts: 2, data }));
  const chunks = translate(createBody([incremental({ source: 1 }), ...parts, incremental({ source: 2 })]));
  t.deepEqual(
    chunks.map(({ first, last }) => [first, last]),
    [[0, 2]],
  );
  t.false(JSON.stringify(readEvents(chunks)).includes(secret));
});

test('parts that are not JSON together, or are too large, are refused', (t) => {
  const sendParts = (texts: readonly string[]): ReplayChunk[] =>
    translate(createBody(texts.map((data, index) => ({ part: index + 1, parts: texts.length, data }))));
  t.throws(() => sendParts(['{"type":', '{']), { instanceOf: PermanentError, message: /send all of them again/ });
  const large = 'x'.repeat(9 * 1024 * 1024);
  t.throws(() => sendParts([large, large]), { instanceOf: PermanentError, message: /larger than/ });
});

test('nodes that nest too deep are refused', (t) => {
  let node = text('');
  for (let depth = 0; depth < 1_500; depth++) node = element('p', {}, [node]);
  const error = t.throws(() => translate(createBody([snapshot(node)])), { instanceOf: PermanentError });
  t.is(error?.reason, 'too-deep');
});

const post = ({ http, browserSecret }: Fixture, body: unknown): Promise<Response> =>
  fetch(`${http}/rum/${browserSecret}/replay`, {
    method: 'POST',
    headers: { origin: browserOrigin },
    body: JSON.stringify(body),
  });

test('a recording is on the bus when it is acknowledged, and nothing of a refused one is stored', async (t) => {
  await using fixture = await running();
  t.is((await post(fixture, createBody([snapshot(element('input', { value: secret }))]))).status, 202);
  const [message] = fixture.bus.messages;
  t.is(message?.topic, 'rum-replays');
  const chunk = JSON.parse(String(message?.value)) as ReplayChunk;
  t.like(chunk, { tenantId: 'acme', projectId: 'shop', application: 'checkout', masked: 1 });
  t.is((await post(fixture, createBody([secret]))).status, 400);
  t.is(fixture.bus.messages.length, 1);
});
