import { getReducedType, getReducerTitle, reduceValues } from './reducers.ts';
import {
  type Column,
  countRows,
  findColumn,
  findTimeColumn,
  formatResponseNumber,
  getDisplayName,
  isNumeric,
  parseNumber,
  type Table,
} from './table.ts';
import type { Transform, TransformationOptions } from './transformation.ts';

type Calculation = TransformationOptions<'calculate'>['calculation'];
type CalculationOf<Kind extends Calculation['is']> = Extract<Calculation, { is: Kind }>;
type Numbers = readonly (number | undefined)[];

interface CalculatedColumn {
  readonly name: string;
  readonly column: Omit<Column, 'name'>;
}

const toNumbers = ({ values }: Column): Numbers =>
  values.map((value) => (value === null ? undefined : parseNumber(value)));

const toCalculatedColumn = (name: string, unit: string, numbers: Numbers): CalculatedColumn => ({
  name,
  column: { type: 'number', unit, values: numbers.map(formatResponseNumber) },
});

const calculateRow = (table: Table, { reducer, fields }: CalculationOf<'row'>): CalculatedColumn => {
  const columns =
    fields === undefined ? table.columns.filter(isNumeric) : fields.flatMap((name) => findColumn(table, name) ?? []);
  const units = new Set(columns.map(({ unit }) => unit));
  const values = Array.from({ length: countRows(table) }, (_, at) =>
    reduceValues(
      reducer,
      columns.map((column) => column.values[at]),
    ),
  );
  const unit = units.size === 1 && !/count|all-/.test(reducer) ? ([...units][0] as string) : '';
  return { name: getReducerTitle(reducer), column: { type: getReducedType(reducer, 'number'), unit, values } };
};

/** Binary operations; a division by zero has no value. */
const binaryOperations: Readonly<
  Record<CalculationOf<'binary'>['operator'], (left: number, right: number) => number | undefined>
> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => (right === 0 ? undefined : left / right),
  '%': (left, right) => (right === 0 ? undefined : left % right),
  '^': (left, right) => left ** right,
};

const calculateBinary = (
  table: Table,
  { left, operator, right }: CalculationOf<'binary'>,
): CalculatedColumn | undefined => {
  const readOperand = (side: typeof left): { numbers: Numbers; name: string; unit?: string } | undefined => {
    if ('value' in side) return { numbers: Array(countRows(table)).fill(side.value), name: String(side.value) };
    const column = findColumn(table, side.field);
    return column === undefined
      ? undefined
      : { numbers: toNumbers(column), name: getDisplayName(column), unit: column.unit };
  };
  const [one, other] = [readOperand(left), readOperand(right)];
  if (one === undefined || other === undefined) return undefined;
  const preservesUnit = operator === '+' || operator === '-' || other.unit === undefined;
  const unit = preservesUnit && (other.unit === undefined || one.unit === other.unit) ? (one.unit ?? '') : '';
  const numbers = one.numbers.map((number, at) => {
    const otherNumber = other.numbers[at];
    return number === undefined || otherNumber === undefined
      ? undefined
      : binaryOperations[operator](number, otherNumber);
  });
  return toCalculatedColumn(`${one.name} ${operator} ${other.name}`, unit, numbers);
};

const functions: Readonly<Record<CalculationOf<'unary'>['function'], (number: number) => number>> = {
  abs: Math.abs,
  exp: Math.exp,
  ln: Math.log,
  floor: Math.floor,
  ceil: Math.ceil,
  round: Math.round,
  sign: Math.sign,
  negate: (number) => -number,
};

const calculateUnary = (
  table: Table,
  { field, function: name }: CalculationOf<'unary'>,
): CalculatedColumn | undefined => {
  const column = findColumn(table, field);
  if (column === undefined) return undefined;
  const numbers = toNumbers(column).map((number) => (number === undefined ? undefined : functions[name](number)));
  return toCalculatedColumn(`${name}(${field})`, ['exp', 'ln', 'sign'].includes(name) ? '' : column.unit, numbers);
};

