import type { Matcher } from '../series.ts';
import { formatDuration } from './durations.ts';
import { formatWithExponent, formatWithoutExponent } from './numbers.ts';
import { quoteText } from './quotes.ts';
import type {
  Aggregation,
  Binary,
  DurationExpression,
  DurationPart,
  Expression,
  FixedTime,
  MatrixSelector,
  NumberLiteral,
  Subquery,
  TimeShift,
  VectorSelector,
} from './tree.ts';

const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const formatName = (name: string): string => (plainName.test(name) ? name : quoteText(name));
const formatLabels = (labels: readonly string[]): string => labels.map(formatName).join(', ');

const formatMatcher = ({ name, op, value }: Matcher): string => `${formatName(name)}${op}${quoteText(value)}`;

const formatNumber = ({ value, duration }: NumberLiteral): string => {
  if (!duration) return formatWithoutExponent(value);
  return value < 0 ? `-${formatDuration(-value * 1000)}` : formatDuration(value * 1000);
};

const formatAt = (at: FixedTime | undefined): string => {
  if (at === undefined) return '';
  return typeof at === 'number' ? ` @ ${(at / 1000).toFixed(3)}` : ` @ ${at}()`;
};

const formatOffset = ({ offsetMs, offsetExpression }: TimeShift): string => {
  if (offsetExpression !== undefined) return ` offset ${formatDurationExpression(offsetExpression)}`;
  if (offsetMs === 0) return '';
  return offsetMs > 0 ? ` offset ${formatDuration(offsetMs)}` : ` offset -${formatDuration(-offsetMs)}`;
};

const formatPart = (part: DurationPart | undefined): string => {
  if (part === undefined) return '';
  return part.kind === 'number' ? formatNumber(part) : formatDurationExpression(part);
};

const formatInnerDuration = ({ operator, left, right }: DurationExpression): string => {
  if (operator === 'step' || operator === 'range') return `${operator}()`;
  if (operator === 'min_of' || operator === 'max_of') return `${operator}(${formatPart(left)}, ${formatPart(right)})`;
  if (left === undefined) return operator === '-' ? `-${formatPart(right)}` : formatPart(right);
  return `${formatPart(left)} ${operator} ${formatPart(right)}`;
};

const formatDurationExpression = (duration: DurationExpression): string =>
  duration.wrapped ? `(${formatInnerDuration(duration)})` : formatInnerDuration(duration);

const formatExtendedModifier = ({ anchored, smoothed }: VectorSelector): string => {
  if (anchored) return ' anchored';
  return smoothed ? ' smoothed' : '';
};

/** Returns whether the name before the braces already contains this matcher. */
const isNameMatcher = ({ name, op, value }: Matcher, metric: string): boolean =>
  name === '__name__' && op === '=' && value === metric && value !== '';

const formatSeries = ({ name, matchers }: VectorSelector): string => {
  const conditions = matchers.filter((matcher) => !isNameMatcher(matcher, name)).map(formatMatcher);
  return conditions.length === 0 ? name : `${name}{${conditions.sort().join(',')}}`;
};

const formatRange = (node: MatrixSelector): string => {
  const selector = node.selector as VectorSelector;
  const range =
    node.rangeExpression === undefined ? formatDuration(node.rangeMs) : formatDurationExpression(node.rangeExpression);
  return `${formatSeries(selector)}[${range}]${formatExtendedModifier(selector)}${formatAt(selector.at)}${formatOffset(selector)}`;
};

/** Formats the range, step and times of a subquery. */
const formatSubqueryTimes = (node: Subquery): string => {
  const range =
    node.rangeExpression === undefined ? formatDuration(node.rangeMs) : formatDurationExpression(node.rangeExpression);
  const fixedStep = node.stepMs === 0 ? '' : formatDuration(node.stepMs);
  const step =
    node.stepMs === 0 && node.stepExpression !== undefined ? formatDurationExpression(node.stepExpression) : fixedStep;
  return `[${range}:${step}]${formatAt(node.at)}${formatOffset(node)}`;
};

/** Formats an aggregation operator with its labels. */
const formatAggregator = ({ operator, grouping, without }: Aggregation): string => {
  if (without) return `${operator} without (${formatLabels(grouping)}) `;
  return grouping.length > 0 ? `${operator} by (${formatLabels(grouping)}) ` : operator;
};

const formatFill = (left: number | undefined, right: number | undefined): string => {
  if (left !== undefined && left === right) return ` fill (${formatWithExponent(left)})`;
  const first = left === undefined ? '' : ` fill_left (${formatWithExponent(left)})`;
  return right === undefined ? first : `${first} fill_right (${formatWithExponent(right)})`;
};

