import type { Matcher, Series } from '../series.ts';
import { PromqlExecutionError } from '../syntax/errors.ts';
import { testOf } from '../syntax/matchers.ts';
import { type Call, type Expression, partsOf, typeOf, type VectorSelector } from '../syntax/tree.ts';
import type { Evaluation, SampleCounts } from './context.ts';
import type { LabelSet } from './labels.ts';
import { LabelSet as Labels } from './labels.ts';
import { absent, merged, Row } from './rows.ts';
import { originRows } from './selectors.ts';

const identifying = ['instance', 'job'];

const conditionsOf = ({ args }: Call): readonly Matcher[] =>
  args[1]?.kind === 'selector' ? args[1].matchers : [{ name: '__name__', op: '=', value: 'target_info' }];

/** Returns the metrics to read: `target_info` by default, every `…_info` if there are only negative matchers. */
const namesOf = (conditions: readonly Matcher[]): readonly Matcher[] => {
  const names = conditions.filter(({ name }) => name === '__name__');
  if (names.some(({ op }) => op === '=' || op === '=~')) return names;
  return names.length > 0
    ? [{ name: '__name__', op: '=~', value: '.+_info' }, ...names]
    : [{ name: '__name__', op: '=', value: 'target_info' }];
};

/** Returns the matchers of the series from which `info()` adds labels. */
export const infoMatchers = (node: Call): readonly Matcher[] => {
  const conditions = conditionsOf(node);
  return [...conditions.filter(({ name }) => name !== '__name__'), ...namesOf(conditions)];
};

/** Evaluation time of a vector's selectors: `@` and `offset`, including those of enclosing subqueries. */
export interface Reference {
  readonly at: number | undefined;
  readonly offsetMs: number;
}

const sameReference = (left: Reference, right: Reference): boolean =>
  left.at === undefined || right.at === undefined
    ? left.at === right.at && left.offsetMs === right.offsetMs
    : left.at - left.offsetMs === right.at - right.offsetMs;

const referenceOf = (node: VectorSelector, path: readonly Expression[]): Reference => {
  let at = typeof node.at === 'number' ? node.at : undefined;
  let { offsetMs } = node;
  for (const outer of path.toReversed()) {
    if (outer.kind !== 'subquery' || at !== undefined) continue;
    offsetMs += outer.offsetMs;
    at = typeof outer.at === 'number' ? outer.at : undefined;
  }
  return { at, offsetMs };
};

/** Returns the references of all selectors of a vector; undefined for a part without one. */
const referencesOf = (node: Expression, path: readonly Expression[]): (Reference | undefined)[] => {
  if (typeOf(node) !== 'vector' && typeOf(node) !== 'matrix') return [];
  if (node.kind === 'selector') return [referenceOf(node, path)];
  const isInfo = node.kind === 'call' && node.signature.name === 'info';
  const parts = isInfo ? node.args.slice(0, 1) : partsOf(node);
  const found = parts.flatMap((part) => referencesOf(part, [...path, node]));
  return found.some((reference) => reference !== undefined) ? found : [undefined];
};

/** Returns the time shared by the selectors of a vector; undefined if they have none in common. */
export const sharedReference = (node: Expression): Reference | undefined => {
  const [first, ...others] = referencesOf(node, []);
  if (first === undefined) return undefined;
  return others.every((other) => other !== undefined && sameReference(first, other)) ? first : undefined;
};

const signature = (labels: LabelSet): string => labels.pick(identifying).key;

/** Yields series with the `instance` and `job` of a series of the vector; only these add labels. */
function* relevant(allSeries: Iterable<Series>, signatures: ReadonlySet<string>): Iterable<Series> {
  for (const series of allSeries) if (signatures.has(signature(Labels.from(series.labels)))) yield series;
}

/** One call of `info()`. */
class InfoCall {
  readonly #conditions: ReadonlyMap<string, readonly ((value: string) => boolean)[]>;
  readonly #ignored: (name: string) => boolean;

  constructor(node: Call) {
    const names = namesOf(conditionsOf(node)).map(testOf);
    this.#ignored = (name) => names.every((test) => test(name));
    const conditions = new Map<string, ((value: string) => boolean)[]>();
    for (const matcher of conditionsOf(node))
      if (matcher.name !== '__name__')
        conditions.set(matcher.name, [...(conditions.get(matcher.name) ?? []), testOf(matcher)]);
    this.#conditions = conditions;
  }

