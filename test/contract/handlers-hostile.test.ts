/**
 * The handler of every operation accepts hostile, very long texts in each field without blocking or returning 5xx.
 *
 * The test measures the processor time of this thread between two timer ticks, so other load hardly matters.
 * The server and its client run in this thread. Fields of one group with the same name and bound are tested once.
 * A run selects half of the operations. Each round sends one more text to each field until the time budget is used: a
 * long run by hand sends all of them (`test/budget.ts`).
 */
import test from 'ava';
import { operations } from '../../api/groups/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import { hostileCpuMs } from '../budget.ts';
import type { Answer } from '../end-to-end/api-harness.ts';
import { runSeed, selectPart } from '../parts.ts';
import type { OperationRequest, World } from './example.ts';
import { plainTexts, structuredTexts, type TextField, type TextOf, textFields } from './hostile-texts.ts';
import { schemaOf } from './schema-values.ts';
import { startWorlds } from './world.ts';

const limitMs = 100;
const tries = 3;
/** Maximum length of a text in a URL: a character takes three bytes there, and the server accepts 16 KiB of headers. */
const maxPathLength = 4 * 1024;
const maxBodyLength = 1024 * 1024;
/** Longer texts are parsed in worker threads, so this test skips them. */
const readHere = 16_384;

const pick = (names: readonly string[]): [string, TextOf][] =>
  Object.entries({ ...plainTexts, ...structuredTexts }).filter(([name]) => names.includes(name));
const few = pick(['quotation marks', 'digits', 'backslashes']);
const some = [
  ...few,
  ...pick(['spaces', 'opening brackets', 'a template of spaces', 'stars', 'alternatives of a search', 'line breaks']),
];
const all = Object.entries({ ...plainTexts, ...structuredTexts });
const longTexts = pick(['line breaks', 'documents of YAML', 'one letter', 'keys of JSON']);

type Part = 'params' | 'query' | 'body';

interface Trial {
  readonly operation: Operation;
  readonly part: Part;
  readonly field: TextField;
  readonly maxLength: number;
  readonly base: OperationRequest;
}

const maxLengthOf = ({ form, maxBodyBytes }: Operation, part: Part, { maxLength }: TextField): number => {
  const room = part === 'body' || form ? Math.min(Math.floor(maxBodyBytes / 3), maxBodyLength) : maxPathLength;
  return Math.min(maxLength ?? room, room);
};

/** The texts of a field, longest first: description, length, and generator. */
const textsFor = (maxLength: number): (readonly [what: string, length: number, textOf: TextOf])[] => {
  const at = (length: number, texts: readonly [string, TextOf][]) =>
    texts.map(([name, textOf]) => [name, length, textOf] as const);
  if (maxLength < 256) return at(maxLength, few);
  if (maxLength <= 4096) return at(maxLength, some);
  return [...(maxLength > readHere ? at(maxLength, longTexts) : []), ...at(Math.min(maxLength, readHere), all)];
};

/** The maximum processor time of this thread between two iterations of its event loop while work runs. */
const maxBlockedMs = async (run: () => Promise<unknown>): Promise<number> => {
  let maxMs = 0;
  let before = process.threadCpuUsage();
  const measure = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    maxMs = Math.max(maxMs, (user + system) / 1000);
  };
  const timer = setInterval(measure, 1);
  try {
    await run();
    measure();
  } finally {
    clearInterval(timer);
  }
  return maxMs;
};

let world: World;
let close: (() => Promise<void>) | undefined;
test.before(async () => {
  const worlds = await startWorlds();
  world = worlds.a;
  close = worlds.close;
});
test.after.always(() => close?.());

const nameOf = ({ path }: TextField): string =>
  path
    .split('.')
    .at(-1)
    ?.replaceAll(/<\d+>|\[\]/g, '') ?? '';

/** The text fields of an operation that are not `known` from another operation of its group. */
const trialsOf = async (operation: Operation, known: Set<string>): Promise<Trial[]> => {
  const base = await world.example(operation);
  return (['params', 'query', 'body'] as const).flatMap((part) => {
    const parsed = operation[part];
    if (parsed === undefined) return [];
    const fields = textFields(schemaOf(parsed), { path: part, base: base[part], place: (value) => value });
    return [...fields].flatMap((field) => {
      const maxLength = maxLengthOf(operation, part, field);
      const key = `${operation.group} ${part === 'body'} ${nameOf(field)} ${maxLength}`;
      if (known.has(key)) return [];
      known.add(key);
      return { operation, part, field, maxLength, base };
    });
  });
};

