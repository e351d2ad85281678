import type { Matcher } from '../series.ts';
import { writeDuration } from './durations.ts';
import { plainNumber, shortNumber } from './numbers.ts';
import { quoted } from './quotes.ts';
import type {
  Aggregation,
  At,
  Binary,
  DurationExpression,
  DurationPart,
  Expression,
  MatrixSelector,
  NumberLiteral,
  Shift,
  Subquery,
  VectorSelector,
} from './tree.ts';

const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const nameText = (name: string): string => (plainName.test(name) ? name : quoted(name));
const labelsText = (labels: readonly string[]): string => labels.map(nameText).join(', ');

const matcherText = ({ name, op, value }: Matcher): string => `${nameText(name)}${op}${quoted(value)}`;

const numberText = ({ value, duration }: NumberLiteral): string => {
  if (!duration) return plainNumber(value);
  return value < 0 ? `-${writeDuration(-value * 1000)}` : writeDuration(value * 1000);
};

const atText = (at: At | undefined): string => {
  if (at === undefined) return '';
  return typeof at === 'number' ? ` @ ${(at / 1000).toFixed(3)}` : ` @ ${at}()`;
};

const offsetText = ({ offsetMs, offsetExpression }: Shift): string => {
  if (offsetExpression !== undefined) return ` offset ${durationText(offsetExpression)}`;
  if (offsetMs === 0) return '';
  return offsetMs > 0 ? ` offset ${writeDuration(offsetMs)}` : ` offset -${writeDuration(-offsetMs)}`;
};

const partText = (part: DurationPart | undefined): string => {
  if (part === undefined) return '';
  return part.kind === 'number' ? numberText(part) : durationText(part);
};

const innerDurationText = ({ operator, left, right }: DurationExpression): string => {
  if (operator === 'step' || operator === 'range') return `${operator}()`;
  if (operator === 'min_of' || operator === 'max_of') return `${operator}(${partText(left)}, ${partText(right)})`;
  if (left === undefined) return operator === '-' ? `-${partText(right)}` : partText(right);
  return `${partText(left)} ${operator} ${partText(right)}`;
};

const durationText = (duration: DurationExpression): string =>
  duration.wrapped ? `(${innerDurationText(duration)})` : innerDurationText(duration);

const extendedText = ({ anchored, smoothed }: VectorSelector): string => {
  if (anchored) return ' anchored';
  return smoothed ? ' smoothed' : '';
};

/** Returns whether the name before the braces already contains this matcher. */
const isName = ({ name, op, value }: Matcher, metric: string): boolean =>
  name === '__name__' && op === '=' && value === metric && value !== '';

const seriesText = ({ name, matchers }: VectorSelector): string => {
  const conditions = matchers.filter((matcher) => !isName(matcher, name)).map(matcherText);
  return conditions.length === 0 ? name : `${name}{${conditions.sort().join(',')}}`;
};

const rangeText = (node: MatrixSelector): string => {
  const selector = node.selector as VectorSelector;
  const range = node.rangeExpression === undefined ? writeDuration(node.rangeMs) : durationText(node.rangeExpression);
  return `${seriesText(selector)}[${range}]${extendedText(selector)}${atText(selector.at)}${offsetText(selector)}`;
};

/** Formats the range, step and times of a subquery. */
const subqueryTimes = (node: Subquery): string => {
  const range = node.rangeExpression === undefined ? writeDuration(node.rangeMs) : durationText(node.rangeExpression);
  const fixed = node.stepMs === 0 ? '' : writeDuration(node.stepMs);
  const step = node.stepMs === 0 && node.stepExpression !== undefined ? durationText(node.stepExpression) : fixed;
  return `[${range}:${step}]${atText(node.at)}${offsetText(node)}`;
};

/** Formats an aggregation operator with its labels. */
const aggregatorText = ({ operator, grouping, without }: Aggregation): string => {
  if (without) return `${operator} without (${labelsText(grouping)}) `;
  return grouping.length > 0 ? `${operator} by (${labelsText(grouping)}) ` : operator;
};