  ignores(row: Row): boolean {
    return this.#ignored(row.labels.get('__name__'));
  }

  /** Returns the labels of a series with those of its info series at a step; undefined if the series is dropped. */
  enriched(base: LabelSet, infos: ReadonlyMap<string, Row> | undefined): LabelSet | undefined {
    const added = new Map<string, string>();
    for (const info of infos?.values() ?? []) this.#add(added, base, info.labels);
    if ((infos?.size ?? 0) === 0 && ![...this.#conditions.values()].flat().every((test) => test(''))) return undefined;
    return added.size === 0 ? base : Labels.from({ ...base.record(), ...Object.fromEntries(added) });
  }

  #add(added: Map<string, string>, base: LabelSet, info: LabelSet): void {
    for (const [at, name] of info.names.entries()) {
      if (name === '__name__' || (this.#conditions.size > 0 && !this.#conditions.has(name))) continue;
      const value = info.values[at] as string;
      if ((added.get(name) ?? value) !== value) throw new PromqlExecutionError(`conflicting label: ${name}`);
      if (base.get(name) === '') added.set(name, value);
    }
  }
}

/** Returns the newest series of each info metric at a step, by instance and job. */
const newestAt = (rows: readonly Row[], step: number): Map<string, Map<string, Row>> => {
  const found = new Map<string, Map<string, Row>>();
  for (const row of rows) {
    if (row.present[step] === absent) continue;
    const key = signature(row.labels);
    const name = row.labels.get('__name__');
    const metrics = found.get(key) ?? new Map<string, Row>();
    found.set(key, metrics);
    const other = metrics.get(name);
    const time = row.values[step] as number;
    const otherTime = (other?.values[step] as number) ?? Number.NEGATIVE_INFINITY;
    if (other !== undefined && time === otherTime)
      throw new PromqlExecutionError(
        `found duplicate series for info metric: existing ${other.labels} @ ${otherTime}, new ${row.labels} @ ${time}`,
      );
    if (time > otherTime) metrics.set(name, row);
  }
  return found;
};

/** Returns the info series of the instances and jobs of a vector. */
const infosOf = (evaluation: Evaluation, node: Call, call: InfoCall, rows: readonly Row[]): readonly Row[] => {
  const infoSignatures = new Set(rows.filter((row) => !call.ignores(row)).map((row) => signature(row.labels)));
  infoSignatures.delete('');
  if (infoSignatures.size === 0) return [];
  const reference = sharedReference(node.args[0] as Expression);
  return [
    ...originRows(evaluation, relevant(evaluation.read(node), infoSignatures), reference?.at, reference?.offsetMs ?? 0),
  ];
};

/** Results of one series: a row for each set of labels it has over time. */
class Enriched {
  readonly rows: Row[] = [];
  readonly #counts: SampleCounts;
  readonly #bySource = new Map<Row, Map<string, Row>>();

  constructor(counts: SampleCounts) {
    this.#counts = counts;
  }

  add(source: Row, labels: LabelSet, step: number): void {
    const own = this.#bySource.get(source) ?? new Map<string, Row>();
    this.#bySource.set(source, own);
    let row = own.get(labels.key);
    if (row === undefined) {
      row = Row.counted(this.#counts, labels, source.present.length, source.dropName);
      own.set(labels.key, row);
      this.rows.push(row);
    }
    row.copyFrom(source, step);
  }
}

/** `info(v, {…})`: adds the labels of info metrics, such as `target_info`, to the series of the same instance and job. */
export const infoRows = (evaluation: Evaluation, node: Call): Row[] => {
  const call = new InfoCall(node);
  const rows = [...evaluation.vector(node.args[0] as Expression)];
  const infos = infosOf(evaluation, node, call, rows);
  const enriched = new Enriched(evaluation.counts);
  for (let step = 0; step < evaluation.steps.count; step++) {
    const newest = newestAt(infos, step);
    for (const row of rows) {
      if (row.present[step] === absent) continue;
      const labels = call.ignores(row) ? row.labels : call.enriched(row.labels, newest.get(signature(row.labels)));
      if (labels !== undefined) enriched.add(row, labels, step);
    }
  }
  evaluation.counts.release((rows.length + infos.length) * evaluation.steps.count);
  return merged(enriched.rows);
};
