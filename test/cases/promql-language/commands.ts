/** The test language of Prometheus: `load`, `clear` and `eval` with expectations. */
import type { Labels } from '../../../queries/promql/series.ts';
import { parseDurationMs } from '../../../queries/promql/syntax/durations.ts';
import { parsePromqlNumber } from '../../../queries/promql/syntax/numbers.ts';
import { unquoteText } from '../../../queries/promql/syntax/quotes.ts';
import { labelsFrom, startsFrom, type Value, valuesFrom } from './series-lines.ts';

export interface LoadedSeries {
  readonly labels: Labels;
  readonly values: readonly Value[];
  readonly starts: readonly (number | undefined)[];
}

export interface Load {
  readonly kind: 'load';
  readonly stepMs: number;
  readonly withCustomHistograms: boolean;
  readonly series: readonly LoadedSeries[];
}

/** An expected annotation or error: `matches` checks its text. */
export interface Expectation {
  readonly of: 'ordered' | 'fail' | 'warn' | 'no_warn' | 'info' | 'no_info';
  readonly matches: (text: string) => boolean;
}

export interface ExpectedSeries {
  readonly labels: Labels;
  readonly values: readonly Value[];
}

export interface Evaluation {
  readonly kind: 'eval';
  readonly line: number;
  readonly expression: string;
  readonly instant: boolean;
  startMs: number;
  endMs: number;
  stepMs: number;
  readonly atMs: number;
  /** Whether an instant query is expected to return a range of samples. */
  matrix: boolean;
  readonly expectations: Expectation[];
  readonly series: ExpectedSeries[];
  scalar?: Value;
  text?: string;
}

export type Command = Load | Evaluation | { readonly kind: 'clear' };

const duration = (word: string): number => {
  const ms = parseDurationMs(word.replace(/^-/, ''));
  if (typeof ms !== 'number') throw new Error(ms);
  return word.startsWith('-') ? -ms : ms;
};

const instantForm = /^eval(?:_(fail|warn|ordered|info))?\s+instant\s+(?:at\s+(.+?))?\s+(.+)$/;
const rangeForm = /^eval(?:_(fail|warn|info))?\s+range\s+from\s+(.+)\s+to\s+(.+)\s+step\s+(.+?)\s+(.+)$/;
const expectForm = /^expect\s+(ordered|fail|warn|no_warn|info|no_info)(?:\s+(regex|msg):(.+))?$/;
const matrixForm = /^expect range vector\s+from\s+(.+)\s+to\s+(.+)\s+step\s+(.+)$/;

const loadFrom = (head: string, lines: readonly string[]): Load => {
  const [, nhcb, step = ''] = /^load(?:_(with_nhcb))?\s+(.+?)$/.exec(head) ?? [];
  const series: LoadedSeries[] = [];
  let starts: (number | undefined)[] = [];
  for (const line of lines) {
    const began = /^(\S+)@st\s+(.+)$/.exec(line);
    if (began !== null) {
      starts = startsFrom((began[2] as string).trim());
      continue;
    }
    const { labels, rest } = labelsFrom(line);
    series.push({ labels, values: valuesFrom(rest), starts });
    starts = [];
  }
  return { kind: 'load', stepMs: duration(step), withCustomHistograms: nhcb !== undefined, series };
};

const evaluationFrom = (head: string, line: number): Evaluation => {
  const instant = instantForm.exec(head);
  const range = instant === null ? rangeForm.exec(head) : null;
  const modifier = instant?.[1] ?? range?.[1];
  const all = { kind: 'eval', line, matrix: false, expectations: [], series: [] } as const;
  const atMs = instant === null ? 0 : duration(instant[2] ?? '0');
  const times = range?.slice(2, 5).map(duration) ?? [atMs, atMs, 0];
  const [startMs, endMs, stepMs] = times as [number, number, number];
  const expression = instant?.[3] ?? range?.[5];
  if (expression === undefined) throw new Error(`line ${line}: no evaluation: ${head}`);
  const expectations: Expectation[] =
    modifier === undefined ? [] : [{ of: modifier as Expectation['of'], matches: () => true }];
  return { ...all, expression, instant: instant !== null, atMs, startMs, endMs, stepMs, expectations, series: [] };
};

const matcherOf = (form: string | undefined, value: string): ((text: string) => boolean) => {
  if (form === undefined) return () => true;
  if (form === 'msg') return (text) => text === value.trim();
  const regex = new RegExp(value.trim().replace(/^\(\?s\)/, ''), 's');
  return (text) => regex.test(text);
};

const expect = (evaluation: Evaluation, line: string): void => {
  const matrix = matrixForm.exec(line);
  if (matrix !== null) {
    const [startMs, endMs, stepMs] = matrix.slice(1, 4).map(duration) as [number, number, number];
    Object.assign(evaluation, { startMs, endMs, stepMs, matrix: true });
    return;
  }
  if (line.startsWith('expect string ')) {
    evaluation.text = unquoteText(line.slice('expect string '.length)) as string;
    return;
  }
  const [, of, form, value = ''] = expectForm.exec(line) ?? [];
  if (of === undefined) throw new Error(`line ${evaluation.line}: not understood: ${line}`);
  evaluation.expectations.push({ of: of as Expectation['of'], matches: matcherOf(form, value) });
};

const expectedFrom = (evaluation: Evaluation, line: string): void => {
  const failure = /^expected_fail_(message|regexp)\s+(.+)$/.exec(line);
  if (failure !== null) {
    const matches = matcherOf(failure[1] === 'message' ? 'msg' : 'regex', failure[2] as string);
    evaluation.expectations.push({ of: 'fail', matches });
  } else if (line.split(' ')[0] === 'expect') expect(evaluation, line);
  else if (parsePromqlNumber(line) !== undefined) evaluation.scalar = parsePromqlNumber(line) as number;
  else {
    const { labels, rest } = labelsFrom(line);
    evaluation.series.push({ labels, values: valuesFrom(rest) });
  }
};

/** Parses the commands of a file. A block ends at an empty line or a comment. */
export const commandsOf = (file: string): Command[] => {
  const lines = file.split('\n').map((line) => (line.trim().startsWith('#') ? '' : line.trim()));
  const commands: Command[] = [];
  for (let at = 0; at < lines.length; at++) {
    const head = lines[at] as string;
    if (head === '') continue;
    const first = at + 1;
    if (head === 'clear') {
      commands.push({ kind: 'clear' });
      continue;
    }
    while (at + 1 < lines.length && lines[at + 1] !== '') at++;
    const body = lines.slice(first, at + 1);
    if (head.startsWith('load')) commands.push(loadFrom(head, body));
    else {
      const evaluation = evaluationFrom(head, first);
      for (const line of body) expectedFrom(evaluation, line);
      commands.push(evaluation);
    }
  }
  return commands;
};