const fillText = (left: number | undefined, right: number | undefined): string => {
  if (left !== undefined && left === right) return ` fill (${shortNumber(left)})`;
  const first = left === undefined ? '' : ` fill_left (${shortNumber(left)})`;
  return right === undefined ? first : `${first} fill_right (${shortNumber(right)})`;
};

/** Formats an operator with `bool` and the vector matching. */
const operatorText = ({ operator, bool, matching }: Binary): string => {
  const name = bool ? `${operator} bool` : operator;
  if (matching === undefined) return name;
  const grouped = matching.card === 'many-to-one' || matching.card === 'one-to-many';
  const named = matching.labels.length > 0 || matching.on || grouped;
  const labels = named ? ` ${matching.on ? 'on' : 'ignoring'} (${labelsText(matching.labels)})` : '';
  const side = matching.card === 'many-to-one' ? 'left' : 'right';
  const group = grouped ? ` group_${side} (${labelsText(matching.include)})` : '';
  return `${name}${labels}${group}${fillText(matching.fillLeft, matching.fillRight)}`;
};

/** Texts of parts that were already printed. */
type Printed = Map<Expression, string>;

/** Formats an expression in one line, as Prometheus prints it. */
export const printed = (node: Expression, before: Printed = new Map()): string => {
  const text = before.get(node) ?? inOneLine(node, (part) => printed(part, before));
  before.set(node, text);
  return text;
};

const inOneLine = (node: Expression, printed: (part: Expression) => string): string => {
  switch (node.kind) {
    case 'number':
      return numberText(node);
    case 'string':
      return quoted(node.value);
    case 'selector':
      return `${seriesText(node)}${atText(node.at)}${extendedText(node)}${offsetText(node)}`;
    case 'range':
      return rangeText(node);
    case 'subquery':
      return `${printed(node.inner)}${subqueryTimes(node)}`;
    case 'call':
      return `${node.signature.name}(${node.args.map((argument) => printed(argument)).join(', ')})`;
    case 'aggregation': {
      const parameter = node.parameter === undefined ? '' : `${printed(node.parameter)}, `;
      return `${aggregatorText(node)}(${parameter}${printed(node.inner)})`;
    }
    case 'binary':
      return `${printed(node.left)} ${operatorText(node)} ${printed(node.right)}`;
    case 'unary':
      return `${node.operator}${printed(node.inner)}`;
    case 'parentheses':
      return `(${printed(node.inner)})`;
    case 'once':
      return printed(node.inner);
  }
};

const widest = 100;
const indented = (level: number): string => '  '.repeat(level);

/** Formats an expression like `promtool promql format`: parts longer than a line have their own lines. */
export const pretty = (node: Expression, level = 0, before: Printed = new Map()): string => {
  const indent = indented(level);
  if (node.kind === 'unary') return `${indent}${node.operator}${pretty(node.inner, level, before).trim()}`;
  const line = printed(node, before);
  const fits = line.length <= widest && Buffer.byteLength(line) <= widest;
  if (node.kind === 'subquery') return fits ? line : `${pretty(node.inner, level, before)}${subqueryTimes(node)}`;
  return fits ? indent + line : split(node, level, before);
};

const split = (node: Expression, level: number, before: Printed): string => {
  const indent = indented(level);
  switch (node.kind) {
    case 'aggregation': {
      const parameter = node.parameter === undefined ? '' : `${pretty(node.parameter, level + 1, before)},\n`;
      return `${indent}${aggregatorText(node)}(\n${parameter}${pretty(node.inner, level + 1, before)}\n${indent})`;
    }
    case 'binary':
      return `${pretty(node.left, level + 1, before)}\n${indent}${operatorText(node)}\n${pretty(node.right, level + 1, before)}`;
    case 'call': {
      const args = node.args.map((argument) => pretty(argument, level + 1, before)).join(',\n');
      return `${indent}${node.signature.name}(\n${args}\n${indent})`;
    }
    case 'parentheses':
      return `${indent}(\n${pretty(node.inner, level + 1, before)}\n${indent})`;
    default:
      return indent + printed(node, before);
  }
};