const callWithText = ({ operation, part, field, base }: Trial, text: string): Promise<Answer> => {
  const isForm = operation.form && part === 'query';
  const operationRequest = { ...base, ...(isForm && { query: {} }), [isForm ? 'body' : part]: field.placed(text) };
  return again(() => world.call(operation, operationRequest));
};

/** The server may have closed an idle connection at that moment. */
const again = (request: () => Promise<Answer>): Promise<Answer> => request().catch(request);

const sendPlain = (method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  again(() => world.harness.request(method, path, { as: `token ${world.token}`, headers }));

/** Deletes the object that a request created, because other operations would read it. */
const remove = async ({ operation: { method, path } }: Trial, { status, body }: Answer): Promise<void> => {
  if (method !== 'POST' || status !== 200 || typeof body?.id !== 'string' || path.includes('{')) return;
  await sendPlain('DELETE', `${path}/${body.id}`, { 'if-match': '*' });
};

/** Returns the problem with a text. A slow request is repeated, and counts only if it is slow each time. */
const faultOf = async (trial: Trial, text: string): Promise<string | undefined> => {
  let minMs = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < tries && minMs > limitMs; tried++) {
    let response: Answer | undefined;
    const blockedMs = await maxBlockedMs(async () => {
      response = await callWithText(trial, text);
    });
    minMs = Math.min(minMs, blockedMs);
    if (response === undefined) continue;
    await remove(trial, response);
    // 503: a store or a thread that was busy; 501: a feature that is not part of an installation.
    if (response.status === 500) return 'is answered 500';
  }
  return minMs > limitMs ? `holds up the process for ${Math.round(minMs)} ms` : undefined;
};

interface Question {
  readonly trial: Trial;
  readonly what: string;
  readonly text: string;
}

/** One text of each field, then the next text of each. Texts that the schema refuses are skipped. */
function* questionsOf(trials: readonly Trial[]): Generator<Question> {
  for (let round = 0, rest = trials; rest.length > 0; round++) {
    rest = rest.filter(({ maxLength }) => textsFor(maxLength).length > round);
    for (const [at, trial] of rest.entries()) {
      const { operation, part, field, maxLength } = trial;
      const texts = textsFor(maxLength);
      // Fields with the same texts start with different ones.
      const [name, length, textOf] = texts[(runSeed + round + at) % texts.length] as (typeof texts)[number];
      const text = textOf(length);
      if (operation[part]?.safeParse(field.placed(text)).success !== true) continue;
      yield { trial, text, what: `${operation.operationId} ${field.path} (${name}, ${length} characters)` };
    }
  }
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

test('every field of every operation withstands hostile texts', async (t) => {
  t.timeout(3_600_000);
  const known = new Set<string>();
  const trials: Trial[] = [];
  const chosen = selectPart(
    operations.filter(({ built }) => built),
    2,
  );
  for (const operation of chosen) trials.push(...(await trialsOf(operation, known)));
  const wrong: string[] = [];
  const untilMs = cpuMs() + hostileCpuMs;
  let [callCount, skipped] = [0, 0];
  // The budget may be used before all fields are tested, so each run starts at a different field.
  const first = runSeed % trials.length;
  for (const { trial, what, text } of questionsOf([...trials.slice(first), ...trials.slice(0, first)])) {
    if (cpuMs() > untilMs) {
      skipped++;
      continue;
    }
    callCount++;
    const fault = await faultOf(trial, text);
    if (fault !== undefined) wrong.push(`${what} ${fault}`);
  }
  t.log(
    `${chosen.length} operations are selected: ${callCount} texts in ${trials.length} fields were sent, and ${skipped} skipped (TEST_SEED=${runSeed})`,
  );
  t.deepEqual(wrong, []);
  t.is((await sendPlain('GET', '/api/account')).status, 200, 'all were asked by somebody who is signed in');
});
