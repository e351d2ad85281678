import { reduced, titleOfReducer, typeOfReduced } from './reducers.ts';
import { type Column, columnNamed, isNumeric, numberOf, rowsOf, type Table, timeOf, writtenNumber } from './table.ts';
import type { OptionsOf, Transform } from './transformation.ts';

type Calculation = OptionsOf<'calculate'>['calculation'];
type Of<Kind extends Calculation['is']> = Extract<Calculation, { is: Kind }>;
type Numbers = readonly (number | undefined)[];

interface Calculated {
  readonly name: string;
  readonly column: Omit<Column, 'name'>;
}

const numbersOf = ({ values }: Column): Numbers =>
  values.map((value) => (value === null ? undefined : numberOf(value)));

const ofNumbers = (name: string, unit: string, numbers: Numbers): Calculated => ({
  name,
  column: { type: 'number', unit, values: numbers.map(writtenNumber) },
});

const row = (table: Table, { reducer, fields }: Of<'row'>): Calculated => {
  const columns =
    fields === undefined ? table.columns.filter(isNumeric) : fields.flatMap((name) => columnNamed(table, name) ?? []);
  const units = new Set(columns.map(({ unit }) => unit));
  const values = Array.from({ length: rowsOf(table) }, (_, at) =>
    reduced(
      reducer,
      columns.map((column) => column.values[at]),
    ),
  );
  const unit = units.size === 1 && !/count|all-/.test(reducer) ? ([...units][0] as string) : '';
  return { name: titleOfReducer(reducer), column: { type: typeOfReduced(reducer, 'number'), unit, values } };
};

/** A division by zero has no value. */
const operations: Readonly<Record<Of<'binary'>['operator'], (left: number, right: number) => number | undefined>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => (right === 0 ? undefined : left / right),
  '%': (left, right) => (right === 0 ? undefined : left % right),
  '^': (left, right) => left ** right,
};

const binary = (table: Table, { left, operator, right }: Of<'binary'>): Calculated | undefined => {
  const sideOf = (side: typeof left): { numbers: Numbers; name: string; unit?: string } | undefined => {
    if ('value' in side) return { numbers: Array(rowsOf(table)).fill(side.value), name: String(side.value) };
    const column = columnNamed(table, side.field);
    return column === undefined ? undefined : { numbers: numbersOf(column), name: column.name, unit: column.unit };
  };
  const [one, other] = [sideOf(left), sideOf(right)];
  if (one === undefined || other === undefined) return undefined;
  const preservesUnit = operator === '+' || operator === '-' || other.unit === undefined;
  const unit = preservesUnit && (other.unit === undefined || one.unit === other.unit) ? (one.unit ?? '') : '';
  const numbers = one.numbers.map((number, at) => {
    const second = other.numbers[at];
    return number === undefined || second === undefined ? undefined : operations[operator](number, second);
  });
  return ofNumbers(`${one.name} ${operator} ${other.name}`, unit, numbers);
};

const functions: Readonly<Record<Of<'unary'>['function'], (number: number) => number>> = {
  abs: Math.abs,
  exp: Math.exp,
  ln: Math.log,
  floor: Math.floor,
  ceil: Math.ceil,
  round: Math.round,
  sign: Math.sign,
  negate: (number) => -number,
};

const unary = (table: Table, { field, function: name }: Of<'unary'>): Calculated | undefined => {
  const column = columnNamed(table, field);
  if (column === undefined) return undefined;
  const numbers = numbersOf(column).map((number) => (number === undefined ? undefined : functions[name](number)));
  return ofNumbers(`${name}(${field})`, ['exp', 'ln', 'sign'].includes(name) ? '' : column.unit, numbers);
};

const chosen = (table: Table, field: string | undefined): Column | undefined =>
  field === undefined ? table.columns.find(isNumeric) : columnNamed(table, field);

const cumulative = (table: Table, { field, function: name }: Of<'cumulative'>): Calculated | undefined => {
  const column = chosen(table, field);
  if (column === undefined) return undefined;
  let sum = 0;
  let count = 0;
  const numbers = numbersOf(column).map((number) => {
    if (number !== undefined) {
      sum += number;
      count++;
    }
    return name === 'sum' ? sum : count === 0 ? undefined : sum / count;
  });
  return ofNumbers(`cumulative ${name}(${column.name})`, column.unit, numbers);
};

/** Sums over a moving window, relative to the mean of all values to limit rounding errors. */
const windowed = (numbers: Numbers, { rows, place, function: name }: Of<'window'>): Numbers => {
  const before = place === 'behind' ? rows - 1 : Math.floor((rows - 1) / 2);
  const behind = rows - 1 - before;
  const known = numbers.filter((number) => number !== undefined);
  const centre = known.length === 0 ? 0 : known.reduce((sum, number) => sum + number / known.length, 0);
  let [count, sum, squares, from, to] = [0, 0, 0, 0, 0];
  const add = (number: number | undefined, sign: number): void => {
    if (number === undefined) return;
    count += sign;
    sum += sign * (number - centre);
    squares += sign * (number - centre) ** 2;
  };
  return numbers.map((_, at) => {
    while (to <= Math.min(at + behind, numbers.length - 1)) add(numbers[to++], 1);
    while (from < at - before) add(numbers[from++], -1);
    if (count === 0) return undefined;
    const mean = sum / count;
    if (name === 'mean') return mean + centre;
    const variance = Math.max(0, squares / count - mean ** 2);
    return name === 'variance' ? variance : Math.sqrt(variance);
  });
};

const window = (table: Table, options: Of<'window'>): Calculated | undefined => {
  const column = chosen(table, options.field);
  if (column === undefined) return undefined;
  const unit = options.function === 'variance' ? '' : column.unit;
  return ofNumbers(`moving ${options.function}(${column.name})`, unit, windowed(numbersOf(column), options));
};

const index = (table: Table, { asShare }: Of<'index'>): Calculated => {
  const rows = rowsOf(table);
  const numbers = Array.from({ length: rows }, (_, at) => (asShare ? (rows < 2 ? 0 : at / (rows - 1)) : at));
  return ofNumbers('Row', asShare ? '1' : '', numbers);
};

const calculated = (table: Table, calculation: Calculation): Calculated | undefined => {
  switch (calculation.is) {
    case 'row':
      return row(table, calculation);
    case 'binary':
      return binary(table, calculation);
    case 'unary':
      return unary(table, calculation);
    case 'cumulative':
      return cumulative(table, calculation);
    case 'window':
      return window(table, calculation);
    case 'index':
      return index(table, calculation);
  }
};

export const calculate: Transform<'calculate'> = (tables, { calculation, as, replaces }) =>
  tables.map((table) => {
    const found = calculated(table, calculation);
    if (found === undefined) return table;
    const column: Column = { ...found.column, name: as ?? found.name };
    const time = timeOf(table);
    const baseColumns = replaces ? (time === undefined ? [] : [time]) : table.columns;
    return { ...table, columns: [...baseColumns, column] };
  });