/** Formats an operator with `bool` and the vector matching. */
const formatOperator = ({ operator, bool, matching }: Binary): string => {
  const name = bool ? `${operator} bool` : operator;
  if (matching === undefined) return name;
  const isGrouped = matching.card === 'many-to-one' || matching.card === 'one-to-many';
  const hasMatching = matching.labels.length > 0 || matching.on || isGrouped;
  const labels = hasMatching ? ` ${matching.on ? 'on' : 'ignoring'} (${formatLabels(matching.labels)})` : '';
  const side = matching.card === 'many-to-one' ? 'left' : 'right';
  const group = isGrouped ? ` group_${side} (${formatLabels(matching.include)})` : '';
  return `${name}${labels}${group}${formatFill(matching.fillLeft, matching.fillRight)}`;
};

/** Texts of parts that were already printed. */
type PrintedTexts = Map<Expression, string>;

/** Formats an expression in one line, as Prometheus prints it. */
export const printExpression = (node: Expression, printedTexts: PrintedTexts = new Map()): string => {
  const text = printedTexts.get(node) ?? printInOneLine(node, (part) => printExpression(part, printedTexts));
  printedTexts.set(node, text);
  return text;
};

const printInOneLine = (node: Expression, printPart: (part: Expression) => string): string => {
  switch (node.kind) {
    case 'number':
      return formatNumber(node);
    case 'string':
      return quoteText(node.value);
    case 'selector':
      return `${formatSeries(node)}${formatAt(node.at)}${formatExtendedModifier(node)}${formatOffset(node)}`;
    case 'range':
      return formatRange(node);
    case 'subquery':
      return `${printPart(node.innerExpression)}${formatSubqueryTimes(node)}`;
    case 'call':
      return `${node.signature.name}(${node.args.map((argument) => printPart(argument)).join(', ')})`;
    case 'aggregation': {
      const parameter = node.parameter === undefined ? '' : `${printPart(node.parameter)}, `;
      return `${formatAggregator(node)}(${parameter}${printPart(node.innerExpression)})`;
    }
    case 'binary':
      return `${printPart(node.left)} ${formatOperator(node)} ${printPart(node.right)}`;
    case 'unary':
      return `${node.operator}${printPart(node.innerExpression)}`;
    case 'parentheses':
      return `(${printPart(node.innerExpression)})`;
    case 'once':
      return printPart(node.innerExpression);
  }
};

const maxLineLength = 100;
const indentation = (level: number): string => '  '.repeat(level);

/** Formats an expression like `promtool promql format`: parts longer than a line have their own lines. */
export const prettyPrint = (node: Expression, level = 0, printedTexts: PrintedTexts = new Map()): string => {
  const indent = indentation(level);
  if (node.kind === 'unary')
    return `${indent}${node.operator}${prettyPrint(node.innerExpression, level, printedTexts).trim()}`;
  const line = printExpression(node, printedTexts);
  const fits = line.length <= maxLineLength && Buffer.byteLength(line) <= maxLineLength;
  if (node.kind === 'subquery')
    return fits ? line : `${prettyPrint(node.innerExpression, level, printedTexts)}${formatSubqueryTimes(node)}`;
  return fits ? indent + line : printInLines(node, level, printedTexts);
};

const printInLines = (node: Expression, level: number, printedTexts: PrintedTexts): string => {
  const indent = indentation(level);
  switch (node.kind) {
    case 'aggregation': {
      const parameter =
        node.parameter === undefined ? '' : `${prettyPrint(node.parameter, level + 1, printedTexts)},\n`;
      return `${indent}${formatAggregator(node)}(\n${parameter}${prettyPrint(node.innerExpression, level + 1, printedTexts)}\n${indent})`;
    }
    case 'binary':
      return `${prettyPrint(node.left, level + 1, printedTexts)}\n${indent}${formatOperator(node)}\n${prettyPrint(node.right, level + 1, printedTexts)}`;
    case 'call': {
      const args = node.args.map((argument) => prettyPrint(argument, level + 1, printedTexts)).join(',\n');
      return `${indent}${node.signature.name}(\n${args}\n${indent})`;
    }
    case 'parentheses':
      return `${indent}(\n${prettyPrint(node.innerExpression, level + 1, printedTexts)}\n${indent})`;
    default:
      return indent + printExpression(node, printedTexts);
  }
};
