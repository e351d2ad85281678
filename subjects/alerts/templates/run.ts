/** Evaluates the syntax tree of a template. */
import { TemplateError } from './errors.ts';
import { functions } from './functions.ts';
import type { Node, Operand, Pipeline } from './parse.ts';
import type { QueryResultLookup } from './queries.ts';
import { formatValue, isTrue, requireString, Struct, toMap, type Value } from './values.ts';

/** Values as people read them, such as `2.5 s`. Absent if the value has no unit. */
export interface ReadableValues {
  readonly value?: string | undefined;
  readonly threshold?: string | undefined;
}

/** Values that a template may reference. */
export interface TemplateValues {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number | null;
  /** In the unit of the value; null if the condition has none. */
  readonly threshold: number | null;
  /** Texts with their unit of the value and the threshold, which actions that only print them show instead. */
  readonly readable?: ReadableValues | undefined;
  /** Evaluation time, for `now` and for queries. */
  readonly nowMs: number;
  /** Results of queries in the text; undefined if queries are not allowed. */
  readonly queried?: QueryResultLookup | undefined;
}

/** Limits of one template: evaluation steps, the length of any text, and queries. */
const limits = { steps: 10_000, length: 65_536, queries: 5 };

/**
 * Steps that a function call costs in addition, and the number of argument characters that cost one more step. Regular
 * expressions are slow, because they are compiled for each call.
 */
const costs = { plain: { steps: 0, characters: 64 }, regex: { steps: 50, characters: 8 } };
const getFunctionCost = (name: string) => (name === 'match' || name === 'reReplaceAll' ? costs.regex : costs.plain);

const getTextLength = (value: Value): number => {
  if (typeof value === 'string') return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, value: Value) => sum + getTextLength(value), 0);
  if (!(value instanceof Map)) return 0;
  let length = 0;
  for (const [name, each] of value) length += getTextLength(name) + getTextLength(each);
  return length;
};

/** A unit or a percent sign after a value, whose text then must be a number. */
const unitPattern =
  /^\s*(?:[%‰]|(?:ns|us|µs|ms|s|secs?|seconds?|milliseconds?|microseconds?|nanoseconds?|min|minutes?|h|hours?|d|days?|[kKMGT]?i?(?:B|By|bytes?)|bits?|percent|Hz)(?![\w]))/;

/** How the evaluation of a list of nodes ended. */
type Ending = 'end' | 'break' | 'continue';

class TemplateRun {
  readonly #nowMs: number;
  readonly #queried: QueryResultLookup | undefined;
  #queries = 0;
  readonly #root: ReadonlyMap<string, Value>;
  readonly #variables: [name: string, value: Value][];
  #steps = 0;
  #text = '';
  readonly #readable: ReadableValues;
  /** Variables that the template assigned. */
  readonly #assigned = new Set<[name: string, value: Value]>();

