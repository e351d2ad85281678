/** Runs files of the Prometheus test language against the engine. */
import { defaultOptions, type EngineOptions } from '../../../queries/promql/engine/context.ts';
import {
  type EvaluationResult,
  evaluate,
  listSelections,
  type ParsedQuery,
  parse,
} from '../../../queries/promql/index.ts';
import { PromqlExecutionError, PromqlSyntaxError } from '../../../queries/promql/syntax/errors.ts';
import { printExpression } from '../../../queries/promql/syntax/print.ts';
import { type Expression, visitExpressions } from '../../../queries/promql/syntax/tree.ts';
import type { Command, Evaluation, Expectation } from './commands.ts';
import { atTime, type ComparableAnswer, problemOf, toComparableAnswer } from './compare.ts';
import { Store } from './store.ts';

/** The engine options that Prometheus uses for these files. */
const options: EngineOptions = { ...defaultOptions, delayedNameRemoval: true, startTimestamps: true };

interface Times {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

const evaluateQuery = (store: Store, query: ParsedQuery, times: Times): EvaluationResult => {
  const selections = listSelections(query, times, options);
  return evaluate(
    query,
    times,
    (number) => store.select(selections[number] as never),
    { samples: 10_000_000 },
    options,
  );
};

const expectationProblem = (
  expectations: readonly Expectation[],
  of: 'warn' | 'info',
  texts: readonly string[],
): string | undefined => {
  const matching = expectations.filter((expectation) => expectation.of === of);
  if (expectations.some((expectation) => expectation.of === `no_${of}`) && texts.length > 0)
    return `unexpected ${of}: ${texts.join(' | ')}`;
  if (matching.length === 0) return undefined;
  if (texts.length === 0) return `expected ${of}, got none`;
  if (!matching.every(({ matches }) => texts.some(matches))) return `no ${of} as expected among ${texts.join(' | ')}`;
  return texts.every((text) => matching.some(({ matches }) => matches(text)))
    ? undefined
    : `unexpected ${of} among ${texts.join(' | ')}`;
};

/** Returns the problem of an error with this message; undefined if it is expected. */
export const refusalProblem = ({ expectations }: Evaluation, message: string): string | undefined => {
  const matching = expectations.filter(({ of }) => of === 'fail');
  if (matching.length === 0) return `failed: ${message}`;
  return matching.every(({ matches }) => matches(message)) ? undefined : `failed otherwise: ${message}`;
};

const failureProblem = (command: Evaluation, error: unknown): string | undefined =>
  error instanceof PromqlExecutionError || error instanceof PromqlSyntaxError
    ? refusalProblem(command, error.message)
    : `broke: ${(error as Error).stack}`;

const mayFail = ({ expectations }: Evaluation): boolean => expectations.some(({ of }) => of === 'fail');

/** Returns the problem of a result or its annotations; undefined if they are as expected. */
export const answerProblem = (
  command: Evaluation,
  {
    value,
    warnings,
    infos,
  }: { readonly value: ComparableAnswer; readonly warnings: readonly string[]; readonly infos: readonly string[] },
): string | undefined => {
  if (mayFail(command)) return 'expected a failure';
  return (
    expectationProblem(command.expectations, 'warn', warnings) ??
    expectationProblem(command.expectations, 'info', infos) ??
    problemOf(command, value)
  );
};

/** Returns the problem of one evaluation; undefined if there is none. */
const evaluationProblem = (store: Store, command: Evaluation, query: ParsedQuery, atMs: number): string | undefined => {
  const times = command.instant ? { startMs: atMs, endMs: atMs, stepMs: 0 } : command;
  let result: EvaluationResult;
  try {
    result = evaluateQuery(store, query, times);
  } catch (error) {
    return failureProblem(command, error);
  }
  return (
    answerProblem(command, { ...result, value: toComparableAnswer(result.value) }) ??
    (command.instant ? rangeProblem(store, command, query, atMs, result) : undefined)
  );
};

/** Checks that an instant query returns the result in the middle of a range. */
const rangeProblem = (
  store: Store,
  command: Evaluation,
  query: ParsedQuery,
  atMs: number,
  { value }: EvaluationResult,
): string | undefined => {
  const ordered = command.expectations.some(({ of }) => of === 'ordered');
  if (value.type === 'matrix' || value.type === 'string' || command.matrix) return undefined;
  if (ordered || /(start|end|range|step)\(\)/.test(query.text)) return undefined;
  const range = evaluateQuery(store, query, { startMs: atMs - 60_000, endMs: atMs + 60_000, stepMs: 60_000 });
  const problem = problemOf(command, atTime(toComparableAnswer(range.value), atMs, value.type === 'scalar'));
  return problem && `in a range: ${problem}`;
};

const timeDependent =
  /^(days_in_month|day_of_month|day_of_week|day_of_year|end|hour|minute|month|year|predict_linear|range|start|step|time|timestamp)$/;

/** The same query with a fixed time for every selector; undefined if its result depends on the time of the step. */
const fixedQuery = (text: string, atMs: number): ParsedQuery | undefined => {
  const { expression } = parse(text);
  let dependent = false;
  visitExpressions(expression, (node: Expression, path) => {
    if (path.some((outer) => outer.kind === 'subquery' && typeof outer.at === 'number')) return;
    if (node.kind === 'selector' || node.kind === 'subquery') {
      if (typeof node.at !== 'number') node.at = atMs;
    } else if (node.kind === 'call' && timeDependent.test(node.signature.name)) dependent = true;
  });
  return dependent ? undefined : parse(printExpression(expression));
};

const otherTimes = (atMs: number): number[] =>
  atMs === 0 ? [-1000, 0, 1000] : [-10 * atMs, 0, Math.trunc(atMs / 5), atMs, 10 * atMs];

const problemsOf = (store: Store, command: Evaluation): string | undefined => {
  let query: ParsedQuery;
  try {
    query = parse(command.expression);
  } catch (error) {
    return failureProblem(command, error);
  }
  const problem = evaluationProblem(store, command, query, command.atMs);
  if (problem !== undefined || !command.instant) return problem;
  const fixed = fixedQuery(command.expression, command.atMs);
  if (fixed === undefined) return undefined;
  for (const atMs of otherTimes(command.atMs)) {
    const other = evaluationProblem(store, command, fixed, atMs);
    if (other !== undefined) return `${fixed.text} at ${atMs}: ${other}`;
  }
  return undefined;
};

/** An evaluation with an unexpected result. */
export interface Failure {
  readonly line: number;
  readonly expression: string;
  readonly problem: string;
}

/** Runs commands in order. */
export const run = (commands: readonly Command[]): { evaluations: number; failures: Failure[] } => {
  const store = new Store();
  const failures: Failure[] = [];
  let evaluations = 0;
  for (const command of commands) {
    if (command.kind === 'clear') store.clear();
    else if (command.kind === 'load') store.load(command);
    else {
      evaluations++;
      const problem = problemsOf(store, command);
      if (problem !== undefined) failures.push({ line: command.line, expression: command.expression, problem });
    }
  }
  return { evaluations, failures };
};
