/**
 * The handler of every operation takes the longest and nastiest texts in each of its fields without holding up the process, and without 5xx.
 *
 * What counts is the processor time that this thread takes between two looks of a timer, so that other load of the machine hardly matters.
 * The server runs in this thread, and so does its client. Fields of one group with the same name and bound are asked once.
 * A run draws half of the operations. Each round asks one more text of each field, the first of them drawn, until the budget is used: a long
 * run by hand asks them all (`test/budget.ts`).
 */
import test from 'ava';
import { operations } from '../../api/groups/index.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import { hostileCpuMs } from '../budget.ts';
import { drawn, drawSeed } from '../drawing.ts';
import type { Answer } from '../end-to-end/api-harness.ts';
import type { Asked, World } from './example.ts';
import { plainTexts, structuredTexts, type TextField, type TextOf, textFields } from './hostile-texts.ts';
import { schemaOf } from './schema-values.ts';
import { startWorlds } from './world.ts';

const limitMs = 100;
const tries = 3;
/** Of a text in an address: each of its characters takes three there, and the server of the tests takes 16 KiB of headers. */
const mostInPath = 4 * 1024;
const mostInBody = 1024 * 1024;
/** Longer texts are read in threads: what is nested or repeated in them is not read here. */
const readHere = 16_384;

const pick = (names: readonly string[]): [string, TextOf][] =>
  Object.entries({ ...plainTexts, ...structuredTexts }).filter(([name]) => names.includes(name));
const few = pick(['quotation marks', 'digits', 'backslashes']);
const some = [
  ...few,
  ...pick(['spaces', 'opening brackets', 'a template of spaces', 'stars', 'alternatives of a search', 'line breaks']),
];
const all = Object.entries({ ...plainTexts, ...structuredTexts });
const longest = pick(['line breaks', 'documents of YAML', 'one letter', 'keys of JSON']);

type Part = 'params' | 'query' | 'body';

interface Trial {
  readonly operation: Operation;
  readonly part: Part;
  readonly field: TextField;
  readonly most: number;
  readonly base: Asked;
}

const mostOf = ({ form, maxBodyBytes }: Operation, part: Part, { most }: TextField): number => {
  const room = part === 'body' || form ? Math.min(Math.floor(maxBodyBytes / 3), mostInBody) : mostInPath;
  return Math.min(most ?? room, room);
};

/** The texts of a field, the longest first: what they are, how long, and how they are made. */
const textsFor = (most: number): (readonly [what: string, length: number, textOf: TextOf])[] => {
  const at = (length: number, texts: readonly [string, TextOf][]) =>
    texts.map(([name, textOf]) => [name, length, textOf] as const);
  if (most < 256) return at(most, few);
  if (most <= 4096) return at(most, some);
  return [...(most > readHere ? at(most, longest) : []), ...at(Math.min(most, readHere), all)];
};

/** The most processor time that this thread takes between two turns of its loop while something runs. */
const longestTurnMs = async (run: () => Promise<unknown>): Promise<number> => {
  let longest = 0;
  let before = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longest = Math.max(longest, (user + system) / 1000);
  };
  const timer = setInterval(look, 1);
  try {
    await run();
    look();
  } finally {
    clearInterval(timer);
  }
  return longest;
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

/** The text fields of an operation that are not `known` from another of its group. */
const trialsOf = async (operation: Operation, known: Set<string>): Promise<Trial[]> => {
  const base = await world.example(operation);
  return (['params', 'query', 'body'] as const).flatMap((part) => {
    const parsed = operation[part];
    if (parsed === undefined) return [];
    const fields = textFields(schemaOf(parsed), { path: part, base: base[part], place: (value) => value });
    return [...fields].flatMap((field) => {
      const most = mostOf(operation, part, field);
      const key = `${operation.group} ${part === 'body'} ${nameOf(field)} ${most}`;
      if (known.has(key)) return [];
      known.add(key);
      return { operation, part, field, most, base };
    });
  });
};

const ask = ({ operation, part, field, base }: Trial, text: string): Promise<Answer> => {
  const isForm = operation.form && part === 'query';
  const asked = { ...base, ...(isForm && { query: {} }), [isForm ? 'body' : part]: field.placed(text) };
  return again(() => world.ask(operation, asked));
};

/** The server may have closed an idle connection at that moment. */
const again = (request: () => Promise<Answer>): Promise<Answer> => request().catch(request);

const askPlainly = (method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  again(() => world.harness.ask(method, path, { as: `token ${world.token}`, headers }));

/** Takes away what a request made: what an organization has is read by others. */
const remove = async ({ operation: { method, path } }: Trial, { status, body }: Answer): Promise<void> => {
  if (method !== 'POST' || status !== 200 || typeof body?.id !== 'string' || path.includes('{')) return;
  await askPlainly('DELETE', `${path}/${body.id}`, { 'if-match': '*' });
};

/** What is wrong with how a text is taken. It is asked again where it takes too long, and counts if it does so each time. */
const faultOf = async (trial: Trial, text: string): Promise<string | undefined> => {
  let least = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < tries && least > limitMs; tried++) {
    let answer: Answer | undefined;
    const turn = await longestTurnMs(async () => {
      answer = await ask(trial, text);
    });
    least = Math.min(least, turn);
    if (answer === undefined) continue;
    await remove(trial, answer);
    // 503: a store or a thread that was busy; 501: what is left out of an installation.
    if (answer.status === 500) return 'is answered 500';
  }
  return least > limitMs ? `holds up the process for ${Math.round(least)} ms` : undefined;
};

interface Question {
  readonly trial: Trial;
  readonly what: string;
  readonly text: string;
}

/** One text of each field, then the next one of each. What its schema refuses never reaches the handler, and is left out. */
function* questionsOf(trials: readonly Trial[]): Generator<Question> {
  for (let round = 0, rest = trials; rest.length > 0; round++) {
    rest = rest.filter(({ most }) => textsFor(most).length > round);
    for (const [at, trial] of rest.entries()) {
      const { operation, part, field, most } = trial;
      const texts = textsFor(most);
      // Fields with the same texts begin with different ones.
      const [name, length, textOf] = texts[(drawSeed + round + at) % texts.length] as (typeof texts)[number];
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

test('every field of every operation', async (t) => {
  t.timeout(3_600_000);
  const known = new Set<string>();
  const trials: Trial[] = [];
  const chosen = drawn(
    operations.filter(({ built }) => built),
    2,
  );
  for (const operation of chosen) trials.push(...(await trialsOf(operation, known)));
  const wrong: string[] = [];
  const untilMs = cpuMs() + hostileCpuMs;
  let [asked, skipped] = [0, 0];
  // The budget is used before all fields are asked: a run begins at another one.
  const first = drawSeed % trials.length;
  for (const { trial, what, text } of questionsOf([...trials.slice(first), ...trials.slice(0, first)])) {
    if (cpuMs() > untilMs) {
      skipped++;
      continue;
    }
    asked++;
    const fault = await faultOf(trial, text);
    if (fault !== undefined) wrong.push(`${what} ${fault}`);
  }
  t.log(
    `${chosen.length} operations are drawn: ${asked} texts in ${trials.length} fields were asked, and ${skipped} left out (TEST_SEED=${drawSeed})`,
  );
  t.deepEqual(wrong, []);
  t.is((await askPlainly('GET', '/api/account')).status, 200, 'all were asked by somebody who is signed in');
});