  constructor({ labels, value, threshold, readable = {}, nowMs, queried }: TemplateValues) {
    this.#nowMs = nowMs;
    this.#readable = readable;
    this.#queried = queried;
    const [labelMap, emptyMap] = [toMap(labels), toMap({})];
    this.#root = new Struct([
      ['Labels', labelMap],
      ['Value', value],
      ['ExternalLabels', emptyMap],
      ['ExternalURL', ''],
    ]);
    this.#variables = [
      ['$', this.#root],
      ['$labels', labelMap],
      ['$externalLabels', emptyMap],
      ['$externalURL', ''],
      ['$value', value],
      ['$threshold', threshold],
    ];
  }

  run(nodes: readonly Node[]): string {
    this.#runNodes(nodes, this.#root);
    return this.#text;
  }

  #countSteps(count = 1): void {
    this.#steps += count;
    if (this.#steps > limits.steps) throw new TemplateError(`it takes more than ${limits.steps} steps`);
  }

  #limitLength<Limited extends Value>(value: Limited): Limited {
    if (typeof value === 'string' && value.length > limits.length)
      throw new TemplateError(`it produces a text of more than ${limits.length} characters`);
    return value;
  }

  #runNodes(nodes: readonly Node[], dot: Value): Ending {
    for (const [index, node] of nodes.entries()) {
      this.#countSteps();
      const next = nodes[index + 1];
      const ending = this.#runNode(node, dot, next?.kind === 'text' ? next.text : '');
      if (ending !== 'end') return ending;
    }
    return 'end';
  }

  #runNode(node: Node, dot: Value, textAfter: string): Ending {
    switch (node.kind) {
      case 'text':
        this.#text = this.#limitLength(this.#text + node.text);
        return 'end';
      case 'action': {
        const value = this.#evaluatePipeline(node.pipeline, dot);
        const text = this.#findReadableText(node.pipeline, dot, textAfter) ?? formatValue(value);
        if (node.pipeline.names.length === 0) this.#text = this.#limitLength(this.#text + text);
        return 'end';
      }
      case 'break':
      case 'continue':
        return node.kind;
      default:
        return this.#runBlock(node, dot);
    }
  }

  /** Returns the readable text of an action that only prints the value or the threshold, without a unit after it. */
  #findReadableText({ commands }: Pipeline, dot: Value, textAfter: string): string | undefined {
    const [[operand, ...arguments_] = [], ...others] = commands;
    if (operand === undefined || arguments_.length > 0 || others.length > 0 || unitPattern.test(textAfter))
      return undefined;
    if (operand.kind === 'field')
      return operand.name === 'Value' && this.#isRoot(operand.object, dot) ? this.#readable.value : undefined;
    if (operand.kind !== 'variable') return undefined;
    // A template may define a variable of the same name.
    const [first, ...redefined] = this.#variables.filter(([name]) => name === operand.name);
    if (first === undefined || redefined.length > 0 || this.#assigned.has(first)) return undefined;
    if (operand.name === '$value') return this.#readable.value;
    return operand.name === '$threshold' ? this.#readable.threshold : undefined;
  }

  #isRoot(operand: Operand, dot: Value): boolean {
    return operand.kind === 'dot' ? dot === this.#root : operand.kind === 'variable' && operand.name === '$';
  }

  /** Evaluates a block. The scope of its variables ends with it. */
  #runBlock(node: Extract<Node, { pipeline: Pipeline; body: readonly Node[] }>, dot: Value): Ending {
    const variables = this.#variables.length;
    const ending = node.kind === 'range' ? this.#runRange(node, dot) : this.#runBranch(node, dot);
    this.#variables.length = variables;
    return ending;
  }

  #runBranch({ kind, pipeline, body, otherwise }: Extract<Node, { body: readonly Node[] }>, dot: Value): Ending {
    const value = this.#evaluatePipeline(pipeline, dot);
    if (!isTrue(value)) return this.#runNodes(otherwise, dot);
    return this.#runNodes(body, kind === 'with' ? value : dot);
  }

  #runRange({ pipeline, body, otherwise }: Extract<Node, { body: readonly Node[] }>, dot: Value): Ending {
    const { names, isAssignment } = pipeline;
    const value = this.#evaluatePipeline({ ...pipeline, names: [] }, dot);
    const entries = toEntries(value);
    if (entries.length === 0) return this.#runNodes(otherwise, dot);
    const variables = this.#variables.length;
    for (const [key, element] of entries) {
      const iterationValues = names.length === 2 ? [key, element] : [element];
      for (const [index, name] of names.entries())
        this.#setVariable(name, iterationValues[index] as Value, isAssignment);
      const ending = this.#runNodes(body, element);
      this.#variables.length = variables;
      if (ending === 'break') break;
    }
    return 'end';
  }

  #setVariable(name: string, value: Value, assigns: boolean): void {
    const existing = assigns ? this.#variables.findLast(([variableName]) => variableName === name) : undefined;
    if (existing === undefined) this.#variables.push([name, value]);
    else {
      existing[1] = value;
      this.#assigned.add(existing);
    }
  }

  #evaluatePipeline({ names, isAssignment, commands }: Pipeline, dot: Value): Value {
    let pipedValues: readonly Value[] = [];
    for (const command of commands) pipedValues = [this.#limitLength(this.#evaluateCommand(command, pipedValues, dot))];
    const [value = null] = pipedValues;
    for (const name of names) this.#setVariable(name, value, isAssignment);
    return value;
  }

  #evaluateCommand([first, ...operands]: readonly Operand[], pipedValues: readonly Value[], dot: Value): Value {
    this.#countSteps();
    if (first === undefined) return null;
    if (first.kind === 'function') return this.#callFunction(first.name, operands, pipedValues, dot);
    if (operands.length > 0 || pipedValues.length > 0)
      throw new TemplateError('arguments are passed to a value that is not a function');
    return this.#evaluateOperand(first, dot);
  }

  #callFunction(name: string, operands: readonly Operand[], pipedValues: readonly Value[], dot: Value): Value {
    if (name === 'and' || name === 'or') return this.#shortCircuit(name === 'or', operands, pipedValues, dot);
    if (name === 'query')
      return this.#runQuery([...operands.map((operand) => this.#evaluateOperand(operand, dot)), ...pipedValues]);
    const call = functions[name];
    if (call === undefined) throw new TemplateError(`the function ${name} is unknown here`);
    const values = [...operands.map((operand) => this.#evaluateOperand(operand, dot)), ...pipedValues];
    const { steps, characters } = getFunctionCost(name);
    this.#countSteps(steps);
    for (const value of values) this.#countSteps(Math.floor(getTextLength(value) / characters));
    return call(values, this.#nowMs);
  }

  #runQuery([expression = null, ...others]: readonly Value[]): Value {
    if (others.length > 0) throw new TemplateError('query expects one expression');
    if (++this.#queries > limits.queries) throw new TemplateError(`it runs more than ${limits.queries} queries`);
    const queryResult = this.#queried?.(requireString(expression), this.#nowMs);
    if (queryResult === undefined) throw new TemplateError('the query has no result yet');
    if ('error' in queryResult) throw new TemplateError(`error calling query: ${queryResult.error}`);
    return queryResult.samples.map(
      ({ labels, value }) =>
        new Struct([
          ['Labels', toMap(labels)],
          ['Value', value],
        ]),
    );
  }

  /** Evaluates `and` or `or`: returns the first value that determines the result, or else the last value. */
  #shortCircuit(
    decidingValue: boolean,
    operands: readonly Operand[],
    pipedValues: readonly Value[],
    dot: Value,
  ): Value {
    let value: Value = null;
    for (const operand of operands) {
      value = this.#evaluateOperand(operand, dot);
      if (isTrue(value) === decidingValue) return value;
    }
    return pipedValues[0] ?? value;
  }

  #evaluateOperand(operand: Operand, dot: Value): Value {
    this.#countSteps();
    switch (operand.kind) {
      case 'dot':
        return dot;
      case 'nil':
        return null;
      case 'constant':
        return operand.value;
      case 'variable':
        return this.#variables.findLast(([name]) => name === operand.name)?.[1] ?? null;
      case 'function':
        return this.#callFunction(operand.name, [], [], dot);
      case 'pipeline':
        return this.#evaluatePipeline(operand.pipeline, dot);
      case 'field':
        return this.#getField(this.#evaluateOperand(operand.object, dot), operand.name);
    }
  }

  #getField(value: Value, name: string): Value {
    if (!(value instanceof Map)) throw new TemplateError(`${formatValue(value)} has no field ${name}`);
    const fieldValue = value.get(name) as Value | undefined;
    if (fieldValue === undefined && value instanceof Struct)
      throw new TemplateError(`the field .${name} does not exist`);
    return fieldValue === undefined ? '' : fieldValue;
  }
}

const toEntries = (value: Value): readonly (readonly [Value, Value])[] => {
  if (value instanceof Map) return [...value];
  if (Array.isArray(value)) return value.map((element: Value, index) => [BigInt(index), element] as const);
  if (value === null) return [];
  throw new TemplateError(`${formatValue(value)} is not a list`);
};

/** Returns the text of a template. Throws `TemplateError` if it cannot be rendered. */
export const runTemplate = (nodes: readonly Node[], values: TemplateValues): string =>
  new TemplateRun(values).run(nodes);