const findSelectedColumn = (table: Table, field: string | undefined): Column | undefined =>
  field === undefined ? table.columns.find(isNumeric) : findColumn(table, field);

const calculateCumulative = (
  table: Table,
  { field, function: name }: CalculationOf<'cumulative'>,
): CalculatedColumn | undefined => {
  const column = findSelectedColumn(table, field);
  if (column === undefined) return undefined;
  let sum = 0;
  let count = 0;
  const numbers = toNumbers(column).map((number) => {
    if (number !== undefined) {
      sum += number;
      count++;
    }
    return name === 'sum' ? sum : count === 0 ? undefined : sum / count;
  });
  return toCalculatedColumn(`cumulative ${name}(${column.name})`, column.unit, numbers);
};

/** Aggregates a moving window. Sums are relative to the mean of all values, to limit rounding errors. */
const aggregateWindow = (numbers: Numbers, { rows, place, function: name }: CalculationOf<'window'>): Numbers => {
  const before = place === 'behind' ? rows - 1 : Math.floor((rows - 1) / 2);
  const after = rows - 1 - before;
  const presentNumbers = numbers.filter((number) => number !== undefined);
  const center =
    presentNumbers.length === 0 ? 0 : presentNumbers.reduce((sum, number) => sum + number / presentNumbers.length, 0);
  let [count, sum, squares, from, to] = [0, 0, 0, 0, 0];
  const add = (number: number | undefined, sign: number): void => {
    if (number === undefined) return;
    count += sign;
    sum += sign * (number - center);
    squares += sign * (number - center) ** 2;
  };
  return numbers.map((_, at) => {
    while (to <= Math.min(at + after, numbers.length - 1)) add(numbers[to++], 1);
    while (from < at - before) add(numbers[from++], -1);
    if (count === 0) return undefined;
    const mean = sum / count;
    if (name === 'mean') return mean + center;
    const variance = Math.max(0, squares / count - mean ** 2);
    return name === 'variance' ? variance : Math.sqrt(variance);
  });
};

const calculateWindow = (table: Table, options: CalculationOf<'window'>): CalculatedColumn | undefined => {
  const column = findSelectedColumn(table, options.field);
  if (column === undefined) return undefined;
  const unit = options.function === 'variance' ? '' : column.unit;
  return toCalculatedColumn(
    `moving ${options.function}(${column.name})`,
    unit,
    aggregateWindow(toNumbers(column), options),
  );
};

const calculateIndex = (table: Table, { asShare }: CalculationOf<'index'>): CalculatedColumn => {
  const rows = countRows(table);
  const numbers = Array.from({ length: rows }, (_, at) => (asShare ? (rows < 2 ? 0 : at / (rows - 1)) : at));
  return toCalculatedColumn('Row', asShare ? '1' : '', numbers);
};

const runCalculation = (table: Table, calculation: Calculation): CalculatedColumn | undefined => {
  switch (calculation.is) {
    case 'row':
      return calculateRow(table, calculation);
    case 'binary':
      return calculateBinary(table, calculation);
    case 'unary':
      return calculateUnary(table, calculation);
    case 'cumulative':
      return calculateCumulative(table, calculation);
    case 'window':
      return calculateWindow(table, calculation);
    case 'index':
      return calculateIndex(table, calculation);
  }
};

export const calculate: Transform<'calculate'> = (tables, { calculation, as, replaces }) =>
  tables.map((table) => {
    const calculatedColumn = runCalculation(table, calculation);
    if (calculatedColumn === undefined) return table;
    const column: Column = { ...calculatedColumn.column, name: as ?? calculatedColumn.name };
    const time = findTimeColumn(table);
    const baseColumns = replaces ? (time === undefined ? [] : [time]) : table.columns;
    return { ...table, columns: [...baseColumns, column] };
  });
