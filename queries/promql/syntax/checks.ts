import { PromqlSyntaxError } from './errors.ts';
import { compileTest } from './matchers.ts';
import { quoteText } from './quotes.ts';
import type { ValueType } from './signatures.ts';
import {
  type Aggregation,
  type Binary,
  type Call,
  type Expression,
  formatType,
  getValueType,
  isComparison,
  isSetOperator,
  type Position,
  type VectorSelector,
} from './tree.ts';

/** Checks types in the same order as Prometheus, and throws the first problem. */
export class TypeChecker {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the type of a valid expression. */
  check(node: Expression): ValueType {
    switch (node.kind) {
      case 'aggregation':
        this.#checkAggregation(node);
        break;
      case 'binary':
        this.#checkBinary(node);
        break;
      case 'call':
        this.#checkCall(node);
        break;
      case 'selector':
        this.#checkSelector(node);
        break;
      case 'number':
      case 'string':
        break;
      default:
        this.#checkWrapped(node);
    }
    return getValueType(node);
  }

  #fail(position: Position, problem: string): never {
    throw new PromqlSyntaxError(this.#text, position, problem);
  }

  #checkWrapped(
    node: Exclude<Expression, Aggregation | Binary | Call | VectorSelector | { kind: 'number' | 'string' }>,
  ): void {
    const type = this.check(node.kind === 'range' ? node.selector : node.innerExpression);
    if (node.kind === 'unary' && type !== 'scalar' && type !== 'vector')
      this.#fail(
        node,
        `unary expression only allowed on expressions of type scalar or instant vector, got ${quoteText(formatType(type))}`,
      );
    if (node.kind === 'subquery' && type !== 'vector')
      this.#fail(node, `subquery is only allowed on instant vector, got ${type} instead`);
  }

  #expect(node: Expression, expectedType: ValueType, context: string): void {
    const type = this.check(node);
    if (type !== expectedType)
      this.#fail(node, `expected type ${formatType(expectedType)} in ${context}, got ${formatType(type)}`);
  }

  #checkAggregation({ operator, innerExpression, parameter }: Aggregation): void {
    this.#expect(innerExpression, 'vector', 'aggregation expression');
    if (parameter === undefined) return;
    this.#expect(parameter, operator === 'count_values' ? 'string' : 'scalar', 'aggregation parameter');
  }

  #checkBinary(node: Binary): void {
    const left = this.check(node.left);
    const right = this.check(node.right);
    const areBothScalars = left === 'scalar' && right === 'scalar';
    if (node.bool && !isComparison(node.operator))
      this.#fail(this.#operatorPosition(node), 'bool modifier can only be used on comparison operators');
    if (isComparison(node.operator) && !node.bool && areBothScalars)
      this.#fail(this.#operatorPosition(node), 'comparisons between scalars must use BOOL modifier');
    this.#checkRepeatedLabels(node);
    for (const [part, type] of [
      [node.left, left],
      [node.right, right],
    ] as const)
      if (type !== 'scalar' && type !== 'vector')
        this.#fail(part, 'binary expression must contain only scalar and instant vector types');
    this.#checkMatching(node, left === 'vector' && right === 'vector');
  }

  /** Returns the position of the operator, without surrounding spaces. */
  #operatorPosition(node: Binary): Position {
    const textAfterLeft = this.#text.slice(node.left.end);
    return { start: node.left.end + textAfterLeft.length - textAfterLeft.trimStart().length, end: node.right.start };
  }

  #checkRepeatedLabels(node: Binary): void {
    const { labels = [], include = [], on = false } = node.matching ?? {};
    const repeatedLabel = on ? labels.find((label) => include.includes(label)) : undefined;
    if (repeatedLabel !== undefined)
      this.#fail(
        this.#operatorPosition(node),
        `label ${quoteText(repeatedLabel)} must not occur in ON and GROUP clause at once`,
      );
  }

  #checkMatching(node: Binary, areVectors: boolean): void {
    const { matching } = node;
    if (matching === undefined) return;
    const hasFill = matching.fillLeft !== undefined || matching.fillRight !== undefined;
    if (!areVectors) {
      if (matching.labels.length > 0) this.#fail(node, 'vector matching only allowed between instant vectors');
      if (hasFill) this.#fail(node, 'filling in missing series only allowed between instant vectors');
      node.matching = undefined;
      if (isSetOperator(node.operator))
        this.#fail(node, `set operator ${quoteText(node.operator)} not allowed in binary scalar expression`);
      return;
    }
    if (!isSetOperator(node.operator)) return;
    if (matching.card !== 'one-to-one' && matching.card !== 'many-to-many')
      this.#fail(node, `no grouping allowed for ${quoteText(node.operator)} operation`);
    if (hasFill) this.#fail(node, 'filling in missing series not allowed for set operators');
    node.matching = { ...matching, card: 'many-to-many' };
  }

  #checkCall(node: Call): void {
    const { name, parameterTypes, maxAdditionalArguments } = node.signature;
    const count = node.args.length;
    const callText = `in call to ${quoteText(name)}, got ${count}`;
    if (maxAdditionalArguments === 0 && parameterTypes.length !== count)
      this.#fail(node, `expected ${parameterTypes.length} argument(s) ${callText}`);
    const minArguments = parameterTypes.length - 1;
    if (maxAdditionalArguments !== 0 && minArguments > count)
      this.#fail(node, `expected at least ${minArguments} argument(s) ${callText}`);
    if (maxAdditionalArguments > 0 && minArguments + maxAdditionalArguments < count)
      this.#fail(node, `expected at most ${minArguments + maxAdditionalArguments} argument(s) ${callText}`);
    if (name === 'info') this.#checkLabelSelector(node);
    for (const [index, argument] of node.args.entries())
      this.#expect(
        argument,
        parameterTypes[index] ?? (parameterTypes.at(-1) as ValueType),
        `call to function ${quoteText(name)}`,
      );
  }

  #checkLabelSelector(node: Call): void {
    const labels = node.args[1];
    if (labels === undefined) return;
    const type = getValueType(labels);
    if (type !== 'vector')
      this.#fail(node, `expected type instant vector in call to function "info", got ${formatType(type)}`);
    if (labels.kind !== 'selector') this.#fail(labels, 'expected label selectors only');
    if (labels.name !== '') this.#fail(labels, 'expected label selectors only, got vector selector instead');
    labels.hasLabelsOnly = true;
  }

  #checkSelector(node: VectorSelector): void {
    if (node.name !== '') {
      const firstNameMatcher = node.matchers.slice(0, -1).find(({ name }) => name === '__name__');
      if (firstNameMatcher !== undefined)
        this.#fail(
          node,
          `metric name must not be set twice: ${quoteText(node.name)} or ${quoteText(firstNameMatcher.value)}`,
        );
      return;
    }
    if (!node.hasLabelsOnly && node.matchers.every((matcher) => compileTest(matcher)('')))
      this.#fail(node, 'vector selector must contain at least one non-empty matcher');
  }
}
